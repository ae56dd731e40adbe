"""The client's role: a request for a generateContent server, and what it answers.

Loss: see the support matrix; a field that is not in `WRITTEN_FIELDS` has no member.
Source: vendor reference "models.generateContent", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from interlingua.dialects._answer import changes_of, extra_of, failed_status, finish_of, id_source, no_answer
from interlingua.dialects._bounds import GOOGLE
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._members import is_list, is_object, merge_members, passing
from interlingua.dialects._request import CORE, Knobs, RequestWriter, check_choice
from interlingua.dialects._subsets import GOOGLE_OPENAPI, GOOGLE_OUTPUT, GOOGLE_TOOL
from interlingua.dialects.google.citations import CITATIONS, read_citations
from interlingua.dialects.google.messages import MessageEncoder
from interlingua.dialects.google.parts import NAME, PartDecoder, part_list
from interlingua.dialects.google.reasons import decode_finish, error_of_body
from interlingua.dialects.google.schemas import UPPER, from_json_schema
from interlingua.dialects.google.spelling import read_answer
from interlingua.dialects.google.thinking import encode_thinking
from interlingua.dialects.google.tiers import encode_tier
from interlingua.dialects.google.tools import FIELD, MIME, encode_choice, encode_tool
from interlingua.dialects.google.usage import decode_usage, uncounted
from interlingua.dialects.google.wire import (
    CallingWire,
    ConfigWire,
    ContentWire,
    PartWire,
    PlainPartWire,
    RequestWire,
    ResponseWire,
    ToolConfigWire,
    ToolWire,
)
from interlingua.errors import DecodeError, WireError
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.dialects.google.wire import CandidateWire, DeclarationWire
    from interlingua.errors import Error
    from interlingua.schema.subset import Subset
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
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
    "top_members",
]

SAMPLING = frozenset({"temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logprobs"})
"""Parameters that models without sampling refuse."""
OPENING = "Go on."
"""The user's words where a call has nobody before it; some servers refuse an empty text."""
JSON_PROMPT = "Answer with one JSON object and nothing else."
"""The prompt for JSON where the member for it is refused."""
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
KNOBS = Knobs(
    {
        "max_tokens": "maxOutputTokens",
        "temperature": "temperature",
        "top_p": "topP",
        "top_k": "topK",
        "seed": "seed",
        "presence_penalty": "presencePenalty",
        "frequency_penalty": "frequencyPenalty",
        "n": "candidateCount",
    }
)
"""Knobs that the wire has under another name."""
WRITTEN_FIELDS = CORE | {
    "top_k", "seed", "presence_penalty", "frequency_penalty", "logprobs", "thinking_summary", "thinking_budget",
    "metadata", "service_tier",
}  # fmt: skip
"""The fields of a request that are said, or have an entry of their own."""
_candidate_members = passing(
    "finishMessage", "avgLogprobs", "logprobsResult", "safetyRatings", "urlContextMetadata", "tokenCount", *CITATIONS,
)  # fmt: skip
"""Reads the members of a candidate that only pass through."""
_NO_CONFIG = ConfigWire()
_top_members = passing("promptFeedback", "createTime")
"""Reads the members of an answer that only pass through."""


# The request


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError with every refusal found; HistoryError for calls and results that do not pair; UsageError
    for a choice of a tool that is not there.
    """
    return _RequestEncoder(request, options).encode()


class _RequestEncoder(RequestWriter):
    """Writes one request; every method writes what its name says."""

    dialect = NAME
    written_fields = WRITTEN_FIELDS
    name_rule = "google"
    sampling = SAMPLING

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        if self.quirks.bounds == "vendor":
            self.bounds = GOOGLE
        self.wire = RequestWire()
        self.config = ConfigWire()

    def encode(self) -> Encoded:
        history = self.paired(continues=self.request.continues is not None)
        self.map_names()
        history = self.taken_media(history)
        self._messages(history)
        self._tools()
        self._output()
        request = self.request
        self.set_knobs(self.config, KNOBS)
        self.refuse_choices(GOOGLE.choices)
        self.config.stopSequences = self.told_stops()
        if request.logprobs is not None and self.takes("logprobs"):
            self.config.responseLogprobs = True
            self.config.logprobs = self.bounded("logprobs", request.logprobs) or None
        if request.metadata is not None and self.takes("metadata"):
            self.wire.labels = request.metadata
        if request.service_tier is not None and self.takes("service_tier"):
            self.wire.serviceTier = encode_tier(request.service_tier, self.changes)
        self.note_others()
        if request.parallel_tool_calls is False:
            self.note_unsaid(("parallel_tool_calls",))
        self.config.thinkingConfig = encode_thinking(self.request, self.facts, self.changes)
        self.set_state(self.wire)
        if self.request.cache in ("5m", "1h"):
            self.changes.add("cache_unsupported", "/cache", "the service caches by itself, for its own time")
        if self.config != _NO_CONFIG:
            self.wire.generationConfig = self.config
        if self.request.extra:
            own = self.own_members()
            merge_members(self.wire, {name: own[name] for name in own if name not in (FIELD, MIME)})
        model = self.target.model
        has_prefix = model.startswith(("models/", "tunedModels/", "publishers/"))
        name = quote(model if has_prefix else f"models/{model}", safe="/@-._~")
        method = "streamGenerateContent?alt=sse" if self.options.stream else "generateContent"
        return self.done(f"/{name}:{method}", self.wire)

    def _messages(self, history: tuple[Message, ...]) -> None:
        ids = self.map_ids()
        self.note_ids(ids)

        encoder = MessageEncoder(self.target, self.names, ids, self.changes)
        instruction, contents = encoder.encode(self.request.system, history)
        if not history or history[0].role != "user":  # else nothing has to stand before it
            first: list[Any] = part_list(contents[0].parts) if contents and contents[0].role == "model" else []
            if self.request.continues is None and any(
                isinstance(part, PartWire | PlainPartWire) and part.functionCall for part in first
            ):
                self.changes.add("parameter_added", "/messages/0", "a turn of the user, since a call must follow one")
                contents = [ContentWire(role="user", parts=[PartWire(text=OPENING)]), *contents]
            if instruction is not None and not contents:
                self.changes.add("system_moved", "/system", "sent as the user's message, because one must come first")
                instruction, contents = None, [ContentWire(role="user", parts=instruction.parts)]
        self.wire.systemInstruction = instruction
        self.wire.contents = cast("list[ContentWire]", self.placed(contents, is_bare=encoder.is_bare))

    # Tools

    def _tools(self) -> None:
        choice = self.request.tool_choice
        if choice is None and not self.request.tools:
            return
        check_choice(choice, self.request.tools)
        most, offered = self.bounds.tools, len(self.request.tools)
        if most is not None and offered > most:  # which of them to let go is nobody's guess
            detail = f"tool {most + 1} of {offered}, where {most} are taken"
            self.changes.add("tools", f"/tools/{most}", detail, action="refused")
        wires = self.written_tools((self.quirks.schema_form,), self._offered)
        self.wire.tools = cast("list[ToolWire]", wires) or None  # text is written as it is
        calling = encode_choice(choice, self.names, strict=self._strict())
        if calling is not None and calling.mode == "ANY" and not self.wire.tools:
            self.changes.add("parameter_unsupported", "/tool_choice", "no tool is offered")
        elif calling is not None:
            self.wire.toolConfig = ToolConfigWire(functionCallingConfig=calling)
        mixed = isinstance(wires, list) and len(wires) > 1 and any(wire.functionDeclarations for wire in wires)
        if not (mixed and self.facts.mixed_tools and self.quirks.server_tool_calls):
            return
        calling = calling or CallingWire()
        if calling.mode in (None, "AUTO"):
            calling.mode = "VALIDATED"
        self.wire.toolConfig = ToolConfigWire(functionCallingConfig=calling)
        merge_members(self.wire.toolConfig, {"includeServerSideToolInvocations": True})
        self.changes.add(
            "parameter_added", "/tools", "tools of both kinds: calls are held to their schemas, and all told"
        )

    def _offered(self) -> list[ToolWire]:
        """The functions as one entry, and the tools that the provider runs."""
        wires: list[ToolWire] = []
        declarations: list[DeclarationWire] = []
        # Whether there are tools of both kinds, and the model takes but one.
        apart = self.facts.mixed_tools is False and any(isinstance(tool, Tool) for tool in self.request.tools)
        for path, tool in self.offered():
            if isinstance(tool, OpaqueTool):
                if apart:
                    why = "the model takes tools that the provider runs, or the caller's own, not both"
                    self.changes.add("server_tools", path, f"{tool.kind}: {why}")
                    continue
                wire = ToolWire()
                merge_members(wire, tool.raw if is_object(tool.raw) else {tool.kind: tool.raw})
                wires.append(wire)
                continue
            if not declarations:
                wires.append(ToolWire(functionDeclarations=declarations))
            declarations.append(encode_tool(tool, self.names, self.quirks, self.changes, path))
        return wires

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool; a schema that was read in the OpenAPI form goes back as it is."""
        if FIELD in tool.extra.get(NAME, {}):
            return None
        return GOOGLE_OPENAPI if self.quirks.schema_form == "openapi" else GOOGLE_TOOL

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema that is taken of an output schema."""
        if FIELD in request.extra.get(NAME, {}):
            return None
        return GOOGLE_OPENAPI if self.quirks.schema_form == "openapi" else GOOGLE_OUTPUT

    def _strict(self) -> bool:
        """Whether free calls are held to their schemas: one flag for all tools, so all must want it."""
        wishes = [tool.strict for tool in self.request.tools if isinstance(tool, Tool)]
        if not any(wishes):
            return False
        free = self.request.tool_choice in (None, "auto")
        if all(wishes) and free:
            return True
        for place, tool in enumerate(self.request.tools):
            if isinstance(tool, Tool) and tool.strict and free:
                self.changes.add("strict_unsupported", f"/tools/{place}/strict", "not all tools are strict")
        return False

    # Output and knobs

    def _output(self) -> None:
        request = self.request
        if request.output_schema is None:
            if request.json_mode:
                self._json_mode()
            return
        if self.facts.output_schema is False or (request.tools and not self.quirks.output_schema_with_tools):
            code = "output_schema_loosened" if "output_schema" in self.options.allow else "output_schema"
            self.changes.add(code, "/output_schema", "the model takes no schema here")
            self.config.responseMimeType = "application/json"
            return
        if self.wire.tools and self.facts.output_schema_with_tools is False:
            self.changes.add("output_schema", "/output_schema", "the model takes tools or a schema, not both")
            return
        self.config.responseMimeType = request.extra.get(NAME, {}).get(MIME, "application/json")
        if self.wire.tools and self.facts.output_schema_with_tools:
            self._free_choice()
        style = request.extra.get(NAME, {}).get(FIELD)
        if style is None and self.quirks.schema_form == "openapi":
            style = UPPER
        if style is None:
            self.config.responseJsonSchema = request.output_schema
        else:
            self.config.responseSchema = from_json_schema(request.output_schema, style)

    def _json_mode(self) -> None:
        """Any JSON object: by its member, or in words where the model takes tools or the member."""
        if self.wire.tools and self.facts.output_schema_with_tools is False:
            self.changes.add("output_schema_prompted", "/json_mode", "the model takes tools or JSON mode, not both")
            instruction = self.wire.systemInstruction
            parts = part_list(instruction.parts) if isinstance(instruction, ContentWire) else []
            self.wire.systemInstruction = ContentWire(parts=[*parts, PartWire(text=JSON_PROMPT)])
            return
        self.config.responseMimeType = "application/json"
        if self.wire.tools and self.facts.output_schema_with_tools:
            self._free_choice()

    def _free_choice(self) -> None:
        """Let the model choose: beside a schema it takes no other choice, and holds no call to its tool's schema."""
        config = self.wire.toolConfig
        calling = config.functionCallingConfig if config is not None else None
        if calling is None or calling.mode in ("AUTO", "NONE"):
            return
        if self.request.tool_choice in (None, "auto"):
            self.changes.add("strict_unsupported", "/tools", "the model takes a schema or strict tools, not both")
        else:
            why = "beside an output schema the model may only choose by itself"
            self.changes.add("tool_choice_approximated", "/tool_choice", why)
        calling.mode, calling.allowedFunctionNames = "AUTO", None

    def takes(self, name: str) -> bool:
        """Whether server and model take a knob; an entry where they do not."""
        refused = self.facts.penalties is False and self.quirks.penalties_by_model
        if name not in PENALTIES or not refused:
            return super().takes(name)
        self.changes.add("parameter_unsupported", f"/{name}", f"{self.target.model} does not take {name}")
        return False


# The answer


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer; a blocked prompt is an answer without parts.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    if reply.body.lstrip()[:1] == b"[" and _holds_error(reply.body):
        raise decode_error(reply, context)
    repairs: list[str] = []
    wire = read_answer(reply.body, ResponseWire, repairs)
    if wire.error:
        raise decode_error(reply, context)
    changes = changes_of(NAME, "decode_response", repairs)
    if wire.candidates:
        ids = id_source(context)
        choices = [_choice(candidate, ids, context, changes, place) for place, candidate in enumerate(wire.candidates)]
    else:
        blocked = (wire.promptFeedback or {}).get("blockReason")
        if blocked is None:
            members = (wire.candidates, wire.promptFeedback, wire.usageMetadata, wire.modelVersion, wire.responseId)
            raise no_answer("candidates", "candidate", in_dialect=any(member is not None for member in members))
        choices = [Alternative(finish_reason="content_filter", finish_reason_raw=str(blocked))]
    first, *others = choices
    usage = decode_usage(wire.usageMetadata) if wire.usageMetadata is not None else None
    extra = top_members(wire)
    if usage is None:
        extra |= uncounted(wire.usageMetadata)
    if first.extra:
        extra |= first.extra[NAME]
    return Response(
        parts=first.parts,
        finish_reason=first.finish_reason,
        finish_reason_raw=first.finish_reason_raw,
        usage=usage,
        model=wire.modelVersion or "",
        wire_model=wire.modelVersion or None,
        id=wire.responseId or None,
        alternatives=tuple(others),
        changes=changes.done(),
        extra=extra_of(NAME, extra),
    )


CALLS: frozenset[type] = frozenset({ToolCall, BrokenToolCall})
RESERVED = frozenset({"candidate", "content", "top"})
"""Names under which `extra` keeps the members of the first candidate; an answer's own of that name go to `top`."""


def top_members(wire: ResponseWire) -> dict[str, Any]:
    """The members of an answer, or of a frame of it, that only pass through."""
    members = _top_members(wire)
    if wire.extra:
        beside = {name: members.pop(name) for name in RESERVED if name in members}
        return {**members, "top": beside} if beside else members
    return members


def candidate_members(wire: CandidateWire) -> dict[str, Any]:
    """The members of a candidate that only pass through."""
    return _candidate_members(wire)


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
    reason = finish_with_calls(raw, has_calls=not CALLS.isdisjoint([type(part) for part in parts]))
    settled = finish_of(reason, raw, parts, changes, f"{prefix}/finish_reason")
    members = candidate_members(wire)
    if members:
        # Citations hang on the last text that says something; without one they stay members of the candidate.
        names = [name for name in CITATIONS if name in members]
        for at in reversed(range(len(parts) if names else 0)):
            part = parts[at]
            if isinstance(part, TextPart) and part.text:
                cited = [one for name in names for one in read_citations(name, members.pop(name), part.text)]
                parts[at] = TextPart(part.text, tuple(cited), part.cache, part.sealed, part.extra)
                break
    content = wire.content.extra if wire.content is not None else None
    extra: dict[str, Any] = {"candidate": members} if members else {}
    if content:
        extra["content"] = dict(content)
    return Alternative(parts=tuple(parts), finish_reason=settled, finish_reason_raw=raw, extra=extra_of(NAME, extra))


def finish_with_calls(raw: str | None, *, has_calls: bool) -> FinishReason:
    """The finish reason; the wire says `STOP` whether tools are called or not."""
    reason = decode_finish(raw)
    return "tool_calls" if has_calls and reason == "stop" else reason


def _holds_error(body: bytes) -> bool:
    """Whether a list is one of errors, as Google sends them where a stream was asked for."""
    try:
        value = decode_any(body, repairs=[])
    except WireError:
        return False
    return is_list(value) and any(is_object(item) and item.get("error") for item in value)


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
