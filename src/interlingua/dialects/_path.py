"""The facts in the path of a request, for bodies that leave it out."""

from __future__ import annotations

import re
from urllib.parse import unquote

__all__ = ["model_in_path"]

_MODEL = re.compile(r"/(?:deployments|models?)/([^/:?]+)")
"""Deployments of Azure's older addresses, models of Vertex, of Gemini and of Bedrock."""


def model_in_path(url: str) -> str:
    """The model that an address names; empty when it names none.

    Source: vendor pages "Azure OpenAI REST API", `/openai/deployments/{deployment}/chat/completions`, "Claude on Vertex
    AI", `/publishers/anthropic/models/{model}:rawPredict`, and "InvokeModel", `/model/{modelId}/invoke`.
    """
    match = _MODEL.search(url.partition("?")[0])
    return unquote(match[1]) if match else ""
