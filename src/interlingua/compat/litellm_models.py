"""Names of models as LiteLLM writes them: the row that serves one here, its own name, and a region that stands in it.

Source: LiteLLM's documentation of its providers (Bedrock, Vertex AI, Azure, Azure AI, Cohere, Jina), read 2026-11-28.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["PREFIXES", "Named", "named"]

PREFIXES = {
    "cohere_chat": "cohere",
    "dashscope": "qwen",
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "hosted_vllm": "vllm",
    "jina_ai": "jina",
    "lm_studio": "lmstudio",
    "nvidia_nim": "nvidia",
    "ollama_chat": "ollama",
    "together_ai": "together",
    "vertex_ai": "vertex",
}
"""Providers that LiteLLM calls otherwise."""
_CLAUDE = {"vertex_ai": "vertex-anthropic", "azure_ai": "azure-anthropic"}
"""The rows where a cloud serves Claude, in a format of its own."""
_BEFORE = {
    "bedrock": re.compile(
        r"(?:(?:converse|converse_like|invoke|async_invoke)/)?"
        r"(?:(?P<region>[a-z]{2}(?:-[a-z]+)+-\d)/)?(?:\d+-month-commitment/)?(?:\w+/(?=arn:))?"
    ),
    "azure": re.compile(r"(?:responses|o_series|gpt5_series)/"),
}
"""LiteLLM's prefixes of a model's name: the way of asking, a region, a commitment, the family of an ARN."""


class Named(NamedTuple):
    """A model of a provider of LiteLLM's."""

    row: str
    """The row that serves it."""
    model: str
    """The provider's own name of it."""
    region: str = ""
    """The region that stands in LiteLLM's name."""


def named(provider: str, model: str) -> Named:
    """The model behind `provider/model`."""
    if provider in _CLAUDE and model.startswith("claude"):
        return Named(_CLAUDE[provider], model)
    before = _BEFORE[provider].match(model) if provider in _BEFORE else None
    row = PREFIXES.get(provider, provider)
    if before is None:
        return Named(row, model)
    return Named(row, model[before.end() :], before.groupdict().get("region") or "")
