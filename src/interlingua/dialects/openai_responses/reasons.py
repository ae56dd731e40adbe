"""Finish reasons and errors, both ways: the two tables of the dialect.

Rules
- An answer has a status, and an incomplete one a reason; together, as `incomplete/max_output_tokens`, they are the raw
  finish reason.
- Errors over HTTP are those of Chat; an answer or a stream that failed has a code that its own table adds.
Source: vendor references "Responses" and "Error codes", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects._members import is_object
from interlingua.dialects._openai.errors import CODE_CLASSES as HTTP_CODES
from interlingua.dialects._openai.errors import encode_error_body, error_of_body
from interlingua.errors import (
    APITimeoutError,
    BadRequestError,
    ContentPolicyViolationError,
    Error,
)
from interlingua.wire.finish_words import finish_words

if TYPE_CHECKING:
    from interlingua.types.response import FinishReason

__all__ = ["decode_finish", "encode_finish", "error_of_failure", "failure_members", "message_status", "raw_finish"]

FINISH_REASONS = finish_words("openai-responses")
"""Status, with its reason, -> what it means; what is not here is `other`."""
UNFINISHED = frozenset({"queued", "in_progress"})
"""Statuses of an answer that is still made; one that was awaited, and ends so, was given up."""
WIRE_REASONS: dict[FinishReason, str] = {
    "length": "incomplete/max_output_tokens",
    "content_filter": "incomplete/content_filter",
    "error": "failed",
}
"""The reasons that are not sent as `completed`."""


def raw_finish(status: str | None, details: object) -> str | None:
    """The status of an answer, with the reason of an incomplete one behind a slash."""
    reason = details.get("reason") if is_object(details) else None
    return f"{status}/{reason}" if status and isinstance(reason, str) and reason else status


def decode_finish(raw: str | None, *, called: bool, background: bool = False) -> FinishReason:
    """The canonical finish reason of a status; `called` says that there are calls for the client to answer.

    An answer in the `background` is not at its end when it is handed out: its client comes back for it.
    """
    if background and raw in UNFINISHED:
        return "other"
    reason = FINISH_REASONS.get(raw or "completed", "other")
    return "tool_calls" if called and reason == "stop" else reason


def encode_finish(raw: str) -> tuple[str, dict[str, Any] | None]:
    """Status and `incomplete_details` of a raw finish reason."""
    status, _, reason = raw.partition("/")
    return status, {"reason": reason} if reason else None


def message_status(reason: FinishReason) -> str:
    """The status of the message in which an answer ends: one that broke off is not completed."""
    return "incomplete" if reason in WIRE_REASONS else "completed"


# Errors

CODE_CLASSES: dict[str, type[Error]] = {
    "invalid_prompt": BadRequestError,
    "data_residency_mismatch": BadRequestError,
    "vector_store_timeout": APITimeoutError,
    "bio_policy": ContentPolicyViolationError,
    "misalignment_policy_violation": ContentPolicyViolationError,
    "image_content_policy_violation": ContentPolicyViolationError,
    "invalid_image": BadRequestError,
    "invalid_image_format": BadRequestError,
    "invalid_base64_image": BadRequestError,
    "invalid_image_url": BadRequestError,
    "image_too_large": BadRequestError,
    "image_too_small": BadRequestError,
    "image_parse_error": BadRequestError,
    "invalid_image_mode": BadRequestError,
    "image_file_too_large": BadRequestError,
    "unsupported_image_media_type": BadRequestError,
    "empty_image_file": BadRequestError,
    "failed_to_download_image": BadRequestError,
    "image_file_not_found": BadRequestError,
}
"""Codes that only an answer of this dialect has -> class; none of them is worth a retry."""


def error_of_failure(failure: object) -> Error:
    """The error of an answer or an event that failed: `{"code", "message"}`, flat or under `error`."""
    reason = failure if failure and failure is not UNSET else "the answer failed"
    body = error_body(reason if is_object(reason) else {"message": str(reason)})
    kind = CODE_CLASSES.get(body.code or "")
    if kind is None:
        return error_of_body(body, None)
    facts: dict[str, Any] = {"phase": "upstream"} if issubclass(kind, APITimeoutError) else {}
    return kind(body.message, code=body.code, retryable=False, **facts)


def failure_members(error: Error) -> dict[str, Any]:
    """`{"code", "message"}` of an answer that failed; an upstream's own code is kept where its readers know it."""
    _, body = encode_error_body(error)
    members = body["error"]
    code = members["code"] if members["code"] in HTTP_CODES else members["type"]
    return {"code": error.code if error.code in CODE_CLASSES else code, "message": error.message}
