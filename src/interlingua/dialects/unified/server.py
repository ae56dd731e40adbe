"""The server's role: what a client of our own format asks, and an answer, an error, in that format.

Rules
- The format is strict: an unknown member, a tool that breaks a rule, a result that names no call, and so on, are a 400
  whose `code` is the rule's name and whose `path` is the place. Nothing is repaired, whatever the options say.
- Ids are written as they are in the answer. Own ids are given where a provider's answer is decoded
  (`DecodeContext.make_id`), so that events, answers and whoever remembers the pairs see the same ones.
- An answer with a broken call, unless its length ended it, is an error with the answer beside it, never a call.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET

from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._history import paired_calls, prepare_history
from interlingua.dialects._members import reader_of
from interlingua.dialects._serve import JSON_HEADERS, clients_fault
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.unified.answer import encode_answer
from interlingua.dialects.unified.client import KNOBS
from interlingua.dialects.unified.parts import NAME, decode_part, extra_of
from interlingua.dialects.unified.reasons import encode_error_body, fault
from interlingua.dialects.unified.tools import check_choice, check_tools, decode_choice, decode_tool
from interlingua.dialects.unified.wire import (
    BrokenToolCallWire,
    MessagesWire,
    MessageWire,
    ReceivedWire,
    ToolCallWire,
    ToolResultWire,
    ToolsWire,
    ToolWire,
)
from interlingua.errors import DecodeError, HistoryError, SchemaError
from interlingua.schema.validate import check_schema
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request, ServerState
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode, encode_wire, exact_reader, pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.unified.wire import PartWire
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = ["decode_request", "encode_error", "encode_response"]

_UNKNOWN = re.compile(r"object contains unknown field `(?P<name>.*)`, at ")


W = TypeVar("W", bound=WireStruct)
_TOOLS = ToolCache()
_read_knobs = reader_of(*[name for name in KNOBS if name != "json_mode"])


# The request


@clients_fault("messages")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError and HistoryError, whose `code` is the rule that was broken; LimitExceededError.
    """
    wire = _read(http.body, ReceivedWire)
    if not wire.model:
        raise DecodeError("/model: the model is missing", path="/model")
    return DecodedRequest(model=wire.model, request=_RequestDecoder(wire, options).decode(), stream=wire.stream)


_read_messages = exact_reader(list[MessageWire])  # how deep they are was looked at in the body
_read_tools = exact_reader(list[ToolWire])


def _read(body: bytes, kind: type[W]) -> W:
    try:
        return decode(body, kind)
    except DecodeError as error:
        unknown = _UNKNOWN.match(error.message)
        if unknown is None:
            raise
        path = error.path + pointer(unknown["name"])
        raise DecodeError(f"{path}: the format has no such member", path=path, code="unknown_member") from None


class _RequestDecoder:
    """Reads one request; every method reads what its name says."""

    def __init__(self, wire: ReceivedWire, options: DecodeOptions) -> None:
        self.wire = wire
        self.options = options

    def decode(self) -> Request:
        wire = self.wire
        changes = Changes(NAME, "decode_request")
        tools = () if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), changes, self._tools)
        choice = decode_choice(wire.tool_choice)
        check_choice(choice, tools)
        if wire.output_schema is not None:
            try:
                check_schema(wire.output_schema, where="/output_schema")
            except SchemaError as error:
                raise DecodeError(error.message, path="/output_schema", code="schema_invalid") from None
        return Request(
            messages=self._messages(changes),
            system=self._system(),
            tools=tools,
            tool_choice=choice,
            stop=tuple(wire.stop),
            continues=None if wire.continues is None else ServerState(wire.continues.dialect, wire.continues.raw),
            json_mode=wire.json_mode,
            extra=extra_of(wire.members, wire.extra),
            **_read_knobs(wire),
        )

    def _system(self) -> tuple[TextPart, ...]:
        match self.wire.system:
            case None | "":
                return ()
            case str(text):
                return (TextPart(text),)
            case texts:
                parts = [_decoded(text, f"/system/{place}") for place, text in enumerate(texts)]
                return tuple([part for part in parts if isinstance(part, TextPart)])

    def _tools(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = _read(b'{"tools":%b}' % text, ToolsWire).tools
        tools = tuple([decode_tool(tool, f"/tools/{place}") for place, tool in enumerate(wires)])
        check_tools(tools, text)
        return tools

    def _messages(self, changes: Changes) -> tuple[Message, ...]:
        text = bytes(self.wire.messages)
        wires = _read_messages(text)
        if wires is None:
            wires = _read(b'{"messages":%b}' % text, MessagesWire).messages
        messages = _MessageReader().read(wires)
        if paired_calls(messages) is not None:
            return messages
        continues = self.wire.continues is not None
        return prepare_history(messages, "refuse", changes, continues=continues, keep_broken=True)


class _MessageReader:
    """Reads the messages of one history, remembering what was called."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def read(self, wires: Sequence[MessageWire]) -> tuple[Message, ...]:
        """The messages."""
        messages: list[Message] = []
        for place, wire in enumerate(wires):
            if wire.parts is None:
                parts: tuple[Part, ...] = (TextPart(wire.content),) if wire.content else ()
            elif wire.content is not None:
                path = f"/messages/{place}"
                raise DecodeError(f"{path}: a message has content or parts, not both", path=f"{path}/content")
            else:
                parts = tuple([self._part(part, place, number) for number, part in enumerate(wire.parts)])
            messages.append(Message(wire.role, parts, wire.name, extra_of(wire.members, wire.extra)))
        return tuple(messages)

    def _part(self, wire: PartWire, place: int, number: int) -> Part:
        """The part of this number in the message at a place."""
        if type(wire) is ToolCallWire:
            path = f"/messages/{place}/parts/{number}"
            if not wire.id.strip():
                raise DecodeError(f"{path}/id: a call must have an id", path=f"{path}/id", code="call_id_missing")
            if not wire.name:
                raise DecodeError(f"{path}/name: a call must name its tool", path=f"{path}/name")
            self.names[wire.id] = wire.name
            part = _decoded(wire, path)
            if type(part) is BrokenToolCall:
                sentence = f"the call {part.id!r} (tool {part.name}) has broken arguments: {part.reason}"
                raise HistoryError(f"{path}/arguments: {sentence}", code="arguments_broken")
            return part
        if type(wire) is ToolResultWire:
            wire.name = self.names.get(wire.tool_call_id) if wire.name is None else wire.name
        elif type(wire) is BrokenToolCallWire:
            self.names[wire.id] = wire.name
        try:
            return decode_part(wire)
        except DecodeError as error:
            raise error.under(f"/messages/{place}/parts/{number}") from None


def _decoded(wire: PartWire, path: str) -> Part:
    try:
        return decode_part(wire)
    except DecodeError as error:
        raise error.under(path) from None


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer; the error that it is when a call in it is broken."""
    error = fault(response, context)
    if error is not None:
        return encode_error(error, context)
    made = None if response.id or context.make_id is None else context.make_id()
    wire = encode_answer(response, model=context.model or response.model, id=made)
    return HttpReply(status=200, headers=JSON_HEADERS, body=encode_wire(wire))


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error with its status, and when to come back."""
    del context
    wire = encode_error_body(error)
    headers = JSON_HEADERS
    if error.retry_after_s is not None:
        headers = (*headers, ("retry-after", f"{error.retry_after_s:g}"))
    if error.request_id is not None:
        headers = (*headers, ("x-request-id", error.request_id))
    return HttpReply(status=wire.error.status or error.http_status, headers=headers, body=encode_wire(wire))
