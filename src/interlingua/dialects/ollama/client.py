"""The client's role: a request for an Ollama server, and what it answers.

Rules
- Sampling goes into `options`; the limit of tokens is `num_predict`.
- A tool choice cannot be said: `none` withholds the tools, a named tool or a subset leaves out the others.
- `/api/generate` is spoken when the request was read from there and still fits into one prompt.
Source: vendor pages "API", "Thinking", "Structured outputs"; server source of August 2026; SDK types 0.6.3.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._answer import changes_of, extra_of, failed_status, finish_of, id_source
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import merge_members, passing
from interlingua.dialects._request import CORE, RequestWriter, check_choice, chosen_names, schema_prompt
from interlingua.dialects._subsets import OLLAMA_TOOL
from interlingua.dialects.ollama.assistant import CallReader, decode_turn
from interlingua.dialects.ollama.messages import MessageEncoder
from interlingua.dialects.ollama.parts import NAME
from interlingua.dialects.ollama.reasons import decode_finish, error_of_body
from interlingua.dialects.ollama.tools import encode_tool
from interlingua.dialects.ollama.usage import decode_usage
from interlingua.dialects.ollama.wire import ChunkWire, MessageWire, RequestWire, ToolWire
from interlingua.errors import DecodeError
from interlingua.types.content import ImagePart, TextPart
from interlingua.types.response import Response
from interlingua.types.tool import OpaqueTool
from interlingua.wire.json import decode_wire

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.errors import Error
    from interlingua.schema.subset import Subset
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.tool import Tool
    from interlingua.wire.http import HttpReply

__all__ = [
    "CHAT_PATH", "COUNTED", "GENERATE_PATH", "OPTIONS", "answer_members", "decode_error",
    "decode_response", "encode_request", "is_counted", "turn_of",
]  # fmt: skip

CHAT_PATH = "/api/chat"
GENERATE_PATH = "/api/generate"
OPTIONS: dict[str, str] = {
    "num_predict": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
"""Member of `options` -> field of a request, where both are one number."""
SAMPLING = frozenset({"temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "logprobs"})
"""Parameters that models without sampling refuse."""
WRITTEN_FIELDS = CORE | {
    "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty", "logprobs", "schema_strict",
}  # fmt: skip
"""The fields of a request that are said, or have an entry of their own."""
EFFORTS: dict[str, bool | str] = {
    "none": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "max",
}
"""Effort -> `think`."""
_passing_members = passing(
    "created_at", "context", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "logprobs",
)  # fmt: skip
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
    sampling = SAMPLING

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        self.wire = RequestWire(model=options.target.model or None)
        self.settings: dict[str, Any] = {}

    def encode(self) -> Encoded:
        history = self.paired(continues=self.request.continues is not None)
        system = self._output(self.request.system)
        history = self.taken_media(history, {ImagePart: "images"})
        path = self._messages(system, history)
        self._tools()
        for member, field in OPTIONS.items():
            knob = getattr(self.request, field)
            if knob is not None and self.takes(field):
                self.settings[member] = knob
        if self.request.stop and self.takes("stop"):
            self.settings["stop"] = list(self.request.stop)
        if self.request.logprobs is not None and self.takes("logprobs"):
            self.wire.logprobs = True
            self.wire.top_logprobs = self.request.logprobs or None
        self.note_others()
        if self.request.cache in ("5m", "1h"):
            self.changes.add("cache_unsupported", "/cache")
        self.refuse_choices()
        self._thinking()
        self.set_state(self.wire)
        self.wire.options = self.settings or None
        self.wire.stream = self.options.stream
        if self.request.extra:
            merge_members(self.wire, {name: value for name, value in self.own_members().items() if name != "field"})
        return self.done(path, self.wire)

    def _messages(self, system: tuple[TextPart, ...], history: tuple[Message, ...]) -> str:
        """Write the messages in the form of the request; the path of that form."""
        encoder = MessageEncoder(self.quirks, self.changes)
        wires = encoder.encode(system, history)
        if self.request.extra.get(NAME, {}).get("field") != "prompt" or self.request.tools:
            self.wire.messages = cast("list[MessageWire]", self.placed(wires, is_bare=encoder.is_bare))
            return CHAT_PATH
        systems = [wire for wire in wires if wire.role == "system" and not (wire.images or wire.extra)]
        users = [wire for wire in wires if wire.role == "user" and not wire.extra]
        if len(systems) > 1 or len(users) > 1 or wires != [*systems, *users]:  # they do not fit into one prompt
            self.wire.messages = wires
            return CHAT_PATH
        self.wire.system = systems[0].content if systems else None
        self.wire.prompt = users[0].content if users else ""
        self.wire.images = users[0].images if users else None
        return GENERATE_PATH

    # Tools

    def _tools(self) -> None:
        choice = self.request.tool_choice
        check_choice(choice, self.request.tools)
        only = chosen_names(choice) or None
        offered = partial(self._offered, only)
        if choice != "none":
            wires = offered() if only is not None else self.written_tools((), offered)
            self.wire.tools = cast("list[ToolWire]", wires) or None  # text is written as it is
        for place in range(len(self.request.tools) if choice == "none" else 0):
            self.leave_out(f"/tools/{place}")
        if choice not in (None, "auto", "none"):
            self.changes.add("tool_choice_approximated", "/tool_choice", "the dialect has no choices")
        if self.request.parallel_tool_calls is False:
            self.changes.add("parameter_unsupported", "/parallel_tool_calls", "the dialect has no such switch")

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool."""
        del tool
        return OLLAMA_TOOL

    def _offered(self, only: frozenset[str] | None) -> list[ToolWire]:
        """The tools, all or those."""
        wires: list[ToolWire] = []
        for path, tool in self.offered(only):
            if isinstance(tool, OpaqueTool):
                wires.append(ToolWire())
                merge_members(wires[-1], tool.raw)
                continue
            if tool.strict:  # False asks for what is done anyway
                self.changes.add("strict_unsupported", f"{path}/strict")
            if tool.cache is not None:
                self.changes.add("cache_unsupported", f"{path}/cache")
            if tool.freeform is not None:
                self.changes.add("freeform_as_function", path)
            note_foreign(self.changes, tool.extra, path)
            wires.append(encode_tool(tool))
        return wires

    def leave_out(self, path: str) -> None:
        """Note one tool that the choice leaves out."""
        self.changes.add("tools_withheld", path, "the choice leaves it out, and the dialect has no choices")

    # Structured output

    def _output(self, system: tuple[TextPart, ...]) -> tuple[TextPart, ...]:
        """Set `format`; the system text, with the schema in it for servers that ignore `format`."""
        request = self.request
        if request.schema_strict is not None:
            self.changes.add("strict_unsupported", "/schema_strict")
        if request.output_schema is None and not request.json_mode:
            return system
        if request.tools and not self.quirks.output_schema_with_tools and request.output_schema is not None:
            # No tool would be called under the schema, so it is refused, or told in words alone.
            why = "the server has no schema together with tools"
            if "output_schema" not in self.options.allow:
                self.changes.add("output_schema", "/output_schema", why)
                return system
            self.changes.add("output_schema_prompted", "/output_schema", why)
            return self._prompted(system)
        whole = request.output_schema is not None and self.quirks.output_schema != "json_object"
        self.wire.format = request.output_schema if whole else "json"
        if self.quirks.output_schema == "json_schema":
            return system
        place = "/output_schema" if request.output_schema is not None else "/json_mode"
        self.changes.add("output_schema_prompted", place, "the server may ignore the schema")
        return self._prompted(system)

    def _prompted(self, system: tuple[TextPart, ...]) -> tuple[TextPart, ...]:
        gap = "\n\n" if system else ""
        return (*system, TextPart(gap + schema_prompt(self.request.output_schema)))

    # Everything else

    def _thinking(self) -> None:
        """`think`: off or on, or how hard."""
        request = self.request
        if self.facts.thinking == frozenset() and (request.thinking or request.effort not in (None, "none")):
            path = "/effort" if request.effort else "/thinking"
            self.changes.add("parameter_unsupported", path, f"{self.target.model} does not think")
            return
        effort = request.effort if self.quirks.effort_field != "none" else None
        if request.effort is not None and (effort is None or request.thinking is False):
            self.changes.add("parameter_unsupported", "/effort", "thinking is off, or has no degrees here")
        self.wire.think = request.thinking
        if effort is None or request.thinking is False:
            return
        self.wire.think = EFFORTS[effort]
        if effort in ("minimal", "xhigh"):
            self.changes.add("parameter_adjusted", "/effort", f"{effort} is sent as {EFFORTS[effort]}")


# The answer


def turn_of(wire: ChunkWire) -> MessageWire | None:
    """The message in an answer or a line of a stream, in either form; None when it says nothing."""
    if wire.message is not None:
        return wire.message
    if wire.response is None and wire.thinking is None and wire.tool_calls is None:
        return None
    return MessageWire(content=wire.response, thinking=wire.thinking, tool_calls=wire.tool_calls)


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer, of either form.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    repairs: list[str] = []
    wire = decode_wire(reply.body, ChunkWire, repairs=repairs, lenient=True)
    if wire.error:
        raise error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
    message = turn_of(wire)
    if message is None and not wire.done:
        raise DecodeError("/message: the answer has no message", path="/message")
    if wire.done is False:
        raise DecodeError("/done: the answer is not finished", path="/done")
    changes = changes_of(NAME, "decode_response", repairs)
    message, raw = message or MessageWire(), wire.done_reason
    try:
        reader = CallReader(context.undo, changes)
        parts = tuple(decode_turn(message, id_source(context), reader, "", cut_off=raw == "length"))
    except DecodeError as error:
        raise error.under("/message") from None
    reason = decode_finish(raw, called=bool(message.tool_calls), counted=not raw and is_counted(wire))
    return Response(
        parts=parts,
        finish_reason=finish_of(reason, raw, parts, changes),
        finish_reason_raw=raw,
        usage=decode_usage(wire),
        model=wire.model or "",
        wire_model=wire.model or None,
        changes=changes.done(),
        extra=extra_of(NAME, answer_members(wire)),
    )


def is_counted(wire: ChunkWire) -> bool:
    """Whether an answer has its durations or counts, which its server says at the end alone."""
    return any([getattr(wire, name) is not None for name in COUNTED])


COUNTED = ("total_duration", "eval_duration", "prompt_eval_duration", "eval_count", "prompt_eval_count")


def answer_members(wire: ChunkWire) -> dict[str, Any]:
    """The members of an answer, or of a line of it, that only pass through; `field` says that it was the older form."""
    members = _passing_members(wire)
    if wire.message is None and wire.response is not None:
        members.setdefault("field", "response")
    if wire.message is not None and wire.message.extra:
        members["message"] = dict(wire.message.extra)
    return members


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
