"""The client's role: a request for another interlingua, and what it answers.

Rules
- Everything that the contract can say is said: knobs, seals, state, opaque parts and tools, members of other dialects.
- The strict rules of tools are kept for the caller: names are mapped and back, a missing description is the name.
- Call ids stay, and so do broken calls in the history.
- What is fixed comes first and the messages last, so that a further turn changes no byte before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from interlingua.dialects._answer import changes_of, failed_status, finish_of, id_source
from interlingua.dialects._request import CORE, RequestWriter, check_choice
from interlingua.dialects.unified.answer import decode_answer
from interlingua.dialects.unified.parts import (
    NAME,
    decode_part,
    encode_parts,
    is_bare,
    own_members,
    split_extra,
    with_members,
)
from interlingua.dialects.unified.reasons import decode_error_body
from interlingua.dialects.unified.tools import encode_choice, encode_tool
from interlingua.dialects.unified.wire import MessageWire, RequestWire, ResponseWire, ServerStateWire
from interlingua.errors import DecodeError
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.wire.json import decode_any, decode_wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.dialects.unified.wire import PartWire, ToolWire
    from interlingua.errors import Error
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import Response
    from interlingua.wire.http import HttpReply

__all__ = [
    "KNOBS",
    "PATH",
    "PartReader",
    "decode_error",
    "decode_response",
    "encode_request",
    "settled",
]

PATH = "/unified/v1/generate"
KNOBS = (
    "max_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty",
    "logit_bias", "logprobs", "n", "effort", "thinking", "thinking_summary", "thinking_budget", "parallel_tool_calls",
    "verbosity", "service_tier", "user", "metadata", "store", "cache", "cache_key", "output_schema", "schema_name",
    "schema_description", "schema_strict", "json_mode",
)  # fmt: skip
"""Members that are fields of a request by the same names and with the same values."""


# The request


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: HistoryError for calls and results that do not pair; UsageError for a choice of a tool that is not there.
    """
    return _RequestEncoder(request, options).encode()


class _RequestEncoder(RequestWriter):
    """Writes one request; every method writes what its name says."""

    dialect = NAME
    written_fields = CORE.union(KNOBS)
    name_rule = "unified"

    def encode(self) -> Encoded:
        request = self.request
        history = self.paired(continues=request.continues is not None, keep_broken=True)
        self.map_names()
        check_choice(request.tool_choice, request.tools)
        self.note_others()
        knobs = {name: value for name in KNOBS if (value := getattr(request, name)) is not None and self.takes(name)}
        continues: Any = request.continues
        tools = self.written_tools((), self._tools)
        system: Any = _plain_text(request.system)
        if system is None and request.system:
            system = encode_parts(request.system, {}, {})
        writer = _MessageWriter(self.names)
        messages = self.placed([writer.message(message) for message in history], is_bare=writer.is_bare)
        wire = RequestWire(
            model=self.target.model,
            stream=self.options.stream,
            **knobs,
            stop=list(request.stop),
            continues=None if continues is None else ServerStateWire(continues.dialect, continues.raw),
            members=split_extra(request.extra),
            tools=cast("list[ToolWire]", tools),  # text is written as it is
            tool_choice=encode_choice(request.tool_choice, self.names),
            system=system,
            messages=cast("list[MessageWire]", messages),  # as are these
        )
        own = own_members(request.extra)
        return self.done(PATH, cast("RequestWire", with_members(wire, own, self.slots)) if own else wire)

    def _tools(self) -> list[ToolWire]:
        tools = enumerate(self.request.tools)
        return [encode_tool(tool, self.names, self.changes, f"/tools/{place}") for place, tool in tools]


class _MessageWriter:
    """Writes the messages of one history, remembering what was called."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.called: dict[str, str] = {}
        self.is_bare = True
        """Whether there is nothing in the messages but texts, calls and results that are texts."""

    def message(self, message: Message) -> MessageWire:
        wire, parts = MessageWire(message.role, message.name), message.parts
        text = _plain_text(parts)
        if text is not None:
            wire.content = text
        else:
            if message.role == "assistant":
                calls = [part for part in parts if type(part) is ToolCall or type(part) is BrokenToolCall]
                self.called.update([(call.id, call.name) for call in calls])
            wire.parts = encode_parts(parts, self.names, self.called)
            self.is_bare = self.is_bare and all(map(is_bare, parts))
        if not message.extra:
            return wire
        self.is_bare = False
        wire.members = split_extra(message.extra)
        own = own_members(message.extra)
        return cast("MessageWire", with_members(wire, own)) if own else wire


def _plain_text(parts: tuple[Part, ...]) -> str | None:
    """The text of a message that is one text and nothing more; None for any other."""
    part = parts[0] if len(parts) == 1 else None
    if type(part) is not TextPart or part.cache is not None or not is_bare(part):
        return None
    return part.text or None


# The answer


class PartReader:
    """Reads the parts of an answer: calls get their ids, and the names that the request gave their tools."""

    __slots__ = ("_changes", "_ids", "_names")

    def __init__(self, context: DecodeContext, changes: Changes) -> None:
        """A reader for the answer to the request that `context` tells of."""
        self._changes = changes
        self._ids: CallIdSource = id_source(context)
        self._names = context.undo.names

    def part(self, wire: PartWire, path: str) -> Part:
        """The part at a path of the answer."""
        part = decode_part(wire)
        if not (type(part) is ToolCall or type(part) is BrokenToolCall):
            return part
        name, call_id = self.name(part.name, path), self.call_id(part.id, path)
        return part if (call_id, name) == (part.id, part.name) else replace(part, id=call_id, name=name)

    def call_id(self, wire_id: str | None, path: str) -> str:
        """The id of the next call; an entry where it is not the wire's."""
        own, code = self._ids.assign(wire_id)
        if code is not None:
            self._changes.add(code, f"{path}/id")
        return own

    def name(self, name: str | None, path: str) -> str:
        """The caller's own name of a tool.

        Raises: DecodeError for a call without one.
        """
        if not name:
            raise DecodeError(f"{path}/name: a tool call must have a name", path=f"{path}/name")
        return self._names.get(name, name)


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members that we do not know go to `extra`.
    Raises: DecodeError, with the first bad place; the error that a 200 hides.
    """
    repairs: list[str] = []
    try:
        wire = decode_wire(reply.body, ResponseWire, repairs=repairs, lenient=True)
    except DecodeError:
        if _is_error(reply.body):
            raise decode_error(reply, context) from None
        raise
    changes = changes_of(NAME, "decode_response", repairs)
    response = settled(decode_answer(wire, PartReader(context, changes).part), changes)
    if not changes.entries:
        return response
    return replace(response, changes=(*response.changes, *changes.done()))


def settled(response: Response[Any], changes: Changes) -> Response[Any]:
    """The answer with finish reasons that agree with its parts; an entry where they contradicted them."""
    reason = finish_of(response.finish_reason, response.finish_reason_raw, response.parts, changes)
    reasons = [
        finish_of(one.finish_reason, one.finish_reason_raw, one.parts, changes, f"/alternatives/{place}/finish_reason")
        for place, one in enumerate(response.alternatives)
    ]
    others = tuple([replace(one, finish_reason=own) for one, own in zip(response.alternatives, reasons, strict=True)])
    if reason == response.finish_reason and others == response.alternatives:
        return response
    return replace(response, finish_reason=reason, alternatives=others)


def _is_error(body: bytes) -> bool:
    try:
        value = decode_any(body, repairs=[])
    except DecodeError:
        return False
    return isinstance(value, dict) and "error" in value


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return decode_error_body(reply.body, failed_status(reply), reply.headers)
