"""Envelopes of bodies: errors in the client's dialect, headers that name the target and the changes.

Rules
- `x-interlingua-target` is who served, `-skipped` who did not and why, `-changes` what translation changed (2 kB, then
  how many more), `-cost-usd` what it cost where that is known.
- A chain of which every target says the same is sent as that, where its client can do something about it: shorten what
  it asks, wait, leave out what nobody takes. Any other exhausted chain is a 502.
- Rate limits are told under the names that the client's SDK knows, whoever's they are.
- A header holds visible ASCII alone: nothing that a client or an upstream wrote can break out of it.
- LiteLLM, langchain and many agents look for phrases: the vendor's comes first, our detail after it. A message that has
  the phrase is left as it is.
- Only what the gateway tells its clients is worded so. The codec keeps the message of an error, so that it is the same
  error again where it is read.
- The member `provider` is for clients that ask under OpenRouter's path, or with the headers by which its clients name
  their application: these insist on it. What a provider says of it itself stays, and so do passed frames without it.
"""

from __future__ import annotations

import asyncio
import re
from copy import copy
from math import ceil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec.structs import replace

from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_dialect, get_service, services
from interlingua.errors import (
    AuthenticationError,
    ChainExhaustedError,
    ContextWindowExceededError,
    DecodeError,
    InternalServerError,
    LimitExceededError,
    NotFoundError,
    OverloadedError,
    RateLimitError,
    RequestTooLargeError,
    UnsupportedError,
)
from interlingua.gateway.http import GatewayReply
from interlingua.types.event import StreamStart
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlingua.dialects._contract import Dialect
    from interlingua.errors import Error
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.limit import RateLimit
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = [
    "MAX_CHANGES_BYTES",
    "changes_text",
    "cut_off",
    "error_reply",
    "in_brief",
    "kept_headers",
    "limit_headers",
    "names_provider",
    "own_fault",
    "own_headers",
    "reply_as_sent",
    "reply_of",
    "start_with_provider",
    "trail_headers",
    "translated_reply",
    "visible",
    "with_provider",
    "with_way_out",
    "wording",
]

MAX_CHANGES_BYTES = 2_048
"""How long the list of changes in a header may get."""
_IDS = frozenset({"x-request-id", "request-id"})
_ACTED_UPON: dict[str, type[Error]] = {
    kind.__name__: kind for kind in (ContextWindowExceededError, RateLimitError, RequestTooLargeError, UnsupportedError)
}
_SECONDS = re.compile(r"\d+(\.\d+)?(e\+?\d+)?", re.ASCII)
_UNSAFE = re.compile(r"[^\x20-\x7e]+")


def error_reply(dialect: str, error: Error, *, path: str = "") -> GatewayReply:
    """An error in the body of a dialect, with the tries that led to it and the limits that were hit."""
    error = _common_error(error)
    if isinstance(error, LimitExceededError) and (error.attempts or error.status == 502):
        # A target that sent more than we read is at fault itself: a 413 would have the client shorten what it asks.
        error = DecodeError(error.message, status=502, attempts=error.attempts)
    if isinstance(error, AuthenticationError) and error.attempts:  # else its client thinks that its own key is meant
        error.args = (f"{error.attempts[-1].model} refused the key that this gateway has for it: {error.message}",)
    message, worded = wording(dialect, error), error
    if message != error.message:
        worded = copy(error)
        worded.args = (message, *error.args[1:])
    reply = get_dialect(dialect).encode_error(worded, ServerContext(path=path))
    changes: tuple[Change, ...] = getattr(error, "changes", ())
    headers = (*limit_headers(dialect, error.rate_limits), *trail_headers(error.attempts, changes))
    return reply_of(reply, headers)


def _common_error(error: Error) -> Error:
    """The error of a chain of which every target says the same thing that its client can act upon, sent as that."""
    classes = {attempt.model: attempt.error_class for attempt in error.attempts}  # of several tries the last counts
    first, *others = set(classes.values()) or {None}
    kind = None if others or first is None else _ACTED_UPON.get(first)
    if not isinstance(error, ChainExhaustedError) or kind is None:
        return error
    cause = error.__cause__ if isinstance(error.__cause__, kind) else None
    if kind is UnsupportedError:
        changes = cause.changes if isinstance(cause, UnsupportedError) else ()
        return UnsupportedError(error.message, changes=changes, attempts=error.attempts)
    return kind(
        error.message,
        status=None if cause is None else cause.status,
        code=None if cause is None else cause.code,
        rate_limits={} if cause is None else cause.rate_limits,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        attempts=error.attempts,
    )


def reply_of(reply: HttpReply, headers: Headers) -> GatewayReply:
    """A dialect's reply with further headers; the upstream's id of the request steps aside for ours."""
    return GatewayReply(status=reply.status, headers=own_headers(reply.headers) + headers, body=reply.body)


def own_headers(headers: Headers) -> Headers:
    """The headers of a dialect's reply as clients get them; mostly they are the same."""
    return _own_headers[headers]


def _find_own_headers(headers: Headers) -> Headers:
    own: list[tuple[str, str]] = []
    for name, value in headers:
        if name in _IDS:
            own.append((f"x-interlingua-upstream-{name}", value))
        elif name == "retry-after" and _SECONDS.fullmatch(value):
            own.append((name, str(ceil(float(value)))))  # HTTP knows whole ones; who came too early would be refused
        else:
            own.append((name, value))
    return tuple(own)


_own_headers = ByteCache(500_000, _find_own_headers)


def in_brief(attempt: Attempt) -> str:
    """Why a try did not serve, up to the sentence: the class of its error, or for how long its target is benched."""
    return (attempt.error or attempt.outcome).partition(":")[0]


def trail_headers(
    attempts: Sequence[Attempt], changes: Sequence[Change] = (), cost_usd: float | None = None
) -> Headers:
    """The headers with the target, the tries, the changes, and the cost."""
    if len(attempts) == 1 and attempts[0].outcome == "served" and not changes and cost_usd is None:
        return _targets[attempts[0].model]
    headers: list[tuple[str, str]] = []
    skipped: list[str] = []
    for attempt in attempts:
        if attempt.outcome == "served":
            headers += _targets[attempt.model]
        else:
            skipped.append(f"{attempt.model} ({attempt.outcome}: {in_brief(attempt)})")
    if skipped:
        headers.append(("x-interlingua-skipped", visible(", ".join(skipped))))
    if changes and (listing := changes_text(changes)):
        headers.append(("x-interlingua-changes", listing))
    if cost_usd is not None:
        headers.append(("x-interlingua-cost-usd", f"{cost_usd:.9f}".rstrip("0").rstrip(".")))
    return tuple(headers)


def _target(model: str) -> Headers:
    """The header with the target."""
    return (("x-interlingua-target", visible(model)),)


_targets = ByteCache(500_000, _target)


def changes_text(changes: Iterable[Change]) -> str:
    """Changes as a list of `action code path`, as many as fit, then `+n` for the rest."""
    entries: list[str] = []
    for change in changes:
        # A repair of an answer has no place in the canonical form; its detail is the place on the wire.
        path = change.path or (change.detail if change.detail.startswith("/") else "")
        entries.append(f"{change.action} {change.code} {quote(path, safe='/~')}".rstrip())
    shown, length = 0, 0
    for entry in entries:
        length += len(entry) + 2
        if length > MAX_CHANGES_BYTES - 8:
            break
        shown += 1
    rest = len(entries) - shown
    return ", ".join([*entries[:shown], *([f"+{rest}"] if rest else [])])


def limit_headers(dialect: str, limits: dict[str, RateLimit]) -> Headers:
    """A provider's rate limits, under the names that clients of `dialect` look for."""
    if not limits:
        return ()
    headers: list[tuple[str, str]] = []
    service = get_service(dialect)
    for name, limit in limits.items():
        reset: str | None = None
        if limit.reset_s is not None and service.limit_resets_at:
            from datetime import UTC, datetime, timedelta  # only who is told of limits pays for it

            reset = (datetime.now(UTC) + timedelta(seconds=limit.reset_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        elif limit.reset_s is not None:
            reset = f"{limit.reset_s:g}s"
        values: dict[str, Any] = {"limit": limit.limit, "remaining": limit.remaining, "reset": reset}
        for what, value in values.items():
            if value is not None:
                headers.append((service.limit_header.format(word=name.replace("_", "-"), what=what), str(value)))
    return tuple(headers)


def visible(text: str) -> str:
    """A text as a header may hold it: what is no visible ASCII as question marks, and no more than 2 kB."""
    if not (text.isascii() and text.isprintable()):
        text = _UNSAFE.sub("?", text)
    return text[:MAX_CHANGES_BYTES]


def own_fault(error: Exception) -> Error:
    """The error that a client gets for a fault of ours; the log has the rest."""
    import logging  # only a fault of ours needs it

    logging.getLogger("interlingua.gateway").error("a request failed inside the gateway", exc_info=error)
    return InternalServerError("the gateway failed inside; its log says why, under the id of this request", status=500)


# The words of a surface's vendor for errors, by which its clients tell the classes


_NO_MODELS = frozenset({"unknown_url", "response_not_found", "id_not_found"})
"""Codes of ours for what was not found and is no model."""


def wording(dialect: str, error: Error) -> str:
    """The message of an error as a surface of `dialect` tells it; of an answer that cannot be read, with its target."""
    phrase = get_service(dialect).phrases.get(type(error))
    if error.is_unreadable or isinstance(error, DecodeError):
        return str(error)
    if phrase is None:
        return error.message
    message, wait = error.message, error.retry_after_s
    low = message.lower()
    is_no_model = isinstance(error, NotFoundError) and ("model" not in low or error.code in _NO_MODELS)
    if phrase.mark not in low and not is_no_model:
        message = f"{phrase.sentence} {message}"
    if not phrase.wait or wait is None or "try again in" in message:
        return message
    return f"{message.rstrip('.')}. Please try again in {wait:g}s."


# Refused references to media


_WAY_OUT = "send its bytes (base64), or start the gateway with --allow-fetch"


def with_way_out(error: UnsupportedError) -> UnsupportedError:
    """The refusal; one of a reference says what to do about it."""
    if not any(change.code == "media_refs" for change in error.changes):
        return error
    refusal = UnsupportedError(f"{error.message}; {_WAY_OUT}", changes=error.changes, status=error.status)
    refusal.attempts = error.attempts
    return refusal


# Requests that the end of the gateway cuts off


def cut_off(cancelled: asyncio.CancelledError, *, is_ending: bool) -> OverloadedError:
    """The error to tell in the place of a cancellation that is the gateway's own end.

    Raises: the cancellation itself where it is anybody else's.
    """
    if is_ending and (task := asyncio.current_task()) is not None:
        task.uncancel()
        return OverloadedError("this gateway is being stopped, and the time to finish is over; ask again", status=503)
    try:
        raise cancelled
    finally:
        del cancelled  # its traceback has this frame, and with it the request would wait for the collector


# Headers of a provider's reply that are passed on


_KEPT = ("x-ratelimit-", "retry-after", *[name for each in services().values() for name in each.limit_prefixes])
"""How headers of a reply begin that are passed on."""


def kept_headers(headers: Headers) -> Headers:
    """The headers of a reply that are the client's business."""
    return tuple([pair for pair in headers if _is_kept[pair[0]]])


def _is_passed_on(name: str) -> bool:
    return name.startswith(_KEPT)


_is_kept = ByteCache(200_000, _is_passed_on)
"""Whether headers are passed on, by their names; servers have the same ones each time."""

# The member `provider`


def names_provider(http: GatewayRequest, dialect: str) -> bool:
    """Whether a client of `dialect` asks as OpenRouter is asked."""
    service = get_service(dialect) if dialect else None
    if service is None or not service.provider_paths:
        return False
    return http.path.startswith(service.provider_paths) or any(
        [name in http.named for name in service.provider_headers]
    )


def with_provider(response: Response[Any], provider: str, dialect: str) -> Response[Any]:
    """The answer to a client of `dialect` with who gave it, unless that says so itself."""
    return replace(response, extra=_extra(response.extra, provider, dialect))


def start_with_provider(event: Event, provider: str, dialect: str) -> Event:
    """The event with who gives the answer, where it is the start."""
    if not isinstance(event, StreamStart):
        return event
    return replace(event, extra=_extra(event.extra, provider, dialect))


def _extra(extra: dict[str, dict[str, Any]], provider: str, dialect: str) -> dict[str, dict[str, Any]]:
    return {**extra, dialect: {"provider": provider, **extra.get(dialect, {})}}


# Whole answers


def reply_as_sent(
    dialect: Dialect,
    reply: HttpReply,
    response: Response[Any],
    context: Callable[[], ServerContext],
    *,
    is_whole: bool = True,
) -> tuple[HttpReply, Response[Any]]:
    """The reply that a client of the same dialect gets for one that says `response`, and what it says then.

    `context` tells how an answer is written; a reply in normal form is passed on without the changes of reading it.
    `is_whole` says that the body holds all that the client is to get.
    """
    made = [change for change in response.changes if change.stage == "decode_response"]
    is_harmless = not made or dialect.frame_check().harmless.issuperset([change.code for change in made])
    if is_whole and is_harmless and dialect.is_normal(reply.body):
        if made:
            response = replace(response, changes=tuple([one for one in response.changes if one not in made]))
        return reply, response
    facts = context()
    encoded = dialect.encode_response(response, replace(facts, model=response.wire_model or facts.model))
    return replace(encoded, headers=reply.headers), response


def translated_reply(dialect: Dialect, response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's dialect."""
    reply = dialect.encode_response(response, context)
    limits = limit_headers(dialect.name, response.rate_limits) if response.rate_limits else ()
    return replace(reply, headers=own_headers(reply.headers) + limits)
