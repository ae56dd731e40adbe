"""The server's role: what a client of a Chat Completions server asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest, Quirks, Target
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import merge_members, object_in
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
from interlingua.types.request import Request, ThinkingSummary
from interlingua.types.response import Alternative
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_received, encode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.openai_chat.wire import MessageWire, UsageWire
    from interlingua.errors import Error
    from interlingua.types.capability import Effort
    from interlingua.types.content import Part
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.types.usage import Usage
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
        history = b"[]" if wire.messages is UNSET else bytes(wire.messages)
        system, messages = decode_messages(history, self.changes)
        messages = paired_history(messages, self.options, self.changes)
        name, schema, strict = self._format()
        return Request(
            messages=messages,
            system=system,
            tools=self._tools(),
            tool_choice=self._choice(),
            output_schema=schema,
            schema_name=name,
            schema_strict=strict,
            json_mode=wire.response_format is not None and wire.response_format.type == "json_object",
            max_tokens=wire.max_tokens if wire.max_completion_tokens is None else wire.max_completion_tokens,
            temperature=wire.temperature,
            top_p=None if wire.top_p == -1 else wire.top_p,  # so some clients say that it is not set
            top_k=wire.top_k,
            min_p=wire.min_p,
            stop=(wire.stop,) if isinstance(wire.stop, str) else tuple(wire.stop or ()),
            seed=wire.random_seed if wire.seed is None else wire.seed,
            presence_penalty=wire.presence_penalty,
            frequency_penalty=wire.frequency_penalty,
            logit_bias=wire.logit_bias,
            logprobs=(wire.top_logprobs or 0) if wire.logprobs else None,
            n=wire.n,
            effort=self._effort(),
            thinking_budget=self._budget(),
            thinking_summary=self._summary(),
            parallel_tool_calls=wire.parallel_tool_calls,
            verbosity=wire.verbosity,
            service_tier=wire.service_tier,
            user=wire.user,
            metadata=wire.metadata,
            store=wire.store,
            cache_key=wire.prompt_cache_key,
            schema_description=self._schema_description(),
            extra=self._extra(),
        )

    def _tools(self) -> tuple[Tool | OpaqueTool, ...]:
        wire = self.wire
        tools = () if wire.tools is UNSET else _TOOLS.read(bytes(wire.tools), self.changes, self._offered)
        if wire.functions is not None:
            self.changes.add("functions_deprecated", "/tools")
            entries = [ToolWire(function=function) for function in wire.functions]
            functions = [decode_tool(entry, self.changes, f"/functions/{place}") for place, entry in enumerate(entries)]
            tools = (*tools, *functions)
        return tools

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wire = read_member(b"tools", text, ToolsWire)
        return tuple(
            [decode_tool(tool, self.changes, f"/tools/{place}") for place, tool in enumerate(wire.tools or ())]
        )

    def _choice(self) -> Any:
        choice = self.wire.tool_choice
        if choice is None and self.wire.function_call is not None:
            self.changes.add("functions_deprecated", "/tool_choice")
            choice = self.wire.function_call
        return None if choice is None else decode_choice(choice, self.changes)

    def _format(self) -> tuple[str | None, dict[str, Any] | None, bool | None]:
        form = self.wire.response_format
        if form is None:
            return None, None, None
        rest = dict(form.extra or {})
        schema = form.json_schema
        if form.schema is not None:
            if schema is None and form.type in ("json_object", "json_schema"):
                return self._flat_format(form.type, form.schema, rest)
            rest["schema"] = form.schema
        if schema is not None:
            members: dict[str, Any] = dict(schema.extra or {})
            rest |= {"json_schema": members} if members else {}
        if form.type not in ("text", "json_object", "json_schema"):
            rest["type"] = form.type
        if rest:
            self.extra["response_format"] = rest
        return (schema.name, schema.schema or {}, schema.strict) if schema is not None else (None, None, None)

    def _flat_format(
        self, kind: str, schema: dict[str, Any], rest: dict[str, Any]
    ) -> tuple[str | None, dict[str, Any], bool | None]:
        """A schema that stands in the format itself: beside JSON mode, as servers of open models have it, or flat."""
        name = strict = None
        if kind == "json_schema":
            self.changes.add("foreign_shape", "/output_schema", "the flat shape of another dialect")
            name = rest.pop("name") if isinstance(rest.get("name"), str) else None
            strict = rest.pop("strict") if isinstance(rest.get("strict"), bool) else None
        if rest:
            self.extra["response_format"] = rest
        return name, schema, strict

    def _schema_description(self) -> str | None:
        form = self.wire.response_format
        return form.json_schema.description if form is not None and form.json_schema is not None else None

    def _effort(self) -> Effort | None:
        effort = self.wire.reasoning_effort
        nested = (self.wire.reasoning or {}).get("effort")
        if effort in EFFORTS:
            return effort
        if effort is not None:
            self.extra["reasoning_effort"] = effort
        return nested if nested in EFFORTS and effort is None else None

    def _budget(self) -> int | None:
        budget = (self.wire.reasoning or {}).get("max_tokens")
        return budget if isinstance(budget, int) else None

    def _summary(self) -> ThinkingSummary | None:
        summary = (self.wire.reasoning or {}).get("summary")
        return summary if summary in SUMMARIES else None

    def _extra(self) -> dict[str, dict[str, Any]]:
        """The members that pass through, those of objects that were read in part among them."""
        reasoning = self.wire.reasoning
        if reasoning is not None:
            values = {"effort": EFFORTS, "summary": SUMMARIES}
            read = {"max_tokens", *[name for name, words in values.items() if reasoning.get(name) in words]}
            self.extra["reasoning"] = {name: value for name, value in reasoning.items() if name not in read}
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
    members, choice_extra = reply_members(response.extra, changes)
    choices = [_choice(response, choice_extra, 0, changes, context)]
    for place, one in enumerate(response.alternatives, 1):
        choices.append(_choice(one, one.extra.get(NAME, {}), place, changes, context))
    wire = ResponseWire(
        id=response.id or (context.make_id() if context.make_id else None),
        object="chat.completion",
        created=context.created or None,
        model=context.model or response.wire_model or response.model,
        choices=choices,
        usage=_usage(response.usage, changes, own=context.says_own(NAME)) if response.usage is not None else None,
    )
    if members:
        merge_members(wire, members)
    meant = sum([_nulls(choice) for choice in choices])
    return whole_reply(encode_wire(wire, nulls=meant), changes, context)


def _usage(usage: Usage, changes: Changes, *, own: bool) -> UsageWire:
    return cast("UsageWire", encode_usage(usage, changes, own=own))  # plain members are written as they are


def _nulls(choice: ChoiceWire) -> int:
    """How many members say null on purpose, so that no number has to be looked for behind them."""
    message = cast("MessageWire", choice.message)  # every choice that is written has one
    return (choice.logprobs is None) + (message.content is None) + (message.refusal is None)


def reply_members(extra: dict[str, dict[str, Any]], changes: Changes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The members of the answer as a whole, and those of its first choice and message."""
    if not extra:
        return {}, {}
    note_foreign(changes, extra)
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
    if plain is None:
        _complete(message, own=context.source == NAME)
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


def _complete(message: MessageWire, *, own: bool) -> None:
    """Strict clients insist on every member; audio that cannot be asked for again has no id and has expired."""
    if not isinstance(message.refusal, str):
        message.refusal = None
    message.annotations = message.annotations or []
    audio = message.audio
    if type(audio) is AudioWire and not own:
        audio.id = audio.id or ""
        audio.expires_at = audio.expires_at or 0
        audio.transcript = audio.transcript or ""


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
    return encode_finish(reason, refused=reason == "refusal" and _has_refusal(choice.parts))


def _has_refusal(parts: Sequence[Part]) -> bool:
    """Whether the model refused in its own words."""
    return RefusalPart in {type(part) for part in parts}


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status, when to come back, and whether at all if that is unusual."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error)
