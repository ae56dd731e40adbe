"""The client's role: a request for Cohere's chat API, and what it answers.

Rules
- A tool choice is `REQUIRED`, `NONE`, or nothing; a named tool or a subset leaves out the other tools.
- `strict_tools` holds for all tools: it is sent where all of them say the same of it.
- A schema and tools exclude each other where the row says so.
Source: cohere-python 7.3.1, `v2/raw_client.py`; recorded traffic, November 2026.
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
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import is_object, merge_members
from interlingua.dialects._request import (
    CORE,
    Knobs,
    RequestWriter,
    check_choice,
    chosen_names,
    must_call,
    schema_prompt,
)
from interlingua.dialects.cohere.assistant import CallReader, decode_turn
from interlingua.dialects.cohere.messages import MessageEncoder
from interlingua.dialects.cohere.parts import NAME, PLAN
from interlingua.dialects.cohere.reasons import decode_finish, error_of_body
from interlingua.dialects.cohere.schemas import OUTPUT, STRICT, TOOL
from interlingua.dialects.cohere.tools import encode_tool
from interlingua.dialects.cohere.usage import decode_usage
from interlingua.dialects.cohere.wire import (
    MessageWire,
    PlainResponseWire,
    RequestWire,
    ResponseFormatWire,
    ResponseWire,
    ThinkingWire,
    ToolWire,
)
from interlingua.errors import DecodeError
from interlingua.types.content import TextPart, ToolCall
from interlingua.types.response import Response
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.json import MAX_DEPTH, decode_any, decode_wire, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.errors import Error
    from interlingua.schema.subset import Subset
    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = ["KNOBS", "PATH", "answer_members", "decode_error", "decode_response", "encode_request"]

PATH = "/chat"
KNOBS = Knobs(
    {
        "max_tokens": "max_tokens",
        "temperature": "temperature",
        "top_p": "p",
        "top_k": "k",
        "seed": "seed",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
    }
)
"""Field of a request -> member, where both are one number."""
SAMPLING = frozenset({"temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logprobs"})
"""Parameters that models without sampling refuse."""
WRITTEN_FIELDS = CORE | {
    "top_k", "seed", "presence_penalty", "frequency_penalty", "logprobs", "schema_strict", "thinking_budget",
}  # fmt: skip
"""The fields of a request that are said, or have an entry of their own."""
BOUNDS = Bounds(
    knobs={
        "max_tokens": (1, inf),
        "temperature": (0.0, inf),
        "top_p": (0.01, 0.99),
        "top_k": (0, 500),
        "presence_penalty": (0.0, 1.0),
        "frequency_penalty": (0.0, 1.0),
    },
    stops=5,
)
"""The vendor's own service."""


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
    sampling = SAMPLING

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        if self.quirks.bounds == "vendor":
            self.bounds = BOUNDS
        self.wire = RequestWire(model=options.target.model or None)

    def encode(self) -> Encoded:
        history = self.paired(continues=self.request.continues is not None)
        self.map_names()
        system = self._output(self.request.system)
        encoder = MessageEncoder(self.names, self.changes)
        wires = encoder.encode(system, self.taken_media(history))
        placed = self.placed(cast("list[MessageWire]", wires), is_bare=encoder.is_bare)  # plain ones have its members
        self.wire.messages = cast("list[MessageWire]", placed)
        self.wire.documents = encoder.documents or None
        self._tools()
        request = self.request
        self.set_knobs(self.wire, KNOBS)
        self.wire.stop_sequences = self.told_stops()
        if request.logprobs is not None and self.takes("logprobs"):
            self.wire.logprobs = True
            if request.logprobs:
                self.changes.add("parameter_adjusted", "/logprobs", "those of the chosen tokens alone")
        self.note_others()
        if request.cache in ("5m", "1h"):
            self.changes.add("cache_unsupported", "/cache")
        self.refuse_choices()
        self._thinking()
        self.set_state(self.wire)
        self.wire.stream = self.options.stream
        if self.request.extra:
            merge_members(self.wire, self.own_members())
        return self.done(PATH, self.wire)

    # Tools

    def _tools(self) -> None:
        choice = self.request.tool_choice
        check_choice(choice, self.request.tools)
        only = chosen_names(choice) or None
        offered, strict = partial(self._offered, only), self._strict()
        wires = offered() if only is not None else self.written_tools((strict,), offered)
        self.wire.tools = cast("list[ToolWire]", wires) or None  # text is written as it is
        if self.wire.tools is not None:
            self.wire.strict_tools = strict
            if only is not None:
                self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            if self.facts.forced_choice is False and (choice == "none" or must_call(choice)):
                self.wire.tools = None if choice == "none" else self.wire.tools
                why = "no tool is offered" if choice == "none" else "it cannot be made to call"
                self.changes.add(
                    "tool_choice_approximated", "/tool_choice", f"{self.target.model} takes no choice: {why}"
                )
            elif choice == "none" or must_call(choice):
                self.wire.tool_choice = "NONE" if choice == "none" else "REQUIRED"
        elif choice not in (None, "auto", "none"):
            self.changes.add("tool_choice_approximated", "/tool_choice", "no tool is offered")
        if self.request.parallel_tool_calls is False:
            self.changes.add("parameter_unsupported", "/parallel_tool_calls", "the dialect has no such switch")

    def _strict(self) -> bool | None:
        """The `strict` of all tools; None where they differ, or say nothing."""
        values = {tool.strict for tool in self.request.tools if isinstance(tool, Tool)}
        return values.pop() if len(values) == 1 and self.quirks.strict_schemas else None

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool."""
        return STRICT if tool.strict and self._strict() else TOOL

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema for an output."""
        del request
        return OUTPUT if self.quirks.output_schema == "json_schema" else None

    def _offered(self, only: frozenset[str] | None) -> list[ToolWire]:
        """The tools, all or those."""
        wires: list[ToolWire] = []
        strict = self._strict()
        for path, tool in self.offered(only):
            if isinstance(tool, OpaqueTool):
                wires.append(ToolWire())
                merge_members(wires[-1], tool.raw)
                continue
            if tool.strict and not strict:
                self.changes.add("strict_unsupported", f"{path}/strict", "all tools are strict, or none")
            if tool.cache is not None:
                self.changes.add("cache_unsupported", f"{path}/cache")
            if tool.freeform is not None:
                self.changes.add("freeform_as_function", path)
            note_foreign(self.changes, tool.extra, path)
            wires.append(encode_tool(tool, self.names.get(tool.name, tool.name)))
        return wires

    def leave_out(self, path: str) -> None:
        """Note one tool that the choice leaves out."""
        self.changes.add("tools_withheld", path, "the choice leaves it out, and the dialect names no tool")

    # Structured output

    def _output(self, system: tuple[TextPart, ...]) -> tuple[TextPart, ...]:
        """Set `response_format`; the system text, with the schema in it where the server is not held to it."""
        request, quirks = self.request, self.quirks
        if request.schema_strict is False:
            self.changes.add("strict_unsupported", "/schema_strict", "a schema always binds")
        goes_together = not request.tools or quirks.output_schema_with_tools
        if request.output_schema is None:
            if not request.json_mode:
                return system
            if goes_together:
                self.wire.response_format = ResponseFormatWire(type="json_object")
                return system
            # The server takes no JSON mode beside tools: it is asked for in words.
            self.changes.add("output_schema_prompted", "/json_mode", "the server has no JSON mode together with tools")
            return self._prompted(system)
        if quirks.output_schema == "json_schema" and goes_together:
            self.wire.response_format = ResponseFormatWire(type="json_object", json_schema=request.output_schema)
            return system
        why = "the server has only JSON mode" if goes_together else "the server has no schema together with tools"
        if "output_schema" not in self.options.allow:
            self.changes.add("output_schema", "/output_schema", why)
            return system
        self.changes.add("output_schema_prompted", "/output_schema", why)
        return self._prompted(system)

    def _prompted(self, system: tuple[TextPart, ...]) -> tuple[TextPart, ...]:
        gap = "\n\n" if system else ""
        return (*system, TextPart(gap + schema_prompt(self.request.output_schema)))

    # Everything else

    def _thinking(self) -> None:
        """`thinking`: off or on, and with how many tokens."""
        request = self.request
        effort, budget, thinking = request.effort, request.thinking_budget, request.thinking
        if self.facts.thinking == frozenset():
            settings = {"effort": effort not in (None, "none"), "thinking": thinking, "thinking_budget": budget}
            for name in [name for name, value in settings.items() if value]:
                self.changes.add("parameter_unsupported", f"/{name}", f"{self.target.model} does not think")
            return
        if effort is not None and self.takes("effort"):
            state = "off" if effort == "none" and thinking is not True else "on"
            self.changes.add("parameter_adjusted", "/effort", f"thinking is {state}; there are no degrees")
            thinking = (effort != "none") if thinking is None else thinking
        if budget is not None and budget < 1:
            self.changes.add("parameter_adjusted", "/thinking_budget", f"{budget} tokens are no thinking")
            thinking, budget = False if thinking is None else thinking, None
        if thinking is None and budget is None:
            return
        word = "disabled" if thinking is False else "enabled"
        self.wire.thinking = ThinkingWire(type=word, token_budget=None if word == "disabled" else budget)
        if word == "disabled" and budget is not None:
            self.changes.add("parameter_unsupported", "/thinking_budget", "thinking is off")


# The answer


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
    wire = decode_wire(reply.body, ResponseWire, repairs=repairs, lenient=True)
    if not wire.finish_reason and (repairs or wire.extra) and _is_error(decode_any(reply.body, repairs=[])):
        raise error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
    if wire.message is None:
        raise no_answer("message", "message", in_dialect=bool(wire.finish_reason or wire.usage))
    changes = changes_of(NAME, "decode_response", repairs)
    raw = wire.finish_reason
    cut_off = decode_finish(raw) == "length"
    try:
        turn = decode_turn(wire.message, id_source(context), CallReader(context.undo, changes), "", cut_off=cut_off)
    except DecodeError as error:
        raise error.under("/message") from None
    parts = tuple(turn.parts)
    members = answer_members(wire, wire.message)
    if turn.citations:
        members["citations"] = turn.citations
    return Response(
        parts=parts,
        finish_reason=finish_of(decode_finish(raw, holds=bool(parts)), raw, parts, changes),
        finish_reason_raw=raw,
        usage=None if wire.usage is None else decode_usage(wire.usage),
        id=wire.id,
        changes=changes.done(),
        extra=extra_of(NAME, members),
    )


_read_plain = exact_reader(PlainResponseWire, max_depth=MAX_DEPTH)
_PLAIN_WORDS: dict[str, FinishReason] = {"COMPLETE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"}


def _plain_response(wire: PlainResponseWire, context: DecodeContext) -> Response[Any] | None:
    """An answer that ends with one of the usual words; None where that, or a call, has to be looked at."""
    word, message = wire.finish_reason, wire.message
    reason = _PLAIN_WORDS.get(word)
    if reason is None or (reason == "tool_calls") is not bool(message.tool_calls):
        return None
    parts: list[Part] = [TextPart(block.text) for block in message.content or () if block.text]
    if message.tool_plan:
        parts.append(TextPart(message.tool_plan, extra={NAME: {"field": PLAN}}))
    if message.tool_calls:
        calls = [ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
        sound = sound_calls(calls, context)
        if sound is None:
            return None
        parts += sound
    return Response(
        parts=tuple(parts),
        finish_reason=reason,
        finish_reason_raw=word,
        usage=None if wire.usage is None else decode_usage(wire.usage),
        id=wire.id,
    )


def _is_error(body: Any) -> bool:
    """Whether a body is that of an error: its message is a sentence."""
    return is_object(body) and bool(
        isinstance(body.get("message"), str) or ("message" not in body and body.get("error"))
    )


def answer_members(wire: ResponseWire, message: MessageWire) -> dict[str, Any]:
    """The members of an answer that only pass through."""
    members: dict[str, Any] = {} if wire.logprobs is None else {"logprobs": wire.logprobs}
    members |= wire.extra or {}
    if message.extra:
        members["message"] = dict(message.extra)
    return members


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
