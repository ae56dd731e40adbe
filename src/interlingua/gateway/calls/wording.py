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

from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import (
    AuthenticationError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    NotFoundError,
    RateLimitError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from interlingua.errors import Error

__all__ = ["wording"]


class _Phrase(NamedTuple):
    """A vendor's phrase for a class of errors."""

    sentence: str
    """The phrase, which the detail follows."""
    mark: str
    """The part of it that clients search for, in lower case."""


_NO_MODEL = (NotFoundError, UnknownModelError)
_QUOTA = _Phrase("You exceeded your current quota, please check your plan and billing details:", "current quota")
_CHAT: dict[type[Error], _Phrase] = {
    ContextWindowExceededError: _Phrase(
        "Input tokens exceed the configured limit. This model's maximum context length is exceeded:",
        "input tokens exceed the configured limit",  # langchain-openai looks for nothing else in a message
    ),
    AuthenticationError: _Phrase("Incorrect API key provided:", "incorrect api key"),
    RateLimitError: _Phrase("Rate limit reached:", "rate limit"),
    BillingError: _QUOTA,
    ContentPolicyViolationError: _Phrase(
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy:",
        "violating our usage policy",
    ),
    **dict.fromkeys(_NO_MODEL, _Phrase("The requested model does not exist:", "does not exist")),
}
_PHRASES: dict[str, dict[type[Error], _Phrase]] = {
    "openai-chat": _CHAT,
    "openai-responses": _CHAT
    | {
        ContextWindowExceededError: _Phrase(  # LiteLLM and langchain look for the words of Chat here, too
            "Your input exceeds the context window of this model. Input tokens exceed the configured limit:",
            "input tokens exceed the configured limit",
        ),
    },
    "anthropic": {
        ContextWindowExceededError: _Phrase("prompt is too long:", "prompt is too long"),
        AuthenticationError: _Phrase("invalid x-api-key:", "invalid x-api-key"),
        RateLimitError: _Phrase("This request would exceed your organization's rate limit:", "rate limit"),
        BillingError: _Phrase("Your credit balance is too low to access the API:", "credit balance is too low"),
        ContentPolicyViolationError: _Phrase("Output blocked by content filtering policy:", "content filtering policy"),
        **dict.fromkeys(_NO_MODEL, _Phrase("model:", "model:")),
    },
    "google": {
        ContextWindowExceededError: _Phrase(
            "The input token count exceeds the maximum number of tokens allowed:",
            "exceeds the maximum number of tokens allowed",
        ),
        AuthenticationError: _Phrase("API key not valid. Please pass a valid API key:", "api key not valid"),
        RateLimitError: _Phrase("Resource has been exhausted (e.g. check quota):", "exhausted"),
        BillingError: _QUOTA,
        ContentPolicyViolationError: _Phrase("The response was blocked.", "the response was blocked."),
        **dict.fromkeys(_NO_MODEL, _Phrase("The model is not found for this API version:", "is not found for")),
    },
    "ollama": {
        ContextWindowExceededError: _Phrase(
            "the input length exceeds the context length:", "exceeds the context length"
        ),
        AuthenticationError: _Phrase("unauthorized:", "unauthorized"),
        RateLimitError: _Phrase("too many requests:", "too many requests"),
        **dict.fromkeys(_NO_MODEL, _Phrase("model not found:", "not found")),
    },
}
_NO_MODELS = frozenset({"unknown_url", "response_not_found", "id_not_found"})
"""Codes of ours for what was not found and is no model."""


def wording(dialect: str, error: Error) -> str:
    """The message of an error as a surface of `dialect` tells it."""
    message = _phrased(_PHRASES.get(dialect, {}).get(type(error)), error)
    wait = error.retry_after_s if isinstance(error, RateLimitError) else None
    if wait is None or _PHRASES.get(dialect, {}).get(RateLimitError) is not _CHAT[RateLimitError]:
        return message
    if "try again in" in message:
        return message
    return f"{message.rstrip('.')}. Please try again in {wait:g}s."  # Codex waits for so long


def _phrased(phrase: _Phrase | None, error: Error) -> str:
    message = error.message
    low = message.lower()
    if phrase is None or phrase.mark in low:
        return message
    if isinstance(error, NotFoundError) and ("model" not in low or error.code in _NO_MODELS):
        return message
    return f"{phrase.sentence} {message}"
