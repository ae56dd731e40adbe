"""The client's role: a request for a generateContent server, and what it answers.

Loss: see the support matrix; the knobs of `UNSAID` have no member.
Source: vendor reference "models.generateContent", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._history import call_ids, prepare_history
from interlingua.dialects._members import foreign_extras, is_object, merge_members
from interlingua.dialects.google.messages import MessageEncoder
from interlingua.dialects.google.parts import NAME, PartDecoder, part_list
from interlingua.dialects.google.reasons import decode_finish, error_of, read_error
from interlingua.dialects.google.schemas import from_json_schema
from interlingua.dialects.google.spelling import read_answer
from interlingua.dialects.google.tools import FIELD, encode_choice, encode_thinking, encode_tool
from interlingua.dialects.google.usage import decode_usage, uncounted
from interlingua.dialects.google.wire import (
    ConfigWire,
    ContentWire,
    PartWire,
    RequestWire,
    ResponseWire,
    ToolConfigWire,
    ToolWire,
)
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.schema.names import map_call_ids, map_names
from interlingua.stream.calls import CallIdSource, note_finish, settle_finish
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    TextPart,
    ToolCall,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.json import encode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext, EncodeOptions
    from interlingua.dialects.google.wire import CandidateWire, DeclarationWire
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = [
    "CITATIONS",
    "candidate_members",
    "decode_error",
    "decode_response",
    "encode_request",
    "finish_with_calls",
    "id_source",
    "top_members",
]

SAMPLING = frozenset({"temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logprobs"})
"""What models without sampling refuse."""
KNOBS = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "n": "candidateCount",
}
"""Knobs that the wire has under another name."""
UNSAID = (
    "min_p", "logit_bias", "verbosity", "service_tier", "user", "store", "cache_key", "parallel_tool_calls",
    "schema_strict", "schema_description",
)  # fmt: skip
"""Knobs that the wire has no member for."""
CITATIONS = ("groundingMetadata", "citationMetadata")
"""Members of a candidate that cite what its text says."""
CANDIDATE_MEMBERS = (
    "finishMessage", "avgLogprobs", "logprobsResult", "safetyRatings", "urlContextMetadata", "tokenCount", *CITATIONS,
)  # fmt: skip
"""Members of a candidate that only pass through."""
TOP_MEMBERS = ("promptFeedback", "createTime")
"""The same of an answer."""
_MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}


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
        self.wire = RequestWire()
        self.config = ConfigWire()
        self.names: dict[str, str] = {}

    def encode(self) -> Encoded:
        request = self.request
        continues = request.continues is not None
        history = prepare_history(request.messages, self.options.history, self.changes, continues=continues)
        ids = call_ids(history)
        self._names(history)
        self._media(history)
        self._messages(history, ids)
        self._tools()
        self._output()
        self._knobs()
        self.config.thinkingConfig = encode_thinking(request, self.target.facts, self.changes)
        self._state()
        self._extra()
        self._refuse()
        return Encoded(
            path=self._path(), body=encode_wire(self.wire), changes=self.changes.done(), undo=self._undo(ids)
        )

    def _path(self) -> str:
        model = self.target.model
        known = model.startswith(("models/", "tunedModels/", "publishers/"))
        name = quote(model if known else f"models/{model}", safe="/@-._~")
        return f"/{name}:streamGenerateContent?alt=sse" if self.options.stream else f"/{name}:generateContent"

    def _names(self, history: Sequence[Message]) -> None:
        """The caller's own tool names -> the wire's, where its rule changes them."""
        declared = [tool.name for tool in self.request.tools if isinstance(tool, Tool)]
        called = [part.name for message in history for part in message.parts if isinstance(part, ToolCall)]
        mapped = map_names([*declared, *called], "google" if self.quirks.name_rule == "free" else self.quirks.name_rule)
        self.names = {own: wire for own, wire in mapped.items() if own != wire}
        for place, name in enumerate(declared):
            if name in self.names:
                self.changes.add("name_mapped", f"/tools/{place}/name", f"{name!r} is {self.names[name]!r} on the wire")

    def _undo(self, ids: list[str]) -> Undo:
        tools = [tool for tool in self.request.tools if isinstance(tool, Tool)]
        return Undo(
            names={wire: own for own, wire in self.names.items()},
            tool_names=frozenset([tool.name for tool in tools]),
            freeform=frozenset([tool.name for tool in tools if tool.freeform]),
            first_index=len(ids),
            taken_ids=frozenset(ids),
        )

    def _media(self, history: tuple[Message, ...]) -> None:
        """Refuse the media that the model is known not to take."""
        facts = self.target.facts
        untaken = [(ImagePart, facts.images), (AudioPart, facts.audio), (DocumentPart, facts.documents)]
        kinds = tuple(kind for kind, taken in untaken if taken is False)
        for place, message in enumerate(history if kinds else ()):
            for number, part in enumerate(message.parts):
                if isinstance(part, kinds):
                    self.changes.add(_MEDIA_CODES[type(part)], f"/messages/{place}/parts/{number}")

    def _messages(self, history: tuple[Message, ...], ids: list[str]) -> None:
        mapped = map_call_ids(ids, self.quirks.call_id_rule) if self.quirks.call_id_rule != "any" else {}
        for own, wire_id in mapped.items():
            if own != wire_id:
                self.changes.add("id_mapped", "/messages", f"{own!r} is {wire_id!r} on the wire")
        encoder = MessageEncoder(self.target, self.names, mapped, self.changes)
        instruction, contents = encoder.encode(self.request.system, history)
        first = part_list(contents[0].parts) if contents and contents[0].role == "model" else []
        if self.request.continues is None and any(part.functionCall is not None for part in first):
            self.changes.add(
                "parameter_added", "/messages/0", "an empty turn of the user, since a call must follow one"
            )
            contents = [ContentWire(role="user", parts=[PartWire(text="")]), *contents]
        self.wire.systemInstruction, self.wire.contents = instruction, contents

    # Tools

    def _tools(self) -> None:
        choice = self.request.tool_choice
        _check_names(choice, self.request.tools)
        wires: list[ToolWire] = []
        declarations: list[DeclarationWire] | None = None
        for place, tool in enumerate(self.request.tools):
            path = f"/tools/{place}"
            if isinstance(tool, OpaqueTool):
                self._opaque_tool(tool, wires, path)
            elif self.target.facts.tools is False:
                self.changes.add("tools", path, f"{self.target.model} takes no tools")
            else:
                if declarations is None:
                    declarations = []
                    wires.append(ToolWire(functionDeclarations=declarations))
                declarations.append(encode_tool(tool, self.names, self.changes, path))
        self.wire.tools = wires or None
        calling = encode_choice(choice, self.names, strict=self._strict())
        if calling is not None:
            self.wire.toolConfig = ToolConfigWire(functionCallingConfig=calling)

    def _opaque_tool(self, tool: OpaqueTool, wires: list[ToolWire], path: str) -> None:
        if tool.dialect != NAME:
            self.changes.add("server_tools", path, f"{tool.kind} of {tool.dialect}")
            return
        wire = ToolWire()
        merge_members(wire, tool.raw if is_object(tool.raw) else {tool.kind: tool.raw})
        wires.append(wire)

    def _strict(self) -> bool:
        """Whether free calls are held to their schemas: one flag for all tools, so all must want it."""
        wishes = [tool.strict for tool in self.request.tools if isinstance(tool, Tool)]
        free = self.request.tool_choice in (None, "auto")
        if wishes and all(wishes) and free:
            return True
        for place, tool in enumerate(self.request.tools):
            if isinstance(tool, Tool) and tool.strict and free:
                self.changes.add("strict_unsupported", f"/tools/{place}/strict", "not all tools are strict")
        return False

    # Output and knobs

    def _output(self) -> None:
        request = self.request
        if request.output_schema is None:
            self.config.responseMimeType = "application/json" if request.json_mode else None
            return
        if self.target.facts.output_schema is False or (request.tools and not self.quirks.output_schema_with_tools):
            code = "output_schema_loosened" if "output_schema" in self.options.allow else "output_schema"
            self.changes.add(code, "/output_schema", "the model takes no schema here")
            self.config.responseMimeType = "application/json"
            return
        self.config.responseMimeType = "application/json"
        style = request.extra.get(NAME, {}).get(FIELD)
        if style is None:
            self.config.responseJsonSchema = request.output_schema
        else:
            self.config.responseSchema = from_json_schema(request.output_schema, style)

    def _knobs(self) -> None:
        request = self.request
        for name, member in KNOBS.items():
            value = getattr(request, name)
            if value is not None and self._takes(name):
                setattr(self.config, member, value)
        if request.stop and self._takes("stop"):
            self.config.stopSequences = list(request.stop)
        if request.logprobs is not None and self._takes("logprobs"):
            self.config.responseLogprobs = True
            self.config.logprobs = request.logprobs or None
        if request.metadata is not None and self._takes("metadata"):
            self.wire.labels = request.metadata
        for name in UNSAID:
            value = getattr(request, name)
            if value is not None and not (name == "parallel_tool_calls" and value):
                self.changes.add("parameter_unsupported", f"/{name}", "this dialect has no such member")

    def _takes(self, name: str) -> bool:
        refused = self.target.facts.sampling is False and name in SAMPLING
        if not refused and name not in self.quirks.unsupported:
            return True
        who = self.target.model if refused else self.target.provider or "the server"
        self.changes.add("parameter_unsupported", f"/{name}", f"{who} does not take {name}")
        return False

    def _state(self) -> None:
        """The conversation that the provider keeps; another provider's is refused."""
        state = self.request.continues
        if state is not None and state.dialect == NAME:
            merge_members(self.wire, state.raw)
        elif state is not None:
            self.changes.add("server_state", "/continues", f"a conversation kept by {state.dialect}")
        if self.request.cache is not None:
            self.changes.add("cache_unsupported", "/cache", "the dialect caches by itself")

    def _extra(self) -> None:
        if self.config != ConfigWire():
            self.wire.generationConfig = self.config
        if self.request.extra:
            for dialect in foreign_extras(self.request.extra, NAME):
                self.changes.add("extra_foreign", f"/extra/{dialect}")
            members = {name: value for name, value in self.request.extra.get(NAME, {}).items() if name != FIELD}
            merge_members(self.wire, members)

    def _refuse(self) -> None:
        refused = self.changes.refused()
        if refused:
            told = "; ".join(f"{change.path} ({change.detail or change.code})" for change in refused)
            who = "/".join(name for name in (self.target.provider, self.target.model) if name) or NAME
            raise UnsupportedError(f"{who} cannot take {told}", changes=refused)


def _check_names(choice: object, tools: Sequence[Tool | OpaqueTool]) -> None:
    """UsageError for a choice of a tool that is not offered; an opaque tool may have any name."""
    match choice:
        case NamedTool(name=name):
            wanted = {name}
        case AllowedTools(names=names):
            wanted = set(names)
        case _:
            return
    known = {tool.name for tool in tools if isinstance(tool, Tool)}
    unknown = sorted(wanted - known)
    if unknown and len(known) == len(tools):
        told = ", ".join(repr(name) for name in unknown)
        raise UsageError(f"tool_choice names {told}, and no such tool is in the request")


# The answer


def id_source(context: DecodeContext) -> CallIdSource:
    """Ids for the calls of one answer."""
    undo = context.undo
    return CallIdSource(first_index=undo.first_index, taken=undo.taken_ids, make=context.make_id)


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer; a blocked prompt is an answer without parts.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    if reply.body.lstrip()[:1] == b"[":
        raise decode_error(reply, context)
    repairs: list[str] = []
    wire = read_answer(reply.body, ResponseWire, repairs)
    if wire.error:
        raise decode_error(reply, context)
    changes = Changes(NAME, "decode_response")
    for repair in repairs:
        changes.add(repair, "")
    first, *others = _choices(wire, context, changes)
    extra = {**top_members(wire), **uncounted(wire.usageMetadata), **first.extra.get(NAME, {})}
    return Response(
        parts=first.parts,
        finish_reason=first.finish_reason,
        finish_reason_raw=first.finish_reason_raw,
        usage=decode_usage(wire.usageMetadata) if wire.usageMetadata is not None else None,
        model=wire.modelVersion or "",
        wire_model=wire.modelVersion,
        id=wire.responseId or None,
        alternatives=tuple(others),
        changes=changes.done(),
        extra={NAME: extra} if extra else {},
    )


def _choices(wire: ResponseWire, context: DecodeContext, changes: Changes) -> list[Alternative]:
    if wire.candidates:
        ids = id_source(context)
        return [_choice(candidate, ids, context, changes, place) for place, candidate in enumerate(wire.candidates)]
    blocked = (wire.promptFeedback or {}).get("blockReason")
    if blocked is None:
        raise DecodeError("/candidates: the answer has no candidate", path="/candidates")
    return [Alternative(finish_reason="content_filter", finish_reason_raw=str(blocked))]


RESERVED = frozenset({"candidate", "content", "top"})
"""Names under which `extra` keeps the members of the first candidate; an answer's own of that name go to `top`."""


def top_members(wire: ResponseWire) -> dict[str, Any]:
    """The members of an answer, or of a frame of it, that only pass through."""
    said = {name: value for name in TOP_MEMBERS if (value := getattr(wire, name)) is not None}
    if not wire.extra:
        return said
    said |= {name: value for name, value in wire.extra.items() if name not in RESERVED}
    beside = {name: value for name, value in wire.extra.items() if name in RESERVED}
    return {**said, "top": beside} if beside else said


def candidate_members(wire: CandidateWire) -> dict[str, Any]:
    """The same of a candidate."""
    said = {name: value for name in CANDIDATE_MEMBERS if (value := getattr(wire, name)) is not None}
    return {**said, **wire.extra} if wire.extra else said


def _choice(
    wire: CandidateWire, ids: CallIdSource, context: DecodeContext, changes: Changes, place: int
) -> Alternative:
    prefix = f"/alternatives/{place - 1}" if place else ""
    decoder = PartDecoder(ids, context.target, context.undo, changes, prefix)
    try:
        parts = decoder.decode(part_list(wire.content.parts if wire.content is not None else None))
    except DecodeError as error:
        raise error.under(f"/candidates/{place}/content") from None
    raw = None if wire.finishReason is None else str(wire.finishReason)
    reason = finish_with_calls(raw, has_calls=any(isinstance(part, ToolCall | BrokenToolCall) for part in parts))
    settled = settle_finish(reason, parts)
    note_finish(reason, settled, raw, changes, f"{prefix}/finish_reason")
    members = candidate_members(wire)
    _cite(parts, members)
    content = wire.content.extra if wire.content is not None else None
    extra = {**({"candidate": members} if members else {}), **({"content": dict(content)} if content else {})}
    return Alternative(
        parts=tuple(parts), finish_reason=settled, finish_reason_raw=raw, extra={NAME: extra} if extra else {}
    )


def finish_with_calls(raw: str | None, *, has_calls: bool) -> FinishReason:
    """The finish reason; the wire says `STOP` whether tools are called or not."""
    reason = decode_finish(raw)
    return "tool_calls" if has_calls and reason == "stop" else reason


def _cite(parts: list[Part], members: dict[str, Any]) -> None:
    """Hang the citations on the last text; without one they stay members of the candidate."""
    found = [name for name in CITATIONS if name in members]
    for place in reversed(range(len(parts) if found else 0)):
        part = parts[place]
        if isinstance(part, TextPart):
            citations = tuple([Citation(NAME, {name: members.pop(name)}) for name in found])
            parts[place] = TextPart(part.text, citations, part.cache, part.sealed, part.extra)
            return


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of(read_error(reply.body), reply.status if reply.status >= 400 else None, reply.headers)
