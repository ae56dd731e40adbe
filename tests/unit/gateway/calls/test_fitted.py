"""Media in clients' bodies on the way to another dialect: each target gets what it takes; the relay changes none."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, body_of, gateway
from tests.support.pictures import ACCEPTED, BOMBS, FAULTY

pytest.importorskip("pillow_heif")

PHOTO = ACCEPTED["motif"]["heic-orientation-6"]()


def _chat(data: bytes, kind: str = "image/heic") -> list[dict[str, Any]]:
    url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": url}}],
        }
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_r44_a_photo_of_a_chat_client_reaches_anthropic_as_jpeg(stream: bool) -> None:
    """Converted on the way, whole and streamed."""
    with Upstream("anthropic").standing() as upstream:
        reply = await gateway()(asking("openai-chat", MODELS["anthropic"], stream=stream, messages=_chat(PHOTO)))
        await body_of(reply)
    assert reply.status == 200
    [_, image] = json.loads(upstream.requests[0].body)["messages"][0]["content"]
    assert image["source"]["media_type"] == "image/jpeg"
    assert base64.b64decode(image["source"]["data"]).startswith(b"\xff\xd8\xff")


@pytest.mark.parametrize(
    ("data", "told"),
    [(FAULTY["jpeg-cut"](), "is cut off"), (BOMBS["png"](), "64 megapixels are the most"), (b"", "the image is empty")],
    ids=["cut", "bomb", "empty"],
)
async def test_r45_a_broken_image_is_the_clients_fault(data: bytes, told: str) -> None:
    """A 400 in the client's dialect, and nobody is asked."""
    with Upstream("anthropic").standing() as upstream:
        reply = await gateway()(asking("openai-chat", MODELS["anthropic"], messages=_chat(data, "image/jpeg")))
    assert (reply.status, upstream.requests) == (400, [])
    assert told in json.loads(await body_of(reply))["error"]["message"]


async def test_sec_10_the_relay_decodes_nothing() -> None:
    """The same dialect in and out: the body goes out as it came, picture and all."""
    with Upstream("openai-chat").standing() as upstream:
        await gateway()(asking("openai-chat", MODELS["openai-chat"], messages=_chat(PHOTO)))
    [_, image] = json.loads(upstream.requests[0].body)["messages"][0]["content"]
    assert base64.b64decode(image["image_url"]["url"].partition(",")[2]) == PHOTO
