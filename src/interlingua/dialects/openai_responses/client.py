"""The client's role: a request for a Responses server, and what it answers.

Loss: `top_k`, `min_p`, `stop`, `seed`, penalties, `logit_bias` and thinking budgets have no member; see the matrix.
Source: vendor reference "Create a response", official SDK types, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import UNSET

from interlingua.dialects._answer import changes_of, extra_of, failed_status, id_source, no_answer, sound_calls
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._members import is_list, merge_members, passing
from interlingua.dialects._openai.errors import error_of_body
from interlingua.dialects._openai.requests import OpenAIRequestWriter
from interlingua.dialects._request import CORE, Knobs, check_choice
from interlingua.dialects.openai_responses.assistant import CALLS, ItemDecoder
from interlingua.dialects.openai_responses.messages import InputEncoder, refers
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import decode_finish, error_of_failure, raw_finish
from interlingua.dialects.openai_responses.tools import encode_choice, encode_format, encode_tool
from interlingua.dialects.openai_responses.usage import decode_usage
from interlingua.dialects.openai_responses.wire import (
    ItemWire,
    PlainCallWire,
    PlainMessageWire,
    PlainReasoningWire,
    PlainResponseWire,
    RequestWire,
    ResponseWire,
    TextWire,
    ToolWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import settle_finish
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.message import Message
from interlingua.types.response import Response
from interlingua.types.tool import OpaqueTool
from interlingua.wire.json import MAX_DEPTH, decode_wire, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
    from interlingua.dialects.openai_responses.wire import PlainItemWire
    from interlingua.errors import Error
    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.wire.http import HttpReply

__all__ = [
    "LOGPROBS", "decode_error", "decode_response", "encode_request", "has_failed", "output_of",
    "top_members",
]  # fmt: skip

PATH = "/responses"
SAMPLING = frozenset({"temperature", "top_p", "logprobs"})
"""Parameters that models without sampling refuse."""
KNOBS = Knobs(
    {name: name for name in ("temperature", "top_p", "user", "metadata", "store")} | {"cache_key": "prompt_cache_key"}
)
"""Knobs and the members for them."""
WRITTEN_FIELDS = CORE - {"thinking"} | {
    "schema_description", "schema_strict", "logprobs", "thinking_summary", "thinking_budget", "verbosity",
    "service_tier", "user", "metadata", "store", "cache_key",
}  # fmt: skip
"""The fields of a request that are said, or have an entry of their own."""
LOGPROBS = "message.output_text.logprobs"
"""The value of `include` for log probabilities."""
READ = frozenset({"id", "object", "status", "model", "output", "usage", "error", "incomplete_details", "extra"})
"""Members of an answer that have a field of their own."""
_top_members = passing(*[name for name in ResponseWire.__struct_fields__ if name not in READ])
"""Reads those that only pass through."""
REPEATED: dict[str, Any] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
"""Members of an answer that repeat the request, and what they say where it said nothing."""


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
        self.include: list[Any] = []

    def encode(self) -> Encoded:
        request = self.request
        history = self.paired(continues=request.continues is not None or refers(request.messages))
        self.map_names()
        history = self.taken_media(history)
        self._input(history)
        if request.tools or request.tool_choice is not None or request.parallel_tool_calls is not None:
            self._tools()
        if self.wants_format() or request.verbosity is not None:
            self._text()
        self._knobs()
        if request.effort is not None or request.thinking_budget is not None or request.thinking_summary is not None:
            reasoning: dict[str, Any] = {}
            budgeted = self.effort_of_budget()
            effort = self.told_effort() or budgeted
            if effort is not None:
                reasoning["effort"] = effort
            if request.thinking_summary not in (None, "none"):
                reasoning["summary"] = request.thinking_summary
            self.wire.reasoning = reasoning or None
        if request.continues is not None:
            self.set_state(self.wire)
        if request.cache is not None:
            merge_members(self.wire, self.told_cache())
        if request.extra:
            merge_members(self.wire, self.own_members())
        include: object = self.wire.include or []
        if self.include and is_list(include):  # where it is none, the server has a word for it
            self.wire.include = [*include, *(name for name in self.include if name not in include)]
        return self.done(PATH, self.wire)

    def _input(self, history: tuple[Message, ...]) -> None:
        ids = self.map_ids()
        encoder = InputEncoder(self.target, self.names, ids, self.changes)
        system, request = self.told_system(), self.request
        is_alone = not request.messages and request.continues is None
        if len(system) == 1 and not system[0].extra.get(NAME) and not is_alone:
            self.wire.instructions = system[0].text
            if system[0].cache is not None:
                self.changes.add("cache_unsupported", "/system/0/cache")
        elif system:  # several texts, and one without any input beside it, are a message of the input
            encoder.prompt(Message("system", system), "/system", within="")
        has_system = bool(encoder.items)
        items = self.placed(encoder.encode(history), is_bare=encoder.is_bare)
        if items or has_system:
            self.wire.input = cast("list[ItemWire]", items)
        else:
            self.refuse_empty()
        if ids:
            self.note_ids(ids)

    def _tools(self) -> None:
        check_choice(self.request.tool_choice, self.request.tools)
        quirks = self.quirks
        ways = (quirks.strict_schemas, quirks.freeform_tools)
        wires = self._offered() if self.must_filter() else self.written_tools(ways, self._offered)
        self.wire.tools = cast("list[ToolWire]", wires) or None  # text is written as it is
        parallel = self.request.parallel_tool_calls
        if parallel is not None and self.takes_choice("parallel_tool_calls", tools=bool(wires)):
            self.wire.parallel_tool_calls = parallel
        choice = self.sayable_choice(tools=bool(wires))
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

    # Everything else

    def _text(self) -> None:
        request, quirks = self.request, self.quirks
        output = self.told_output()
        form = encode_format(output, quirks) if output is not None else None
        verbosity = request.verbosity if request.verbosity is not None and self.takes("verbosity") else None
        if form is not None or verbosity is not None:
            self.wire.text = TextWire(format=form, verbosity=verbosity)
        if request.schema_strict and not quirks.strict_schemas:
            self.changes.add("strict_unsupported", "/schema_strict")

    def _knobs(self) -> None:
        request, wire = self.request, self.wire
        self.set_knobs(wire, KNOBS)
        if request.service_tier is not None:
            wire.service_tier = self.told_tier()
        self.note_others()
        if request.stop:
            self.changes.add("parameter_unsupported", "/stop", "this dialect has no stop sequences")
        if request.n is not None:
            self.refuse_choices()
        if request.max_tokens is not None:
            limit, least = request.max_tokens, self.facts.min_output_tokens
            if least is not None and 0 <= limit < least:
                self.changes.add("parameter_adjusted", "/max_tokens", f"{limit} is sent as {least}, the least there is")
                wire.max_output_tokens = least
            else:
                wire.max_output_tokens = self.bounded("max_tokens", limit)
        if request.logprobs is not None and self.takes("logprobs"):
            wire.top_logprobs = self.bounded("logprobs", request.logprobs) or None
            self.include.append(LOGPROBS)
        if self.options.stream:
            wire.stream = True


# The answer


def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    """A whole answer.

    Loss: none; members without a field go to `extra`.
    Raises: DecodeError, with the path of the first bad place; the UpstreamError that a 200 hides.
    """
    repairs: list[str] = []
    wire: ResponseWire | None = _read_plain(reply.body)
    parts = _plain_parts(wire.output, context) if wire is not None and wire.output and not has_failed(wire) else None
    if wire is None or parts is None:
        wire = decode_wire(reply.body, ResponseWire, repairs=repairs, lenient=True)
    if has_failed(wire):
        raise error_of_failure(wire.error)
    changes = changes_of(NAME, "decode_response", repairs)
    raw = raw_finish(wire.status, wire.incomplete_details)
    called = parts is None and any([item.type in CALLS for item in output_of(wire)])
    reason = decode_finish(raw, called=called, background=wire.background is True)
    if parts is None:
        items = output_of(wire)
        cut_off = reason == "length"
        decoder = ItemDecoder(id_source(context), changes, "", context.target, context.undo)
        for place, item in enumerate(items, 1):
            is_cut = item.status == "incomplete" or (cut_off and place == len(items))
            decoder.cut_off = is_cut and item.type in CALLS
            try:
                decoder.decode(item)
            except DecodeError as error:
                raise error.under(f"/output/{place - 1}") from None
        parts = tuple(decoder.parts)
    return Response(
        parts=parts,
        finish_reason=settle_finish(reason, parts),
        finish_reason_raw=raw,
        usage=decode_usage(wire.usage) if wire.usage not in (None, UNSET) else None,
        model=wire.model or "",
        wire_model=wire.model or None,
        id=wire.id or None,
        changes=changes.done(),
        extra=extra_of(NAME, top_members(wire)),
    )


_read_plain = exact_reader(PlainResponseWire, max_depth=MAX_DEPTH)


def _plain_parts(items: Sequence[PlainItemWire], context: DecodeContext) -> tuple[Part, ...] | None:
    """The parts of plain items; None where a call has to be looked at, or stands before anything else."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    provider, model = context.target.provider or None, context.target.model or None
    for item in items:
        if type(item) is PlainCallWire:
            sealed = None if item.id is None else Sealed(NAME, {"id": item.id}, provider, model)
            calls.append(ToolCall(item.call_id, item.name, item.arguments, False, sealed))
        elif calls:
            return None
        elif type(item) is PlainMessageWire and item.content:
            sealed = Sealed(NAME, {"id": item.id}, provider, model)
            parts += [TextPart(part.text, (), None, sealed) for part in item.content]
        elif type(item) is PlainReasoningWire:
            texts = [part["text"] for part in item.summary if "text" in part]
            members: dict[str, Any] = msgspec.to_builtins(item)
            parts.append(ThinkingPart("\n\n".join(texts), Sealed(NAME, members, provider, model)))
        else:
            return None
    sound = sound_calls(calls, context) if calls else calls
    return None if sound is None else (*parts, *sound)


def has_failed(wire: ResponseWire) -> bool:
    """Whether an answer says that it failed; an error of which nothing is said is none."""
    return wire.status == "failed" or (wire.error is not UNSET and bool(wire.error))


def output_of(wire: ResponseWire) -> list[ItemWire]:
    """The items of an answer; one that has none says by its status how it ended.

    Raises: InternalServerError, DecodeError for what has neither.
    """
    if wire.output is None and not wire.status:
        raise no_answer("output", "output", in_dialect=wire.object is not None or wire.id is not None)
    return wire.output or []


def top_members(wire: ResponseWire) -> dict[str, Any]:
    """The members of an answer, or of a snapshot of it, that only pass through."""
    members = _top_members(wire)
    for name, nothing in REPEATED.items():
        if members.get(name) == nothing:
            members.pop(name, None)
    return members


def decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a failed answer stands for."""
    del context
    return error_of_body(read_error(reply.body), failed_status(reply), reply.headers)
