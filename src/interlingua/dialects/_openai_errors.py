"""Errors of the two OpenAI dialects, both ways: over HTTP they are the same.

Rules
- An error's class comes from its structured code, else from its type, else from the status; prose decides nothing.
- Bodies seen: `{"error": {…}}`, an error that is a string or a list, a flat `{"object": "error", …}`, `{"detail": …}`
  of a validation error, `{"message": …}`, and text or HTML of something in between.
Source: vendor reference "Error codes"; recorded bodies of openai, azure, groq, mistral, openrouter, together, 2026-11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects._errors import (
    NO_REASON,
    ErrorRow,
    error_value,
    is_upstream,
    make_error,
    precise_class,
    row_of,
    told_status,
)
from interlingua.dialects._members import is_list, is_object
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ConfigError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    DecodeError,
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

if TYPE_CHECKING:
    from interlingua.dialects._errors import ErrorTable
    from interlingua.wire.http import Headers

__all__ = ["ErrorBody", "encode_error_body", "error_body", "error_of_body", "read_error"]


class ErrorBody(NamedTuple):
    """What an error body says, whatever its shape."""

    message: str
    """The reason, for people."""
    code: str | None = None
    """The structured code."""
    type: str | None = None
    """The structured type."""
    status: int | None = None
    """The HTTP status that the body itself names."""


CODE_CLASSES: dict[str, type[Error]] = {
    "insufficient_quota": BillingError,
    "billing_not_active": BillingError,
    "billing_hard_limit_reached": BillingError,
    "payment_required": BillingError,
    "context_length_exceeded": ContextWindowExceededError,
    "string_above_max_length": RequestTooLargeError,
    "request_too_large": RequestTooLargeError,
    "content_filter": ContentPolicyViolationError,
    "content_policy_violation": ContentPolicyViolationError,
    "invalid_api_key": AuthenticationError,
    "invalid_authentication": AuthenticationError,
    "permission_denied": PermissionDeniedError,
    "unsupported_country_region_territory": PermissionDeniedError,
    "model_not_found": NotFoundError,
    "DeploymentNotFound": NotFoundError,
    "rate_limit_exceeded": RateLimitError,
    "3505": RateLimitError,
    "overloaded": OverloadedError,
    "server_error": InternalServerError,
    "timeout": APITimeoutError,
    "incomplete_stream": IncompleteStreamError,
    "conflict": UpstreamError,
}
"""Structured code -> class."""
TYPE_CLASSES: dict[str, type[Error]] = {
    "insufficient_quota": BillingError,
    "invalid_model": NotFoundError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "not_found_error": NotFoundError,
    "rate_limit_error": RateLimitError,
    "tokens": RateLimitError,
    "requests": RateLimitError,
    "service_tier_capacity_exceeded": RateLimitError,
    "unavailable_error": OverloadedError,
    "overloaded_error": OverloadedError,
    "server_error": InternalServerError,
    "invalid_request_error": BadRequestError,
}
"""Structured type -> class."""
RETRYABLE_CODES = frozenset({"tool_use_failed", "json_validate_failed"})
"""Codes of a 400 that is the model's fault: the same request may succeed."""


def read_error(body: bytes) -> ErrorBody:
    """What the body of a failed answer says; the text itself when it is no JSON."""
    return error_body(error_value(body))


def error_body(value: object) -> ErrorBody:
    """What a JSON error says, in any of the shapes seen."""
    if is_list(value) and value:
        return error_body(value[0])
    if not is_object(value):
        return ErrorBody(str(value)[:300])
    inner = value.get("error")
    if is_list(inner) and inner:
        inner = inner[0]
    if is_object(inner):
        return _members(inner, value)
    if type(inner) is int:
        return _members({"code": inner}, value)
    if isinstance(inner, str):
        return _members({"message": inner, **{key: value[key] for key in ("code", "type") if key in value}}, value)
    if is_list(value.get("errors")) and value["errors"]:
        return error_body(value["errors"])
    return _members({"message": _detail(value.get("detail")), **value} if "detail" in value else value, value)


def _members(error: dict[str, Any], outer: dict[str, Any]) -> ErrorBody:
    code = error.get("code")
    places = (code, error.get("status_code"), outer.get("status"))
    status = next((number for place in places if (number := _status(place)) is not None), None)
    message = error.get("message") or error.get("msg") or outer.get("message")
    kind = error.get("type")
    return ErrorBody(
        message if isinstance(message, str) and message else NO_REASON,
        None if code is None else str(code),
        kind if isinstance(kind, str) else None,
        status,
    )


def _status(value: object) -> int | None:
    """The status that a number is, or a text of three digits; None for anything else."""
    number = int(value) if isinstance(value, str) and len(value) == 3 and value.isdecimal() else value
    return number if type(number) is int and 400 <= number <= 599 else None


def _detail(detail: object) -> str:
    if not is_list(detail):
        return str(detail)
    told = [
        f"{'/'.join(str(step) for step in entry.get('loc', ()))}: {entry.get('msg', '')}"
        for entry in detail
        if is_object(entry)
    ]
    return "; ".join(told) or "the request is not valid"


def error_of_body(body: ErrorBody, status: int | None, headers: Headers = ()) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    status = status or body.status
    kind = precise_class(CODE_CLASSES.get(body.code or "") or TYPE_CLASSES.get(body.type or ""), status)
    retryable = True if body.code in RETRYABLE_CODES else None
    return make_error(
        kind, body.message, status=status, code=body.code or body.type, headers=headers, retryable=retryable
    )


ERROR_ROWS: ErrorTable = (
    (AuthenticationError, ErrorRow(401, "invalid_request_error", "invalid_api_key")),
    (PermissionDeniedError, ErrorRow(403, "invalid_request_error", "permission_denied")),
    (BillingError, ErrorRow(429, "insufficient_quota", "insufficient_quota")),
    (NotFoundError, ErrorRow(404, "invalid_request_error", "model_not_found")),
    (RequestTooLargeError, ErrorRow(413, "invalid_request_error", "request_too_large")),
    (ContextWindowExceededError, ErrorRow(400, "invalid_request_error", "context_length_exceeded")),
    (ContentPolicyViolationError, ErrorRow(400, "invalid_request_error", "content_filter")),
    (RateLimitError, ErrorRow(429, "rate_limit_error", "rate_limit_exceeded")),
    (OverloadedError, ErrorRow(503, "server_error", "overloaded")),
    (InternalServerError, ErrorRow(500, "server_error", "server_error")),
    (APITimeoutError, ErrorRow(504, "server_error", "timeout")),
    (IncompleteStreamError, ErrorRow(502, "server_error", "incomplete_stream")),
    (LimitExceededError, ErrorRow(413, "invalid_request_error", "request_too_large")),
    (BadRequestError, ErrorRow(400, "invalid_request_error")),
    (HistoryError, ErrorRow(400, "invalid_request_error")),
    (UnknownModelError, ErrorRow(404, "invalid_request_error", "model_not_found")),
    (ConfigError, ErrorRow(500, "server_error", "server_error")),
    (UsageError, ErrorRow(400, "invalid_request_error")),
)
"""Class -> status, type and code; the first row that fits counts."""


def encode_error_body(error: Error) -> tuple[int, dict[str, Any]]:
    """Status and body of an error; an upstream's own status and code are kept."""
    row = row_of(ERROR_ROWS, error)
    if row is None:
        conflict = type(error) is UpstreamError and error.status == 409
        row = ErrorRow(error.status or error.http_status, "server_error", "conflict" if conflict else "server_error")
    upstream = is_upstream(error)
    code = error.code if upstream and error.code in CODE_CLASSES else row.code
    if upstream and row.code is None and error.code not in TYPE_CLASSES:
        code = error.code
    status = told_status(error, row)
    param = _param(error.path) if isinstance(error, DecodeError) and status == 400 else None
    return status, {"error": {"message": error.message, "type": row.word, "param": param, "code": code}}


def _param(path: str) -> str | None:
    """A JSON pointer as clients of this dialect know places: `messages[0].content`."""
    steps = [f"[{step}]" if step.isdigit() else f".{step}" for step in path.split("/")[1:]]
    return "".join(steps).removeprefix(".") or None
