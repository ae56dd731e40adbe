"""Stop reasons and errors, both ways: the two tables of the dialect.

Rules
- An error's class comes from `error.details.error_code`, else from `error.type`, else from the status.
- `invalid_request_error` and `api_error` say no more than the first digit of the status; the other two decide. What is
  left of the first may be told apart by a phrase of `_errors/words`: the service has no code for an empty account, for
  a spent limit and for a prompt that is too long.
- A class for which the wire has no type is told by a type near it and its own `error_code`.
- `invalid_request_error` is also the type of other 4xx statuses, which reach a client as an upstream gave them.
Source: vendor page "Claude API errors"; official SDK; recorded bodies, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._errors.classes import ErrorRow, error_of, general_status, row_of
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ChainExhaustedError,
    ConfigError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    Error,
    IncompleteStreamError,
    InternalServerError,
    LimitExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    UnknownModelError,
    UnsupportedError,
    UpstreamError,
    UsageError,
)
from interlingua.wire.finish_words import finish_words

if TYPE_CHECKING:
    from interlingua.dialects._errors.bodies import ErrorBody
    from interlingua.dialects._errors.classes import ErrorTable
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import Headers

__all__ = ["decode_finish", "encode_error_body", "encode_finish", "error_of_body"]

FINISH_REASONS = finish_words("anthropic")
"""The wire's stop reasons; what is not here is `other`."""
WIRE_REASONS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "pause": "pause_turn",
    "refusal": "refusal",
    "content_filter": "refusal",
    "other": "end_turn",
}
APPROXIMATE = frozenset({"content_filter", "other"})
"""Finish reasons that the wire has only nearly."""


def decode_finish(raw: str | None) -> FinishReason:
    """The canonical finish reason of the wire's word."""
    return FINISH_REASONS.get(raw or "", "other")


def encode_finish(reason: FinishReason) -> tuple[str, bool]:
    """The wire's word, and whether it says what the canonical one says."""
    return WIRE_REASONS[reason], reason not in APPROXIMATE


# Errors

CODE_CLASSES: dict[str, type[Error]] = {
    "context_window_exceeded": ContextWindowExceededError,
    "content_policy_violation": ContentPolicyViolationError,
    "incomplete_stream": IncompleteStreamError,
    "contract_spend_limit_reached": BillingError,
    "spend_limit_reached": BillingError,
    "image_dimensions_too_large": BadRequestError,
    "tool_name_conflict": BadRequestError,
}
"""`error.details.error_code` -> class; the first three are our own, for classes without a type."""
TYPE_CLASSES: dict[str, type[Error]] = {
    "invalid_request_error": BadRequestError,
    "authentication_error": AuthenticationError,
    "billing_error": BillingError,
    "permission_error": PermissionDeniedError,
    "not_found_error": NotFoundError,
    "conflict_error": UpstreamError,
    "request_too_large": RequestTooLargeError,
    "rate_limit_error": RateLimitError,
    "api_error": InternalServerError,
    "timeout_error": APITimeoutError,
    "overloaded_error": OverloadedError,
}
"""`error.type` -> class."""
WORD_CLASSES = TYPE_CLASSES | CODE_CLASSES


def error_of_body(body: ErrorBody, status: int | None, headers: Headers = ()) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    error = error_of(body, status, headers, WORD_CLASSES)
    if body.request_id is not None:
        error.request_id = body.request_id
    if type(error) is UpstreamError and error.status is None:
        error.retryable = True
    return error


ERROR_ROWS: ErrorTable = (
    (AuthenticationError, ErrorRow(401, "authentication_error")),
    (BillingError, ErrorRow(402, "billing_error")),
    (PermissionDeniedError, ErrorRow(403, "permission_error")),
    (NotFoundError, ErrorRow(404, "not_found_error")),
    (UnknownModelError, ErrorRow(404, "not_found_error")),
    (RequestTooLargeError, ErrorRow(413, "request_too_large")),
    (LimitExceededError, ErrorRow(413, "request_too_large")),
    (ContextWindowExceededError, ErrorRow(400, "invalid_request_error", "context_window_exceeded")),
    (ContentPolicyViolationError, ErrorRow(400, "invalid_request_error", "content_policy_violation")),
    (BadRequestError, ErrorRow(400, "invalid_request_error")),
    (RateLimitError, ErrorRow(429, "rate_limit_error")),
    (OverloadedError, ErrorRow(529, "overloaded_error")),
    (InternalServerError, ErrorRow(500, "api_error")),
    (APITimeoutError, ErrorRow(504, "timeout_error")),
    (IncompleteStreamError, ErrorRow(502, "api_error", "incomplete_stream")),
    (APIConnectionError, ErrorRow(502, "api_error")),
    (ConfigError, ErrorRow(500, "api_error")),
    (UsageError, ErrorRow(400, "invalid_request_error")),
)
"""Class -> status, type and code; the first row that fits counts."""


def encode_error_body(error: Error) -> tuple[int, dict[str, Any]]:
    """Status and body of an error, as the service itself would say it."""
    row = row_of(ERROR_ROWS, error)
    if row is None:  # its status tells
        status = error.status if error.status is not None and error.status >= 400 else error.http_status
        is_conflict = type(error) is UpstreamError and status == 409
        word = "conflict_error" if is_conflict else "invalid_request_error" if status < 500 else "api_error"
        row = ErrorRow(status, word)
    members: dict[str, Any] = {"type": row.word, "message": error.message}
    code = row.code if row.code is not None else error.code if error.code in CODE_CLASSES else None
    if code is not None:
        members["details"] = {"error_code": code}
    elif _wants_a_thread(error):
        members["details"] = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    body: dict[str, Any] = {"type": "error", "error": members}
    if error.request_id is not None:
        body["request_id"] = error.request_id
    return general_status(error, row), body


def _wants_a_thread(error: Error) -> bool:
    """Whether the conversation is kept by the service, which its SDK then sends whole, when it is told this code."""
    cause = error.__cause__ if isinstance(error, ChainExhaustedError) else error
    return isinstance(cause, UnsupportedError) and any(change.code == "server_state" for change in cause.changes)
