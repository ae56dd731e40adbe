"""The client's role: a request for Converse, and what it answers.

Rules
- The model stands in the path, and so does whether a stream is wanted.
- What no member says goes to the model itself, in `additionalModelRequestFields`: thinking, `top_k`, and for Claude the
  choice that forbids parallel calls.
- Nobody can be kept from calling a tool: no tools are sent then, unless the history calls some.
Loss: see the support matrix; a field that is not in `WRITTEN_FIELDS` has no member.
Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44; recorded traffic, November 2026.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._answer import (
    changes_of,
    extra_of,
    failed_status,
    finish_of,
    id_source,
    no_answer,
    sound_calls,
)
from interlingua.dialects._bounds import Bounds
from interlingua.dialects._members import is_object, merge_members, passing
from interlingua.dialects._request import CORE, RequestWriter, check_choice, must_call
from interlingua.dialects._subsets import ANTHROPIC_OUTPUT, ANTHROPIC_STRICT, ANTHROPIC_TOOL
from interlingua.dialects._system import note_system
from interlingua.dialects.bedrock.assistant import AssistantDecoder
from interlingua.dialects.bedrock.marks import Marks
from interlingua.dialects.bedrock.messages import MessageEncoder, split_system
from interlingua.dialects.bedrock.parts import NAME
from interlingua.dialects.bedrock.reasons import decode_finish, error_of_body
from interlingua.dialects.bedrock.service import path_of
from interlingua.dialects.bedrock.thinking import encode_thinking
from interlingua.dialects.bedrock.tools import encode_choice, encode_tool
from interlingua.dialects.bedrock.usage import decode_usage
from interlingua.dialects.bedrock.wire import (
    AnswerWire,
    MessageWire,
    PlainAnswerWire,
    RequestWire,
    SpecWire,
    ToolConfigWire,
    ToolWire,
)
from interlingua.types.change import Changes
from interlingua.types.content import TextPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.tool import EMPTY_PARAMETERS, AllowedTools, OpaqueTool, Tool
from interlingua.wire.json import MAX_DEPTH, decode_wire, encode, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.dialects.bedrock.wire import BlockWire, EventWire
    from interlingua.errors import Error
    from interlingua.schema.subset import Subset
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = ["FIELDS", "answer_members", "decode_error", "decode_response", "encode_request"]

FIELDS = "additionalModelRequestFields"
WRITTEN_FIELDS = CORE | {"top_k", "thinking_budget", "metadata", "service_tier", "schema_strict"}
"""The fields of a request that are said, or have an entry of their own."""
KNOBS = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP"}
"""Knobs of `inferenceConfig`."""
SAMPLING = frozenset({"temperature", "top_p", "top_k"})
"""Parameters that models without sampling refuse."""
TIERS = frozenset({"priority", "default", "flex", "reserved"})
BOUNDS = Bounds(
    knobs={"max_tokens": (1, inf), "temperature": (0.0, 1.0), "top_p": (0.0, 1.0), "top_k": (0, inf)},
    stops=2_500,
    pairs=(16, 256, 256),
    unique_names=True,
)
"""Converse, whatever model answers."""
JSON_PROMPT = "Answer with one JSON object and nothing else."
"""The prompt for JSON where no schema is given; the wire has no member for it."""


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
    name_rule = "openai"
    call_id_rule = "bedrock"
    sampling = SAMPLING
    bounds = BOUNDS

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        self.marks = Marks(options.target.quirks, self.changes)
        self.wire = RequestWire()
        self.fields: dict[str, Any] = {}

    def encode(self) -> Encoded:
        history = self.paired(continues=self.request.continues is not None)
        self.map_names()
        history = self.taken_media(history)
        self._tools(history)
        self._messages(history)
        # How hard to think is said in the member for it and in the model's own words.
        thinking = encode_thinking(self.request, self.facts, self.changes)
        if thinking is not None:
            self.fields["thinking"] = thinking
        effort = self.request.effort
        budgeted = self.facts.efforts is not None and not self.facts.efforts
        if effort not in (None, "none") and not budgeted and (word := self.told_effort()) is not None:
            self.wire.outputConfig = {"effort": word}
        self._choice()
        self._output()
        self._knobs()
        self.wire.additionalModelRequestFields = self.fields or None
        self.set_state(self.wire)
        if self.request.extra:
            merge_members(self.wire, self.own_members())
        return self.done(path_of(self.target.model, stream=self.options.stream), self.wire)

    def _messages(self, history: tuple[Message, ...]) -> None:
        ids = self.map_ids()
        self.note_ids(ids)
        encoder = MessageEncoder(self.target, self.names, ids, self.marks, self.changes)
        texts, count = split_system(self.request.system, history)
        note_system(self.changes, history[:count])
        if self.request.json_mode and self.request.output_schema is None:
            self.changes.add("output_schema_prompted", "/json_mode", "the dialect has no JSON mode")
            texts.append((TextPart(JSON_PROMPT), "/json_mode"))
        system = encoder.system(texts)
        self._whole_mark(system)
        wires = encoder.encode(history[count:], count)
        if system and not wires and self.request.continues is None:
            self.changes.add("system_moved", "/system", "sent as the user's message, because one must come first")
            wires, encoder.is_bare = [MessageWire(role="user", content=system)], False
        else:
            self.wire.system = system or None
            if not wires:
                self.refuse_empty()
        self.wire.messages = cast("list[MessageWire]", self.placed(wires, is_bare=encoder.is_bare)) or None
        if (
            self.facts.prefill is False and wires and wires[-1].role == "assistant"
        ):  # a blank turn behind it is left out
            begun = max([place for place, message in enumerate(history) if message.role == "assistant"])
            why = f"{self.target.model} finishes no turn that was begun for it"
            self.changes.add("prefill", f"/messages/{begun}", why)

    def _whole_mark(self, system: list[BlockWire]) -> None:
        """A mark for the request as a whole: where the conversation begins, unless something is marked there."""
        cache = self.request.cache
        if cache is None:
            return
        if cache != "auto":
            self.changes.add("cache_unsupported", "/cache", "the dialect has no mark that moves along")
            return
        tools = self.wire.toolConfig.tools if self.wire.toolConfig is not None else None
        if any(one.cachePoint is not None for one in (*system, *(tools or ()))):
            return
        if not system and not tools:
            self.changes.add("cache_unsupported", "/cache", "the dialect marks what stands before a conversation")
            return
        self.changes.add("parameter_adjusted", "/cache", "sent as a mark where the conversation begins")
        if system:
            system.extend(self.marks.block(cache, ""))
        elif tools and (mark := self.marks.mark(cache, "")) is not None:
            tools.append(ToolWire(cachePoint=mark))

    # Tools

    def _tools(self, history: Sequence[Message]) -> None:
        choice = self.request.tool_choice
        check_choice(choice, self.request.tools)
        if choice == "none" and not self.calls:
            for place in range(len(self.request.tools)):
                self.changes.add("tools_withheld", f"/tools/{place}", "the dialect has no choice of no tool")
            return
        only = frozenset(choice.names) if isinstance(choice, AllowedTools) else None
        ways = (self.quirks.strict_schemas, self.quirks.cache_marks)
        wires = self._offered(only) if only is not None else self.written_tools(ways, partial(self._offered, None))
        if self.quirks.history_tools and not wires:
            # such servers insist on a bare definition of every tool that the history calls
            called = [part.name for message in history for part in message.parts if isinstance(part, ToolCall)]
            names = sorted({self.names.get(name, name) for name in called})
            if names:
                why = f"declared, since the history calls them: {', '.join(names)}"
                self.changes.add("parameter_added", "/tools", why)
            schema = {"json": dict(EMPTY_PARAMETERS)}
            wires = [ToolWire(toolSpec=SpecWire(name=name, inputSchema=schema)) for name in names]
        if wires:
            self.wire.toolConfig = ToolConfigWire(tools=cast("list[ToolWire]", wires))  # text is written as it is
        if choice == "none" and wires:
            why = "the history calls tools, which have to be declared; nobody can be kept from calling them"
            self.changes.add("tool_choice_approximated", "/tool_choice", why)

    def _offered(self, only: frozenset[str] | None) -> list[ToolWire]:
        """The tools, all or the allowed ones, each with its mark."""
        wires: list[ToolWire] = []
        for path, tool in self.offered(only):
            if isinstance(tool, OpaqueTool):
                wires.append(ToolWire())
                merge_members(wires[-1], tool.raw)
                continue
            wires.append(encode_tool(tool, self.names, path, quirks=self.quirks, changes=self.changes))
            if tool.cache is not None and (mark := self.marks.mark(tool.cache, path)) is not None:
                wires.append(ToolWire(cachePoint=mark))
        return wires

    def leave_out(self, path: str) -> None:
        """Note one tool that the choice leaves out."""
        self.changes.add("tools_withheld", path, "the choice leaves it out, and the dialect has no choice of some")

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool."""
        return ANTHROPIC_STRICT if tool.strict and self.quirks.strict_schemas else ANTHROPIC_TOOL

    def _choice(self) -> None:
        """The tool choice, after everything that forbids a forced one is known."""
        choice, parallel = self.request.tool_choice, self.request.parallel_tool_calls
        config = self.wire.toolConfig
        if config is None or not self.request.tools:
            if choice not in (None, "none"):
                self.changes.add("parameter_unsupported", "/tool_choice", "no tool is offered")
            if parallel is False:
                self.changes.add("parameter_unsupported", "/parallel_tool_calls", "no tool is offered")
            return
        if isinstance(choice, AllowedTools):
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            choice = choice.mode
        budgeted = is_object(thinking := self.fields.get("thinking")) and thinking.get("type") == "enabled"
        if must_call(choice) and (self.facts.forced_choice is False or budgeted):
            why = "while it thinks" if budgeted else "at all"
            self.changes.add("tool_choice_approximated", "/tool_choice", f"the model takes no forced choice {why}")
            choice = "auto"
        form = encode_choice(choice, self.names)
        if parallel is False and "claude" in self.target.model:
            # one call a turn: Claude knows it, in a choice of its own that stands for the other one
            kind, members = next(iter((form or {"auto": {}}).items()))
            self.fields["tool_choice"] = {"type": kind, **members, "disable_parallel_tool_use": True}
            form = None
        elif parallel is False:
            self.changes.add("parameter_unsupported", "/parallel_tool_calls", "the dialect has no such switch")
        config.toolChoice = form

    # Output and knobs

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema for an output."""
        del request
        return None if self.facts.output_schema is False else ANTHROPIC_OUTPUT

    def _output(self) -> None:
        request = self.request
        if request.output_schema is None:
            return
        if self.facts.output_schema is False:
            self.changes.add("output_schema", "/output_schema", f"{self.target.model} takes no output schema")
            return
        schema: dict[str, Any] = {} if request.schema_name is None else {"name": request.schema_name}
        schema["schema"] = encode(request.output_schema).decode()
        form = {"type": "json_schema", "structure": {"jsonSchema": schema}}
        self.wire.outputConfig = {**(self.wire.outputConfig or {}), "textFormat": form}
        if request.schema_strict is False:
            self.changes.add("strict_unsupported", "/schema_strict", "an output schema always binds")

    def _knobs(self) -> None:
        request = self.request
        config: dict[str, Any] = {}
        for name, member in KNOBS.items():
            value = getattr(request, name)
            if value is not None and self.takes(name) and (bounded := self.bounded(name, value)) is not None:
                config[member] = bounded
        if self.facts.sampling_pair is False and "temperature" in config and "topP" in config:
            self.changes.add("parameter_unsupported", "/top_p", "the model takes temperature or top_p, not both")
            del config["topP"]
        if (stops := self.told_stops()) is not None:
            config["stopSequences"] = stops
        self.wire.inferenceConfig = config or None
        if request.top_k is not None and self.takes("top_k") and (bounded := self.bounded("top_k", request.top_k)):
            self.fields["top_k"] = bounded
        self._metadata()
        if request.service_tier is not None:
            if request.service_tier in TIERS:
                self.wire.serviceTier = {"type": request.service_tier}
            else:
                self.changes.add("parameter_unsupported", "/service_tier", f"no tier {request.service_tier!r} here")
        self.note_others()
        self.refuse_choices()

    def takes(self, name: str) -> bool:
        """Whether a knob can be turned; while it thinks with a budget the model samples as it likes."""
        if not super().takes(name):
            return False
        thinking = self.fields.get("thinking")
        if name not in SAMPLING or self.facts.sampling or not is_object(thinking) or thinking["type"] != "enabled":
            return True
        if (name == "temperature" and self.request.temperature == 1) or (
            name == "top_p" and (self.request.top_p or 0) >= 0.95
        ):
            return True
        self.changes.add("parameter_unsupported", f"/{name}", "sampling is fixed while the model thinks")
        return False

    def _metadata(self) -> None:
        """Labels of the request, which are texts."""
        metadata = self.request.metadata
        if metadata is None or not self.takes("metadata"):
            return
        members: dict[str, Any] = {}
        for name, value in self.bounds.within("metadata", metadata, self.changes).items():
            if isinstance(value, str) and value:
                members[name] = value
            else:
                self.changes.add("parameter_unsupported", "/metadata", f"{name} is no text")
        self.wire.requestMetadata = members or None


# The answer


MEMBERS = ("metrics", "additionalModelResponseFields", "trace", "performanceConfig", "serviceTier")
"""Members of an answer that only pass through."""
_members = passing(*MEMBERS)


def answer_members(wire: AnswerWire | PlainAnswerWire | EventWire) -> dict[str, Any]:
    """The members of an answer, or of an event about it, that only pass through."""
    return _members(wire)


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    plain = _read_plain(reply.body)
    response = None if plain is None else _plain_response(plain, context)
    if response is not None:
        return response
    repairs: list[str] = []
    wire = decode_wire(reply.body, AnswerWire, repairs=repairs, lenient=True)
    message = wire.output.message if wire.output is not None else None
    if message is None and wire.extra and (wire.extra.get("message") or wire.extra.get("Message")):
        raise decode_error(reply, context)
    if message is None and not wire.stopReason:
        raise no_answer("output", "output", in_dialect=wire.usage is not None)
    changes = changes_of(NAME, "decode_response", repairs)
    raw = wire.stopReason
    reason = decode_finish(raw)
    decoder = AssistantDecoder(id_source(context), context.target, context.undo, changes)
    content = message.content if message is not None else None
    parts = tuple(decoder.decode(content, cut_off=reason == "length"))
    members = answer_members(wire)
    if message is not None and message.extra:
        members["message"] = dict(message.extra)
    if wire.output is not None and wire.output.extra:
        members["output"] = dict(wire.output.extra)
    return Response(
        parts=parts,
        finish_reason=finish_of(reason, raw, parts, changes),
        finish_reason_raw=raw,
        usage=decode_usage(wire.usage, changes) if wire.usage is not None else None,
        changes=changes.done(),
        extra=extra_of(NAME, members),
    )


_read_plain = exact_reader(PlainAnswerWire, max_depth=MAX_DEPTH)
_PLAIN_WORDS: dict[str, FinishReason] = {"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_calls"}


def _plain_response(wire: PlainAnswerWire, context: DecodeContext) -> Response[Any] | None:
    """An answer that ends with one of the usual words; None where that, or a block, has to be looked at."""
    raw, message = wire.stopReason, wire.output.message
    reason = _PLAIN_WORDS.get(raw)
    if reason is None or message.role != "assistant":
        return None
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for block in message.content:
        text, use = block.text, block.toolUse
        if block.toolResult is not None:
            return None
        if use is not None and text is None:
            try:
                calls.append(ToolCall(use.toolUseId, use.name, str(use.input, "utf-8")))
            except UnicodeDecodeError:
                return None
        elif text is None or use is not None or calls:
            return None
        elif text:
            parts.append(TextPart(text))
    if (reason == "tool_calls") is not bool(calls):
        return None
    sound = sound_calls(calls, context) if calls else calls
    if sound is None:
        return None
    changes = Changes(NAME, "decode_response")
    return Response(
        parts=(*parts, *sound),
        finish_reason=reason,
        finish_reason_raw=raw,
        usage=decode_usage(wire.usage, changes) if wire.usage is not None else None,
        changes=changes.done(),
        extra=extra_of(NAME, answer_members(wire)),
    )


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(reply.body, failed_status(reply), reply.headers)
