"""The server's role: what a client of Cohere's chat API asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw, UnsetType
from msgspec.structs import replace

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import merge_members, object_in, passing, plain
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.cohere.assistant import AssistantEncoder, plain_reply
from interlingua.dialects.cohere.client import KNOBS
from interlingua.dialects.cohere.documents import decode_documents
from interlingua.dialects.cohere.messages import decode_messages, with_documents
from interlingua.dialects.cohere.parts import NAME
from interlingua.dialects.cohere.reasons import encode_error_body, finish_word
from interlingua.dialects.cohere.tools import CHOICES, decode_tool
from interlingua.dialects.cohere.usage import encode_usage
from interlingua.dialects.cohere.wire import ReceivedWire, ToolsWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.json import MAX_DEPTH, decode_received, encode, encode_wire, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool
    from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["answer_members", "decode_request", "encode_error", "encode_response"]

WHOLE_NUMBERS = frozenset({"max_tokens", "seed", "k"})
"""Knobs that are whole numbers."""

_read_tools = exact_reader(list[ToolWire], max_depth=MAX_DEPTH - 1)  # they stand in an object
_TOOLS = ToolCache()
_passing = passing("citation_options", "safety_mode", "priority")


# The request


def _text(member: Raw | UnsetType) -> bytes:
    return b"[]" if isinstance(member, UnsetType) or member == b"null" else bytes(member)


@clients_fault("messages")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("messages", "tools"), repairs=repairs)
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, changes, options).decode()
    return DecodedRequest(model=wire.model or "", request=request, stream=wire.stream is True, changes=changes.done())


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = _passing(wire)

    def decode(self) -> Request:
        wire = self.wire
        system, messages = decode_messages(_text(wire.messages), self.changes)
        messages = with_documents(messages, decode_documents(wire.documents or ()))
        messages = paired_history(messages, self.options, self.changes)
        schema, json_mode = self._format()
        budget = None if wire.thinking is None else wire.thinking.token_budget
        fields: dict[str, Any] = {
            "messages": messages,
            "system": system,
            "tools": self._tools(),
            "tool_choice": CHOICES.get(wire.tool_choice or ""),
            "output_schema": schema,
            "json_mode": json_mode,
            "stop": tuple(wire.stop_sequences or ()),
            "logprobs": 0 if wire.logprobs else None,
            "thinking": self._thinking(),
            "thinking_budget": budget,
        }
        for field, member in KNOBS.items():
            value = getattr(wire, member)
            if value is None:
                continue
            if _is_number(member, value):
                fields[field] = value
            else:
                self.extra[member] = value  # what is no such number stays a member
        if wire.tool_choice is not None and wire.tool_choice not in CHOICES:
            self.extra["tool_choice"] = wire.tool_choice
        return Request(**fields, extra={NAME: self.extra} if self.extra else {})

    def _tools(self) -> tuple[Tool | OpaqueTool, ...]:
        tools = _TOOLS.read(_text(self.wire.tools), self.changes, self._offered)
        strict = self.wire.strict_tools
        if strict is None:
            return tools
        if not any([isinstance(tool, Tool) for tool in tools]):
            self.extra["strict_tools"] = strict
            return tools
        return tuple([replace(tool, strict=strict) if isinstance(tool, Tool) else tool for tool in tools])

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = read_member(b"tools", text, ToolsWire).tools or []
        return tuple([decode_tool(tool, f"/tools/{place}") for place, tool in enumerate(wires)])

    def _format(self) -> tuple[dict[str, Any] | None, bool]:
        """The output schema, and whether JSON alone is asked for; members that mean nothing here stay as they came.

        Raises: DecodeError for two schemas that differ.
        """
        form = self.wire.response_format
        if form is None:
            return None, False
        if form.type != "json_object":
            members = plain(form)
            if members != {"type": "text"}:
                self.extra["response_format"] = members
            return None, False
        if form.extra:
            self.extra["response_format"] = dict(form.extra)
        schema = form.json_schema if form.json_schema is not None else form.schema
        if form.schema not in (None, schema):
            why = "another schema than json_schema, whose older name it is; give one of them"
            raise DecodeError(why, path="/response_format/schema")
        return schema, schema is None

    def _thinking(self) -> bool | None:
        """Whether to think; words and members that mean nothing here stay as they came."""
        wire = self.wire.thinking
        if wire is None:
            return None
        switch = {"enabled": True, "disabled": False}.get(wire.type or "enabled")
        members = dict(wire.extra or {}) | ({"type": wire.type} if switch is None else {})
        if members:
            self.extra["thinking"] = members
        return switch


def _is_number(member: str, value: object) -> bool:
    """Whether a knob says a number that means the same elsewhere: a limit below 1 is none."""
    if member not in WHOLE_NUMBERS:
        return type(value) in (int, float)
    return type(value) is int and (value > 0 if member == "max_tokens" else value >= 0)


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    if not context.says_own(NAME) and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    if response.alternatives:
        changes.add("alternatives_unsupported", "/alternatives")
    plain = None if NAME in response.extra else plain_reply(response.parts)
    message = AssistantEncoder(changes, "", reply=True).encode(response.parts) if plain is None else None
    members = answer_members(response, changes)
    if message is not None:
        message.citations = [*(message.citations or ()), *members.pop("citations", ())] or None
        merge_members(message, object_in(members, "message"))
        members.pop("message", None)
    made = response.id or (context.make_id() if context.make_id else None)
    head = {"id": made} if made is not None else {}
    tail: dict[str, Any] = {"finish_reason": finish_word(response, changes, own=context.says_own(NAME)), **members}
    if response.usage is not None:
        tail["usage"] = encode_usage(response.usage, changes)
    if message is None:
        body = encode({**head, "message": plain, **tail})
    else:
        opening = encode(head)[:-1] + (b"," if head else b"")
        body = b'%b"message":%b,%b' % (opening, encode_wire(message), encode(tail)[1:])
    return whole_reply(body, changes, context)


def answer_members(response: Response[Any], changes: Changes) -> dict[str, Any]:
    """The members of an answer that only pass through; an entry for those of other dialects."""
    response = adopt_answer(response, changes)
    return {name: value for name, value in response.extra.get(NAME, {}).items() if name != "field"}


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status, when to come back, and whether at all if that is unusual."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error)
