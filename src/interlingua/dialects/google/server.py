"""The server's role: what a client of a generateContent server asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest, Target
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import merge_members, object_in
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.google.assistant import AssistantEncoder
from interlingua.dialects.google.enums import ENUM_TYPE, enum_parts
from interlingua.dialects.google.messages import decode_contents, decode_system
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.path import read_path
from interlingua.dialects.google.reasons import decode_finish, encode_error_body, encode_finish
from interlingua.dialects.google.schemas import style_of, to_json_schema
from interlingua.dialects.google.spelling import read_request
from interlingua.dialects.google.thinking import ThinkingAsked, decode_thinking
from interlingua.dialects.google.tiers import UNSPECIFIED, decode_tier
from interlingua.dialects.google.tools import FIELD, MIME, decode_choice, decode_tools, is_strict, strict_tools
from interlingua.dialects.google.usage import encode_usage
from interlingua.dialects.google.wire import (
    CandidateWire,
    ConfigWire,
    ContentsWire,
    ContentWire,
    InstructionWire,
    PlainContentWire,
    PlainInstructionWire,
    ReceivedWire,
    ResponseWire,
    ToolsWire,
    ToolWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.content import TextPart
from interlingua.types.request import Request, ServerState
from interlingua.types.response import Alternative
from interlingua.wire.http import HttpReply
from interlingua.wire.json import MAX_DEPTH, WireStruct, decode_received, encode_wire, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.message import Message
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool, ToolChoice
    from interlingua.wire.http import HttpRequest

__all__ = [
    "decode_request",
    "encode_error",
    "encode_response",
    "finish_word",
    "is_blocked",
    "reply_members",
]

JsonObject: TypeAlias = dict[str, Any]
S = TypeVar("S", bound=WireStruct)

_MOST_DIGITS = 9
"""A finish reason that is a number has no more of them; Python refuses to read one of thousands."""
_read_system = exact_reader(PlainInstructionWire)
_read_plain = exact_reader(list[PlainContentWire], max_depth=MAX_DEPTH - 1)  # they stand in an object
_read_contents = exact_reader(list[ContentWire], max_depth=MAX_DEPTH - 1)
_read_tools = exact_reader(list[ToolWire], max_depth=MAX_DEPTH - 1)
_LONG = ("contents", "tools", "systemInstruction")
"""The members of a body that are left as text at first."""
_NO_CONFIG = ConfigWire()
_NO_THINKING = ThinkingAsked()
_TOOLS = ToolCache()


# The request


@clients_fault("contents")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client; the model and whether to stream stand in the path.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    path = read_path(http.url)
    if path is None:
        raise DecodeError("the path names no model: it must end in /models/NAME:generateContent", path="")
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, _LONG, repairs=repairs, again=read_request)
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, changes, options).decode()
    return DecodedRequest(
        model=path.model,
        request=request,
        stream=path.streams,
        changes=changes.done(),
        json_array=path.json_array,
        enum_text=MIME in request.extra.get(NAME, {}),
    )


def _read_part(name: bytes, text: bytes, kind: type[S]) -> S:
    """A wire object of one member of a body, which is repaired, whichever way its members are spelt."""
    return read_request(b'{"%b":%b}' % (name, text), kind, [])


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.config = wire.generationConfig or _NO_CONFIG
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = dict(wire.extra or {})
        self.config_extra: dict[str, Any] = dict(self.config.extra or {})

    def decode(self) -> Request:
        wire, config = self.wire, self.config
        system, first = ((), ()) if wire.systemInstruction is UNSET else self._system(bytes(wire.systemInstruction))
        contents = self.wire.contents
        text = b"[]" if contents is UNSET else bytes(contents)
        wires = cast("list[ContentWire] | None", _read_plain(text)) or _read_contents(text)  # plain ones are alike
        if wires is None:
            wires = _read_part(b"contents", text, ContentsWire).contents or []
        messages = decode_contents(wires, first, self.changes)
        continues = self.wire.cachedContent is not None
        messages = paired_history(messages, self.options, self.changes, continues=continues)
        thinking = _NO_THINKING
        if config.thinkingConfig is not None:
            thinking, rest = decode_thinking(config.thinkingConfig)
            if rest:
                self.config_extra["thinkingConfig"] = rest
        schema, json_mode = self._output()
        tools = () if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), self.changes, self._offered)
        if wire.toolConfig is not None and is_strict(wire.toolConfig.functionCallingConfig):
            tools = strict_tools(tools)
        return Request(
            messages=messages,
            system=system,
            tools=tools,
            tool_choice=self._choice(tools),
            output_schema=schema,
            json_mode=json_mode,
            max_tokens=config.maxOutputTokens,
            temperature=config.temperature,
            top_p=config.topP,
            top_k=None if config.topK is None else int(config.topK),
            stop=tuple(config.stopSequences or ()),
            seed=config.seed,
            presence_penalty=config.presencePenalty,
            frequency_penalty=config.frequencyPenalty,
            logprobs=(config.logprobs or 0) if config.responseLogprobs else None,
            n=config.candidateCount,
            effort=thinking.effort,
            thinking=thinking.enabled,
            thinking_budget=thinking.budget,
            thinking_summary=thinking.summary,
            metadata=wire.labels,
            service_tier=decode_tier(wire.serviceTier),
            continues=ServerState(NAME, {"cachedContent": wire.cachedContent}) if wire.cachedContent else None,
            extra=self._extra(),
        )

    def _system(self, text: bytes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
        """The system text; as a message where it is more than text."""
        plain = _read_system(text)
        if plain is not None:
            return tuple([TextPart(part.text) for part in plain.parts if part.text]), ()
        wire = _read_part(b"systemInstruction", text, InstructionWire).systemInstruction
        return ((), ()) if wire is None else decode_system(wire, self.changes)

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wires = _read_tools(text)
        if wires is None:
            wires = _read_part(b"tools", text, ToolsWire).tools
        return decode_tools([wires] if isinstance(wires, ToolWire) else wires or ())

    def _choice(self, tools: tuple[Tool | OpaqueTool, ...]) -> ToolChoice | None:
        raw = self.wire.toolConfig
        if raw is None:
            return None
        rest: dict[str, Any] = dict(raw.extra or {})
        choice: ToolChoice | None = None
        if raw.functionCallingConfig is not None:
            choice, members = decode_choice(raw.functionCallingConfig, tools)
            if members:
                rest["functionCallingConfig"] = members
        if rest:
            self.extra["toolConfig"] = rest
        return choice

    def _output(self) -> tuple[dict[str, Any] | None, bool]:
        """The schema of the answer, and whether any JSON object will do."""
        config = self.config
        schema = config.responseJsonSchema
        if schema is None and config.responseSchema is not None:
            schema = to_json_schema(config.responseSchema)
            self.extra[FIELD] = style_of(config.responseSchema)
        kind = config.responseMimeType
        is_json = kind == "application/json"
        if kind == ENUM_TYPE and schema is not None:
            self.extra[MIME] = ENUM_TYPE
        elif kind is not None and not is_json:
            self.config_extra["responseMimeType"] = kind
        return schema, is_json and schema is None

    def _extra(self) -> dict[str, dict[str, Any]]:
        """The members that pass through."""
        config = self.config
        if config.responseModalities is not None:
            self.config_extra["responseModalities"] = config.responseModalities
        if not config.responseLogprobs and config.logprobs is not None:
            self.config_extra["logprobs"] = config.logprobs
        if self.config_extra:
            self.extra["generationConfig"] = self.config_extra
        if self.wire.safetySettings is not None:
            self.extra["safetySettings"] = self.wire.safetySettings
        tier = self.wire.serviceTier
        if tier is not None and tier.lower() != UNSPECIFIED and decode_tier(tier) is None:
            self.extra["serviceTier"] = tier
        return {NAME: self.extra} if self.extra else {}


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    if not context.says_own(NAME) and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    response = adopt_answer(response, changes)
    members, choice_extra = reply_members(response.extra) if NAME in response.extra else ({}, {})
    first = Alternative(
        parts=response.parts,
        finish_reason=response.finish_reason,
        finish_reason_raw=response.finish_reason_raw,
        extra={NAME: choice_extra} if choice_extra else {},
    )
    choices = [_candidate(part, place, changes, context) for place, part in enumerate((first, *response.alternatives))]
    wire = ResponseWire(
        candidates=None if is_blocked(members, response) else choices,
        usageMetadata=encode_usage(response.usage, changes) if response.usage is not None else None,
        modelVersion=context.model or response.wire_model or response.model or None,
        responseId=response.id or (context.make_id() if context.make_id else None),
    )
    if members:
        merge_members(wire, members)
    return whole_reply(encode_wire(wire), changes, context)


def is_blocked(members: dict[str, Any], response: Response[Any]) -> bool:
    """Whether the prompt was blocked, so that there is no candidate at all."""
    return "blockReason" in object_in(members, "promptFeedback") and not response.parts and not response.alternatives


def reply_members(extra: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The members of the answer as a whole, and those of its first candidate and content."""
    members = dict(extra.get(NAME, {}))
    choice = {name: members.pop(name) for name in ("candidate", "content") if name in members}
    named_alike = object_in(members, "top")
    members.pop("top", None)
    return members | named_alike, choice


def _candidate(alternative: Alternative, place: int, changes: Changes, context: ServerContext) -> CandidateWire:
    path = f"/alternatives/{place - 1}" if place else ""
    own = context.source == NAME
    encoder = AssistantEncoder(Target(), changes, path, reply=True, own=own)
    content_parts = enum_parts(alternative.parts) if context.enum_text and not own else alternative.parts
    parts: list[Any] = encoder.bare(content_parts) or encoder.encode(content_parts)
    content = ContentWire(parts=parts or None, role="model")
    extra = alternative.extra.get(NAME)
    if extra:
        merge_members(content, object_in(extra, "content"))
    word = finish_word(alternative, changes, path, own=context.says_own(NAME))
    wire = CandidateWire(content=content, finishReason=word, index=place)
    members = encoder.grounding.members() if encoder.grounding is not None else {}
    if extra:
        members |= object_in(extra, "candidate")
    if members:
        merge_members(wire, members)
    return wire


def finish_word(alternative: Alternative, changes: Changes, path: str, *, own: bool) -> str | int | None:
    """The wire's finish reason, with an entry where it says less than the canonical one.

    An answer that came in this dialect (`own`) keeps its own word or number; any other gets one of the legal words.
    """
    reason, raw = alternative.finish_reason, alternative.finish_reason_raw
    if own and raw is None:
        return None
    if own and raw is not None and (decode_finish(raw) == reason or reason != "content_filter"):
        return int(raw) if raw.isdecimal() and len(raw) <= _MOST_DIGITS else raw
    if reason in ("refusal", "pause"):
        word = encode_finish(reason)
        changes.add("finish_reason_approximated", f"{path}/finish_reason", f"{reason} is sent as {word}")
    return encode_finish(reason)


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status and when to come back."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error, tells_retry=False)
