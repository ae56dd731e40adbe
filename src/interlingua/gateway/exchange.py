"""One answer from a client's request to a reply in its dialect: the way of a translated call through the gateway.

Strategy: the dialect's server role reads the request and writes the answer, a job of the client lies between them, with
its chain, its retries and its health.

Rules
- Nothing is sent to the client before the first upstream event is there: until then a chain may go on, and an error has
  a status of its own. After that a failure is the dialect's own error in the stream.
- Call ids are our own where the upstream speaks another dialect, and the provider's where it speaks the client's.
- Pieces of arguments are passed on as they come; arguments that turn out broken are an error in the finish's place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.chain import routed
from interlingua.client.core import Job, Outcome, begin, follow, whole
from interlingua.client.options import Settings
from interlingua.gateway.asked import read
from interlingua.gateway.replies import limit_headers, reply_of, trail_headers
from interlingua.gateway.streams import streamed
from interlingua.transport.override import answers_alone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.client.core import Lane, Live, Steps
    from interlingua.gateway.asked import Asked
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayReply, GatewayRequest
    from interlingua.types.response import Attempt, Response

__all__ = ["converse", "job_of"]


def converse(dialect: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of conversations with clients of a dialect."""
    return partial(_converse, dialect)


async def _converse(dialect: str, gateway: Gateway, http: GatewayRequest) -> GatewayReply:
    asked = read(gateway, http, dialect)
    job = job_of(asked)
    if asked.decoded.stream:
        return await _streamed(asked, job)
    return await _whole(asked, job)


def job_of(asked: Asked) -> Job:
    """The client's job for what is asked.

    Raises: UnknownModelError, ConfigError for a name that stands for nothing usable.
    """
    gateway, request = asked.gateway, asked.request
    own = asked.dialect.name
    lanes = gateway.targets.lanes(asked.decoded.model, own, tools=bool(request.tools))
    settings = gateway.settings
    return Job(
        request,
        Settings(
            timeouts=settings.timeouts,
            strict=settings.strict or asked.http.header("x-interlingua-strict") == "1",
            allow=settings.allow,
            call_ids="own",
            history_policy="refuse" if own == "unified" else "mend",
            warns=False,
        ),
        lanes,
        gateway.clock,
        with_credential=not answers_alone(),
        make_id=gateway.make_id,
        tool_deltas=True,
    )


def _kept(asked: Asked, job: Job, lane: Lane) -> Job:
    """The job for one target: one of the client's own dialect keeps the provider's ids."""
    same = lane.dialect.name == asked.dialect.name and lane.dialect.name != "unified"
    return job._replace(make_id=None) if same else job


async def _whole(asked: Asked, job: Job) -> GatewayReply:
    def attempt(job: Job, lane: Lane) -> Steps[tuple[Response[Any], Lane]]:
        return (yield from whole(_kept(asked, job, lane), lane)), lane

    (response, lane), attempts = await AsyncPump(routed(job, attempt)).run()
    told = asked.dialect.encode_response(response, asked.context(lane.dialect.name))
    changes = (*asked.decoded.changes, *response.changes, *asked.changes)
    headers = limit_headers(asked.dialect.name, response.rate_limits)
    return reply_of(told, (*headers, *trail_headers(attempts, changes, response.cost_usd)))


async def _streamed(asked: Asked, job: Job) -> GatewayReply:
    begun: list[tuple[Live, tuple[Attempt, ...]]] = []
    outcome = Outcome()

    def attempt(job: Job, lane: Lane) -> Steps[Live]:
        return (yield from begin(_kept(asked, job, lane), lane))

    def steps() -> Steps[None]:
        live, attempts = yield from routed(job, attempt)
        begun.append((live, attempts))
        yield from follow(job, live, attempts, outcome)

    pump = AsyncPump(steps())
    events = await pump.pull()
    live, attempts = begun[0]
    return streamed(asked, pump, events or [], live, attempts, outcome)
