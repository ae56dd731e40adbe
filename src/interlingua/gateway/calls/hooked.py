"""A conversation with hooks around it: what they are asked before it, and the reply where one of them answers.

Rules
- With hooks a request is read; one that they leave alone goes out as it came where it would without them, and so does
  its answer. What they change is written anew; so is a stream where a hook has a step for answers.
- They are asked once the key was let in: its limits count for what they refuse and answer, too. An answer of a hook
  costs nothing.
- What a key is limited to is laid over what they change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.client.aio.pump import carried_out
from interlingua.client.hooks.run import Hooking, context_of
from interlingua.client.web.sse import STREAM_HEADERS
from interlingua.dialects._limited import limited
from interlingua.dialects.table import stream_type
from interlingua.gateway.calls.replies import own_headers, trail_headers
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.grant import done
from interlingua.stream.unfold import unfold
from interlingua.types.change import first_changes
from interlingua.types.response import Response
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.client.call.job import Job
    from interlingua.gateway.calls.client_exchange import ClientExchange

__all__ = ["hooked"]

_UNUSED: Response[None] = Response(usage=Usage(input_tokens=0, output_tokens=0), cost_usd=0.0)
"""The cost to its key of an answer that no target gave."""


async def hooked(exchange: ClientExchange, job: Job) -> Job | GatewayReply:
    """The job with the request that the hooks make of it, or the reply of one that answers.

    Raises: what a hook raises.
    """
    context = context_of(
        job, stream=exchange.head.stream, model=exchange.head.model, owner=exchange.owner, client=exchange.dialect.name
    )
    hooking = exchange.hooking = Hooking(exchange.gateway.hooks, context)
    result = await carried_out(hooking.before(job.request))
    if isinstance(result, Response):
        return await _replied(exchange, await carried_out(hooking.after(replace(result, request=job.request))))
    exchange.hook_changes = hooking.take_changes()
    if exchange.hook_changes or (exchange.head.stream and hooking.reads_answers):
        exchange.relayed = ()
    cap = None if exchange.grant is None else exchange.grant.cap
    if cap is not None:
        result = limited(result, cap if result.max_tokens is None else min(result.max_tokens, cap))
    return replace(job, request=result, hooking=hooking)


async def _replied(exchange: ClientExchange, response: Response[Any]) -> GatewayReply:
    """The reply of an answer that no target gave, whole or as a stream."""
    if exchange.grant is not None:
        await done(exchange.grant.settle(replace(_UNUSED, model=response.model)))
    dialect, context, keeping = exchange.dialect, exchange.context(None), exchange.keeping
    if keeping is not None:
        response = replace(response, id=keeping.id)
        whole = replace(context, changes=None)
        await keeping.keep_here(keeping.id, lambda: dialect.encode_response(response, whole).body)
    await exchange.remember(response)
    if exchange.head.stream:
        encode_event = dialect.stream_encoder(context).encode
        body = b"".join([encode_event(event) for event in unfold(response)])
        kind = stream_type(dialect.name, json_array=exchange.head.json_array)
        status, headers = 200, (("content-type", kind), *STREAM_HEADERS)
    else:
        reply = dialect.encode_response(response, context)
        status, headers, body = reply.status, own_headers(reply.headers), reply.body
    changes = first_changes((*exchange.read_changes, *response.changes, *exchange.changes))
    if exchange.http.entry is not None:
        exchange.http.entry.answered(replace(response, usage=None), changes)  # what nobody was asked for was not used
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    return GatewayReply(status=status, headers=(*headers, *trail, *exchange.hook_headers), body=body)
