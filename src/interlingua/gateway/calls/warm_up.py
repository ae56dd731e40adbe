"""A turn of a WebSocket without a model: `generate: false` prepares what the next turn goes on from.

Rules
- The request is read, its model looked up and its key asked, as of any other; no target is, and nothing is charged.
- What is kept is the input; tools and instructions belong to each request, as they do after a real answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.dialects.table import stream_type
from interlingua.errors import BadRequestError
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.grant import done
from interlingua.stream.unfold import unfold
from interlingua.types.response import Response
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.gateway.calls.asked import Asked

__all__ = ["warmed_up"]


async def warmed_up(asked: Asked) -> GatewayReply:
    """The stream of an answer that says nothing, kept as any other answer of the gateway's own.

    Raises: BadRequestError where it would go on from an answer that a provider keeps: nobody here knows that.
    """
    if asked.grant is not None:
        await done(asked.grant.settle(None))
    keeping, dialect = asked.keeping, asked.dialect
    if keeping is None or asked.head.body.get("previous_response_id") is not None:
        raise BadRequestError(
            "/generate: an answer that its provider keeps cannot be gone on from without a model; leave `generate` out",
            status=400,
        )
    response: Response[None] = Response(
        parts=(), finish_reason="stop", usage=Usage(input_tokens=0, output_tokens=0), id=keeping.id
    )
    whole = msgspec.structs.replace(asked.context(None), changes=None)
    await keeping.keep_here(keeping.id, lambda: dialect.encode_response(response, whole).body)
    encode_event = dialect.stream_encoder(asked.context(None)).encode
    body = b"".join(map(encode_event, unfold(response)))
    return GatewayReply(headers=(("content-type", stream_type(dialect.name, json_array=False)),), body=body)
