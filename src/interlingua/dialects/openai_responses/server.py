"""The server's role: what a client of a Responses server asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import merge_members, reader_of
from interlingua.dialects._openai.errors import encode_error_body
from interlingua.dialects._path import model_in_path
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.openai_responses.assistant import COMPLETED
from interlingua.dialects.openai_responses.client import LOGPROBS
from interlingua.dialects.openai_responses.items import ItemEncoder, ItemIds, bare_reply
from interlingua.dialects.openai_responses.messages import decode_input, refers
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import UNFINISHED, WIRE_REASONS, encode_finish, message_status
from interlingua.dialects.openai_responses.repeated import answer_text, repeat
from interlingua.dialects.openai_responses.tools import decode_choice, decode_tool
from interlingua.dialects.openai_responses.usage import encode_usage
from interlingua.dialects.openai_responses.wire import (
    InputWire,
    ItemWire,
    PlainInputWire,
    ReceivedWire,
    ResponseWire,
    ToolsWire,
    ToolWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.content import RefusalPart, TextPart
from interlingua.types.request import Request, ServerState
from interlingua.wire.http import HttpReply
from interlingua.wire.json import MAX_DEPTH, decode_received, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.openai_responses.wire import TextWire
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = ["answer_wire", "decode_request", "encode_error", "encode_response"]

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts that are canonical; another word passes through as a member."""
SUMMARIES = ("auto", "concise", "detailed")
STATE = ("previous_response_id", "conversation", "prompt")
"""Members that stand for messages which the provider keeps."""


_read_plain = exact_reader(list[PlainInputWire])
_read_items = exact_reader(list[ItemWire], max_depth=MAX_DEPTH - 1)  # the body is one level more
_read_tools = exact_reader(list[ToolWire], max_depth=MAX_DEPTH - 1)
_TOOLS = ToolCache()
_read_knobs = reader_of("temperature", "top_p", "parallel_tool_calls", "service_tier", "user", "metadata", "store")
"""Reads the members that are fields of a request by the same names and with the same values."""
_read_state = reader_of(*STATE)

# The request


@clients_fault("input")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("input", "tools", "instructions"), repairs=repairs)
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, changes, options).decode()
    model = wire.model or model_in_path(http.url)
    return DecodedRequest(model=model, request=request, stream=bool(wire.stream), changes=changes.done())


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = dict(wire.extra or {})

    def decode(self) -> Request:
        wire = self.wire
        fields = _read_knobs(wire)
        if wire.text is not None:
            self._text(wire.text, fields)
        if wire.reasoning is not None:
            rest = dict(wire.reasoning)
            fields["effort"] = rest.pop("effort") if rest.get("effort") in EFFORTS else None
            fields["thinking_summary"] = rest.pop("summary") if rest.get("summary") in SUMMARIES else None
            unread = {name: value for name, value in rest.items() if value is not None}
            if unread:
                self.extra["reasoning"] = unread
        state = _read_state(wire)
        text = b"[]" if wire.input is UNSET else bytes(wire.input)
        items = cast("list[ItemWire] | None", _read_plain(text)) or _read_items(text)  # plain ones have its members
        messages = decode_input(read_member(b"input", text, InputWire).input if items is None else items, self.changes)
        messages = paired_history(messages, self.options, self.changes, continues=bool(state) or refers(messages))
        system = wire.instructions
        if system is not None and not isinstance(system, str):
            raise DecodeError("/instructions: must be a string", path="/instructions")
        tools = () if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), self.changes, self._offered)
        choice = None if wire.tool_choice is None else decode_choice(wire.tool_choice, self.changes)
        if choice is None and wire.tool_choice is not None:
            self.extra["tool_choice"] = wire.tool_choice
        return Request(
            messages=messages,
            system=(TextPart(system),) if system else (),
            tools=tools,
            tool_choice=choice,
            max_tokens=wire.max_output_tokens,
            logprobs=self._logprobs(),
            cache_key=wire.prompt_cache_key,
            continues=ServerState(NAME, state) if state else None,
            extra={NAME: self.extra} if self.extra else {},
            **fields,
        )

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = read_member(b"tools", text, ToolsWire).tools or []
        return tuple([decode_tool(tool, self.changes, f"/tools/{at}") for at, tool in enumerate(wires)])

    def _text(self, text: TextWire, fields: dict[str, Any]) -> None:
        """Set the fields of the request that say how the text is to be; members without a field go to `extra`."""
        fields["verbosity"] = text.verbosity
        rest: dict[str, Any] = dict(text.extra or {})
        form = text.format
        if form is not None:
            fields["json_mode"] = form.type == "json_object"
            members: dict[str, Any] = dict(form.extra or {})
            if form.type == "json_schema" and form.strict is None:
                members["strict"] = None
            if form.type not in ("text", "json_object", "json_schema"):
                members["type"] = form.type
            rest |= {"format": members} if members else {}
        if rest:
            self.extra["text"] = rest
        if form is not None and form.type == "json_schema":
            fields["output_schema"], fields["schema_description"] = form.schema or {}, form.description
            fields["schema_name"], fields["schema_strict"] = form.name, form.strict

    def _logprobs(self) -> int | None:
        """How many log probabilities are wanted; an `include` that asks for other things too stays a member."""
        include, top = self.wire.include, self.wire.top_logprobs
        has_logprobs = include is not None and LOGPROBS in include
        if include is not None and include != [LOGPROBS]:
            self.extra["include"] = include
        if has_logprobs:
            return top or 0
        if top is not None:
            self.extra["top_logprobs"] = top
        return None


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    changes = Changes(NAME, "encode_response")
    response = adopt_answer(response, changes)
    own = context.source == NAME
    answer_id = response.id or (context.make_id() if context.make_id else None)
    items = None if own else bare_reply(response.parts, ItemIds(answer_id or ""), changes)
    if items is None:
        make_id = None if own else ItemIds(answer_id or "")
        items = ItemEncoder(changes, reply=True, make_id=make_id).encode(response.parts, "")
    if not own and items and items[-1].type == "message":
        items[-1].status = message_status(response.finish_reason)
    wire = answer_wire(response, answer_id, items, context, changes)
    if response.alternatives:
        changes.add("alternatives_unsupported", "/alternatives")
    return whole_reply(answer_text(wire, context), changes, context)


def answer_wire(
    response: Response[Any], answer_id: str | None, items: list[ItemWire], context: ServerContext, changes: Changes
) -> ResponseWire:
    """The answer around its items."""
    own = context.source == NAME
    status, details = encode_finish(_word(response, changes, own=context.says_own(NAME)))
    wire = ResponseWire(
        id=answer_id,
        object="response",
        created_at=context.created or None,
        status=status or None,
        error=None,
        incomplete_details=details,
        instructions=None,
        model=context.model or response.wire_model or response.model or (None if own else ""),
        output=items,
        temperature=None,
        top_p=None,
        usage=encode_usage(response.usage, changes, own=context.says_own(NAME)) if response.usage is not None else None,
    )
    repeat(wire, context.request)
    wire.store = None if own and context.request is None else own  # an answer of another dialect is not kept
    wire.completed_at = context.created if context.request is not None and status == COMPLETED else None
    if response.extra:
        merge_members(wire, response.extra.get(NAME, {}))
    if status in UNFINISHED and response.finish_reason == "other":
        wire.background = True
    if status == "failed":
        failure = failure_of(response)
        wire.error = {"code": "server_error", "message": failure.message if failure else "the answer ended in an error"}
    return wire


def _word(response: Response[Any], changes: Changes, *, own: bool) -> str:
    """The raw finish reason; an answer that came in this dialect (`own`) keeps its own."""
    if own:
        return response.finish_reason_raw or ""
    reason = response.finish_reason
    if reason in ("pause", "other"):
        changes.add("finish_reason_approximated", "/finish_reason", f"{reason} is sent as completed")
    if reason == "refusal" and not any(isinstance(part, RefusalPart) for part in response.parts):
        return WIRE_REASONS["content_filter"]  # a refusal without words: the filter's, to all appearance
    return WIRE_REASONS.get(reason, "completed")


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status and when to come back."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error, tells_retry=False)
