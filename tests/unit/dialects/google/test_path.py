"""The path of a request in Google's dialect names the model."""

from __future__ import annotations

import pytest

from interlingua.dialects.google.path import read_path


@pytest.mark.parametrize(
    ("url", "model", "method"),
    [
        ("/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", "generateContent"),
        ("/v1beta/anthropic/claude-x:generateContent", "anthropic/claude-x", "generateContent"),
        ("/v1beta/models/ollama/llama3:8b:streamGenerateContent", "ollama/llama3:8b", "streamGenerateContent"),
        ("/v1beta/ollama/llama3:8b:countTokens?alt=sse", "ollama/llama3:8b", "countTokens"),
        ("/v1beta/fw/accounts/fw/models/kimi:generateContent", "fw/accounts/fw/models/kimi", "generateContent"),
        (
            "/v1beta/models/fw/accounts/fw/models/kimi%3AgenerateContent",
            "fw/accounts/fw/models/kimi",
            "generateContent",
        ),
        ("/v1beta/tunedModels/mine:generateContent", "tunedModels/mine", "generateContent"),
        ("/v1/publishers/google/models/gemini-3-pro:generateContent", "gemini-3-pro", "generateContent"),
        ("/v1/projects/p/locations/l/publishers/google/models/g:generateContent", "g", "generateContent"),
        ("http://host/base/models/a%2Fb:generateContent", "a/b", "generateContent"),
    ],
)
def test_srf_01_a_models_name_may_hold_slashes_and_colons(url: str, model: str, method: str) -> None:
    """With `models/` before it, and without, as the JavaScript SDKs write it."""
    path = read_path(url)
    assert path is not None
    assert (path.model, path.method) == (model, method)


@pytest.mark.parametrize(
    "url",
    ["/v1beta/models", "/v1beta/x:generateContent/y", "/generateContent", "", "/v1beta/models/a#:generateContent"],
)
def test_a_path_without_a_model_is_none(url: str) -> None:
    """There is nothing to ask."""
    assert read_path(url) is None
