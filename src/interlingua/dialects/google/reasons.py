"""Finish reasons and errors, both ways: the two tables of the dialect.

Rules
- An error's class comes from the reason in its details, else from its status word, else from the HTTP status; prose
  decides only where the service has no word: a prompt that is too long.
- The time to wait stands in the body, in `RetryInfo`; an error may be the one element of an array.
- Clients may ask for reasons as numbers; the first five have one meaning everywhere.
Source: vendor pages "Error codes" and "FinishReason", official SDK types, recorded bodies, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._errors.classes import ErrorRow, error_of, is_upstream, row_of, told_status
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ConfigError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    Error,
    HistoryError,
    IncompleteStreamError,
    InternalServerError,
    LimitExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    UnknownModelError,
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

FINISH_REASONS = finish_words("google")
"""Every reason with a meaning of ours; what is not here is `other`."""
WIRE_REASONS: dict[FinishReason, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    "pause": "STOP",
    "other": "OTHER",
}


def decode_finish(raw: str | int | None) -> FinishReason:
    """The canonical finish reason of the wire's word or number."""
    return FINISH_REASONS.get(str(raw), "other")


def encode_finish(reason: FinishReason) -> str:
    """The wire's word."""
    return WIRE_REASONS[reason]


# Errors


STATUS_CLASSES: dict[str, type[Error]] = {
    "UNAUTHENTICATED": AuthenticationError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "NOT_FOUND": NotFoundError,
    "RESOURCE_EXHAUSTED": RateLimitError,
    "ABORTED": UpstreamError,
    "ALREADY_EXISTS": UpstreamError,
    "INTERNAL": InternalServerError,
    "UNAVAILABLE": OverloadedError,
    "DEADLINE_EXCEEDED": APITimeoutError,
    "FAILED_PRECONDITION": BadRequestError,
    "OUT_OF_RANGE": BadRequestError,
    "CANCELLED": BadRequestError,
}
"""Status word -> class; `INVALID_ARGUMENT` says no more than the HTTP status, and is left to it."""
REASON_CLASSES: dict[str, type[Error]] = {
    "API_KEY_INVALID": AuthenticationError,
    "API_KEY_EXPIRED": AuthenticationError,
    "BILLING_DISABLED": BillingError,
    "CONTEXT_WINDOW_EXCEEDED": ContextWindowExceededError,
    "CONTENT_POLICY_VIOLATION": ContentPolicyViolationError,
    "REQUEST_TOO_LARGE": RequestTooLargeError,
    "STREAM_INCOMPLETE": IncompleteStreamError,
}
"""Reason in the details -> class; from the fourth on they are our own, for what the service has no word for."""
WORD_CLASSES = STATUS_CLASSES | REASON_CLASSES | {"INVALID_ARGUMENT": BadRequestError}
_KNOWN = frozenset(WORD_CLASSES)
"""These come first: the service invents a reason for everything."""
RETRYABLE = {"ABORTED": True, "ALREADY_EXISTS": False, "CANCELLED": False}


def error_of_body(body: ErrorBody, status: int | None, headers: Headers = ()) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    body = body._replace(words=tuple(sorted(body.words, key=lambda word: word not in _KNOWN)))
    kinds = [word for word in body.words if word in RETRYABLE]
    return error_of(body, status, headers, WORD_CLASSES, retryable=RETRYABLE[kinds[0]] if kinds else None)


ERROR_ROWS: ErrorTable = (
    (AuthenticationError, ErrorRow(401, "UNAUTHENTICATED")),
    (PermissionDeniedError, ErrorRow(403, "PERMISSION_DENIED")),
    (BillingError, ErrorRow(403, "PERMISSION_DENIED", "BILLING_DISABLED")),
    (NotFoundError, ErrorRow(404, "NOT_FOUND")),
    (RequestTooLargeError, ErrorRow(413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE")),
    (ContextWindowExceededError, ErrorRow(400, "INVALID_ARGUMENT", "CONTEXT_WINDOW_EXCEEDED")),
    (ContentPolicyViolationError, ErrorRow(400, "INVALID_ARGUMENT", "CONTENT_POLICY_VIOLATION")),
    (RateLimitError, ErrorRow(429, "RESOURCE_EXHAUSTED")),
    (OverloadedError, ErrorRow(503, "UNAVAILABLE")),
    (InternalServerError, ErrorRow(500, "INTERNAL")),
    (APITimeoutError, ErrorRow(504, "DEADLINE_EXCEEDED")),
    (IncompleteStreamError, ErrorRow(502, "INTERNAL", "STREAM_INCOMPLETE")),
    (LimitExceededError, ErrorRow(413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE")),
    (BadRequestError, ErrorRow(400, "INVALID_ARGUMENT")),
    (HistoryError, ErrorRow(400, "INVALID_ARGUMENT")),
    (UnknownModelError, ErrorRow(404, "NOT_FOUND")),
    (ConfigError, ErrorRow(500, "INTERNAL")),
    (UsageError, ErrorRow(400, "INVALID_ARGUMENT")),
)
"""Class -> status, status word and reason; the first row that fits counts."""


def encode_error_body(error: Error) -> tuple[int, dict[str, Any]]:
    """Status and body of an error; an upstream's own status is kept, with its word where it is one of ours."""
    row = row_of(ERROR_ROWS, error)
    if row is None:
        other = error.status or error.http_status
        row = ErrorRow(other, "ABORTED" if type(error) is UpstreamError and other == 409 else "INTERNAL")
    upstream = is_upstream(error)
    code, status, reason = told_status(error, row), row.word, row.code
    if code == 402:
        code = row.status  # its clients do not know it
    if upstream and error.code in REASON_CLASSES:
        status, reason = ("INVALID_ARGUMENT" if code == 400 else row.word), error.code
    elif upstream and STATUS_CLASSES.get(error.code or "") is type(error):
        status = str(error.code)
    if code == 429 and isinstance(error, BillingError):
        status = "RESOURCE_EXHAUSTED"
    details: list[dict[str, Any]] = []
    if reason is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason})
    if error.retry_after_s is not None:
        delay = f"{error.retry_after_s:g}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    body = {"code": code, "message": error.message, "status": status}
    return code, {"error": {**body, "details": details} if details else body}
