"""The words in which a surface's vendor tells errors, by which its clients tell the classes.

Rules
- LiteLLM, langchain and many agents look for phrases: the vendor's comes first, our detail after it. A message that has
  the phrase is left as it is.
- Only what the gateway tells its clients is worded so. The codec keeps the message of an error, so that it is the same
  error again where it is read.
Source: vendors' error pages; LiteLLM 1.110, langchain-openai 1.7, langchain-anthropic 1.7, langchain-google-genai 4.4
and Codex, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects.table import get_service
from interlingua.errors import NotFoundError

if TYPE_CHECKING:
    from interlingua.dialects._service import Phrase
    from interlingua.errors import Error

__all__ = ["wording"]


_NO_MODELS = frozenset({"unknown_url", "response_not_found", "id_not_found"})
"""Codes of ours for what was not found and is no model."""


def wording(dialect: str, error: Error) -> str:
    """The message of an error as a surface of `dialect` tells it."""
    phrase = get_service(dialect).phrases.get(type(error))
    if phrase is None:
        return error.message
    message, wait = _phrased(phrase, error), error.retry_after_s
    if not phrase.wait or wait is None or "try again in" in message:
        return message
    return f"{message.rstrip('.')}. Please try again in {wait:g}s."


def _phrased(phrase: Phrase, error: Error) -> str:
    message = error.message
    low = message.lower()
    if phrase.mark in low:
        return message
    if isinstance(error, NotFoundError) and ("model" not in low or error.code in _NO_MODELS):
        return message
    return f"{phrase.sentence} {message}"
