"""One answer from a client's request to a reply in its dialect: the way of a call through the gateway.

Strategy: a job of the client carries the call, with its chain, its retries and its health. A target of the client's own
dialect gets the body as it came (`relay`); for any other one the dialect's server role reads the request and writes the
answer. Both are tries of one chain.

Rules
- Nothing is sent to the client before the first upstream event is there: until then a chain may go on, and an error has
  a status of its own. After that a failure is the dialect's own error in the stream.
- Call ids are our own where the upstream speaks another dialect, and the provider's where it speaks the client's.
- Pieces of arguments are passed on as they come; arguments that turn out broken are an error in the finish's place.
- An answer that pauses is gone on with, for a client whose dialect has no pause.
- The request is read, its model looked up and its key asked, as of any other; no target is, and nothing is charged.
- What is kept is the input; tools and instructions belong to each request, as they do after a real answer.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from interlingua.client.aio.pump import AsyncPump, carried_out
from interlingua.client.call.attempt import answered, fetching, whole
from interlingua.client.call.chain import routed
from interlingua.client.call.core import Outcome, follow
from interlingua.client.call.live import begin, opened
from interlingua.client.call.needs import has_need, shortfall
from interlingua.client.estimate import estimate_body
from interlingua.client.observe import is_observed
from interlingua.client.state import limiter
from interlingua.dialects._limited import limited
from interlingua.dialects.table import get_service, stream_type
from interlingua.errors import BadRequestError, DecodeError, Error, HistoryError, UnsupportedError
from interlingua.gateway.calls.client_exchange import read
from interlingua.gateway.calls.media import with_media, with_way_out
from interlingua.gateway.calls.passing_stream import CountedStream, PassedStream
from interlingua.gateway.calls.pauses import MAX_CONTINUATIONS, ContinuedStream, behind, continuation, is_paused, joined
from interlingua.gateway.calls.plan import UNREAD, asks_usage, is_same, outgoing, relayed
from interlingua.gateway.calls.reading import CHEAP_BYTES
from interlingua.gateway.calls.replies import kept_headers, limit_headers, own_headers, trail_headers, with_provider
from interlingua.gateway.calls.socket_events import posted
from interlingua.gateway.calls.streams import Course, streamed
from interlingua.gateway.http import STRICT, GatewayReply
from interlingua.gateway.keys.grant import Unreserved, done
from interlingua.gateway.state.stored import Keeping
from interlingua.stream.unfold import unfold
from interlingua.transport.override import answers_alone
from interlingua.types.change import first_changes
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.job import Job, Lane
    from interlingua.client.call.live import Live
    from interlingua.dialects._contract import Dialect, ServerContext
    from interlingua.gateway.calls.client_exchange import ClientExchange
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.response import Attempt
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["converse", "job_of", "read_exchange", "warmed_up"]

_COMMITTED = Request(store=True)
"""Stands for a request that goes out as it came, and must not run twice."""

_Served: TypeAlias = "tuple[Response[Any], Lane, HttpReply | None]"
"""The answer of one target, and its reply where that goes out as it came; each answer makes one."""


def converse(dialect: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of conversations with clients of a dialect."""
    return partial(_converse, dialect)


async def _converse(dialect: str, gateway: Gateway, http: GatewayRequest) -> GatewayReply:
    exchange = await read_exchange(gateway, http, dialect)
    job = await _made_job(exchange)
    if exchange.key is not None:
        await gateway.admission.admit(exchange, exchange.key, job)
        job = _capped(exchange, job)
    if exchange.warms_up:
        return await warmed_up(exchange)
    try:
        if gateway.hooks:
            from interlingua.gateway.calls.hooked import hooked  # who has no hooks pays nothing

            result = await hooked(exchange, job)
            if isinstance(result, GatewayReply):
                return result
            job = result
        return await (_streamed(exchange, job) if exchange.head.stream else _whole(exchange, job))
    except Unreserved as refusal:
        raise refusal.error from None
    except BaseException as error:
        if exchange.grant is not None:
            await done(exchange.grant.settle_failed(error))
        raise


async def read_exchange(gateway: Gateway, http: GatewayRequest, dialect: str) -> ClientExchange:
    """The exchange of a client; earlier turns of a Responses client are put into its request, where they are kept here.

    Raises: as `read`; BadRequestError for an answer that is not kept.
    """
    body = await gateway.body_of(http, dialect)
    if get_service(dialect).store is None:
        return read(gateway, http, dialect, body)
    owner, latest = gateway.ids.owner(http), http.latest
    if latest is None:
        prepared = await gateway.stored.prepare(owner, body)
    else:
        prepared = await latest.responses.prepare(owner, posted(body))
    if prepared.body is not body:
        http = msgspec.structs.replace(http, body=prepared.body.text, read=prepared.body)
    exchange = read(gateway, http, dialect, prepared.body)
    exchange.keeping = Keeping(gateway, owner, prepared, stores=body.get("store") is not False, latest=latest)
    exchange.warms_up = latest is not None and body.get("generate") is False
    return exchange


def _capped(exchange: ClientExchange, job: Job) -> Job:
    """The job with the cap of its grant in the request, as far as that is translated."""
    cap = None if exchange.grant is None else exchange.grant.cap
    if cap is None or not job.request.messages:
        return job
    request = job.request
    capped = limited(request, cap) if request.extra else msgspec.structs.replace(request, max_tokens=cap)
    return msgspec.structs.replace(job, request=capped)


async def job_of(exchange: ClientExchange) -> Job:
    """The client's job for what is asked.

    Raises: UnknownModelError, ConfigError for a name that stands for nothing usable; DecodeError, HistoryError for a
    body that has to be translated and cannot be read.
    """
    return _weighed(exchange, await _made_job(exchange))


async def _made_job(exchange: ClientExchange) -> Job:
    plan = _planned(exchange)
    if exchange.head.body.is_costly and (exchange.key is not None or is_observed() or not exchange.relayed):
        await exchange.decode()
    elif len(exchange.http.body) > CHEAP_BYTES:
        await exchange.gateway.offload.turns.wait()
    return _job(exchange, plan, await _request(exchange, plan))


def _planned(exchange: ClientExchange) -> Plan:
    """Resolve the request's targets, and note which of them can get the body as it came.

    Raises: as `Plans.plan`.
    """
    head = exchange.head
    plan = exchange.gateway.plans.plan(head.model, exchange.dialect.name, tools=head.has_tools)
    exchange.relayed = relayed(exchange, plan)
    if plan.own and not exchange.relayed:
        exchange.respelled = head.respelled
    return plan


async def _request(exchange: ClientExchange, plan: Plan) -> Request:
    """The request, as far as somebody has to know it: with the vault's part of its history, and what its media name."""
    if exchange.relayed and not exchange.gateway.hooks:
        lanes = _lanes(exchange, plan)
        if exchange.relayed is lanes or all([lane in exchange.relayed for lane in lanes]):
            return _unread(exchange)
    gateway, request = exchange.gateway, await exchange.whole()
    return await with_media(request, gateway.fetch) if gateway.settings.allow_fetch else request


def _job(exchange: ClientExchange, plan: Plan, request: Request) -> Job:
    """The job of a plan, with what is different for one request, its client, and what stands around its call."""
    gateway = exchange.gateway
    changed: dict[str, Any] = {}
    if exchange.head.body.is_costly:
        changed["writer"] = partial(gateway.offload.encode, owner=exchange.owner)
    if exchange.http.kept_by or exchange.keeping is not None:
        changed["lanes"] = _lanes(exchange, plan)
    if request is not UNREAD:
        changed["request"], changed["provider_ids"] = request, exchange.provider_ids
    if exchange.keeping is not None:
        changed["make_id"], changed["provider_ids"] = gateway.make_id, exchange.provider_ids
    if exchange.http.header(STRICT) == "1":
        changed["settings"] = plan.strict
    if exchange.http.trace_headers:
        settings = changed.get("settings", plan.job.settings)
        changed["settings"] = msgspec.structs.replace(settings, headers=exchange.http.trace_headers)
    if answers_alone():
        changed["with_credential"] = False
    return msgspec.structs.replace(plan.job, **changed) if changed else plan.job


def _lanes(exchange: ClientExchange, plan: Plan) -> tuple[Lane, ...]:
    """The targets of a plan that know what the request goes on with.

    Raises: BadRequestError where there is none.
    """
    lanes = plan.lanes if exchange.keeping is None else exchange.keeping.lanes(plan.lanes)
    return exchange.gateway.ids.lanes(lanes, exchange.http)


def _unread(exchange: ClientExchange) -> Request:
    """The request that goes out as it came, as far as it is known: all of it only where somebody looks at it."""
    if is_observed():
        with suppress(Error):  # what we cannot read, its provider may
            return exchange.decoded.request
    return _COMMITTED if exchange.head.is_committed else UNREAD


def _weighed(exchange: ClientExchange, job: Job) -> Job:
    """The job with about how many tokens a request has that nobody read, where a limit wants to know."""
    covers = limiter().covers
    if job.request.messages or not any([covers(lane.endpoint.spec) for lane in job.lanes]):
        return job
    return msgspec.structs.replace(job, input_tokens=estimate_body(exchange.http.body))


def _job_for(exchange: ClientExchange, job: Job, lane: Lane) -> Job:
    """The job for one of several targets: one of the client's own dialect keeps the provider's ids."""
    if exchange.keeping is not None:
        job = msgspec.structs.replace(job, request=exchange.keeping.request_for(job.request, lane))
    return msgspec.structs.replace(job, make_id=None) if is_same(lane, exchange.dialect.name) else job


def _with_thoughts(exchange: ClientExchange, job: Job, lane: Lane) -> Job:
    """The job with thoughts shown, where thinking is asked for and the client has no word for showing it."""
    if lane.dialect.service.thoughts != "if_asked" or exchange.dialect.service.thoughts != "unasked":
        return job
    request = job.request
    is_thinking = request.thinking or request.thinking_budget or request.effort not in (None, "none")
    if request.thinking_summary is not None or not is_thinking:
        return job
    return msgspec.structs.replace(job, request=msgspec.structs.replace(request, thinking_summary="auto"))


async def _whole(exchange: ClientExchange, job: Job) -> GatewayReply:
    """A whole answer."""
    served: list[_Served] = []
    try:
        response = await carried_out(_answered(exchange, _weighed(exchange, job), served))
    except UnsupportedError as error:
        raise with_way_out(error) from error
    last, lane, reply = served[-1]
    settling = None if exchange.grant is None else exchange.grant.settle(last, lane)
    if settling is not None:
        await settling
    if exchange.hooking is not None:
        hooked = await carried_out(exchange.hooking.after(response))
        reply = reply if exchange.hooking.is_same(response, hooked) else None
        response = hooked
    if reply is None:
        await exchange.remember(response)
        shown = response if exchange.keeping is None else exchange.keeping.answer(response, lane)
        if exchange.http.facts.names_provider:
            shown = with_provider(shown, lane.endpoint.provider, exchange.dialect.name)
        status, headers, body = _translated(exchange, shown, lane)
    else:
        shown = (
            with_provider(response, lane.endpoint.provider, exchange.dialect.name)
            if exchange.http.facts.names_provider
            else response
        )
        context = partial(exchange.context, lane.dialect.name)
        reply, response = _as_sent(exchange.dialect, reply, shown, context, is_whole=shown is response)
        status, body = reply.status, reply.body
        headers = (("content-type", exchange.dialect.service.body_type), *kept_headers(reply.headers))
    if exchange.keeping is not None:
        await exchange.keep(response, lane, body)
    return _replied(exchange, response, lane, (status, headers, body))


def _as_sent(
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
            response = msgspec.structs.replace(
                response, changes=tuple([one for one in response.changes if one not in made])
            )
        return reply, response
    facts = context()
    encoded = dialect.encode_response(
        response, msgspec.structs.replace(facts, model=response.wire_model or facts.model)
    )
    return msgspec.structs.replace(encoded, headers=reply.headers), response


def _translated(exchange: ClientExchange, response: Response[Any], lane: Lane) -> tuple[int, Headers, bytes]:
    """Status, headers and body of an answer in the client's dialect."""
    reply = exchange.dialect.encode_response(response, exchange.context(lane.dialect.name))
    headers = own_headers(reply.headers)
    if response.rate_limits:
        headers += limit_headers(exchange.dialect.name, response.rate_limits)
    return reply.status, headers, reply.body


def _replied(
    exchange: ClientExchange, response: Response[Any], lane: Lane, reply: tuple[int, Headers, bytes]
) -> GatewayReply:
    """The reply, with who answered and what was changed."""
    status, headers, body = reply
    changes = first_changes((*exchange.read_changes, *response.changes, *exchange.changes))
    if exchange.http.entry is not None:
        exchange.http.entry.answered(response, changes)
    sign = exchange.signing(lane)
    if sign is not None:
        body = sign(body)
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    if exchange.hooking is not None:
        trail += exchange.hook_headers
    return GatewayReply(status=status, headers=headers + trail, body=body)


def _answered(exchange: ClientExchange, job: Job, served: list[_Served]) -> Steps[Response[Any]]:
    """The answer, with every try; `served` gets the last one that a target gave."""
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(job, lambda watched: _answered(exchange, watched, served)))
    answer, attempts = yield from routed(job, partial(_answer, exchange))
    served.append(answer)
    response, lane, _ = answer
    if response.finish_reason == "pause" and is_paused(response, exchange.dialect.name, lane.dialect.name):
        return (yield from _continued(exchange, job, served, attempts))
    return msgspec.structs.replace(response, attempts=attempts)


def _continued(
    exchange: ClientExchange, job: Job, served: list[_Served], attempts: tuple[Attempt, ...]
) -> Steps[Response[Any]]:
    """One answer of a paused one, the last of `found`, and its continuations."""
    response, lane, _ = served[-1]
    for _ in range(MAX_CONTINUATIONS):
        if exchange.grant is not None:
            exchange.grant.paused(served[-1][0], lane)
        try:
            answer, tries = yield from routed(continuation(job, lane, response, attempts), partial(_answer, exchange))
        except Error as error:
            error.attempts = attempts + error.attempts
            raise
        served.append(answer)
        attempts += tries
        response = joined(response, answer[0], lane.dialect.name)
        if not is_paused(answer[0], exchange.dialect.name, lane.dialect.name):
            break
    else:
        response = msgspec.structs.replace(response, finish_reason="length")
    return msgspec.structs.replace(response, attempts=attempts)


def _answer(exchange: ClientExchange, job: Job, lane: Lane) -> Steps[_Served]:
    """One try at a whole answer."""
    if lane.refused_features:
        lane = _taking(exchange, job, lane)
    if job.make_id is not None:
        job = _job_for(exchange, job, lane)
    if exchange.grant is not None:
        yield from exchange.grant.again(lane)
    try:
        if lane not in exchange.relayed:
            return (yield from whole(_with_thoughts(exchange, job, lane), lane)), lane, None
        encoded = outgoing(exchange, lane, strict=job.settings.strict)
        reply = yield fetching(job, lane, encoded)
        response = answered(job, lane, encoded, reply)
    except Error as error:
        _check_lacking(exchange, job, error)
        if exchange.grant is not None:
            exchange.grant.failed(error, lane)
        raise
    return response, lane, reply


def _taking(exchange: ClientExchange, job: Job, lane: Lane) -> Lane:
    """The target, where it takes what goes out as it came although it has said that it lacks something.

    Raises: UnsupportedError for a request that has just that.
    """
    with suppress(DecodeError, HistoryError):  # what we cannot read, its provider may
        error = shortfall(msgspec.structs.replace(job, request=exchange.decoded.request), lane, lane.refused_features)
        if error is not None:
            raise error
    return msgspec.structs.replace(lane, refused_features=frozenset())


def _check_lacking(exchange: ClientExchange, job: Job, error: Error) -> None:
    """Believe a target that it lacks something only where the request that went out as it came has that."""
    if error.lacking is not None and not job.request.messages:
        try:
            has_it = has_need(exchange.decoded.request, error.lacking)
        except Error:
            has_it = False
        if not has_it:
            error.lacking = None


async def _streamed(exchange: ClientExchange, job: Job) -> GatewayReply:
    """A stream, as soon as there are first events."""
    course = Course(exchange)
    steps = _run_stream(exchange, _weighed(exchange, job), course.outcome, course)
    course.pump = AsyncPump(steps if exchange.hooking is None else exchange.hooking.through(course.outcome, steps))
    try:
        events = await course.pump.pull()
    except UnsupportedError as error:
        raise with_way_out(error) from error
    try:
        return streamed(course, events or [])
    except BaseException:
        await course.pump.close()
        raise


def _run_stream(exchange: ClientExchange, job: Job, outcome: Outcome, course: Course) -> Steps[None]:
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(job, outcome, lambda watched, result: _run_stream(exchange, watched, result, course))
        return
    live, attempts = yield from routed(job, partial(_begin, exchange))
    course.live, course.attempts, course.outcome.target = live, attempts, live.lane.dialect.name
    yield from follow(job, live, attempts, outcome)
    if outcome.response is None:
        yield from _streamed_on(exchange, job, course)


def _streamed_on(exchange: ClientExchange, job: Job, course: Course) -> Steps[None]:
    """The continuations of a stream that paused, as further events of it."""
    outcome, lane = course.outcome, course.live.lane
    while outcome.response is None and outcome.before is not None and outcome.last is not None:
        before, paused, outcome.last = outcome.before, outcome.last, None
        if exchange.grant is not None:
            exchange.grant.paused(paused, lane)
        further = continuation(job, lane, before, course.attempts)
        course.is_opening = True
        try:
            live, tries = yield from routed(further, partial(_begin, exchange, kind=ContinuedStream))
        except Unreserved as refusal:
            course.is_opening = False
            raise refusal.error from None
        except Error as error:
            course.is_opening = False
            error.attempts = course.attempts + error.attempts
            raise
        course.is_opening = False
        course.live, course.attempts = live, course.attempts + tries
        if isinstance(live, ContinuedStream):
            live.goes_on(before)
        else:  # a whole answer, where a stream was asked for
            live.first = behind(before, live.first)
        yield from follow(further, live, course.attempts, outcome)


def _begin(exchange: ClientExchange, job: Job, lane: Lane, kind: type[Live] | None = None) -> Steps[Live]:
    """One try at a stream; `kind` reads what comes of one that is translated."""
    if lane.refused_features:
        lane = _taking(exchange, job, lane)
    if job.make_id is not None:
        job = _job_for(exchange, job, lane)
    if exchange.grant is not None:
        yield from exchange.grant.again(lane)
    try:
        if lane not in exchange.relayed:
            return (yield from begin(_with_thoughts(exchange, job, lane), lane, kind))
        kind = CountedStream if asks_usage(exchange, lane) else PassedStream
        return (yield from opened(job, lane, outgoing(exchange, lane, strict=job.settings.strict), kind))
    except Error as error:
        _check_lacking(exchange, job, error)
        if exchange.grant is not None:
            exchange.grant.failed(error, lane)
        raise


# A turn of a WebSocket without a model
#
# `generate: false` prepares what the next turn goes on from. The request is read, its model looked up and its key asked
# for, as with any other; no target is called, and nothing is charged. The input is kept.


async def warmed_up(exchange: ClientExchange) -> GatewayReply:
    """The stream of an answer that says nothing, kept as any other answer of the gateway's own.

    Raises: BadRequestError where it would go on from an answer that a provider keeps: nobody here knows that.
    """
    if exchange.grant is not None:
        await done(exchange.grant.settle(None))
    keeping, dialect = exchange.keeping, exchange.dialect
    if keeping is None or exchange.head.body.get("previous_response_id") is not None:
        raise BadRequestError(
            "/generate: an answer that its provider keeps cannot be gone on from without a model; leave `generate` out",
            status=400,
        )
    response: Response[None] = Response(
        parts=(), finish_reason="stop", usage=Usage(input_tokens=0, output_tokens=0), id=keeping.id
    )
    whole = msgspec.structs.replace(exchange.context(None), changes=None)
    await keeping.keep_here(keeping.id, lambda: dialect.encode_response(response, whole).body)
    encode_event = dialect.stream_encoder(exchange.context(None)).encode
    body = b"".join(map(encode_event, unfold(response)))
    return GatewayReply(headers=(("content-type", stream_type(dialect.name, json_array=False)),), body=body)
