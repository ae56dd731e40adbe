"""What each surface of the gateway tells of each class of errors, byte by byte.

By these bytes LiteLLM 1.110.2, pydantic-ai 2.68.0, langchain-openai 1.7.4 (with openai 3.57.0) and langchain-anthropic
1.7.10 (with anthropic 2.14.0) were seen to find their own classes in November 2026: ContextWindowExceededError,
AuthenticationError, RateLimitError, NotFoundError, ContentPolicyViolationError of LiteLLM (for Ollama without the first
and the last, for which it knows no words); ModelContextWindowExceededError, ModelAuthenticationError,
ModelRateLimitError, ModelQuotaExceededError, ModelNotFoundError, ModelOverloadedError of pydantic-ai;
OpenAIContextOverflowError, AnthropicContextOverflowError and the classes of keys, limits and models of langchain.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlingua import errors
from interlingua.dialects.table import DIALECTS
from interlingua.gateway.calls.replies import error_reply

FOLDER = Path(__file__).parent / "surfaces"
ERRORS: tuple[errors.Error, ...] = (
    errors.BadRequestError("No.", status=400),
    errors.AuthenticationError("No.", status=401),
    errors.BillingError("No.", status=402),
    errors.BillingError("No.", status=429),
    errors.PermissionDeniedError("No.", status=403),
    errors.NotFoundError("No model x.", status=404),
    errors.RequestTooLargeError("No.", status=413),
    errors.ContextWindowExceededError("No.", status=400),
    errors.ContentPolicyViolationError("No.", status=400),
    errors.RateLimitError("No.", status=429, retry_after_s=2.0),
    errors.OverloadedError("No.", status=503),
    errors.InternalServerError("No.", status=500),
    errors.UpstreamError("No.", status=409),
    errors.UnknownModelError("No model x."),
    errors.UnsupportedError("No."),
    errors.HistoryError("No."),
    errors.SchemaError("No."),
    errors.ConfigError("No."),
    errors.UsageError("No."),
    errors.DecodeError("No."),
    errors.LimitExceededError("No."),
    errors.IncompleteStreamError("No."),
    errors.APIConnectionError("No."),
    errors.APITimeoutError("No.", phase="total"),
    errors.ChainExhaustedError("No."),
)
"""One of each class that a client can be told."""


def _line(dialect: str, error: errors.Error) -> str:
    reply = error_reply(dialect, error)
    assert isinstance(reply.body, bytes)
    told: Any = dict(reply.headers).get("retry-after")
    waits = f" retry-after {told}" if told else ""
    return f"{type(error).__name__} {reply.status}{waits} {reply.body.decode()}"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_r64_each_surface_tells_errors_in_its_vendors_form(dialect: str, *, golden_update: bool) -> None:
    """Status, code and phrase of each class."""
    path = FOLDER / f"{dialect}.txt"
    now = [_line(dialect, error) for error in ERRORS]
    if golden_update:
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    assert now == path.read_text(encoding="utf-8").splitlines()
