"""The server's role: what a client asks, and a whole answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._serve import clients_fault, error_reply, whole_reply
from interlingua.types.change import Changes
from interlingua.types.content import TextPart
from interlingua.types.message import Message, Role
from interlingua.types.request import Request
from interlingua.wire.json import decode_wire, encode_wire
from tests.support.toy.wire import FrameWire, RequestWire

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["decode_request", "encode_error", "encode_response"]


@clients_fault("lines")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """What a client asks."""
    del options
    wire = decode_wire(http.body or b"{}", RequestWire)
    system = tuple([TextPart(line.words) for line in wire.lines if line.by == "system"])
    lines = [line for line in wire.lines if line.by != "system"]
    messages = tuple([Message(role=cast("Role", line.by), parts=(TextPart(line.words),)) for line in lines])
    return DecodedRequest(
        model=wire.model, request=Request(messages=messages, system=system, max_tokens=wire.most), stream=wire.stream
    )


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer."""
    name = response.id or (context.make_id() if context.make_id is not None else None)
    wire = FrameWire(words=response.text, why="done", id=name)
    return whole_reply(encode_wire(wire), Changes("toy", "encode_response"), context)


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body."""
    del context
    status = error.status or error.http_status
    return error_reply(status, {"wrong": {"message": error.message, "status": status}}, error)
