"""Errors of the two OpenAI dialects, both ways: over HTTP they are the same.

Rules
- An error's class comes from its structured code, else from its type, else from the status; a phrase decides only
  where a compatible server has neither (`_errors/words`).
- What a body says is read by `_errors/bodies`, whatever its shape.
Source: vendor reference "Error codes"; recorded bodies of openai, azure, groq, mistral, openrouter, together, 2026-11.
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
    UnsupportedError,
    UpstreamError,
    UsageError,
)

if TYPE_CHECKING:
    from interlingua.dialects._errors.bodies import ErrorBody
    from interlingua.dialects._errors.classes import ErrorTable
    from interlingua.wire.http import Headers

__all__ = ["encode_error_body", "error_of_body"]


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
    "unknown_url": NotFoundError,
    "DeploymentNotFound": NotFoundError,
    "rate_limit_exceeded": RateLimitError,
    "3505": RateLimitError,
    "overloaded": OverloadedError,
    "server_error": InternalServerError,
    "timeout": APITimeoutError,
    "incomplete_stream": IncompleteStreamError,
    "conflict": UpstreamError,
    "tool_use_failed": BadRequestError,
    "json_validate_failed": BadRequestError,
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
WORD_CLASSES = TYPE_CLASSES | CODE_CLASSES
NO_PREVIOUS = "previous_response_not_found"
"""The code at which clients of Responses send the whole conversation instead of going on from an answer."""
NAMELESS_CODES = frozenset({"response_not_found", "id_not_found"})
"""Codes of ours for what OpenAI tells without one."""
OWN_CODES = frozenset({"hooks_cannot_see"})
"""Codes of ours that are told, in the place of the one of their class."""
RETRYABLE_CODES = frozenset({"tool_use_failed", "json_validate_failed"})
"""Codes of a 400 that is the model's fault: the same request may succeed."""


def error_of_body(body: ErrorBody, status: int | None, headers: Headers = ()) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    retryable = True if not RETRYABLE_CODES.isdisjoint(body.words) else None
    return error_of(body, status, headers, WORD_CLASSES, retryable=retryable)


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
    elif isinstance(error, UnsupportedError) and any(
        change.code == "server_state" and "previous_response_id" in change.detail for change in error.changes
    ):
        code = NO_PREVIOUS  # the target would have to know an answer that another one keeps
    elif error.code in NAMELESS_CODES:
        code = None
    elif error.code in OWN_CODES:
        code = error.code
    status = told_status(error, row)
    param = None
    if isinstance(error, DecodeError) and status == 400:  # clients of this dialect know places as `messages[0].content`
        steps = [f"[{step}]" if step.isdigit() else f".{step}" for step in error.path.split("/")[1:]]
        param = "".join(steps).removeprefix(".") or None
    return status, {"error": {"message": error.message, "type": row.word, "param": param, "code": code}}
