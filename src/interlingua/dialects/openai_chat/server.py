"""The server's role: what a client of a Chat Completions server asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest, Quirks, Target
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import merge_members, object_in, reader_of
from interlingua.dialects._openai.calls import decode_choice
from interlingua.dialects._openai.errors import encode_error_body
from interlingua.dialects._path import model_in_path
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.openai_chat.assistant import AssistantEncoder
from interlingua.dialects.openai_chat.messages import decode_messages
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.reasons import encode_finish
from interlingua.dialects.openai_chat.tools import decode_tool
from interlingua.dialects.openai_chat.usage import encode_usage
from interlingua.dialects.openai_chat.wire import (
    AudioWire,
    ChoiceWire,
    ReceivedWire,
    ResponseWire,
    ToolsWire,
    ToolWire,
)
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.content import RefusalPart
from interlingua.types.request import Request
from interlingua.types.response import Alternative
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_received, encode_wire

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.openai_chat.wire import MessageWire, ResponseFormatWire, UsageWire
    from interlingua.errors import Error
    from interlingua.types.capability import Effort
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = [
    "decode_request",
    "encode_error",
    "encode_response",
    "finish_word",
    "reply_members",
]

_TOOLS = ToolCache()
_AS_READ = Target()
SUMMARIES = ("auto", "concise", "detailed")
"""How much of the thinking is to be shown, in the words of Responses, which some clients use on Chat."""
_PLAIN = Target(quirks=Quirks(reasoning_field="reasoning_content"))
"""How a client is told what did not come in its own dialect: readable reasoning where most of them look for it."""
EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts that are canonical; another word passes through as a member."""
_read_knobs = reader_of(
    "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty", "logit_bias", "n",
    "parallel_tool_calls", "verbosity", "service_tier", "user", "metadata", "store",
)  # fmt: skip
"""Reads the members that are fields of a request by the same names and with the same values."""


# The request


@clients_fault("messages")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("messages", "tools"), repairs=repairs)
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
        system, messages = decode_messages(b"[]" if wire.messages is UNSET else bytes(wire.messages), self.changes)
        messages = paired_history(messages, self.options, self.changes)
        fields = _read_knobs(wire)
        if wire.top_p == -1:  # so some clients say that it is not set
            del fields["top_p"]
        if wire.seed is None and wire.random_seed is not None:
            fields["seed"] = wire.random_seed
        if wire.logprobs:
            fields["logprobs"] = wire.top_logprobs or 0
        if wire.response_format is not None:
            self._format(wire.response_format, fields)
        if wire.reasoning_effort is not None or wire.reasoning is not None:
            self._reasoning(fields)
        tools = () if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), self.changes, self._offered)
        choice = wire.tool_choice
        if wire.functions is not None:  # the older form
            self.changes.add("functions_deprecated", "/tools")
            for place, function in enumerate(wire.functions):
                tools += (decode_tool(ToolWire(function=function), self.changes, f"/functions/{place}"),)
        if wire.function_call is not None and choice is None:
            self.changes.add("functions_deprecated", "/tool_choice")
            choice = wire.function_call
        return Request(
            messages=messages,
            system=system,
            tools=tools,
            tool_choice=None if choice is None else decode_choice(choice, self.changes),
            max_tokens=wire.max_tokens if wire.max_completion_tokens is None else wire.max_completion_tokens,
            stop=() if wire.stop is None else (wire.stop,) if isinstance(wire.stop, str) else tuple(wire.stop),
            cache_key=wire.prompt_cache_key,
            extra=self._extra(),
            **fields,
        )

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wire = read_member(b"tools", text, ToolsWire)
        return tuple(
            [decode_tool(tool, self.changes, f"/tools/{place}") for place, tool in enumerate(wire.tools or ())]
        )

    def _format(self, form: ResponseFormatWire, fields: dict[str, Any]) -> None:
        """Set the fields of the request that say the form of the answer; what has no field goes to `extra`."""
        fields["json_mode"] = form.type == "json_object"
        rest = dict(form.extra or {})
        schema = form.json_schema
        if form.schema is not None:
            if schema is None and form.type in ("json_object", "json_schema"):
                # The schema stands in the format itself: beside JSON mode, as servers of open models have it, or flat.
                fields["output_schema"] = form.schema
                if form.type == "json_schema":
                    self.changes.add("foreign_shape", "/output_schema", "the flat shape of another dialect")
                    fields["schema_name"] = rest.pop("name") if isinstance(rest.get("name"), str) else None
                    fields["schema_strict"] = rest.pop("strict") if isinstance(rest.get("strict"), bool) else None
                if rest:
                    self.extra["response_format"] = rest
                return
            rest["schema"] = form.schema
        if schema is not None:
            fields["output_schema"], fields["schema_description"] = schema.schema or {}, schema.description
            fields["schema_name"], fields["schema_strict"] = schema.name, schema.strict
            members: dict[str, Any] = dict(schema.extra or {})
            rest |= {"json_schema": members} if members else {}
        if form.type not in ("text", "json_object", "json_schema"):
            rest["type"] = form.type
        if rest:
            self.extra["response_format"] = rest

    def _reasoning(self, fields: dict[str, Any]) -> None:
        """Set the fields of the request that say how to reason; what has no field goes to `extra`."""
        effort, reasoning = self.wire.reasoning_effort, self.wire.reasoning
        if effort in EFFORTS:
            fields["effort"] = effort
        elif effort is not None:
            self.extra["reasoning_effort"] = effort
        if reasoning is None:
            return
        nested, summary, budget = [reasoning.get(name) for name in ("effort", "summary", "max_tokens")]
        if nested in EFFORTS and effort is None:
            fields["effort"] = nested
        fields["thinking_budget"] = budget if isinstance(budget, int) else None
        fields["thinking_summary"] = summary if summary in SUMMARIES else None
        values = {"effort": EFFORTS, "summary": SUMMARIES}
        read = {"max_tokens", *[name for name, words in values.items() if reasoning.get(name) in words]}
        self.extra["reasoning"] = {name: value for name, value in reasoning.items() if name not in read}

    def _extra(self) -> dict[str, dict[str, Any]]:
        """The members that pass through."""
        if self.wire.stream_options is not None:
            self.extra["stream_options"] = self.wire.stream_options
        if self.wire.top_logprobs is not None and not self.wire.logprobs:
            self.extra["top_logprobs"] = self.wire.top_logprobs
        return {NAME: self.extra} if self.extra else {}


# The answer


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    if not context.says_own(NAME) and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    response = adopt_answer(response, changes)
    members, choice_extra = reply_members(response.extra)
    choices = [_choice(response, choice_extra, 0, changes, context)]
    for place, one in enumerate(response.alternatives, 1):
        choices.append(_choice(one, one.extra.get(NAME, {}), place, changes, context))
    wire = ResponseWire(
        id=response.id or (context.make_id() if context.make_id else None),
        object="chat.completion",
        created=context.created or None,
        model=context.model or response.wire_model or response.model,
        choices=choices,
    )
    if response.usage is not None:  # plain members are written as they are
        wire.usage = cast("UsageWire", encode_usage(response.usage, changes, own=context.says_own(NAME)))
    if members:
        merge_members(wire, members)
    meant = 0
    for choice in choices:  # what says null on purpose is counted, so that no number is looked for behind it
        message = cast("MessageWire", choice.message)  # every choice that is written has one
        meant += (choice.logprobs is None) + (message.content is None) + (message.refusal is None)
    return whole_reply(encode_wire(wire, nulls=meant), changes, context)


def reply_members(extra: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The members of the answer as a whole, and those of its first choice and message."""
    if not extra:
        return {}, {}
    members = dict(extra.get(NAME, {}))
    choice = {name: members.pop(name) for name in ("choice", "message") if name in members}
    if "top" in members:
        named_alike = object_in(members, "top")
        del members["top"]
        members |= named_alike
    return members, choice


def _choice(
    choice: Response[Any] | Alternative, extra: dict[str, Any], place: int, changes: Changes, context: ServerContext
) -> ChoiceWire:
    """A choice with the members of it that stand in `extra`."""
    path = f"/alternatives/{place - 1}" if place else ""
    encoder = AssistantEncoder(_AS_READ if context.source == NAME else _PLAIN, changes)
    plain = None if extra else encoder.plain(choice.parts, path, reply=True)
    message = encoder.encode(choice.parts, path, reply=True) if plain is None else cast("MessageWire", plain)
    if plain is None:  # strict clients insist on every member
        if not isinstance(message.refusal, str):
            message.refusal = None
        message.annotations = message.annotations or []
        audio = message.audio
        if type(audio) is AudioWire and context.source != NAME:  # it cannot be asked for again: no id, and expired
            audio.id = audio.id or ""
            audio.expires_at = audio.expires_at or 0
            audio.transcript = audio.transcript or ""
    if "message" in extra:
        merge_members(message, object_in(extra, "message"))
    word = finish_word(choice, changes, path, own=context.says_own(NAME))
    wire = ChoiceWire(index=place, message=message, finish_reason=word, logprobs=None)
    if "choice" in extra:
        members = dict(object_in(extra, "choice"))
        merge_members(message, object_in(members, "message"))
        members.pop("message", None)
        merge_members(wire, members)
    return wire


def finish_word(choice: Response[Any] | Alternative, changes: Changes, path: str, *, own: bool) -> str | None:
    """The wire's finish reason, with an entry where it says less than the canonical one.

    An answer that came in this dialect (`own`) keeps its own word; any other gets one of the legal words.
    """
    reason = choice.finish_reason
    if own:
        return choice.finish_reason_raw
    if reason == "error":  # what had come before an error, which says it
        return None
    if reason in ("pause", "other"):
        changes.add("finish_reason_approximated", f"{path}/finish_reason", f"{reason} is sent as stop")
    in_own_words = reason == "refusal" and RefusalPart in {type(part) for part in choice.parts}
    return encode_finish(reason, refused=in_own_words)


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status, when to come back, and whether at all if that is unusual."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error)
