"""One try of one target: the request that is sent to it, and the answer that its reply holds.

What a whole reply and the end of a stream have in common is done here, from the price to the error of broken arguments.

Not responsible for: which target is tried, and how often (`chain`); how a stream goes on (`live`, `core`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.call.effect import Fetch, Steps, Work
from interlingua.client.call.encoding import encode, encoding
from interlingua.client.call.job import Job, Lane
from interlingua.client.call.report import warn
from interlingua.client.call.transports import carrier_of
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

    job: Job
    """The job of the call."""
    lane: Lane
    """The target."""
    encoded: Encoded
    """The encoded request."""
    reply: Reply | AsyncReply
    """The reply; its body is still to be read."""


def prepared(job: Job, lane: Lane, *, stream: bool) -> Steps[Encoded]:
    """The request on the wire of one target, with media that it takes.

    Raises: as `encode`; UsageError for media that are broken or too large for anybody.
    """
    plan = plan_media(job.request, lane.endpoint, job.settings.allow)
    changes: tuple[Change, ...] = ()
    if plan is not None:
        request, changes = (yield Work(plan.run)) if plan.heavy else plan.run()
        job = msgspec.structs.replace(job, request=request)
    if job.writer is None:
        return encode(job, lane, stream=stream, fitted=changes)
    return (yield from encoding(job, lane, stream=stream, fitted=changes))


def context_of(job: Job, lane: Lane, encoded: Encoded) -> DecodeContext:
    """The context with which the dialect of a target reads its answer."""
    return DecodeContext(
        target=lane.endpoint.target, undo=encoded.undo, make_id=job.make_id, provider_ids=job.provider_ids
    )


def sent(job: Job, lane: Lane, encoded: Encoded, *, stream: bool) -> HttpRequest:
    """An encoded request as it goes out; whoever is to be told of it was told."""
    if encoded.changes and job.settings.warns:
        warn(lane.endpoint.spec, encoded.changes)
    request = lane.endpoint.http_request(
        encoded, stream=stream, with_credential=job.with_credential, headers=job.settings.headers
    )
    if job.watch is not None:
        job.watch.sends(request)
    return request


def deadlines(job: Job, *, stream: bool) -> Timeouts:
    """The deadlines of one try: an answer has to begin in time, and a whole one has to be there."""
    timeouts = job.settings.timeouts
    if job.answer_by_s is None:  # the usual case
        return timeouts
    left_s = max(0.001, job.answer_by_s - job.clock())
    phases = ("connect_s", "pool_s", "first_byte_s") if stream else ("total_s",)
    before = {name: getattr(timeouts, name) for name in phases}
    sooner = {name: left_s if seconds is None else min(seconds, left_s) for name, seconds in before.items()}
    return msgspec.structs.replace(timeouts, **sooner)


def whole(job: Job, lane: Lane) -> Steps[Response[Any]]:
    """The answer of one target, as a whole.

    Raises: every `Error` but those of streams and chains.
    """
    if job.writer is not None or has_media(job.request.messages):
        encoded = yield from prepared(job, lane, stream=False)
    else:
        encoded = encode(job, lane, stream=False)
    reply = yield fetching(job, lane, encoded)
    return answered(job, lane, encoded, reply)


def fetching(job: Job, lane: Lane, encoded: Encoded) -> Fetch:
    """The effect that sends an encoded request and brings the whole reply.

    Raises: ConfigError for a missing or unreadable key.
    """
    timeouts = job.settings.timeouts if job.answer_by_s is None else deadlines(job, stream=False)
    is_usual = job.settings.carrier is None and lane.endpoint.carrier is None  # quicker to see
    carrier = None if is_usual else carrier_of(job, lane)
    return Fetch(sent(job, lane, encoded, stream=False), timeouts, carrier)


def answered(
    job: Job,
    lane: Lane,
    encoded: Encoded,
    reply: HttpReply,
    decode: Callable[[HttpReply, DecodeContext], Response[Any]] | None = None,
) -> Response[Any]:
    """The answer that a whole reply holds; `decode` reads it where the dialect's own reader of answers does not.

    Raises: the error that the reply tells of; DecodeError; MalformedArgumentsError.
    """
    context = context_of(job, lane, encoded)
    if not 200 <= reply.status < 300:
        raise refusal(lane, reply, context)
    try:
        decoded = (decode or lane.dialect.decode_response)(reply, context)
    except WireError as error:
        if misplaced := out_of_place(lane, reply):
            raise misplaced from None
        from interlingua.client.call.misplaced import unreadable  # only who is sent such a thing needs it

        error = unreadable(lane.endpoint.spec, reply, error)
        error.is_unreadable = True
        raise error from None
    response = completed(job, lane, encoded, reply.headers, decoded)
    if job.settings.raw:
        from interlingua.client.call.raw import with_raw_body  # only who asks for it pays for it

        response = with_raw_body(response, reply.body, lane.dialect.name)
    if error := fault(response):
        raise error
    return response


def refusal(lane: Lane, reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a reply tells of; a redirect tells of none, and is followed by nobody."""
    error = out_of_place(lane, reply) if reply.status < 400 else None
    return error or lane.dialect.decode_error(reply, context)


def out_of_place(lane: Lane, reply: HttpReply) -> Error | None:
    """The error of a reply that cannot be an answer, such as a proxy's page."""
    from interlingua.client.call.misplaced import misplaced  # only who is sent such a thing needs it

    return misplaced(lane.endpoint.spec, reply)


def completed(job: Job, lane: Lane, encoded: Encoded, headers: Headers, response: Response[Any]) -> Response[Any]:
    """A decoded response with what the call knows of it: target, request, changes, limits, price; meters count it."""
    if encoded.undo.output_tool:
        from interlingua.client.typed.ladder import unwrapped

        response = unwrapped(response, encoded.undo.output_tool)
    request_id, limits = read_reply_head(headers)
    filled = msgspec.structs.replace(
        response,
        model=lane.endpoint.spec,
        request_id=request_id,
        rate_limits=limits,
        changes=encoded.changes + response.changes,
        request=job.request,
        cost_usd=cost_of(job, lane, response),
    )
    count(filled)
    return filled
