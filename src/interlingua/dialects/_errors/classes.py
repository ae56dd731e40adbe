"""Errors of all dialects: the class of a status, when to come back, and who named the request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from interlingua.dialects._errors.words import BOUND_THINKING, LACKS, PHRASES, WORDS
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    DecodeError,
    Error,
    InternalServerError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    UpstreamError,
)
from interlingua.wire.http import header
from interlingua.wire.limits import rate_limits, wait_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlingua.dialects._errors.bodies import ErrorBody
    from interlingua.types.capabilities import Feature
    from interlingua.wire.http import Headers

__all__ = [
    "COMMON_STATUSES", "STATUS_CLASSES", "VAGUE_CLASSES", "ErrorRow", "ErrorTable", "class_of", "class_of_status",
    "error_of", "general_status", "is_upstream", "known_class", "lacking_of", "make_error", "precise_class",
    "request_id", "retry_after_s", "row_of", "should_retry", "told_status",
]  # fmt: skip

STATUS_CLASSES: dict[int, type[Error]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: BillingError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: BadRequestError,
    408: APITimeoutError,
    409: UpstreamError,
    413: RequestTooLargeError,
    422: BadRequestError,
    429: RateLimitError,
    498: OverloadedError,  # Groq: the flex tier is full
    503: OverloadedError,
    504: APITimeoutError,
    529: OverloadedError,
}
"""The class of a status when nothing more precise is known."""
VAGUE_CLASSES: dict[type[Error], int] = {BadRequestError: 4, InternalServerError: 5}
"""Classes that say no more than the first digit of a status, which with its other two is more precise."""
VAGUE_WORDS = frozenset({"invalid_request_error", "INVALID_ARGUMENT"})
"""Words that every bad request has; another one beside them says more."""
_REFUSALS = frozenset({PermissionDeniedError, RateLimitError})
"""Classes that an account without money has, too, where its server has no word for that."""
_MAY_LACK = frozenset({BadRequestError, InternalServerError, NotFoundError})
"""Classes by which a server refuses what it does not take; llama.cpp says 500, OpenRouter 404."""
_LONGEST = 1_000
"""Sentences that say what a server lacks are shorter."""
COMMON_STATUSES = frozenset(range(400, 512)) - {498}
"""Statuses that every client knows. Others belong to one family: 498 of Groq, 529 of Messages, 52x of a proxy."""
RETRYABLE_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "mistral-correlation-id", "x-goog-request-id", "cf-ray")
MAX_RETRY_AFTER_S = 86_400.0
"""A wish to wait longer than a day is read as a day."""


def class_of_status(status: int) -> type[Error]:
    """The class of an HTTP status: one of the table, else the request's fault (4xx) or the server's."""
    kind = STATUS_CLASSES.get(status)
    if kind is not None:
        return kind
    return BadRequestError if 400 <= status < 500 else InternalServerError


def known_class(kind: type[Error] | None, status: int | None) -> type[Error]:
    """`kind` where the body names one, else the class of the status; the server's fault where neither is known."""
    return kind or (InternalServerError if status is None else class_of_status(status))


def precise_class(kind: type[Error] | None, status: int | None) -> type[Error]:
    """The class of an error, where the status decides if the body's class says no more than its first digit.

    A server that blames itself in general words beside a status of the table is believed the status.
    """
    vague = kind is not None and status is not None and VAGUE_CLASSES.get(kind) == status // 100
    vague = vague or (kind is InternalServerError and status in STATUS_CLASSES)
    return known_class(None if vague else kind, status)


def class_of(body: ErrorBody, status: int | None, table: Mapping[str, type[Error]]) -> type[Error]:
    """The class of an error: by its words, else by the status; by a phrase where neither says more than a bad request.

    What is refused or limited may be so for want of money, which some servers say in a phrase alone. `table` holds the
    dialect's own words; what compatible servers say beside them is known to all.
    """
    words = [word for word in body.words if word in table or word in WORDS]
    word = next((word for word in words if word not in VAGUE_WORDS), words[0] if words else "")
    kind = precise_class(table.get(word) or WORDS.get(word), status)
    is_vague = kind is BadRequestError or (kind is InternalServerError and status is None)
    if is_vague or kind in _REFUSALS:
        phrases = [(phrase, finer) for phrase, finer in PHRASES if is_vague or finer is BillingError]
        return next((finer for phrase, finer in phrases if re.search(phrase, body.message)), kind)
    return kind


def error_of(
    body: ErrorBody,
    status: int | None,
    headers: Headers,
    table: Mapping[str, type[Error]],
    *,
    retryable: bool | None = None,
) -> Error:
    """The error that a body stands for; `status` is the answer's own, None inside a stream or a 200."""
    status = status or body.status
    kind = class_of(body, status, table)
    lacking = lacking_of(body.message) if kind in _MAY_LACK else None
    error = make_error(
        kind,
        body.message,
        status=status,
        code=body.code,
        headers=headers + body.headers,
        retryable=retryable if lacking is None else False,
    )
    if error.retry_after_s is None:
        error.retry_after_s = body.delay_s
    error.request_id = error.request_id or body.request_id
    error.lacking = lacking
    error.has_bound_thinking = kind is BadRequestError and re.match(BOUND_THINKING, body.message) is not None
    return error


def lacking_of(message: str) -> Feature | None:
    """The feature that a server refuses in this sentence; None where it refuses none."""
    return next((feature for phrase, feature in LACKS if re.fullmatch(phrase, message.strip()[:_LONGEST])), None)


class ErrorRow(NamedTuple):
    """How a class looks on the wire."""

    status: int
    """The HTTP status."""
    word: str
    """The word for it: a type, or whatever the wire has in its place."""
    code: str | None = None
    """The structured code, where the word says too little."""


ErrorTable: TypeAlias = tuple[tuple[type[Error], ErrorRow], ...]
"""Class -> how it looks; the first row that fits counts."""


def row_of(table: ErrorTable, error: Error) -> ErrorRow | None:
    """The row of an error; a client's bytes that cannot be read look like any bad request."""
    match = next((row for kind, row in table if isinstance(error, kind)), None)
    if match is None and isinstance(error, DecodeError) and error.status == 400:
        return dict(table)[BadRequestError]
    return match


def is_upstream(error: Error) -> bool:
    """Whether a server answered with the error, so that its own status and code count."""
    return isinstance(error, UpstreamError | APITimeoutError)


def told_status(error: Error, row: ErrorRow) -> int:
    """The status to answer with: an upstream's own where every client knows it, else the row's."""
    status = error.status
    return status if is_upstream(error) and status is not None and status in COMMON_STATUSES else row.status


def general_status(error: Error, row: ErrorRow) -> int:
    """The status to answer with where a word mostly has one status of its own.

    An upstream's own is kept beside the two words that stand for many: a bad request, and a server that failed.
    """
    status = told_status(error, row)
    is_general = type(error) is InternalServerError or (type(error) is BadRequestError and status < 500)
    return status if is_general else row.status


def retry_after_s(headers: Iterable[tuple[str, str]]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds, or a date read against the `date` header)."""
    headers = tuple(headers)
    milliseconds = _number(header(headers, "retry-after-ms"))
    if milliseconds is not None:
        return _clamp(milliseconds / 1000)
    value = header(headers, "retry-after")
    seconds = _number(value)
    return _clamp(seconds) if seconds is not None else _from_date(value, header(headers, "date"))


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _clamp(seconds: float) -> float | None:
    return min(seconds, MAX_RETRY_AFTER_S) if seconds >= 0 else None


def _from_date(value: str | None, now: str | None) -> float | None:
    if value is None or now is None:
        return None
    from email.utils import parsedate_to_datetime  # 10 ms, sockets among it: only who is told a date pays for it

    try:
        return _clamp(max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(now)).total_seconds()))
    except (OverflowError, TypeError, ValueError):
        return None


def should_retry(headers: Headers) -> bool | None:
    """The value of `x-should-retry`; it overrules the status."""
    return {"true": True, "false": False}.get((header(headers, "x-should-retry") or "").lower())


def request_id(headers: Headers) -> str | None:
    """The provider's id of the request."""
    return next((value for name in REQUEST_ID_HEADERS if (value := header(headers, name))), None)


def make_error(
    kind: type[Error],
    message: str,
    *,
    status: int | None,
    code: str | None,
    headers: Headers,
    retryable: bool | None = None,
) -> Error:
    """An error of a class with everything that the answer says about it."""
    overruled = should_retry(headers)
    if overruled is None:
        overruled = retryable
    if overruled is None and kind is UpstreamError and status is not None:
        overruled = status in RETRYABLE_STATUSES
    facts: dict[str, Any] = {"phase": "upstream"} if issubclass(kind, APITimeoutError) else {}
    limits = rate_limits(headers)
    wait = retry_after_s(headers)
    if wait is None and issubclass(kind, RateLimitError):
        wait = wait_s(limits)
    return kind(
        message,
        retryable=overruled,
        retry_after_s=wait,
        status=status,
        code=code,
        request_id=request_id(headers),
        rate_limits=limits,
        **facts,
    )
