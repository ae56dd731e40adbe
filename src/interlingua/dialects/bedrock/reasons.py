"""Stop reasons and errors, both ways: the two tables of the dialect.

Rules
- The class of an error is the header `x-amzn-errortype`, up to a colon; else a word of the body; else the status.
- In a stream an exception is a frame of its own, whose name begins small; there are five of them.
- A class that no exception says is told by the nearest one, with a `code` in the body, which only we read.
- An exception has its own status; the general ones, of validation and of the server, go with an upstream's.
Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44, vendor page "Common errors", recorded bodies,
November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._errors.classes import (
    ErrorRow,
    class_of_status,
    error_of,
    general_status,
    is_upstream,
    row_of,
    told_status,
)
from interlingua.dialects._members import is_object
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ConfigError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    DecodeError,
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
from interlingua.wire.http import header
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.dialects._errors.bodies import ErrorBody
    from interlingua.dialects._errors.classes import ErrorTable
    from interlingua.types.change import Changes
    from interlingua.types.response import FinishReason, Response
    from interlingua.wire.http import Headers

__all__ = ["TYPE_HEADER", "decode_finish", "encode_error_body", "error_of_body", "exception_name", "stop_word"]

TYPE_HEADER = "x-amzn-errortype"
"""The header that names the exception of a failed answer."""
FINISH_REASONS = finish_words("bedrock")
"""The wire's stop reasons; what is not here is `other`."""
WIRE_REASONS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
    "pause": "end_turn",
    "other": "end_turn",
    "error": "malformed_model_output",
}
APPROXIMATE = frozenset({"refusal", "pause", "other"})
"""Finish reasons that the wire has only nearly."""


def decode_finish(raw: str | None) -> FinishReason:
    """The canonical finish reason of the wire's word."""
    return FINISH_REASONS.get(raw or "", "other")


def stop_word(response: Response[Any], changes: Changes, *, own: bool) -> str | None:
    """The wire's stop reason; an answer that came in this dialect (`own`) keeps its own."""
    if own:
        return response.finish_reason_raw
    word = WIRE_REASONS[response.finish_reason]
    if response.finish_reason in APPROXIMATE:
        detail = f"{response.finish_reason} is sent as {word}"
        changes.add("finish_reason_approximated", "/finish_reason", detail)
    return word


# Errors

EXCEPTIONS: dict[str, type[Error]] = {
    "ValidationException": BadRequestError,
    "ServiceQuotaExceededException": BadRequestError,
    "ConflictException": UpstreamError,
    "AccessDeniedException": PermissionDeniedError,
    "UnrecognizedClientException": AuthenticationError,
    "InvalidSignatureException": AuthenticationError,
    "IncompleteSignatureException": AuthenticationError,
    "MissingAuthenticationTokenException": AuthenticationError,
    "MissingAuthenticationToken": AuthenticationError,
    "ExpiredTokenException": AuthenticationError,
    "ResourceNotFoundException": NotFoundError,
    "ModelTimeoutException": APITimeoutError,
    "ModelErrorException": InternalServerError,
    "ModelStreamErrorException": InternalServerError,
    "ModelNotReadyException": OverloadedError,
    "ThrottlingException": RateLimitError,
    "InternalServerException": InternalServerError,
    "ServiceUnavailableException": OverloadedError,
}
"""Exception -> class."""
CODE_CLASSES: dict[str, type[Error]] = {
    "authentication_error": AuthenticationError,
    "billing_error": BillingError,
    "request_too_large": RequestTooLargeError,
    "context_window_exceeded": ContextWindowExceededError,
    "content_policy_violation": ContentPolicyViolationError,
    "incomplete_stream": IncompleteStreamError,
}
"""The codes that we write where an exception says too little, and their classes."""
WORD_CLASSES = EXCEPTIONS | CODE_CLASSES
MODEL_FAILED = frozenset({"ModelErrorException", "ModelStreamErrorException"})
"""Exceptions that another try may mend, whatever their status says."""


def error_of_body(body: bytes, status: int | None, headers: Headers = (), exception: str = "") -> Error:
    """The error that a body stands for; `status` is the answer's own, None in a stream, where `exception` names it."""
    type_name = header(headers, TYPE_HEADER) or exception
    kind = type_name.partition(":")[0].rpartition("#")[2]
    kind = kind[:1].upper() + kind[1:]
    content = _read(body)
    code = next((word for word in content.words if word in CODE_CLASSES), "")
    words = [word for word in (code, kind) if word]
    classified = content._replace(words=tuple(dict.fromkeys([*words, *content.words])))
    error = error_of(classified, status, headers, WORD_CLASSES, retryable=True if kind in MODEL_FAILED else None)
    error.code = kind or error.code
    error.request_id = error.request_id or header(headers, "x-amzn-requestid")
    return error


def _read(body: bytes) -> ErrorBody:
    """The content of a body; AWS's gateways begin its members with a capital."""
    from interlingua.dialects._errors.bodies import read_error

    try:
        value = decode_any(body, repairs=[])
    except (DecodeError, LimitExceededError):
        return read_error(body)
    if is_object(value):
        value = {name[:1].lower() + name[1:]: member for name, member in value.items()}
        kind = value.pop("__type", None)
        if isinstance(kind, str):
            value["type"] = kind.rpartition("#")[2]
    return error_body(value)


ERROR_ROWS: ErrorTable = (
    (AuthenticationError, ErrorRow(403, "AccessDeniedException", "authentication_error")),
    (BillingError, ErrorRow(403, "AccessDeniedException", "billing_error")),
    (PermissionDeniedError, ErrorRow(403, "AccessDeniedException")),
    (NotFoundError, ErrorRow(404, "ResourceNotFoundException")),
    (UnknownModelError, ErrorRow(404, "ResourceNotFoundException")),
    (RequestTooLargeError, ErrorRow(400, "ValidationException", "request_too_large")),
    (LimitExceededError, ErrorRow(400, "ValidationException", "request_too_large")),
    (ContextWindowExceededError, ErrorRow(400, "ValidationException", "context_window_exceeded")),
    (ContentPolicyViolationError, ErrorRow(400, "ValidationException", "content_policy_violation")),
    (BadRequestError, ErrorRow(400, "ValidationException")),
    (RateLimitError, ErrorRow(429, "ThrottlingException")),
    (OverloadedError, ErrorRow(503, "ServiceUnavailableException")),
    (InternalServerError, ErrorRow(500, "InternalServerException")),
    (APITimeoutError, ErrorRow(408, "ModelTimeoutException")),
    (IncompleteStreamError, ErrorRow(500, "InternalServerException", "incomplete_stream")),
    (APIConnectionError, ErrorRow(503, "ServiceUnavailableException")),
    (ConfigError, ErrorRow(500, "InternalServerException")),
    (UsageError, ErrorRow(400, "ValidationException")),
)
"""Class -> status, exception and code; the first row that fits counts."""
OWN_ROWS: dict[str, ErrorRow] = {
    name: ErrorRow(status, name)
    for name, status in (
        ("ServiceQuotaExceededException", 400),
        ("ModelTimeoutException", 408),
        ("ModelErrorException", 424),
        ("ModelStreamErrorException", 424),
        ("ModelNotReadyException", 429),
    )
}
"""Exceptions of the service that are told by their own name, since no class of ours stands for one of them alone."""
STREAMED: dict[str, str] = {
    "ThrottlingException": "throttlingException",
    "ModelNotReadyException": "serviceUnavailableException",
    "ModelErrorException": "modelStreamErrorException",
    "ModelStreamErrorException": "modelStreamErrorException",
    "ServiceUnavailableException": "serviceUnavailableException",
    "InternalServerException": "internalServerException",
    "ModelTimeoutException": "modelStreamErrorException",
}
"""Exception -> how it is called in a stream; any other is one of validation."""


def encode_error_body(error: Error) -> tuple[int, str, dict[str, Any]]:
    """Status, exception and body of an error."""
    code = error.code or ""
    own = OWN_ROWS.get(code) if type(error) is EXCEPTIONS.get(code) else None
    row = own or row_of(ERROR_ROWS, error)
    if row is None:  # an error that the table does not know has the row of its status
        status = error.status if is_upstream(error) and error.status is not None else error.http_status
        row = next(one for kind, one in ERROR_ROWS if issubclass(class_of_status(status), kind) or kind is UsageError)
        row = row._replace(status=told_status(error, row))
    body: dict[str, Any] = {"message": error.message}
    if row.code is not None:
        body["code"] = row.code
    return general_status(error, row) if own is None else own.status, row.word, body


def exception_name(exception: str) -> str:
    """The name of an exception in a stream."""
    return STREAMED.get(exception, "validationException")
