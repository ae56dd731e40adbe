"""The client's role: a request for a Chat Completions server, and what it answers.

Loss: `thinking_budget` has no member, unless the server takes reasoning as an object; see the support matrix.
Source: vendor reference "Create chat completion", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._history import call_ids, prepare_history
from interlingua.dialects._members import foreign_extras, merge_members
from interlingua.dialects._memo import KnownTools
from interlingua.dialects._openai_errors import error_of_body, read_error
from interlingua.dialects.openai_chat.assistant import AssistantDecoder
from interlingua.dialects.openai_chat.messages import MessageEncoder
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.reasons import decode_finish
from interlingua.dialects.openai_chat.tools import encode_choice, encode_format, encode_tool, write_tools
from interlingua.dialects.openai_chat.usage import decode_usage
from interlingua.dialects.openai_chat.wire import MessageWire, RequestWire, ResponseWire, ToolWire
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.schema.names import map_call_ids, map_names
from interlingua.stream.calls import CallIdSource, note_finish, settle_finish
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, ToolCall
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import decode_wire, encode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

    from interlingua.dialects._contract import DecodeContext, EncodeOptions
    from interlingua.dialects.openai_chat.wire import ChoiceWire, ChunkWire
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = ["decode_error", "decode_response", "encode_request", "finish_of", "id_source", "top_members"]

PATH = "/chat/completions"
SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs"})
"""What models without sampling refuse."""
KNOBS: tuple[str, ...] = (
    "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "logit_bias", "n",
    "verbosity", "service_tier", "user", "metadata", "store",
)  # fmt: skip
"""Knobs that the wire names as we do."""
TOP_MEMBERS = ("created", "service_tier", "system_fingerprint", "provider", "x_groq", "timings")
"""Members of an answer that only pass through."""
RESERVED = frozenset({"choice", "message", "top"})
"""Where `extra` keeps the members of the first choice, of its message, and members of the answer named like these."""
CHOICE_MEMBERS = ("logprobs", "native_finish_reason", "content_filter_results")
"""The same of a choice."""


# The request


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError with every refusal found; HistoryError for calls and results that do not pair; UsageError
    for a choice of a tool that is not there.
    """
    return _RequestEncoder(request, options).encode()


class _RequestEncoder:
    """Writes one request; every method writes what its name says."""

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        self.request = request
        self.options = options
        self.target = options.target
        self.quirks = options.target.quirks
        self.changes = Changes(NAME, "encode_request", options.allow)
        self.wire = RequestWire(model=options.target.model)
        self.nulls = 0
        self.freeform = frozenset([tool.name for tool in request.tools if isinstance(tool, Tool) and tool.freeform])

    def encode(self) -> Encoded:
        history = prepare_history(
            self.request.messages, self.options.history, self.changes, continues=self.request.continues is not None
        )
        ids = call_ids(history)
        self.names = self._names(history)
        self._messages(
            history, map_call_ids(ids, self.quirks.call_id_rule) if self.quirks.call_id_rule != "any" else {}
        )
        self._tools()
        self._output()
        self._knobs()
        self._reasoning()
        self._stream()
        self._extra()
        self._refuse()
        self.nulls += sum([message.content is None for message in self.wire.messages])
        body = encode_wire(self.wire, nulls=self.nulls)
        return Encoded(path=PATH, body=body, changes=self.changes.done(), undo=self._undo(ids))

    def _names(self, history: Sequence[Message]) -> dict[str, str]:
        """The caller's own tool names -> the wire's, where the server's rule changes them."""
        if self.quirks.name_rule == "free":
            return {}
        declared = [tool.name for tool in self.request.tools if isinstance(tool, Tool)]
        called = [part.name for message in history for part in message.parts if isinstance(part, ToolCall)]
        mapped = map_names([*declared, *called], self.quirks.name_rule)
        changed = {own: wire for own, wire in mapped.items() if own != wire}
        for place, name in enumerate(declared):
            if name in changed:
                self.changes.add("name_mapped", f"/tools/{place}/name", f"{name!r} is {changed[name]!r} on the wire")
        return changed

    def _undo(self, ids: list[str]) -> Undo:
        return Undo(
            names={wire: own for own, wire in self.names.items()},
            tool_names=frozenset([tool.name for tool in self.request.tools if isinstance(tool, Tool)]),
            freeform=self.freeform,
            first_index=len(ids),
            taken_ids=frozenset(ids),
        )

    def _messages(self, history: tuple[Message, ...], ids: dict[str, str]) -> None:
        self._media(history)
        encoder = MessageEncoder(self.target, self.names, ids, self.changes)
        self.wire.messages = encoder.encode(self.request.system, history)
        for own, wire_id in ids.items():
            if own != wire_id:
                self.changes.add("id_mapped", "/messages", f"{own!r} is {wire_id!r} on the wire")

    def _media(self, history: tuple[Message, ...]) -> None:
        """Refuse the media that the model is known not to take."""
        facts = self.target.facts
        untaken = [(ImagePart, facts.images), (AudioPart, facts.audio), (DocumentPart, facts.documents)]
        kinds = tuple(kind for kind, taken in untaken if taken is False)
        for place, message in enumerate(history if kinds else ()):
            for number, part in enumerate(message.parts):
                if isinstance(part, kinds):
                    self.changes.add(_MEDIA_CODES[type(part)], f"/messages/{place}/parts/{number}")

    def _tools(self) -> None:
        choice = self.request.tool_choice
        _check_names(choice, self.request.tools)
        tools = self._written(choice)
        if tools:
            self.wire.tools = cast("list[ToolWire]", tools)  # text is written as it is
            self.wire.parallel_tool_calls = self.request.parallel_tool_calls
            if self.quirks.parallel_explicit and self.request.parallel_tool_calls is None:
                self.wire.parallel_tool_calls = True
        elif self.request.parallel_tool_calls is not None:
            self.wire.parallel_tool_calls = self.request.parallel_tool_calls
        if choice is not None and "tool_choice" not in self.quirks.unsupported:
            self._choice(choice)

    def _written(self, choice: object) -> Raw | list[ToolWire]:
        """The tools; as text where all of them were written before in the same way."""
        tools, quirks = self.request.tools, self.quirks
        unusual = self.names or self.target.facts.tools is False or self._must_filter(choice)
        if type(tools) is not KnownTools or unusual or not tools.untouched:
            return self._offered(choice)
        ways = (NAME, quirks.strict_schemas, quirks.cache_marks)
        written = tools.written.get(ways)
        if written is None:
            told = len(self.changes.entries)
            wires = self._offered(choice)
            if len(self.changes.entries) > told:
                return wires
            written = tools.written[ways] = write_tools(wires)
        self.nulls += written.nulls
        return written.text

    def _offered(self, choice: object) -> list[ToolWire]:
        """The tools, all or the allowed ones."""
        allowed = _only(choice) if self._must_filter(choice) else None
        wires: list[ToolWire] = []
        for place, tool in enumerate(self.request.tools):
            path = f"/tools/{place}"
            if isinstance(tool, OpaqueTool):
                self._opaque_tool(tool, wires, path)
            elif allowed is None or tool.name in allowed:
                if self.target.facts.tools is False:
                    self.changes.add("tools", path, f"{self.target.model} takes no tools on this dialect")
                else:
                    wires.append(encode_tool(tool, self.names, self.quirks, self.changes, path))
        return wires

    def _must_filter(self, choice: object) -> bool:
        """Whether the choice can only be said by leaving tools out."""
        if self.quirks.tool_choice == "full":
            return isinstance(choice, AllowedTools) and not self.quirks.allowed_tools
        return isinstance(choice, AllowedTools | NamedTool) or (
            choice == "none" and self.quirks.tool_choice == "ignored"
        )

    def _opaque_tool(self, tool: OpaqueTool, wires: list[ToolWire], path: str) -> None:
        if tool.dialect != NAME:
            self.changes.add("server_tools", path, f"{tool.kind} of {tool.dialect}")
            return
        wire = ToolWire()
        merge_members(wire, tool.raw)
        wires.append(wire)

    def _choice(self, choice: Any) -> None:
        if self.quirks.tool_choice == "ignored":
            code = "tools_withheld" if choice == "none" else "tool_choice_approximated"
            if choice != "auto":
                self.changes.add(code, "/tool_choice", "the server ignores tool choices")
            return
        if self._must_filter(choice):
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            required = isinstance(choice, NamedTool) or choice.mode == "required"
            self.wire.tool_choice = "required" if required else "auto"
            return
        self.wire.tool_choice = encode_choice(choice, self.names, self.freeform)

    def _output(self) -> None:
        request, quirks = self.request, self.quirks
        if request.output_schema is not None:
            weak = quirks.output_schema != "json_schema"
            if weak or (request.tools and not quirks.output_schema_with_tools):
                code = "output_schema_loosened" if "output_schema" in self.options.allow else "output_schema"
                why = "only JSON mode" if weak else "no schema together with tools"
                self.changes.add(code, "/output_schema", f"the server has {why}")
                if code == "output_schema":
                    return
        self.wire.response_format = encode_format(request, quirks)
        if request.schema_strict is not None and not quirks.strict_schemas:
            self.changes.add("strict_unsupported", "/schema_strict")

    def _knobs(self) -> None:
        request, wire = self.request, self.wire
        for name in KNOBS:
            value = getattr(request, name)
            if value is not None and self._takes(name):
                setattr(wire, name, value)
        if request.cache_key is not None and self._takes("cache_key"):
            wire.prompt_cache_key = request.cache_key
        if request.max_tokens is not None:
            setattr(wire, self.quirks.max_tokens_field, request.max_tokens)
        if request.seed is not None and self._takes("seed"):
            setattr(wire, self.quirks.seed_field, request.seed)
        if request.stop and self._takes("stop"):
            wire.stop = list(request.stop)
        if request.logprobs is not None and self._takes("logprobs"):
            wire.logprobs = True
            wire.top_logprobs = request.logprobs or None

    def _takes(self, name: str) -> bool:
        refused = self.target.facts.sampling is False and name in SAMPLING
        if not refused and name not in self.quirks.unsupported:
            return True
        who = self.target.model if refused else self.target.provider or "the server"
        self.changes.add("parameter_unsupported", f"/{name}", f"{who} does not take {name}")
        return False

    def _reasoning(self) -> None:
        request, field = self.request, self.quirks.effort_field
        nested = field == "reasoning.effort" or (field == "as_read" and "reasoning" in request.extra.get(NAME, {}))
        if nested:
            members = {"effort": request.effort, "max_tokens": request.thinking_budget}
            said = {name: value for name, value in members.items() if value is not None}
            self.wire.reasoning = said or None
            return
        for name in ("thinking", "thinking_summary", "thinking_budget"):
            if getattr(request, name) is not None:
                self.changes.add("parameter_unsupported", f"/{name}", "this dialect has no such member")
        if request.effort is not None and field == "none":
            self.changes.add("parameter_unsupported", "/effort", f"{self.target.provider} takes no effort")
        elif request.effort is not None and self._takes("effort"):
            self.wire.reasoning_effort = request.effort

    def _stream(self) -> None:
        if self.options.stream:
            self.wire.stream = True
            if self.options.stream_usage and self.quirks.stream_usage:
                self.wire.stream_options = {"include_usage": True}

    def _extra(self) -> None:
        if self.request.continues is not None:
            self.changes.add("server_state", "/continues", f"a conversation kept by {self.request.continues.dialect}")
        if self.request.cache in ("5m", "1h"):
            self.changes.add("cache_unsupported", "/cache", "this dialect marks parts, not requests")
        if self.request.extra:
            for dialect in foreign_extras(self.request.extra, NAME):
                self.changes.add("extra_foreign", f"/extra/{dialect}")
            merge_members(self.wire, self.request.extra.get(NAME, {}))

    def _refuse(self) -> None:
        refused = self.changes.refused()
        if refused:
            told = "; ".join(f"{change.path} ({change.detail or change.code})" for change in refused)
            who = "/".join(name for name in (self.target.provider, self.target.model) if name) or NAME
            raise UnsupportedError(f"{who} cannot take {told}", changes=refused)


_MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}


def _check_names(choice: object, tools: Sequence[Tool | OpaqueTool]) -> None:
    """UsageError for a choice of a tool that is not offered; an opaque tool may have any name."""
    named = _only(choice)
    if not named:
        return
    known = {tool.name for tool in tools if isinstance(tool, Tool)}
    unknown = sorted(named - known)
    if unknown and len(known) == len(tools):
        names = ", ".join(repr(name) for name in unknown)
        raise UsageError(f"tool_choice names {names}, and no such tool is in the request")


def _only(choice: object) -> frozenset[str]:
    match choice:
        case NamedTool(name=name):
            return frozenset({name})
        case AllowedTools(names=names):
            return frozenset(names)
        case _:
            return frozenset()


# The answer


def id_source(context: DecodeContext) -> CallIdSource:
    """Ids for the calls of one answer."""
    undo = context.undo
    return CallIdSource(first_index=undo.first_index, taken=undo.taken_ids, make=context.make_id)


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ResponseWire, repairs=repairs)
    if wire.error or (not wire.choices and wire.object == "error"):
        raise decode_error(reply, context)
    if not wire.choices:
        raise DecodeError("/choices: the answer has no choice", path="/choices")
    changes = Changes(NAME, "decode_response")
    for repair in repairs:
        changes.add(repair, "")
    ids = id_source(context)
    first, *others = [_choice(choice, ids, context, changes, place) for place, choice in enumerate(wire.choices)]
    extra = {**top_members(wire), **first.extra.get(NAME, {})}
    return Response(
        parts=first.parts,
        finish_reason=first.finish_reason,
        finish_reason_raw=first.finish_reason_raw,
        usage=decode_usage(wire.usage) if wire.usage is not None else None,
        model=wire.model or "",
        wire_model=wire.model,
        id=wire.id or None,
        alternatives=tuple(others),
        changes=changes.done(),
        extra={NAME: extra} if extra else {},
    )


def top_members(wire: ResponseWire | ChunkWire) -> dict[str, Any]:
    """The members of an answer, or of a chunk of it, that only pass through."""
    said = {name: value for name in TOP_MEMBERS if (value := getattr(wire, name)) is not None}
    if not wire.extra:
        return said
    said |= {name: value for name, value in wire.extra.items() if name not in RESERVED}
    beside = {name: value for name, value in wire.extra.items() if name in RESERVED}
    return {**said, "top": beside} if beside else said


def _choice(wire: ChoiceWire, ids: CallIdSource, context: DecodeContext, changes: Changes, place: int) -> Alternative:
    message = wire.message or wire.delta or MessageWire()
    reason = decode_finish(wire.finish_reason)
    prefix = f"/alternatives/{place - 1}" if place else ""
    decoder = AssistantDecoder(ids, context.target, context.undo, changes, prefix)
    try:
        parts = tuple(decoder.decode(message, cut_off=reason == "length"))
    except DecodeError as error:
        raise error.under(f"/choices/{place}/message") from None
    settled = finish_of(reason, wire.finish_reason, parts, changes, f"{prefix}/finish_reason")
    members = {name: value for name in CHOICE_MEMBERS if (value := getattr(wire, name)) not in (None, UNSET)}
    choice = {**members, **(wire.extra or {})}
    said = {**({"annotations": message.annotations} if message.annotations else {}), **(message.extra or {})}
    extra = {**({"choice": choice} if choice else {}), **({"message": said} if said else {})}
    return Alternative(
        parts=parts,
        finish_reason=settled,
        finish_reason_raw=wire.finish_reason,
        extra={NAME: extra} if extra else {},
    )


def finish_of(
    reason: FinishReason, raw: str | None, parts: Sequence[Part], changes: Changes, path: str
) -> FinishReason:
    """The finish reason that agrees with the parts; an entry where they contradict the wire's word."""
    settled = settle_finish(reason, parts)
    note_finish(reason, settled, raw, changes, path)
    return settled


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    status = reply.status if reply.status >= 400 else None
    return error_of_body(read_error(reply.body), status, reply.headers)
