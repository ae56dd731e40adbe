"""Finish reasons and errors, both ways: the tables of the dialect.

Rules
- An error is `{"id", "message"}`; its class is the status. Where the status says less than the class we know, a `code`
  beside the sentence says the rest: clients of this dialect read the sentence alone.
- 498 is a bad token here, and 501 is not asked again.
- In a stream the last event says `ERROR` with the sentence; status and code stand beside it.
Source: cohere-python 7.3.1, `cohere/errors`, `types/chat_finish_reason.py`, `types/chat_message_end_event_delta.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._errors.classes import ErrorRow, class_of_status, error_of, row_of, told_status
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
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
    UpstreamError,
    UsageError,
)
from interlingua.wire.finish_words import finish_words

if TYPE_CHECKING:
    from interlingua.dialects._errors.bodies import ErrorBody
    from interlingua.dialects._errors.classes import ErrorTable
    from interlingua.types.change import Changes
    from interlingua.types.response import FinishReason, Response
    from interlingua.wire.http import Headers

__all__ = ["decode_finish", "encode_error_body", "error_of_body", "finish_word"]

FINISH_REASONS = finish_words("cohere")
"""Everything that the wire says; what is not here is `other`."""
WIRE_REASONS: dict[FinishReason, str] = {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS"}
"""The words of the wire; every other reason is sent as `COMPLETE`."""
ERROR = "ERROR"
"""The word for an answer that failed."""


def decode_finish(raw: str | None, *, holds: bool = True) -> FinishReason:
    """The canonical finish reason of the wire's word.

    Without one nobody said that the answer is whole: it is `other`, and a failure where it does not `hold` anything.
    """
    if not raw:
        return "other" if holds else "error"
    return FINISH_REASONS.get(raw, "other")


def finish_word(response: Response[Any], changes: Changes, *, own: bool) -> str | None:
    """The wire's word; an answer that came in this dialect (`own`) keeps its own, or none."""
    if own:
        return response.finish_reason_raw
    word = WIRE_REASONS.get(response.finish_reason)
    if word is None:
        changes.add("finish_reason_approximated", "/finish_reason", f"{response.finish_reason} is sent as COMPLETE")
    return word or "COMPLETE"


# Errors

CODE_CLASSES: dict[str, type[Error]] = {
    "invalid_request": BadRequestError,
    "invalid_api_key": AuthenticationError,
    "insufficient_quota": BillingError,
    "permission_denied": PermissionDeniedError,
    "not_found": NotFoundError,
    "request_too_large": RequestTooLargeError,
    "context_length_exceeded": ContextWindowExceededError,
    "content_filter": ContentPolicyViolationError,
    "rate_limit_exceeded": RateLimitError,
    "overloaded": OverloadedError,
    "server_error": InternalServerError,
    "timeout": APITimeoutError,
    "incomplete_stream": IncompleteStreamError,
    "conflict": UpstreamError,
}
"""The codes that we write where the status says too little, and their classes."""
INVALID_TOKEN, CLOSED, NOT_IMPLEMENTED = 498, 499, 501


def error_of_body(body: ErrorBody, status: int | None, headers: Headers = ()) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    code = status or body.status
    if code == INVALID_TOKEN:
        body = body._replace(words=(*body.words, "invalid_api_key"))
    return error_of(body, status, headers, CODE_CLASSES, retryable=False if code in (CLOSED, NOT_IMPLEMENTED) else None)


ERROR_ROWS: ErrorTable = (
    (AuthenticationError, ErrorRow(401, "invalid_api_key")),
    (PermissionDeniedError, ErrorRow(403, "permission_denied")),
    (BillingError, ErrorRow(402, "insufficient_quota")),
    (NotFoundError, ErrorRow(404, "not_found")),
    (RequestTooLargeError, ErrorRow(413, "request_too_large")),
    (ContextWindowExceededError, ErrorRow(400, "context_length_exceeded")),
    (ContentPolicyViolationError, ErrorRow(400, "content_filter")),
    (RateLimitError, ErrorRow(429, "rate_limit_exceeded")),
    (OverloadedError, ErrorRow(503, "overloaded")),
    (InternalServerError, ErrorRow(500, "server_error")),
    (APITimeoutError, ErrorRow(504, "timeout")),
    (IncompleteStreamError, ErrorRow(502, "incomplete_stream")),
    (LimitExceededError, ErrorRow(413, "request_too_large")),
    (BadRequestError, ErrorRow(400, "invalid_request")),
    (UnknownModelError, ErrorRow(404, "not_found")),
    (ConfigError, ErrorRow(500, "server_error")),
    (UsageError, ErrorRow(400, "invalid_request")),
)
"""Class -> status, and the code that is written beside the sentence where the status alone does not say it."""


def encode_error_body(error: Error) -> tuple[int, dict[str, Any]]:
    """Status and body of an error; an upstream's own status is kept."""
    row = row_of(ERROR_ROWS, error)
    if row is None:
        word = "conflict" if type(error) is UpstreamError else "server_error"
        row = ErrorRow(error.status or error.http_status, word)
    status = told_status(error, row)
    body: dict[str, Any] = {"id": error.request_id} if error.request_id else {}
    body["message"] = error.message
    if CODE_CLASSES[row.word] is not class_of_status(status):
        body["code"] = row.word
    return status, body
