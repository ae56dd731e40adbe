"""The content of a failed answer's body, whatever its shape: one reader for every dialect.

Rules
- Bodies seen: `{"error": {…}}`, an error that is a text, a number, a list or JSON in a text, a flat object, an object
  in a list, `{"detail": …}` of a validation error, `{"errors": […]}`, a problem document, the answer of the server
  behind a router in `metadata.raw`, `{"base_resp": …}`, a bare text, a page, nothing.
- What stands further inside says more, so its words come first; of several errors the first counts.
- Words are only collected here: what they mean is in the tables of each dialect and in `_errors/words`.
Source: corpus of recorded answers; public reports of compatible servers; both read in November 2026. The bodies are in
`tests/golden/error_bodies`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects._answer import BASE, failed_base
from interlingua.dialects._members import is_list, is_object
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.wire.http import Headers

__all__ = ["NO_REASON", "ErrorBody", "beginning", "error_body", "read_error"]

NO_REASON = "the server gave no reason"
"""The message of an error that has none."""
MAX_MESSAGE = 300
"""Characters that are kept of a body that is no JSON."""
MAX_SENTENCE = 4_000
"""Characters that are kept of a reason: some servers repeat the whole request in theirs, pictures among it."""
MAX_NESTING = 4
"""Errors inside of errors, and texts that hold JSON, are read this deep."""
MAX_DELAY_S = 86_400.0
_DELAY = r"(\d+(?:\.\d+)?)s"
_STATUSES = range(400, 600)
_INSIDE = ("error", "errors", "detail")
"""Members that hold an error, or several."""
_SENTENCES = ("message", "msg", "detail", "title")
_STATUS_PLACES = ("code", "status_code", "statusCode", "status")
"""`status` counts in the outermost object alone: further inside, a filter says with it what it would have answered."""
_WORD_PLACES = ("code", "error_code", "type", "error_type")
_NOT_WORDS = frozenset({"error", "about:blank"})
"""Words of a body that say only that it is an error."""


class ErrorBody(NamedTuple):
    """The content of an error body."""

    message: str
    """The reason, for people."""
    words: tuple[str, ...] = ()
    """Every structured code, type, reason and status word, the most precise first; a bare number comes last."""
    status: int | None = None
    """The HTTP status that the body itself names."""
    delay_s: float | None = None
    """Seconds to wait."""
    request_id: str | None = None
    """The provider's id of the request."""
    headers: Headers = ()
    """Headers of the server behind a router, lower case."""

    @property
    def code(self) -> str | None:
        """The most precise word."""
        return self.words[0] if self.words else None


_NOTHING = ErrorBody("")


def read_error(body: bytes) -> ErrorBody:
    """The content of a failed answer's body; the text itself when it is no JSON."""
    try:
        return error_body(decode_any(body, repairs=[]))
    except (DecodeError, LimitExceededError):
        text = " ".join(body[:2000].decode("utf-8", "replace").split())
        return ErrorBody(beginning(text, MAX_MESSAGE) or "an empty body")


def error_body(value: object) -> ErrorBody:
    """The content of a JSON error, in any of the shapes seen."""
    body = _read(value, 0)
    return body._replace(message=beginning(body.message, MAX_SENTENCE) or NO_REASON)


def beginning(text: str, limit: int) -> str:
    """A text, or its first whole words: half a key would not be known for one, and stay in an error."""
    if len(text) <= limit:
        return text
    short = text[: limit - 2]
    return f"{short.rpartition(' ')[0] or short} …"


def _read(value: object, depth: int) -> ErrorBody:
    if depth > MAX_NESTING:
        return _NOTHING
    if is_list(value):
        return _read(value[0], depth + 1) if value else _NOTHING
    if is_object(value):
        own = _members(value, depth)
        inside = next((value[name] for name in _INSIDE if _holds(value.get(name))), None)
        if inside is None:
            state = failed_base(value)
            if state is None:
                return own
            # The codes of a `base_resp` mean other things elsewhere, so that the table has them with its name.
            code, sentence = str(state.get("status_code")), state.get("status_msg")
            words = (code, f"{BASE}:{code}")
            return _joined(ErrorBody(sentence if isinstance(sentence, str) else "", words=words), own)
        return _joined(_read(inside, depth + 1), own)
    if isinstance(value, str):
        return _text(value, depth)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NOTHING
    return ErrorBody("", words=(str(value),), status=_status(value))


def _holds(value: object) -> bool:
    """Whether a member may hold an error: validation errors have places, and are one sentence together."""
    if is_list(value) and value and is_object(value[0]):
        return "loc" not in value[0]
    return bool(value) and value is not True


def _text(text: str, depth: int) -> ErrorBody:
    """A sentence, or an error that some server in between has written as text."""
    if text.lstrip().startswith(("{", "[{")):
        try:
            body = _read(decode_any(text, repairs=[]), depth + 1)
        except (DecodeError, LimitExceededError):
            return ErrorBody(text)
        return body if body.message else body._replace(message=text)
    return ErrorBody(text)


def _joined(inside: ErrorBody, own: ErrorBody) -> ErrorBody:
    numbers = tuple(word for word in inside.words + own.words if _status(word) is not None)
    words = tuple(word for word in inside.words + own.words if word not in numbers)
    return ErrorBody(
        inside.message or own.message,
        tuple(dict.fromkeys(words + numbers)),
        inside.status or own.status,
        own.delay_s if inside.delay_s is None else inside.delay_s,
        inside.request_id or own.request_id,
        inside.headers or own.headers,
    )


def _members(value: dict[str, Any], depth: int) -> ErrorBody:
    """The content of one object, by itself, and what a router tells in it of the server behind it."""
    sentence = next((text for name in _SENTENCES if (text := _sentence(value.get(name)))), "")
    inner = _text(sentence, depth)
    listing: object = value.get("details")  # Google's errors have a list of them, Anthropic's one object
    listing = [listing] if is_object(listing) else listing
    details = [detail for detail in listing if is_object(detail)] if is_list(listing) else []
    places = _STATUS_PLACES[: None if depth == 0 else -1]
    delays = [re.fullmatch(_DELAY, str(detail.get("retryDelay"))) for detail in details]
    own = ErrorBody(
        inner.message,
        _words(value, [*details, value] if depth == 0 else details),
        next((status for name in places if (status := _status(value.get(name))) is not None), None),
        next((min(float(delay[1]), MAX_DELAY_S) for delay in delays if delay is not None), None),
        next((request_id for place in (value, *details) if (request_id := _request_id(place))), None),
    )
    own = _joined(inner, own) if inner.words else own
    metadata = value.get("metadata")
    if not is_object(metadata):
        return own
    # The server behind a router: its words, its headers, its own sentence.
    kind = metadata.get("error_type")
    words = (kind,) if isinstance(kind, str) and kind else ()
    words += ("flagged_input",) if "flagged_input" in metadata else ()
    headers = metadata.get("headers")
    limits = tuple((str(name).lower(), str(text)) for name, text in headers.items()) if is_object(headers) else ()
    raw = _read(metadata.get("raw"), depth + 1)
    both = _joined(ErrorBody("", words + raw.words, delay_s=raw.delay_s, headers=limits), own)
    sentence = raw.message if not raw.message.startswith("{") else ""
    return both._replace(message=f"{own.message.rstrip('.')}: {sentence}" if sentence else own.message)


def _sentence(value: object) -> str:
    if isinstance(value, str):
        return value
    if is_list(value):
        phrases = [
            f"{'/'.join(map(str, loc if is_list(loc := entry['loc']) else ()))}: {entry.get('msg', '')}"
            for entry in value
            if is_object(entry) and "loc" in entry
        ]
        return "; ".join(phrases)
    return ""


def _words(value: dict[str, Any], details: list[dict[str, Any]]) -> tuple[str, ...]:
    candidates = [detail.get(name) for detail in details for name in ("error_code", "reason")]
    candidates += [str(value[name]) if type(value.get(name)) is int else value.get(name) for name in _WORD_PLACES]
    candidates.append(value.get("status"))
    words = [word for word in candidates if isinstance(word, str) and word and word not in _NOT_WORDS]
    if value.get("param") == "input_tokens":
        words.append("param:input_tokens")
    numbers = [word for word in words if _status(word) is not None]
    return tuple(dict.fromkeys([word for word in words if word not in numbers] + numbers))


def _status(value: object) -> int | None:
    """The status that a number is, or a text of three digits; None for anything else."""
    number = int(value) if isinstance(value, str) and len(value) == 3 and value.isdecimal() else value
    return number if type(number) is int and number in _STATUSES else None


def _request_id(place: dict[str, Any]) -> str | None:
    return next((place[name] for name in ("request_id", "requestId") if isinstance(place.get(name), str)), None)
