"""The server's role: what a client of an Ollama server asks, and an answer in its own form.

Rules
- `stream` is true unless the client says otherwise.
- Which form a request has is said by its path, and by its body where the path does not say.
- The form of the answer follows the client's path, else the form in which the answer itself came.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import is_object, merge_members, object_in
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.ollama.assistant import AssistantEncoder, bare_turn
from interlingua.dialects.ollama.client import GENERATE_PATH, OPTIONS
from interlingua.dialects.ollama.messages import decode_messages, decode_prompt
from interlingua.dialects.ollama.parts import NAME
from interlingua.dialects.ollama.reasons import done_reason, encode_error_body
from interlingua.dialects.ollama.tools import decode_tool
from interlingua.dialects.ollama.usage import note_uncounted
from interlingua.dialects.ollama.wire import ChunkWire, ReceivedWire, ToolsWire, ToolWire
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.request import Request, ServerState
from interlingua.wire.http import HttpReply
from interlingua.wire.json import MAX_DEPTH, decode_any, decode_received, encode_wire, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.capability import Effort
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = [
    "answer_members",
    "created_at",
    "decode_request",
    "encode_error",
    "encode_response",
    "is_older_form",
]

JSON_HEADERS = (("content-type", "application/json; charset=utf-8"),)
EFFORTS = frozenset({"low", "medium", "high", "max"})
"""Words of `think`; another word passes through as a member."""
REQUEST_MEMBERS = ("keep_alive", "truncate", "shift", "raw", "template", "suffix")
"""Members of a request that only pass through."""
WHOLE_NUMBERS = frozenset({"num_predict", "top_k", "seed"})
"""Options that are whole numbers."""


_NULL = Raw(b"null")
_read_tools = exact_reader(list[ToolWire], max_depth=MAX_DEPTH - 1)  # they stand in an object
_TOOLS = ToolCache()

# The request


def _text(member: Raw | UnsetType) -> bytes:
    return b"[]" if isinstance(member, UnsetType) else bytes(member)


@clients_fault("")  # it asks for a model to be loaded
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("messages", "tools"), repairs=repairs)
    changes = changes_of(NAME, "decode_request", repairs)
    path = http.url.partition("?")[0].rstrip("/")
    older = path.endswith("/generate")  # one prompt instead of messages
    if not path.endswith(("/chat", "/generate")):
        older = wire.messages in (UNSET, _NULL) and wire.prompt is not None
    request = _RequestDecoder(wire, changes, options, older=older).decode()
    return DecodedRequest(
        model=wire.model or "", request=request, stream=wire.stream is not False, changes=changes.done()
    )


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions, *, older: bool) -> None:
        self.wire = wire
        self.changes = changes
        self.options = options
        self.older = older
        self.extra: dict[str, Any] = dict(wire.extra or {})
        self.settings: dict[str, Any] = dict(wire.options or {})

    def decode(self) -> Request:
        wire = self.wire
        if self.older:
            self.extra["field"] = "prompt"
            system, messages = decode_prompt(wire.system, wire.prompt, wire.images, self.changes)
        else:
            system, messages = decode_messages(_text(wire.messages), self.changes)
        messages = paired_history(messages, self.options, self.changes, continues=bool(wire.context))
        self._left_over()
        stop = self._stop()
        numbers: dict[str, Any] = {}
        for member in list(self.settings):  # what is no such number stays an option
            if member in OPTIONS and _is_number(member, self.settings[member]):
                numbers[OPTIONS[member]] = self.settings.pop(member)
        if self.settings:
            self.extra["options"] = self.settings
        return Request(
            messages=messages,
            system=system,
            tools=() if self.older else _TOOLS.read(_text(wire.tools), self.changes, self._offered),
            output_schema=wire.format if is_object(wire.format) else None,
            json_mode=wire.format == "json",
            stop=stop,
            logprobs=(wire.top_logprobs or 0) if wire.logprobs else None,
            effort=cast("Effort", wire.think) if wire.think in EFFORTS else None,
            thinking=wire.think if isinstance(wire.think, bool) else None,
            continues=ServerState(NAME, {"context": wire.context}) if wire.context else None,
            **numbers,
            extra={NAME: self.extra} if self.extra else {},
        )

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = read_member(b"tools", text, ToolsWire).tools or []
        return tuple([decode_tool(tool, f"/tools/{place}") for place, tool in enumerate(wires)])

    def _left_over(self) -> None:
        """Keep what was said and is not read: members of the other form, and words that mean nothing here."""
        wire = self.wire
        if not (wire.keep_alive is wire.truncate is wire.shift is wire.raw is wire.template is wire.suffix is None):
            for name in REQUEST_MEMBERS:
                value = getattr(wire, name)
                if value is not None:
                    self.extra[name] = value
        read: dict[str, Any] = {}
        if self.older:
            read = {name: decode_any(_text(getattr(wire, name)), repairs=[]) for name in ("messages", "tools")}
        elif wire.prompt or wire.system or wire.images:
            read = {"prompt": wire.prompt, "system": wire.system, "images": wire.images}
        if read:
            self.extra |= {name: value for name, value in read.items() if value}
        if isinstance(wire.think, str) and wire.think not in EFFORTS:
            self.extra["think"] = wire.think
        if isinstance(wire.format, str) and wire.format not in ("", "json"):
            self.extra["format"] = wire.format
        if wire.top_logprobs is not None and not wire.logprobs:
            self.extra["top_logprobs"] = wire.top_logprobs

    def _stop(self) -> tuple[str, ...]:
        value = self.settings.get("stop")
        if value is None:
            return ()
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in cast("list[object]", texts)):
            return ()
        self.settings.pop("stop")
        return tuple(cast("list[str]", texts))


def _is_number(member: str, value: object) -> bool:
    """Whether an option says a number that means the same elsewhere: no limit and a random seed are said by -1 here."""
    if member not in WHOLE_NUMBERS:
        return type(value) in (int, float)
    return type(value) is int and (value > 0 if member == "num_predict" else value >= 0)


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    if not context.says_own(NAME) and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    if response.alternatives:
        changes.add("alternatives_unsupported", "/alternatives")
    message: Any = None if "message" in response.extra.get(NAME, {}) else bare_turn(response.parts, changes, "")
    if message is None:
        message = AssistantEncoder(changes, "", reply=True, own=context.source == NAME).encode(response.parts)
    model, time = context.model or response.wire_model or response.model, created_at(context)
    wire = ChunkWire(model=model, created_at=time, done=True)
    members = answer_members(response, changes)
    if "message" in members:
        merge_members(message, object_in(members, "message"))
        del members["message"]
    if is_older_form(response.extra, context):
        wire.response, wire.thinking, wire.tool_calls = message.content, message.thinking, message.tool_calls
    else:
        wire.message = message
    wire.done_reason = done_reason(response, changes, own=context.says_own(NAME))
    if members:
        merge_members(wire, members)
    usage = response.usage
    if usage is not None:
        note_uncounted(usage, changes)
        if usage.input_tokens is not None:
            wire.prompt_eval_count = usage.input_tokens
        if usage.output_tokens is not None:
            wire.eval_count = usage.output_tokens
    return whole_reply(encode_wire(wire), changes, context, JSON_HEADERS)


def is_older_form(extra: dict[str, dict[str, Any]], context: ServerContext) -> bool:
    """Whether the answer is one of `/api/generate`."""
    if context.path:
        return context.path.partition("?")[0].rstrip("/").endswith(GENERATE_PATH)
    return extra.get(NAME, {}).get("field") == "response"


def created_at(context: ServerContext) -> str | None:
    """The time of an answer as the wire says it."""
    return _time(context.created) if context.created else None


@lru_cache(maxsize=16)
def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def answer_members(response: Response[Any], changes: Changes) -> dict[str, Any]:
    """The members of an answer that only pass through; an entry for those of other dialects."""
    response = adopt_answer(response, changes)
    return {name: value for name, value in response.extra.get(NAME, {}).items() if name != "field"}


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status, when to come back, and whether at all if that is unusual."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error, headers=JSON_HEADERS)
