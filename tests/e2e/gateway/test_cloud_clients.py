"""Clients that were written for a cloud reach any provider through the gateway, by the paths that they know."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import openai
import pytest
from google import genai

from tests.support.gateway import serving

pytest.importorskip("google.oauth2.credentials")
ALIASES = {"gpt-work": "fake/echo", "gemini-2.5-pro": "fake/echo"}


def vertex(url: str) -> genai.Client:
    """The official SDK as it asks Vertex AI, at another address."""
    from google.oauth2.credentials import Credentials

    made: Any = Credentials
    return genai.Client(
        vertexai=True,
        project="p",
        location="europe-west1",
        credentials=made("some-token"),
        http_options=genai.types.HttpOptions(base_url=url),
    )


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "fake/echo"])
def test_google_genai_on_vertex_reaches_any_provider(model: str) -> None:
    """Whole, in pieces, and counting, with the alias of a model and with `provider/model`, which the SDK splits."""
    with serving(aliases=ALIASES) as url, closing(vertex(url)) as client:
        whole = client.models.generate_content(model=model, contents="Hello")
        pieces = list(client.models.generate_content_stream(model=model, contents="Hello"))
        counted = client.models.count_tokens(model=model, contents="Hello")
    assert whole.text
    assert "".join(piece.text or "" for piece in pieces) == whole.text
    assert (counted.total_tokens or 0) > 0


@pytest.mark.parametrize("model", ["gpt-work", "fake/echo"])
def test_azure_openai_reaches_any_provider(model: str) -> None:
    """The Azure class of the official SDK: a deployment in the path for Chat, a dated API for Responses."""
    with (
        serving(aliases=ALIASES) as url,
        openai.AzureOpenAI(azure_endpoint=url, api_key="any", api_version="2025-04-01-preview") as client,
    ):
        chat = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hello"}])
        stream = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hello"}], stream=True
        )
        pieces = [piece.choices[0].delta.content or "" for piece in stream if piece.choices]
        response = client.responses.create(model=model, input="Hello")
    text = chat.choices[0].message.content
    assert text
    assert "".join(pieces) == text
    assert response.output_text == text


def test_the_v1_endpoint_of_azure_is_there() -> None:
    """The plain class at `…/openai/v1`, as Azure's newer API is asked."""
    with serving(aliases=ALIASES) as url, openai.OpenAI(base_url=f"{url}/openai/v1", api_key="any") as client:
        chat = client.chat.completions.create(model="gpt-work", messages=[{"role": "user", "content": "Hello"}])
        response = client.responses.create(model="gpt-work", input="Hello")
    assert chat.choices[0].message.content == response.output_text
