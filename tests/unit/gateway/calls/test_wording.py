"""Errors carry the phrases of the surface's vendor, by which clients tell their classes."""

from __future__ import annotations

import json

import pytest

from interlingua import errors
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.calls.replies import error_reply
from interlingua.wire.http import HttpReply

DETAIL = "groq/big: Please reduce the length of the messages."
CONTEXT = {
    "openai-chat": "Input tokens exceed the configured limit. "
    f"This model's maximum context length is exceeded: {DETAIL}",
    "openai-responses": "Your input exceeds the context window of this model. "
    f"Input tokens exceed the configured limit: {DETAIL}",
    "anthropic": f"prompt is too long: {DETAIL}",
    "google": f"The input token count exceeds the maximum number of tokens allowed: {DETAIL}",
    "ollama": f"the input length exceeds the context length: {DETAIL}",
    "cohere": f"too many tokens: {DETAIL}",
    "unified": DETAIL,
}
"""Dialect -> what a request that is too long is told there."""


def sentence(dialect: str, error: errors.Error) -> str:
    """The sentence of an error on a surface of a dialect."""
    body = error_reply(dialect, error).body
    assert isinstance(body, bytes)
    whole = json.loads(body)
    told = whole.get("error", whole)
    return told if isinstance(told, str) else told["message"]


@pytest.mark.parametrize("dialect", CONTEXT)
def test_srf_02_what_is_too_long_is_told_in_the_vendors_words(dialect: str) -> None:
    """The phrase that LiteLLM and langchain look for, then the detail; decoders read the class again."""
    error = errors.ContextWindowExceededError(DETAIL, status=400)
    assert sentence(dialect, error) == CONTEXT[dialect]
    reply = error_reply(dialect, error)
    assert isinstance(reply.body, bytes)
    raw = HttpReply(status=reply.status, headers=reply.headers, body=reply.body)
    assert type(get_dialect(dialect).decode_error(raw, DecodeContext())) is errors.ContextWindowExceededError
    assert error.message == DETAIL


@pytest.mark.parametrize(
    ("dialect", "error", "told"),
    [
        ("openai-chat", errors.AuthenticationError("No."), "Incorrect API key provided: No."),
        ("anthropic", errors.AuthenticationError("No."), "invalid x-api-key: No."),
        ("anthropic", errors.AuthenticationError("Send `x-api-key`."), "invalid x-api-key: Send `x-api-key`."),
        ("google", errors.AuthenticationError("No."), "API key not valid. Please pass a valid API key: No."),
        ("ollama", errors.AuthenticationError("No."), "unauthorized: No."),
        ("cohere", errors.AuthenticationError("No."), "invalid api token: No."),
        (
            "openai-responses",
            errors.RateLimitError("No.", retry_after_s=1.5),
            "Rate limit reached: No. Please try again in 1.5s.",
        ),
        ("anthropic", errors.RateLimitError("No."), "This request would exceed your organization's rate limit: No."),
        ("google", errors.RateLimitError("No."), "Resource has been exhausted (e.g. check quota): No."),
        ("ollama", errors.RateLimitError("No."), "too many requests: No."),
        ("openai-chat", errors.UnknownModelError("No model x."), "The requested model does not exist: No model x."),
        ("anthropic", errors.UnknownModelError("No model x."), "model: No model x."),
        ("google", errors.NotFoundError("No model x."), "The model is not found for this API version: No model x."),
        ("ollama", errors.NotFoundError("No model x."), "model not found: No model x."),
        (
            "openai-chat",
            errors.ContentPolicyViolationError("No."),
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy: No.",
        ),
        ("anthropic", errors.ContentPolicyViolationError("No."), "Output blocked by content filtering policy: No."),
        ("google", errors.ContentPolicyViolationError("No."), "The response was blocked. No."),
        (
            "openai-chat",
            errors.BillingError("No."),
            "You exceeded your current quota, please check your plan and billing details: No.",
        ),
        ("anthropic", errors.BillingError("No."), "Your credit balance is too low to access the API: No."),
    ],
)
def test_srf_02_each_class_has_the_phrase_of_its_vendor(dialect: str, error: errors.Error, told: str) -> None:
    """The vendor's phrase stands before our detail."""
    assert sentence(dialect, error) == told


@pytest.mark.parametrize(
    ("dialect", "error"),
    [
        ("anthropic", errors.ContextWindowExceededError("prompt is too long: 200001 tokens > 200000 maximum")),
        (
            "openai-chat",
            errors.ContextWindowExceededError("Input tokens exceed the configured limit of 9 tokens."),
        ),
        ("google", errors.NotFoundError("models/x is not found for API version v1beta")),
        ("openai-chat", errors.NotFoundError("nothing is answered at /v1/models/x/y", code="unknown_url")),
        ("openai-chat", errors.NotFoundError("there is no response resp_model", code="response_not_found")),
        ("anthropic", errors.NotFoundError("File not found: file_1", status=404)),
        ("openai-chat", errors.RateLimitError("Rate limit reached for gpt-6. Please try again in 20ms.")),
    ],
)
def test_a_message_that_says_it_already_is_left_alone(dialect: str, error: errors.Error) -> None:
    """A vendor's own sentence is not told twice, and what was not found is not always a model."""
    assert sentence(dialect, error) == error.message
