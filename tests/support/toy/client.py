"""The client's role: a request, and what a whole answer says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._contract import Encoded
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._errors.classes import error_of
from interlingua.types.change import Changes
from interlingua.types.content import TextPart
from interlingua.types.response import Response
from interlingua.wire.json import decode_wire, encode_wire
from tests.support.toy.wire import FrameWire, LineWire, RequestWire

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, EncodeOptions
    from interlingua.errors import Error
    from interlingua.types.request import Request
    from interlingua.wire.http import HttpReply

__all__ = ["decode_error", "decode_response", "encode_request"]


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire; knobs and tools are dropped with an entry."""
    changes = Changes("toy", "encode_request")
    for name in ("temperature", "tools"):
        if getattr(request, name):
            changes.add("parameter_unsupported", f"/{name}", f"the dialect has no {name}")
    system = [LineWire(by="system", words=part.text) for part in request.system]
    lines = [LineWire(by=message.role, words=message.text) for message in request.messages]
    wire = RequestWire(
        model=options.target.model, lines=[*system, *lines], stream=options.stream, most=request.max_tokens
    )
    return Encoded(path="/say", body=encode_wire(wire), headers=(("toy-version", "1"),), changes=changes.done())


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer."""
    wire = decode_wire(reply.body, FrameWire)
    model = context.target.model
    parts = (TextPart(wire.words),) if wire.words else ()
    return Response(parts=parts, finish_reason="stop", finish_reason_raw=wire.why, id=wire.id, model=model)


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of(read_error(reply.body), reply.status, reply.headers, {})
