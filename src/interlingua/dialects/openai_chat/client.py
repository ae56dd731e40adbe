"""The client's role: a request for a Chat Completions server, and what it answers.

Loss: `thinking_budget` has no member, unless the server takes reasoning as an object; see the support matrix.
Source: vendor reference "Create chat completion", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from interlingua.dialects._answer import (
    changes_of,
    failed_base,
    failed_status,
    finish_of,
    id_source,
    is_complaint,
    no_answer,
    sound_calls,
)
from interlingua.dialects._members import merge_members, passing
from interlingua.dialects._openai.requests import OpenAIRequestWriter
from interlingua.dialects._request import CORE, Knobs, check_choice
from interlingua.dialects.openai_chat.assistant import AssistantDecoder
from interlingua.dialects.openai_chat.messages import MessageEncoder
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.reasons import decode_finish, finish_word
from interlingua.dialects.openai_chat.tools import encode_choice, encode_format, encode_tool
from interlingua.dialects.openai_chat.usage import decode_usage
from interlingua.dialects.openai_chat.wire import (
    ChoiceWire,
    MessageWire,
    PlainResponseWire,
    RequestWire,
    ResponseWire,
    ToolWire,
)
from interlingua.errors import DecodeError, UpstreamError
from interlingua.types.content import TextPart, ThinkingPart, ToolCall
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import OpaqueTool
from interlingua.wire.json import decode_wire, encode_exact, exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.dialects.openai_chat.wire import ChunkChoiceWire, ChunkWire, PlainChoiceWire
    from interlingua.errors import Error
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Change, Changes
    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = [
    "choice_members", "decode_error", "decode_response", "encode_request", "failed_choice", "is_bare_error",
    "top_members",
]  # fmt: skip

PATH = "/chat/completions"
SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs"})
"""Parameters that models without sampling refuse."""
KNOBS = Knobs({
    name: name
    for name in (
        "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "logit_bias",
        "verbosity", "user", "metadata", "store",
    )
} | {"cache_key": "prompt_cache_key"})  # fmt: skip
"""Knobs and the members for them."""
WRITTEN_FIELDS = CORE | {
    *KNOBS, "schema_description", "schema_strict", "seed", "logprobs", "thinking_summary", "thinking_budget",
    "service_tier",
}  # fmt: skip
"""The fields of a request that are said, or have an entry of their own."""
SWITCHES: dict[str, dict[bool, dict[str, Any]]] = {
    "thinking": {True: {"thinking": {"type": "enabled"}}, False: {"thinking": {"type": "disabled"}}},
    "chat_template_kwargs": {
        on: {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}} for on in (True, False)
    },
}
"""How a server is told to think or not; templates differ in the name, and pass over the one that is not theirs."""
_top_members = passing("created", "service_tier", "system_fingerprint", "provider", "x_groq", "timings")
"""Reads the members of an answer that only pass through."""
RESERVED = frozenset({"choice", "message", "top"})
"""Where `extra` keeps the members of the first choice, of its message, and members of the answer named like these."""
choice_members: Callable[[Any], dict[str, Any]] = passing("logprobs", "native_finish_reason", "content_filter_results")
"""Reads the members of a choice that only pass through."""


# The request


def encode_request(request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire.

    Raises: UnsupportedError with every refusal found; HistoryError for calls and results that do not pair; UsageError
    for a choice of a tool that is not there.
    """
    return _RequestEncoder(request, options).encode()


class _RequestEncoder(OpenAIRequestWriter):
    """Writes one request; every method writes what its name says."""

    dialect = NAME
    written_fields = WRITTEN_FIELDS
    sampling = SAMPLING

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        super().__init__(request, options)
        self.wire = RequestWire(model=options.target.model or None)

    def encode(self) -> Encoded:
        request = self.request
        history = self.paired(continues=request.continues is not None)
        self.map_names()
        history = self.taken_media(history)
        ids = self.map_ids()
        encoder = MessageEncoder(self.target, self.names, ids, self.changes)
        wires = encoder.encode(self.told_system(), history)
        text = encode_exact(wires) if wires and encoder.is_plain else None
        if text is None:
            self.nulls += sum([message.content is None for message in wires])
        self.wire.messages = cast("list[MessageWire]", wires if text is None else self.slots.place(text))
        if ids:
            self.note_ids(ids)
        if request.tools or request.tool_choice is not None or request.parallel_tool_calls is not None:
            self._tools()
        if self.wants_format():
            self._output()
        self._knobs()
        self._reasoning()
        if self.options.stream:
            self.wire.stream = True
            if self.options.stream_usage and self.quirks.stream_usage:
                self.wire.stream_options = {"include_usage": True}
        if request.continues is not None:
            self.set_state(self.wire)
        if request.cache is not None:
            merge_members(self.wire, self.told_cache())
        if request.extra:
            self._extra()
        return self.done(PATH, self.wire)

    def _tools(self) -> None:
        check_choice(self.request.tool_choice, self.request.tools)
        quirks = self.quirks
        ways = (quirks.strict_schemas, quirks.cache_marks, quirks.freeform_tools)
        tools = self._offered() if self.must_filter() else self.written_tools(ways, self._offered)
        parallel = self.request.parallel_tool_calls
        if tools:
            self.wire.tools = cast("list[ToolWire]", tools)  # text is written as it is
            parallel = True if parallel is None and quirks.parallel_explicit else parallel
        if parallel and not quirks.parallel_calls:
            self.changes.add("parameter_unsupported", "/parallel_tool_calls", "an answer holds one call at most")
        elif parallel is not None and self.takes_choice("parallel_tool_calls", tools=bool(tools)):
            self.wire.parallel_tool_calls = parallel
        choice = self.sayable_choice(tools=bool(tools))
        if choice is not None:
            self.wire.tool_choice = encode_choice(choice, self.names, self.freeform_names())

    def _offered(self) -> list[ToolWire]:
        """The tools, all or the allowed ones."""
        wires: list[ToolWire] = []
        for path, tool in self.offered(self.allowed()):
            if isinstance(tool, OpaqueTool):
                wires.append(ToolWire())
                merge_members(wires[-1], tool.raw)
            else:
                wires.append(encode_tool(tool, self.names, self.quirks, self.changes, path))
        return wires

    def _output(self) -> None:
        output = self.told_output()
        if output is None:
            return
        if output.schema_description is not None and not self.takes("schema_description"):
            output = replace(output, schema_description=None)
        self.wire.response_format = encode_format(output, self.quirks)
        if self.request.schema_strict and not self.quirks.strict_schemas:
            self.changes.add("strict_unsupported", "/schema_strict")

    def _knobs(self) -> None:
        request, wire = self.request, self.wire
        self.set_knobs(wire, KNOBS)
        if request.service_tier is not None:
            wire.service_tier = self.told_tier()
        self.note_others()
        if request.n is not None:
            if "n" not in self.quirks.unsupported:
                wire.n = self.bounded("n", request.n)
                self.refuse_choices(self.bounds.choices)
            else:
                self.refuse_choices()
        if request.max_tokens is not None:
            setattr(wire, self.quirks.max_tokens_field, self.bounded("max_tokens", request.max_tokens))
        if request.seed is not None and self.takes("seed"):
            setattr(wire, self.quirks.seed_field, self.bounded("seed", request.seed))
        if request.stop:
            calls = wire.tools and request.tool_choice != "none"
            if self.quirks.stop_in_json or not (calls or wire.response_format):
                wire.stop = self.told_stops()
            else:
                self.changes.add("parameter_unsupported", "/stop", "it would break the JSON of the answer")
        if request.logprobs is not None and self.takes("logprobs"):
            wire.logprobs = True
            wire.top_logprobs = self.bounded("logprobs", request.logprobs) or None

    def takes_tools(self) -> bool:
        """Whether the model takes tools here; a family that refuses them beside reasoning takes them without it."""
        return super().takes_tools() or self.request.effort == "none"

    def _reasoning(self) -> None:
        request, field = self.request, self.quirks.effort_field
        # Whether everything about reasoning is one object.
        as_object = field == "reasoning.effort" or (field == "as_read" and "reasoning" in request.extra.get(NAME, {}))
        if not as_object:
            if request.thinking_summary is not None:
                self.note_unsaid(("thinking_summary",))
            budgeted = None if request.thinking_budget is None else self.effort_of_budget()
            if not self._switch():
                self.wire.reasoning_effort = budgeted if request.effort is None else self.told_effort() or budgeted
            return
        hidden = True if request.thinking_summary == "none" else None
        members = {
            "effort": self.told_effort(), "max_tokens": request.thinking_budget, "enabled": request.thinking,
            "exclude": hidden,
        }  # fmt: skip
        if request.thinking_summary not in (None, "none"):
            if field == "as_read":
                members["summary"] = request.thinking_summary
            else:
                self.note_unsaid(("thinking_summary",))
        self.wire.reasoning = {name: value for name, value in members.items() if value is not None} or None

    def _switch(self) -> bool:
        """Switch thinking on or off, where the server has a switch; whether it is off."""
        request, field = self.request, self.quirks.thinking_field
        if field == "none":
            if request.thinking is not None:
                self.note_unsaid(("thinking",))
            return False
        on = request.effort != "none" if request.thinking is None and request.effort is not None else request.thinking
        if on is not None:
            merge_members(self.wire, SWITCHES[field][on])
        return on is False

    def _extra(self) -> None:
        own = self.own_members()
        if own.get("reasoning") == {} and self.wire.reasoning is None:  # it only says where the effort stood
            own = {name: value for name, value in own.items() if name != "reasoning"}
        if "extra" in self.quirks.unsupported:
            for name in own:
                self.changes.add("parameter_unsupported", f"/extra/{NAME}/{name}", "the server does not know it")
            return
        merge_members(self.wire, own)


# The answer


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    plain = _read_plain(reply.body)
    first = None if plain is None else _plain_choice(plain.choices[0], context)
    if plain is not None and first is not None:
        return _response(plain, first)
    repairs: list[str] = []
    wire = decode_wire(reply.body, ResponseWire, repairs=repairs, lenient=True)
    nothing = wire.object == "error" and not wire.choices
    if wire.error or nothing or is_bare_error(wire) or failed_base(wire.extra):
        raise decode_error(reply, context)
    if not wire.choices:  # without one, nothing says how the answer ended
        is_answer = any(member is not None for member in (wire.choices, wire.id, wire.object, wire.usage))
        raise no_answer("choices", "choice", in_dialect=is_answer)
    changes = changes_of(NAME, "decode_response", repairs)
    ids = id_source(context)
    first, *others = [_choice(choice, ids, context, changes, place) for place, choice in enumerate(wire.choices)]
    response = _response(wire, first, tuple(others), changes.done())
    failure = next((error for choice in wire.choices if (error := failed_choice(choice))), None)
    if failure is not None:
        if isinstance(failure, UpstreamError):
            failure.response = msgspec.structs.replace(response, finish_reason="error")
        raise failure
    return response


def _response(
    wire: ResponseWire | PlainResponseWire,
    first: Alternative,
    others: tuple[Alternative, ...] = (),
    changes: tuple[Change, ...] = (),
) -> Response[Any]:
    """The answer around its choices."""
    extra = top_members(wire)
    if first.extra:
        extra |= first.extra[NAME]
    return Response(
        parts=first.parts,
        finish_reason=first.finish_reason,
        finish_reason_raw=first.finish_reason_raw,
        usage=decode_usage(wire.usage) if wire.usage is not None else None,
        model=wire.model or "",
        wire_model=wire.model or None,
        id=wire.id or None,
        alternatives=others,
        changes=changes,
        extra={NAME: extra} if extra else {},
    )


_read_plain = exact_reader(PlainResponseWire)
_PLAIN_WORDS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls"}


def _plain_choice(wire: PlainChoiceWire, context: DecodeContext) -> Alternative | None:
    """A choice that ends with one of the usual words; None where that, or a call, has to be looked at."""
    word, message = wire.finish_reason, wire.message
    reason = _PLAIN_WORDS.get(word)
    if reason is None or (reason == "tool_calls") is not bool(message.tool_calls):
        return None
    parts: list[Part] = [ThinkingPart(message.reasoning_content)] if message.reasoning_content else []
    if message.content:
        parts.append(TextPart(message.content))
    if message.tool_calls:
        calls = [ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
        sound = sound_calls(calls, context)
        if sound is None:
            return None
        parts += sound
    return Alternative(parts=tuple(parts), finish_reason=reason, finish_reason_raw=word)


def failed_choice(wire: ChoiceWire | ChunkChoiceWire) -> Error | None:
    """The error that stands in a choice, as OpenRouter has it; None where there is none."""
    error = wire.extra.get("error") if wire.extra else None
    if not error:
        return None
    from interlingua.dialects._errors.bodies import error_body  # only who is told an error reads it
    from interlingua.dialects._openai.errors import error_of_body

    return error_of_body(error_body({"error": error}), None)


def is_bare_error(wire: ResponseWire | ChunkWire) -> bool:
    """Whether a body is no answer and no chunk at all, but the bare body of an error."""
    return wire.id is None and not wire.choices and wire.usage is None and is_complaint(wire.extra)


def top_members(wire: ResponseWire | PlainResponseWire | ChunkWire) -> dict[str, Any]:
    """The members of an answer, or of a chunk of it, that only pass through."""
    members = _top_members(wire)
    if wire.extra:
        beside = {name: members.pop(name) for name in RESERVED if name in members}
        return {**members, "top": beside} if beside else members
    return members


MESSAGE_MEMBERS = ("annotations", "name")
"""Members of an answer's message that only pass through."""


def _choice(wire: ChoiceWire, ids: CallIdSource, context: DecodeContext, changes: Changes, place: int) -> Alternative:
    message = wire.message or wire.delta or MessageWire()
    word = finish_word(wire.finish_reason, wire.native_finish_reason)
    prefix = f"/alternatives/{place - 1}" if place else ""
    decoder = AssistantDecoder(ids, context.target, context.undo, changes, prefix)
    reason = decode_finish(word)
    try:
        parts = tuple(decoder.decode(message, cut_off=reason == "length"))
    except DecodeError as error:
        raise error.under(f"/choices/{place}/message") from None
    if not (word or parts):
        reason = "error"  # an answer of nothing that does not say why
    settled = finish_of(reason, word, parts, changes, f"{prefix}/finish_reason")
    extra: dict[str, Any] = {}
    if choice := choice_members(wire):
        extra["choice"] = choice
    if members := {name: value for name in MESSAGE_MEMBERS if (value := getattr(message, name))}:
        extra["message"] = members
    if message.extra:
        extra["message"] = {**members, **message.extra}
    return Alternative(parts=parts, finish_reason=settled, finish_reason_raw=word, extra={NAME: extra} if extra else {})


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    from interlingua.dialects._errors.bodies import read_error  # only who is told an error reads it
    from interlingua.dialects._openai.errors import error_of_body

    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
