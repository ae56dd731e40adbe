"""One try of one target: the request that is sent to it, and the answer that its reply holds.

What a whole reply and the end of a stream have in common is done here, from the price to the error of broken arguments.

Not responsible for: which target is tried, and how often (`chain`); how a stream goes on (`live`, `core`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.call.effect import Fetch, Steps, Work
from interlingua.client.call.encoding import encode, encoding
from interlingua.client.call.report import warn
from interlingua.client.call.transports import carrier_of
from interlingua.client.call.values import Call, CallTarget
from interlingua.client.meter import count
from interlingua.client.price import cost_of
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects._reply_head import read_reply_head
from interlingua.errors import Error, WireError
from interlingua.media.fit import has_media, plan_media
from interlingua.stream.failure import fault
from interlingua.wire.http import HttpReply

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import Encoded
    from interlingua.transport.base import AsyncReply, Reply, Timeouts
    from interlingua.types.change import Change
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers, HttpRequest

__all__ = [
    "Sent",
    "answered",
    "completed",
    "context_of",
    "deadlines",
    "fetching",
    "out_of_place",
    "prepared",
    "refusal",
    "sent",
    "whole",
]


class Sent(NamedTuple):
    """A request that was sent to one target, and the head of its reply."""

    call: Call
    """The call."""
    target: CallTarget
    """The target."""
    encoded: Encoded
    """The encoded request."""
    reply: Reply | AsyncReply
    """The reply; its body is still to be read."""


def prepared(call: Call, target: CallTarget, *, stream: bool) -> Steps[Encoded]:
    """The request on the wire of one target, with media that it takes.

    Raises: as `encode`; UsageError for media that are broken or too large for anybody.
    """
    plan = plan_media(call.request, target.endpoint, call.settings.allow)
    changes: tuple[Change, ...] = ()
    if plan is not None:
        request, changes = (yield Work(plan.run)) if plan.heavy else plan.run()
        call = msgspec.structs.replace(call, request=request)
    if call.writer is None:
        return encode(call, target, stream=stream, fitted=changes)
    return (yield from encoding(call, target, stream=stream, fitted=changes))


def context_of(call: Call, target: CallTarget, encoded: Encoded) -> DecodeContext:
    """The context with which the dialect of a target reads its answer."""
    return DecodeContext(
        target=target.endpoint.target, undo=encoded.undo, make_id=call.make_id, provider_ids=call.provider_ids
    )


def sent(call: Call, target: CallTarget, encoded: Encoded, *, stream: bool) -> HttpRequest:
    """An encoded request as it goes out; whoever is to be told of it was told."""
    if encoded.changes and call.settings.warns:
        warn(target.endpoint.spec, encoded.changes)
    request = target.endpoint.http_request(
        encoded, stream=stream, with_credential=call.with_credential, headers=call.settings.headers
    )
    if call.watch is not None:
        call.watch.sends(request)
    return request


def deadlines(call: Call, *, stream: bool) -> Timeouts:
    """The deadlines of one try: an answer has to begin in time, and a whole one has to be there."""
    timeouts = call.settings.timeouts
    if call.answer_by_s is None:  # the usual case
        return timeouts
    left_s = max(0.001, call.answer_by_s - call.clock())
    phases = ("connect_s", "pool_s", "first_byte_s") if stream else ("total_s",)
    before = {name: getattr(timeouts, name) for name in phases}
    sooner = {name: left_s if seconds is None else min(seconds, left_s) for name, seconds in before.items()}
    return msgspec.structs.replace(timeouts, **sooner)


def whole(call: Call, target: CallTarget) -> Steps[Response[Any]]:
    """The answer of one target, as a whole.

    Raises: every `Error` but those of streams and chains.
    """
    if call.writer is not None or has_media(call.request.messages):
        encoded = yield from prepared(call, target, stream=False)
    else:
        encoded = encode(call, target, stream=False)
    reply = yield fetching(call, target, encoded)
    return answered(call, target, encoded, reply)


def fetching(call: Call, target: CallTarget, encoded: Encoded) -> Fetch:
    """The effect that sends an encoded request and brings the whole reply.

    Raises: ConfigError for a missing or unreadable key.
    """
    timeouts = call.settings.timeouts if call.answer_by_s is None else deadlines(call, stream=False)
    is_usual = call.settings.carrier is None and target.endpoint.carrier is None  # quicker to see
    carrier = None if is_usual else carrier_of(call, target)
    return Fetch(sent(call, target, encoded, stream=False), timeouts, carrier)


def answered(
    call: Call,
    target: CallTarget,
    encoded: Encoded,
    reply: HttpReply,
    decode: Callable[[HttpReply, DecodeContext], Response[Any]] | None = None,
) -> Response[Any]:
    """The answer that a whole reply holds; `decode` reads it where the dialect's own reader of answers does not.

    Raises: the error that the reply tells of; DecodeError; MalformedArgumentsError.
    """
    context = context_of(call, target, encoded)
    if not 200 <= reply.status < 300:
        raise refusal(target, reply, context)
    try:
        decoded = (decode or target.dialect.decode_response)(reply, context)
    except WireError as error:
        if misplaced := out_of_place(target, reply):
            raise misplaced from None
        from interlingua.client.call.misplaced import unreadable  # only who is sent such a thing needs it

        error = unreadable(target.endpoint.spec, reply, error)
        error.is_unreadable = True
        raise error from None
    response = completed(call, target, encoded, reply.headers, decoded)
    if call.settings.raw:
        from interlingua.client.call.raw import with_raw_body  # only who asks for it pays for it

        response = with_raw_body(response, reply.body, target.dialect.name)
    if error := fault(response):
        raise error
    return response


def refusal(target: CallTarget, reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a reply tells of; a redirect tells of none, and is followed by nobody."""
    error = out_of_place(target, reply) if reply.status < 400 else None
    return error or target.dialect.decode_error(reply, context)


def out_of_place(target: CallTarget, reply: HttpReply) -> Error | None:
    """The error of a reply that cannot be an answer, such as a proxy's page."""
    from interlingua.client.call.misplaced import misplaced  # only who is sent such a thing needs it

    return misplaced(target.endpoint.spec, reply)


def completed(
    call: Call, target: CallTarget, encoded: Encoded, headers: Headers, response: Response[Any]
) -> Response[Any]:
    """A decoded response with what the call knows of it: target, request, changes, limits, price; meters count it."""
    if encoded.undo.output_tool:
        from interlingua.client.typed.fallbacks import unwrapped

        response = unwrapped(response, encoded.undo.output_tool)
    request_id, limits = read_reply_head(headers)
    filled = msgspec.structs.replace(
        response,
        model=target.endpoint.spec,
        request_id=request_id,
        rate_limits=limits,
        changes=encoded.changes + response.changes,
        request=call.request,
        cost_usd=cost_of(call, target, response),
    )
    count(filled)
    return filled
