"""The server's role: what a client of a Responses server asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._members import merge_members
from interlingua.dialects._openai.errors import encode_error_body
from interlingua.dialects._path import model_in_path
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.openai_responses.assistant import COMPLETED
from interlingua.dialects.openai_responses.client import LOGPROBS
from interlingua.dialects.openai_responses.items import ItemEncoder, ItemIds, bare_reply
from interlingua.dialects.openai_responses.messages import decode_input, refers
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import UNFINISHED, WIRE_REASONS, encode_finish
from interlingua.dialects.openai_responses.repeated import answer_text, repeat
from interlingua.dialects.openai_responses.tools import decode_choice, decode_tool
from interlingua.dialects.openai_responses.usage import encode_usage
from interlingua.dialects.openai_responses.wire import (
    InputWire,
    ItemWire,
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
from interlingua.wire.json import decode_received, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.openai_responses.wire import FormatWire
    from interlingua.errors import Error
    from interlingua.types.message import Message
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = ["answer_wire", "decode_request", "encode_error", "encode_response"]

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts that are canonical; another word passes through as a member."""
SUMMARIES = ("auto", "concise", "detailed")
STATE = ("previous_response_id", "conversation", "prompt")
"""Members that stand for messages which the provider keeps."""


_read_items = exact_reader(list[ItemWire])
_read_tools = exact_reader(list[ToolWire])
_TOOLS = ToolCache()

# The request


@clients_fault("input")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, (), repairs=repairs)  # how deep it is is looked at once, here
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, changes, options).decode()
    model = wire.model or model_in_path(http.url)
    return DecodedRequest(model=model, request=request, stream=bool(wire.stream), changes=changes.done())


def _read_history(
    options: DecodeOptions, text: bytes, changes: Changes, *, continues: bool = False
) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    items = _read_items(text)
    messages = decode_input(read_member(b"input", text, InputWire).input if items is None else items, changes)
    return (), paired_history(messages, options, changes, continues=continues or refers(messages))


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = dict(wire.extra or {})

    def decode(self) -> Request:
        wire = self.wire
        form = self._format()
        effort, summary = self._reasoning()
        state = self._state()
        return Request(
            messages=self._messages(continues=state is not None),
            system=self._system(),
            tools=() if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), self.changes, self._offered),
            tool_choice=self._choice(),
            output_schema=None if form is None else form.schema or {},
            schema_name=form and form.name,
            schema_description=form and form.description,
            schema_strict=form and form.strict,
            json_mode=self._type() == "json_object",
            max_tokens=wire.max_output_tokens,
            temperature=wire.temperature,
            top_p=wire.top_p,
            logprobs=self._logprobs(),
            effort=effort,
            thinking_summary=summary,
            parallel_tool_calls=wire.parallel_tool_calls,
            verbosity=wire.text.verbosity if wire.text is not None else None,
            service_tier=wire.service_tier,
            user=wire.user,
            metadata=wire.metadata,
            store=wire.store,
            cache_key=wire.prompt_cache_key,
            continues=state,
            extra={NAME: self.extra} if self.extra else {},
        )

    def _messages(self, *, continues: bool) -> tuple[Message, ...]:
        """The history with calls and results paired, and no call in it broken."""
        history = b"[]" if self.wire.input is UNSET else bytes(self.wire.input)
        return _read_history(self.options, history, self.changes, continues=continues)[1]

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = read_member(b"tools", text, ToolsWire).tools or []
        return tuple([decode_tool(tool, self.changes, f"/tools/{at}") for at, tool in enumerate(wires)])

    def _system(self) -> tuple[TextPart, ...]:
        system = self.wire.instructions
        if system is None or system == "":
            return ()
        if not isinstance(system, str):
            raise DecodeError("/instructions: must be a string", path="/instructions")
        return (TextPart(system),)

    def _choice(self) -> Any:
        raw = self.wire.tool_choice
        if raw is None:
            return None
        choice = decode_choice(raw, self.changes)
        if choice is None:
            self.extra["tool_choice"] = raw
        return choice

    def _type(self) -> str | None:
        text = self.wire.text
        return text.format.type if text is not None and text.format is not None else None

    def _format(self) -> FormatWire | None:
        """The format where it has a schema; members of `text` without a field go to `extra`."""
        text = self.wire.text
        if text is None:
            return None
        rest: dict[str, Any] = dict(text.extra or {})
        form = text.format
        if form is not None:
            members: dict[str, Any] = dict(form.extra or {})
            if form.type == "json_schema" and form.strict is None:
                members["strict"] = None
            if form.type not in ("text", "json_object", "json_schema"):
                members["type"] = form.type
            rest |= {"format": members} if members else {}
        if rest:
            self.extra["text"] = rest
        return form if form is not None and form.type == "json_schema" else None

    def _reasoning(self) -> tuple[Any, Any]:
        """Effort and summary; what is not canonical goes to `extra`."""
        rest = dict(self.wire.reasoning or {})
        effort = rest.pop("effort") if rest.get("effort") in EFFORTS else None
        summary = rest.pop("summary") if rest.get("summary") in SUMMARIES else None
        unread = {name: value for name, value in rest.items() if value is not None}
        if unread:
            self.extra["reasoning"] = unread
        return effort, summary

    def _logprobs(self) -> int | None:
        """How many log probabilities are wanted; `include` stays a member, since it asks for other things too."""
        include = self.wire.include
        if include is not None:
            self.extra["include"] = include
        top = self.wire.top_logprobs
        if include is not None and LOGPROBS in include:
            return top or 0
        if top is not None:
            self.extra["top_logprobs"] = top
        return None

    def _state(self) -> ServerState | None:
        raw = {name: value for name in STATE if (value := getattr(self.wire, name)) is not None}
        return ServerState(NAME, raw) if raw else None


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    changes = Changes(NAME, "encode_response")
    own = context.source == NAME
    answer_id = response.id or (context.make_id() if context.make_id else None)
    items = None if own else bare_reply(response.parts, ItemIds(answer_id or ""), changes)
    if items is None:
        make_id = None if own else ItemIds(answer_id or "")
        items = ItemEncoder(changes, reply=True, make_id=make_id).encode(response.parts, "")
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
