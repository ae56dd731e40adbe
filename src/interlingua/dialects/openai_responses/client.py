"""The client's role: a request for a Responses server, and what it answers.

Loss: `top_k`, `min_p`, `stop`, `seed`, penalties, `logit_bias` and thinking budgets have no member; see the matrix.
Source: vendor reference "Create a response", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._history import call_ids, prepare_history
from interlingua.dialects._members import foreign_extras, merge_members
from interlingua.dialects._openai_errors import error_of_body, read_error
from interlingua.dialects.openai_responses.assistant import CALLS, ItemDecoder
from interlingua.dialects.openai_responses.messages import InputEncoder, refers
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import decode_finish, error_of_failure, raw_finish
from interlingua.dialects.openai_responses.tools import encode_choice, encode_format, encode_tool
from interlingua.dialects.openai_responses.usage import decode_usage
from interlingua.dialects.openai_responses.wire import RequestWire, ResponseWire, TextWire, ToolWire
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.schema.names import map_call_ids, map_names
from interlingua.stream.calls import CallIdSource, settle_finish
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, ToolCall
from interlingua.types.message import Message
from interlingua.types.response import Response
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import decode_wire, encode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext, EncodeOptions
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.types.tool import ToolChoice
    from interlingua.wire.http import HttpReply

__all__ = ["LOGPROBS", "decode_error", "decode_response", "encode_request", "id_source", "top_members"]

PATH = "/responses"
SAMPLING = frozenset({"temperature", "top_p", "logprobs"})
"""What models without sampling refuse."""
KNOBS: tuple[str, ...] = (
    "temperature", "top_p", "service_tier", "user", "metadata", "store", "parallel_tool_calls",
)  # fmt: skip
"""Knobs that the wire names as we do."""
UNKNOWN_KNOBS: tuple[str, ...] = (
    "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty", "logit_bias", "thinking_budget", "thinking",
)  # fmt: skip
"""Knobs for which the wire has no member."""
LOGPROBS = "message.output_text.logprobs"
"""What asks for log probabilities in `include`."""
READ = frozenset({"id", "object", "status", "model", "output", "usage", "error", "incomplete_details", "extra"})
"""Members of an answer that have a field of their own."""
REPEATED: dict[str, Any] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Members of an answer that repeat the request, and what they say where it said nothing."""


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
        self.include: list[Any] = []
        self.freeform = frozenset([tool.name for tool in request.tools if isinstance(tool, Tool) and tool.freeform])
        self.names: dict[str, str] = {}

    def encode(self) -> Encoded:
        request = self.request
        continues = request.continues is not None or refers(request.messages)
        history = prepare_history(request.messages, self.options.history, self.changes, continues=continues)
        ids = call_ids(history)
        self.names = self._names(history)
        self._input(history, map_call_ids(ids, self.quirks.call_id_rule) if self.quirks.call_id_rule != "any" else {})
        self._tools()
        self._text()
        self._knobs()
        self._reasoning()
        self._state()
        self._extra()
        self._refuse()
        return Encoded(path=PATH, body=encode_wire(self.wire), changes=self.changes.done(), undo=self._undo(ids))

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

    def _input(self, history: tuple[Message, ...], ids: dict[str, str]) -> None:
        self._media(history)
        encoder = InputEncoder(self.target, self.names, ids, self.changes)
        self._system(encoder)
        self.wire.input = encoder.encode(history) or None
        for own, wire_id in ids.items():
            if own != wire_id:
                self.changes.add("id_mapped", "/messages", f"{own!r} is {wire_id!r} on the wire")

    def _system(self, encoder: InputEncoder) -> None:
        """One text is `instructions`; several stay apart, as the first message of the input."""
        system = self.request.system
        if len(system) == 1 and not system[0].extra.get(NAME):
            self.wire.instructions = system[0].text
            if system[0].cache is not None:
                self.changes.add("cache_unsupported", "/system/0/cache")
        elif system:
            encoder.prompt(Message("system", system), "")

    def _media(self, history: tuple[Message, ...]) -> None:
        """Refuse the media that the model is known not to take."""
        facts = self.target.facts
        untaken = [(ImagePart, facts.images), (AudioPart, facts.audio), (DocumentPart, facts.documents)]
        kinds = tuple(kind for kind, taken in untaken if taken is False)
        for place, message in enumerate(history if kinds else ()):
            for number, part in enumerate(message.parts):
                if isinstance(part, kinds):
                    self.changes.add(_MEDIA_CODES[type(part)], f"/messages/{place}/parts/{number}")

    # Tools

    def _tools(self) -> None:
        choice = self.request.tool_choice
        _check_names(choice, self.request.tools)
        tools = self._offered(choice)
        if tools:
            self.wire.tools = tools
        if choice is not None and "tool_choice" not in self.quirks.unsupported:
            self._choice(choice)

    def _offered(self, choice: ToolChoice | None) -> list[ToolWire]:
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

    def _must_filter(self, choice: ToolChoice | None) -> bool:
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

    def _choice(self, choice: ToolChoice) -> None:
        if self.quirks.tool_choice == "ignored":
            code = "tools_withheld" if choice == "none" else "tool_choice_approximated"
            if choice != "auto":
                self.changes.add(code, "/tool_choice", "the server ignores tool choices")
            return
        if self._must_filter(choice):
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            only_auto = isinstance(choice, AllowedTools) and choice.mode == "auto"
            self.wire.tool_choice = "auto" if only_auto else "required"
            return
        self.wire.tool_choice = encode_choice(choice, self.names, self.freeform)

    # Everything else

    def _text(self) -> None:
        request, quirks = self.request, self.quirks
        if request.output_schema is not None:
            weak = quirks.output_schema != "json_schema"
            if weak or (request.tools and not quirks.output_schema_with_tools):
                code = "output_schema_loosened" if "output_schema" in self.options.allow else "output_schema"
                why = "only JSON mode" if weak else "no schema together with tools"
                self.changes.add(code, "/output_schema", f"the server has {why}")
                if code == "output_schema":
                    return
        given = encode_format(request, quirks)
        verbosity = request.verbosity if request.verbosity is not None and self._takes("verbosity") else None
        if given is not None or verbosity is not None:
            self.wire.text = TextWire(format=given, verbosity=verbosity)
        if request.schema_strict is not None and not quirks.strict_schemas:
            self.changes.add("strict_unsupported", "/schema_strict")

    def _knobs(self) -> None:
        request, wire = self.request, self.wire
        for name in KNOBS:
            value = getattr(request, name)
            if value is not None and self._takes(name):
                setattr(wire, name, value)
        for name in UNKNOWN_KNOBS:
            if getattr(request, name) is not None:
                self.changes.add("parameter_unsupported", f"/{name}", f"this dialect has no {name}")
        if request.stop:
            self.changes.add("parameter_unsupported", "/stop", "this dialect has no stop sequences")
        if request.n is not None and request.n > 1:
            self.changes.add("choices", "/n", "this dialect gives one answer")
        wire.max_output_tokens = request.max_tokens
        if request.cache_key is not None and self._takes("cache_key"):
            wire.prompt_cache_key = request.cache_key
        if request.logprobs is not None and self._takes("logprobs"):
            wire.top_logprobs = request.logprobs or None
            self.include.append(LOGPROBS)
        if self.options.stream:
            wire.stream = True

    def _takes(self, name: str) -> bool:
        refused = self.target.facts.sampling is False and name in SAMPLING
        if not refused and name not in self.quirks.unsupported:
            return True
        who = self.target.model if refused else self.target.provider or "the server"
        self.changes.add("parameter_unsupported", f"/{name}", f"{who} does not take {name}")
        return False

    def _reasoning(self) -> None:
        request = self.request
        said: dict[str, Any] = {}
        if request.effort is not None and self.quirks.effort_field != "none" and self._takes("effort"):
            said["effort"] = request.effort
        elif request.effort is not None and self.quirks.effort_field == "none":
            self.changes.add("parameter_unsupported", "/effort", f"{self.target.provider} takes no effort")
        if request.thinking_summary not in (None, "none"):
            said["summary"] = request.thinking_summary
        self.wire.reasoning = said or None

    def _state(self) -> None:
        state = self.request.continues
        if state is None:
            return
        if state.dialect == NAME:
            merge_members(self.wire, state.raw)
        else:
            self.changes.add("server_state", "/continues", f"a conversation kept by {state.dialect}")

    def _extra(self) -> None:
        if self.request.cache in ("5m", "1h"):
            self.changes.add("cache_unsupported", "/cache", "this dialect caches by itself")
        if self.request.extra:
            for dialect in foreign_extras(self.request.extra, NAME):
                self.changes.add("extra_foreign", f"/extra/{dialect}")
            merge_members(self.wire, self.request.extra.get(NAME, {}))
        said = self.wire.include or []
        self.wire.include = [*said, *(name for name in self.include if name not in said)] or self.wire.include

    def _refuse(self) -> None:
        refused = self.changes.refused()
        if refused:
            told = "; ".join(f"{change.path} ({change.detail or change.code})" for change in refused)
            who = "/".join(name for name in (self.target.provider, self.target.model) if name) or NAME
            raise UnsupportedError(f"{who} cannot take {told}", changes=refused)


_MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}


def _check_names(choice: ToolChoice | None, tools: Sequence[Tool | OpaqueTool]) -> None:
    """UsageError for a choice of a tool that is not offered; an opaque tool may have any name."""
    known = {tool.name for tool in tools if isinstance(tool, Tool)}
    unknown = sorted(_only(choice) - known)
    if unknown and len(known) == len(tools):
        names = ", ".join(repr(name) for name in unknown)
        raise UsageError(f"tool_choice names {names}, and no such tool is in the request")


def _only(choice: ToolChoice | None) -> frozenset[str]:
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
    if wire.error not in (None, UNSET) or wire.status == "failed":
        raise error_of_failure(wire.error if wire.error is not UNSET else None)
    if wire.output is None:
        raise DecodeError("/output: the answer has no output", path="/output")
    changes = Changes(NAME, "decode_response")
    for repair in repairs:
        changes.add(repair, "")
    raw = raw_finish(wire.status, wire.incomplete_details)
    reason = decode_finish(raw, called=any(item.type in CALLS for item in wire.output))
    parts = tuple(_decode_output(wire, context, changes, cut_off=reason == "length"))
    extra = top_members(wire)
    return Response(
        parts=parts,
        finish_reason=settle_finish(reason, parts),
        finish_reason_raw=raw,
        usage=decode_usage(wire.usage) if wire.usage not in (None, UNSET) else None,
        model=wire.model or "",
        wire_model=wire.model,
        id=wire.id or None,
        changes=changes.done(),
        extra={NAME: extra} if extra else {},
    )


def _decode_output(wire: ResponseWire, context: DecodeContext, changes: Changes, *, cut_off: bool) -> list[Part]:
    """The parts of an answer; `cut_off` says that the length limit ended it.

    Raises: DecodeError, with the place.
    """
    items = wire.output or []
    decoder = ItemDecoder(id_source(context), changes, "", context.target, context.undo)
    for place, item in enumerate(items, 1):
        decoder.cut_off = cut_off and place == len(items) and item.type in CALLS
        try:
            decoder.decode(item)
        except DecodeError as error:
            raise error.under(f"/output/{place - 1}") from None
    return decoder.parts


def top_members(wire: ResponseWire) -> dict[str, Any]:
    """The members of an answer, or of a snapshot of it, that only pass through."""
    said: dict[str, Any] = {}
    for name in wire.__struct_fields__:
        if name not in READ:
            value = getattr(wire, name)
            if value is not None and value is not UNSET and not _is_repeated(name, value):
                said[name] = value
    return {**said, **wire.extra} if wire.extra else said


def _is_repeated(name: str, value: object) -> bool:
    return name in REPEATED and REPEATED[name] == value


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    status = reply.status if reply.status >= 400 else None
    return error_of_body(read_error(reply.body), status, reply.headers)
