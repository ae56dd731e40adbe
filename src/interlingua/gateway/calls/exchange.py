"""One answer from a client's request to a reply in its dialect: the way of a call through the gateway.

Strategy: a job of the client carries the call, with its chain, its retries and its health. A target of the client's own
dialect gets the body as it came (`relay`); for any other one the dialect's server role reads the request and writes the
answer. Both are tries of one chain.

Rules
- Nothing is sent to the client before the first upstream event is there: until then a chain may go on, and an error has
  a status of its own. After that a failure is the dialect's own error in the stream.
- Call ids are our own where the upstream speaks another dialect, and the provider's where it speaks the client's.
- Pieces of arguments are passed on as they come; arguments that turn out broken are an error in the finish's place.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.chain import routed
from interlingua.client.core import Job, Outcome, begin, exchanged, follow, opened, whole
from interlingua.client.estimate import estimate_body
from interlingua.client.observe import is_observed
from interlingua.client.options import Settings
from interlingua.client.state import limiter
from interlingua.errors import Error, UnsupportedError
from interlingua.gateway.calls.asked import read
from interlingua.gateway.calls.media import with_media, with_way_out
from interlingua.gateway.calls.relay import RelayedStream, kept_headers, outgoing, relays
from interlingua.gateway.calls.replies import limit_headers, reply_of, trail_headers
from interlingua.gateway.calls.streams import Course, streamed
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.state.keep import RESPONSES, Keeping
from interlingua.transport.override import answers_alone
from interlingua.types.request import Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.core import Lane, Live, Steps
    from interlingua.gateway.calls.asked import Asked
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.response import Response
    from interlingua.wire.http import HttpReply

__all__ = ["asked_of", "converse", "job_of"]

_UNREAD = Request()
"""Stands for a request that goes out as it came, so that nobody has to read it."""
_COMMITTED = Request(store=True)
"""The same of one that must not run twice."""


class _Served(NamedTuple):
    """What one target answered."""

    response: Response[Any]
    lane: Lane
    relayed: HttpReply | None


def converse(dialect: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of conversations with clients of a dialect."""
    return partial(_converse, dialect)


async def _converse(dialect: str, gateway: Gateway, http: GatewayRequest) -> GatewayReply:
    asked = await asked_of(gateway, http, dialect)
    job = await job_of(asked)
    asked.grant = await gateway.admission.admit(gateway.guard.key(http), asked, job)
    try:
        return await (_streamed if asked.head.stream else _whole)(asked, job)
    except UnsupportedError as error:
        await asked.grant.settle(None)
        raise with_way_out(error) from error
    except BaseException as error:
        await asked.grant.settle_failed(error)
        raise


async def asked_of(gateway: Gateway, http: GatewayRequest, dialect: str) -> Asked:
    """What a client asks; what a Responses client goes on from is told in the request itself, where it is kept here.

    Raises: as `read`; BadRequestError for an answer that is not kept.
    """
    if dialect != RESPONSES:
        return read(gateway, http, dialect)
    owner = gateway.owner(http)
    prepared = await gateway.stored.prepare(owner, http.body)
    asked = read(gateway, msgspec.structs.replace(http, body=prepared.body), dialect)
    wanted = bytes(asked.head.members.get("store", b"")) != b"false"
    asked.keeping = Keeping(gateway, owner, prepared, wanted=wanted)
    return asked


async def job_of(asked: Asked) -> Job:
    """The client's job for what is asked.

    Raises: UnknownModelError, ConfigError for a name that stands for nothing usable; DecodeError, HistoryError for a
    body that has to be translated and cannot be read.
    """
    gateway, settings = asked.gateway, asked.gateway.settings
    own = asked.dialect.name
    lanes = gateway.targets.lanes(asked.head.model, own, tools=asked.head.has_tools)
    if asked.keeping is not None:
        lanes = asked.keeping.lanes(lanes)
    asked.relayed = tuple([lane for lane in lanes if relays(asked, lane)])
    if len(asked.relayed) == len(lanes):
        request = _unread(asked)
    else:
        request = await gateway.vault.restore(gateway.owner(asked.http), asked.decoded.request)
        if settings.allow_fetch:
            request = await with_media(request, gateway.fetch)
    keeps_ids = asked.keeping is None and all([_is_same(lane, own) for lane in lanes])  # noqa: C419 - a list is faster
    return Job(
        request,
        Settings(
            timeouts=settings.timeouts,
            headers=() if gateway.spans is None else gateway.spans.headers(),
            strict=settings.strict or asked.http.header("x-interlingua-strict") == "1",
            allow=settings.allow,
            call_ids="own",
            history_policy="refuse" if own == "unified" else "mend",
            warns=False,
        ),
        lanes,
        gateway.clock,
        with_credential=not answers_alone(),
        make_id=None if keeps_ids else gateway.make_id,
        tool_deltas=True,
        provider_ids=asked.provider_ids,
        ranking=gateway.registry.ranking(asked.head.model) if len(lanes) > 1 else None,
        input_tokens=_counted(asked, request, lanes),
    )


def _unread(asked: Asked) -> Request:
    """What is known of a request that goes out as it came: all of it only where somebody looks at it."""
    if is_observed():
        with suppress(Error):  # what we cannot read, its provider may
            return asked.decoded.request
    return _COMMITTED if asked.is_committed else _UNREAD


def _counted(asked: Asked, request: Request, lanes: tuple[Lane, ...]) -> int | None:
    """About how many tokens a request has that nobody read; None where no limit wants to know, or it was read."""
    limits = limiter()
    if request.messages or not any(limits.covers(lane.endpoint.spec) for lane in lanes):
        return None
    return estimate_body(asked.http.body)


def _kept(asked: Asked, job: Job, lane: Lane) -> Job:
    """The job for one target: one of the client's own dialect keeps the provider's ids."""
    if asked.keeping is not None:
        job = msgspec.structs.replace(job, request=asked.keeping.asked(job.request, lane))
    return (
        msgspec.structs.replace(job, make_id=None)
        if job.make_id is not None and _is_same(lane, asked.dialect.name)
        else job
    )


def _is_same(lane: Lane, dialect: str) -> bool:
    """Whether a target speaks the client's own dialect; the unified one has ids of ours always."""
    return lane.dialect.name == dialect != "unified"


async def _whole(asked: Asked, job: Job) -> GatewayReply:
    served: list[_Served] = []
    response = await AsyncPump(_answered(job, partial(_answer, asked), served)).run()
    lane, relayed = served[-1].lane, served[-1].relayed
    await asked.grant.settle(response, lane)
    if relayed is not None:
        limits = kept_headers(relayed.headers)
        told = GatewayReply(status=relayed.status, body=relayed.body)
        await asked.keep(response, lane, relayed.body)
    else:
        await asked.remember(response)
        shown = response if asked.keeping is None else asked.keeping.answer(response, lane)
        written = asked.dialect.encode_response(shown, asked.context(lane.dialect.name))
        await asked.keep(response, lane, written.body)
        told = reply_of(written, ())
        limits = limit_headers(asked.dialect.name, response.rate_limits)
    changes = (*asked.read_changes, *response.changes, *asked.changes)
    if asked.http.entry is not None:
        asked.http.entry.answered(response, changes)
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    return msgspec.structs.replace(told, headers=(*told.headers, *limits, *trail))


def _answered(job: Job, attempt: Callable[[Job, Lane], Steps[_Served]], served: list[_Served]) -> Steps[Response[Any]]:
    if job.watch is None and is_observed():
        from interlingua.client.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(job, lambda watched: _answered(watched, attempt, served)))
    answer, attempts = yield from routed(job, attempt)
    served.append(answer)
    return msgspec.structs.replace(answer.response, attempts=attempts)


def _answer(asked: Asked, job: Job, lane: Lane) -> Steps[_Served]:
    """One try at a whole answer."""
    job = _kept(asked, job, lane)
    try:
        if lane not in asked.relayed:
            return _Served((yield from whole(job, lane)), lane, None)
        encoded = outgoing(asked, lane, strict=job.settings.strict)
        response, reply = yield from exchanged(job, lane, encoded)
    except Error as error:
        asked.grant.failed(error, lane)
        raise
    return _Served(response, lane, reply)


async def _streamed(asked: Asked, job: Job) -> GatewayReply:
    course = Course(asked)
    course.pump = AsyncPump(_told(asked, job, course.outcome, course))
    events = await course.pump.pull()
    try:
        return streamed(course, events or [])
    except BaseException:
        await course.pump.close()
        raise


def _told(asked: Asked, job: Job, outcome: Outcome, course: Course) -> Steps[None]:
    if job.watch is None and is_observed():
        from interlingua.client.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(job, outcome, lambda watched, result: _told(asked, watched, result, course))
        return
    live, attempts = yield from routed(job, partial(_begin, asked))
    course.live, course.attempts = live, attempts
    yield from follow(job, live, attempts, outcome)


def _begin(asked: Asked, job: Job, lane: Lane) -> Steps[Live]:
    """One try at a stream."""
    job = _kept(asked, job, lane)
    try:
        if lane not in asked.relayed:
            return (yield from begin(job, lane))
        return (yield from opened(job, lane, outgoing(asked, lane, strict=job.settings.strict), RelayedStream))
    except Error as error:
        asked.grant.failed(error, lane)
        raise
