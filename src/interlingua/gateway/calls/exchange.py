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
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from interlingua.client.aio.pump import AsyncPump, carried_out
from interlingua.client.call.attempt import Sent, answered, fetching, sent, whole
from interlingua.client.call.chain import gone_on, routed, straight, went_well
from interlingua.client.call.core import Outcome, follow
from interlingua.client.call.encoding import encode
from interlingua.client.call.job import Job
from interlingua.client.call.live import begin, begun, opened, replied, unusual
from interlingua.client.call.report import served
from interlingua.client.call.transports import async_fetch_for, async_transport_for
from interlingua.client.call.visit import Visit
from interlingua.client.estimate import estimate_body
from interlingua.client.observe import is_observed
from interlingua.client.state import limiter
from interlingua.errors import Error, UnsupportedError
from interlingua.gateway.calls.asked import read
from interlingua.gateway.calls.media import with_media, with_way_out
from interlingua.gateway.calls.passing_answer import BODY_TYPES, as_sent, kept_headers, overheard
from interlingua.gateway.calls.passing_stream import PassedStream
from interlingua.gateway.calls.plan import UNREAD, is_same
from interlingua.gateway.calls.relay import outgoing, relayed
from interlingua.gateway.calls.replies import limit_headers, own_headers, trail_headers
from interlingua.gateway.calls.streams import Course, streamed
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.grant import done
from interlingua.gateway.state.keep import RESPONSES, Keeping
from interlingua.media.fit import has_media
from interlingua.routing.health import Standing
from interlingua.transport.override import answers_alone
from interlingua.types.request import Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.call.chain import Straight
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.job import Lane
    from interlingua.client.call.live import Live
    from interlingua.gateway.calls.asked import Asked
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.transport.base import AsyncReply
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["asked_of", "converse", "job_of"]

_STRICT = "x-interlingua-strict"
"""The header by which a client wants nothing dropped."""
_COMMITTED = Request(store=True)
"""Stands for a request that goes out as it came, and must not run twice."""


_Served: TypeAlias = "tuple[Response[Any], Lane, HttpReply | None]"
"""What one target answered, and its reply where that goes out as it came; each answer makes one."""
_Routed: TypeAlias = "Steps[tuple[_Served, tuple[Attempt, ...]]]"
_Opening: TypeAlias = "Steps[tuple[Live, tuple[Attempt, ...]]]"


def converse(dialect: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of conversations with clients of a dialect."""
    return partial(_converse, dialect)


def _converse(dialect: str, gateway: Gateway, http: GatewayRequest) -> Awaitable[GatewayReply]:
    """To be awaited: the reply. Who has no key, and needs nothing to be waited for, is answered straight away."""
    if dialect == RESPONSES:
        return _gone_on(gateway, http)
    asked = read(gateway, http, dialect)
    if asked.key is None:
        plan = _planned(asked)
        job = _usual(asked, plan)
        if job is None:
            request = _request(asked, plan)
            if not isinstance(request, Request):
                return _admitted(asked, request)
            job = _job(asked, plan, request)
        return _replying(asked, job)
    return _admitted(asked)


def _replying(asked: Asked, job: Job) -> Awaitable[GatewayReply]:
    """To be awaited: the reply to what is asked by a job."""
    way = None if is_observed() or not _is_plain(asked, job) else straight(job)
    if asked.head.stream:
        return _streamed(asked, _weighed(asked, job)) if way is None else _straightly_streamed(asked, job, way)
    return _whole(asked, _weighed(asked, job)) if way is None else _straightly(asked, job, way)


def _is_plain(asked: Asked, job: Job) -> bool:
    """Whether a body goes out as it came to all targets, or to none, and nothing but that is to be done for any."""
    if asked.relayed:
        return asked.relayed is job.lanes and job.make_id is None
    return asked.keeping is None and not has_media(job.request.messages)


async def _gone_on(gateway: Gateway, http: GatewayRequest) -> GatewayReply:
    return await _admitted(await asked_of(gateway, http, RESPONSES))


async def _admitted(asked: Asked, request: Awaitable[Request] | None = None) -> GatewayReply:
    """The reply to who has a key, which has to be settled; `request` is the request, where somebody asked for it."""
    plan = _planned(asked)
    job = _usual(asked, plan) if request is None else None
    if job is None:
        job = _job(asked, plan, await _awaited(request or _request(asked, plan)))
    if asked.key is not None:
        await asked.gateway.admission.admit(asked, asked.key, job)
    try:
        return await _replying(asked, job)
    except BaseException as error:
        if asked.grant is not None:
            await done(asked.grant.settle_failed(error))
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
    plan = _planned(asked)
    return _weighed(asked, _job(asked, plan, await _awaited(_request(asked, plan))))


def _planned(asked: Asked) -> Plan:
    """Whom a request asks; which of them get the body as it came is noted in it.

    Raises: as `Plans.plan`.
    """
    head = asked.head
    plan = asked.gateway.plans.plan(head.model, asked.dialect.name, tools=head.offered is not None)
    asked.relayed = relayed(asked, plan)
    return plan


def _usual(asked: Asked, plan: Plan) -> Job | None:
    """The job of the plan, where the request goes out as it came, and nothing makes a difference: nearly always."""
    if (
        asked.relayed is not plan.lanes
        or asked.keeping is not None
        or asked.gateway.spans is not None
        or asked.head.is_committed
        or is_observed()
        or answers_alone()
        or asked.http.named.get(_STRICT) is not None
    ):
        return None
    return plan.job


def _request(asked: Asked, plan: Plan) -> Request | Awaitable[Request]:
    """The request, as far as somebody has to know it; to be awaited for turns or media that are elsewhere."""
    if asked.relayed:
        lanes = plan.lanes if asked.keeping is None else asked.keeping.lanes(plan.lanes)
        if asked.relayed is lanes or all([lane in asked.relayed for lane in lanes]):
            return _unread(asked)
    request = asked.restore()
    return _fetched(asked, request) if asked.gateway.settings.allow_fetch else request


async def _fetched(asked: Asked, request: Request | Awaitable[Request]) -> Request:
    return await with_media(await _awaited(request), asked.gateway.fetch)


async def _awaited(request: Request | Awaitable[Request]) -> Request:
    return request if isinstance(request, Request) else await request


def _job(asked: Asked, plan: Plan, request: Request) -> Job:
    """The job of a plan, with what is different for one request, its client, and what stands around its call."""
    gateway, lanes = asked.gateway, plan.lanes
    changed: dict[str, Any] = {}
    if request is not UNREAD:
        changed["request"], changed["provider_ids"] = request, asked.provider_ids
    if asked.keeping is not None:
        lanes = changed["lanes"] = asked.keeping.lanes(lanes)
        changed["make_id"], changed["provider_ids"] = gateway.make_id, asked.provider_ids
    if asked.http.header(_STRICT) == "1":
        changed["settings"] = plan.strict
    if gateway.spans is not None:
        settings = changed.get("settings", plan.job.settings)
        changed["settings"] = msgspec.structs.replace(settings, headers=gateway.spans.headers())
    if answers_alone():
        changed["with_credential"] = False
    return msgspec.structs.replace(plan.job, **changed) if changed else plan.job


def _unread(asked: Asked) -> Request:
    """What is known of a request that goes out as it came: all of it only where somebody looks at it."""
    if is_observed():
        with suppress(Error):  # what we cannot read, its provider may
            return asked.decoded.request
    return _COMMITTED if asked.head.is_committed else UNREAD


def _weighed(asked: Asked, job: Job) -> Job:
    """The job with about how many tokens a request has that nobody read, where a limit wants to know."""
    covers = limiter().covers
    if job.request.messages or not any([covers(lane.endpoint.spec) for lane in job.lanes]):
        return job
    return msgspec.structs.replace(job, input_tokens=estimate_body(asked.http.body))


def _kept(asked: Asked, job: Job, lane: Lane) -> Job:
    """The job for one of several targets: one of the client's own dialect keeps the provider's ids."""
    if asked.keeping is not None:
        job = msgspec.structs.replace(job, request=asked.keeping.asked(job.request, lane))
    return msgspec.structs.replace(job, make_id=None) if is_same(lane, asked.dialect.name) else job


async def _straightly(asked: Asked, job: Job, way: Straight) -> GatewayReply:
    """The whole answer of the only target, which may be asked straight away.

    It is what the steps of `_whole` come to then; where that fails, they go on.
    """
    lane, started_s = job.lanes[0], job.clock()
    try:
        if asked.relayed:
            encoded = outgoing(asked, lane, strict=job.settings.strict)
        else:
            encoded = encode(job, lane, stream=False)
        request = sent(job, lane, encoded, stream=False)
        reply = await async_fetch_for(request.url)(request, job.settings.timeouts)
        response = (overheard if asked.relayed else answered)(job, lane, encoded, reply)
    except Error as error:
        if asked.grant is not None:
            asked.grant.failed(error, lane)
        return await _whole(asked, job, gone_on(job, partial(_answer, asked), way, started_s, error))
    msgspec.structs.force_setattr(response, "attempts", (served(lane.endpoint.spec, job.clock() - started_s),))
    if way[0].clear_at_s(lane.endpoint.spec) is None:
        await carried_out(went_well(way, lane))
    settling = None if asked.grant is None else asked.grant.settle(response, lane)
    if settling is not None:
        await settling
    if asked.relayed:
        reply = as_sent(asked.dialect, reply, response, partial(asked.context, lane.dialect.name))
        headers = BODY_TYPES[asked.dialect.name] + kept_headers(reply.headers)
        return _replied(asked, response, reply.status, headers, reply.body)
    remembering = asked.remember(response)
    if remembering is not None:
        await remembering
    return _replied(asked, response, *_translated(asked, response, lane))


async def _whole(asked: Asked, job: Job, begun: _Routed | None = None) -> GatewayReply:
    """A whole answer; `begun` are the steps of a call that has begun already."""
    found: list[_Served] = []
    try:
        response = await carried_out(_answered(job, partial(_answer, asked), found, begun))
    except UnsupportedError as error:
        raise with_way_out(error) from error
    _, lane, told = found[-1]
    settling = None if asked.grant is None else asked.grant.settle(response, lane)
    if settling is not None:
        await settling
    if told is None:
        remembering = asked.remember(response)
        if remembering is not None:
            await remembering
        shown = response if asked.keeping is None else asked.keeping.answer(response, lane)
        status, headers, body = _translated(asked, shown, lane)
    else:
        told = as_sent(asked.dialect, told, response, partial(asked.context, lane.dialect.name))
        status, body = told.status, told.body
        headers = BODY_TYPES[asked.dialect.name] + kept_headers(told.headers)
    if asked.keeping is not None:
        await asked.keep(response, lane, body)
    return _replied(asked, response, status, headers, body)


def _translated(asked: Asked, response: Response[Any], lane: Lane) -> tuple[int, Headers, bytes]:
    """Status, headers and body of an answer in the client's dialect."""
    told = asked.dialect.encode_response(response, asked.context(lane.dialect.name))
    headers = own_headers(told.headers)
    if response.rate_limits:
        headers += limit_headers(asked.dialect.name, response.rate_limits)
    return told.status, headers, told.body


def _replied(asked: Asked, response: Response[Any], status: int, headers: Headers, body: bytes) -> GatewayReply:
    """The reply, with who answered and what was changed."""
    changes = (*asked.read_changes, *response.changes, *asked.changes)
    if asked.http.entry is not None:
        asked.http.entry.answered(response, changes)
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    return GatewayReply(status=status, headers=headers + trail, body=body)


def _answered(
    job: Job, attempt: Callable[[Job, Lane], Steps[_Served]], found: list[_Served], begun: _Routed | None
) -> Steps[Response[Any]]:
    if begun is None and job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(job, lambda watched: _answered(watched, attempt, found, None)))
    answer, attempts = yield from begun or routed(job, attempt)
    found.append(answer)
    response = answer[0]
    msgspec.structs.force_setattr(response, "attempts", attempts)  # it was made for this call
    return response


def _answer(asked: Asked, job: Job, lane: Lane) -> Steps[_Served]:
    """One try at a whole answer."""
    if job.make_id is not None:
        job = _kept(asked, job, lane)
    try:
        if lane not in asked.relayed:
            return (yield from whole(job, lane)), lane, None
        encoded = outgoing(asked, lane, strict=job.settings.strict)
        reply = yield fetching(job, lane, encoded)
        response = answered(job, lane, encoded, reply)
    except Error as error:
        if asked.grant is not None:
            asked.grant.failed(error, lane)
        raise
    return response, lane, reply


async def _straightly_streamed(asked: Asked, job: Job, way: Straight) -> GatewayReply:
    """The stream of the only target, which may be asked straight away; as `_straightly`."""
    lane, started_s = job.lanes[0], job.clock()
    try:
        live, reply = await _opened(asked, job, lane)
    except Error as error:
        if asked.grant is not None:
            asked.grant.failed(error, lane)
        return await _streamed(asked, job, gone_on(job, partial(_begin, asked), way, started_s, error))
    live.visit = Visit(lane, way[0], Standing("open", way[2]), None, started_s, 1)
    course = Course(asked)
    course.live, course.attempts = live, (served(lane.endpoint.spec, job.clock() - started_s),)
    course.pump = AsyncPump(follow(job, live, course.attempts, course.outcome), reply=reply)
    return await _begun(course)


async def _opened(asked: Asked, job: Job, lane: Lane) -> tuple[Live, AsyncReply]:
    """A stream that has begun, and the reply that it is read from."""
    if asked.relayed:
        encoded, kind = outgoing(asked, lane, strict=job.settings.strict), PassedStream
    else:
        encoded, kind = encode(job, lane, stream=True), None
    request = sent(job, lane, encoded, stream=True)
    reply = await async_transport_for(request.url).open(request, job.settings.timeouts)
    exchange = Sent(job, lane, encoded, reply)
    try:
        if 200 <= reply.status < 300:
            piece = await reply.read()
            live = begun(exchange, piece, kind)
            if live is not None and live.speaks:
                return live, reply
            steps = unusual(exchange, piece, live)
        else:
            steps = replied(exchange, kind)
        return await AsyncPump(steps, reply=reply).run_open(), reply
    except BaseException:
        await reply.close()
        raise


async def _streamed(asked: Asked, job: Job, opening: _Opening | None = None) -> GatewayReply:
    """A stream; `opening` are the steps of a call that has begun already."""
    course = Course(asked)
    course.pump = AsyncPump(_told(asked, job, course.outcome, course, opening))
    return await _begun(course)


async def _begun(course: Course) -> GatewayReply:
    """The reply of a stream as soon as there are first events."""
    try:
        events = await course.pump.pull()
    except UnsupportedError as error:
        raise with_way_out(error) from error
    try:
        return streamed(course, events or [])
    except BaseException:
        await course.pump.close()
        raise


def _told(asked: Asked, job: Job, outcome: Outcome, course: Course, opening: _Opening | None = None) -> Steps[None]:
    if opening is None and job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(job, outcome, lambda watched, result: _told(asked, watched, result, course))
        return
    live, attempts = yield from opening or routed(job, partial(_begin, asked))
    course.live, course.attempts = live, attempts
    yield from follow(job, live, attempts, outcome)


def _begin(asked: Asked, job: Job, lane: Lane) -> Steps[Live]:
    """One try at a stream."""
    if job.make_id is not None:
        job = _kept(asked, job, lane)
    try:
        if lane not in asked.relayed:
            return (yield from begin(job, lane))
        return (yield from opened(job, lane, outgoing(asked, lane, strict=job.settings.strict), PassedStream))
    except Error as error:
        if asked.grant is not None:
            asked.grant.failed(error, lane)
        raise
