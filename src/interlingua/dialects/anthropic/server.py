"""The server's role: what a client of a Messages service asks, and an answer in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest, Facts, Quirks, Target
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import is_object, merge_members, reader_of
from interlingua.dialects._path import model_in_path
from interlingua.dialects._serve import clients_fault, error_reply, paired_history, read_member, whole_reply
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.anthropic.assistant import AssistantEncoder
from interlingua.dialects.anthropic.client import BETA_HEADER, BETAS
from interlingua.dialects.anthropic.marks import Marks, cache_of
from interlingua.dialects.anthropic.messages import decode_messages, decode_system
from interlingua.dialects.anthropic.parts import NAME, BlockEncoder
from interlingua.dialects.anthropic.reasons import encode_error_body, encode_finish
from interlingua.dialects.anthropic.thinking import decode_thinking
from interlingua.dialects.anthropic.tools import decode_choice, decode_servers, decode_tool
from interlingua.dialects.anthropic.usage import encode_usage
from interlingua.dialects.anthropic.whole import complete_text
from interlingua.dialects.anthropic.wire import ReceivedWire, ResponseWire, ToolsWire
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.request import Request, ServerState
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_received, encode_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool
    from interlingua.wire.http import HttpRequest

__all__ = ["decode_request", "encode_error", "encode_response", "reply_encoder", "stop_word"]


_TOOLS = ToolCache()
_read_knobs = reader_of("max_tokens", "temperature", "top_p", "top_k", "service_tier")
"""Reads the members that are fields of a request by the same names and with the same values."""
_read_passing = reader_of("container", "context_management")

# The request


@clients_fault("messages")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    betas = [value for name, value in http.headers if name == BETA_HEADER]
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("messages", "tools", "system"), repairs=repairs)
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, betas, changes, options).decode()
    model = wire.model or model_in_path(http.url)
    return DecodedRequest(model=model, request=request, stream=bool(wire.stream), changes=changes.done())


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, betas: Sequence[str], changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.betas = betas
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = dict(wire.extra) if wire.extra else {}
        thread = self.extra.pop("thread", None)
        self.state: ServerState | None = ServerState(NAME, {"thread": thread}) if is_object(thread) else None
        self.goes_on: bool = is_object(thread) and thread.get("type") == "continue"

    def decode(self) -> Request:
        wire = self.wire
        first = () if wire.system is None else decode_system(wire.system)
        system, messages = decode_messages(b"[]" if wire.messages is UNSET else bytes(wire.messages), self.changes)
        messages = paired_history(messages, self.options, self.changes, continues=self.goes_on)
        fields = _read_knobs(wire)
        if wire.tool_choice is not None:
            fields["tool_choice"], fields["parallel_tool_calls"] = decode_choice(wire.tool_choice, self.changes)
        if wire.thinking is not None or wire.output_config is not None:
            thinking = decode_thinking(wire, self.extra)
            fields["effort"], fields["thinking"] = thinking.effort, thinking.enabled
            fields["thinking_summary"], fields["thinking_budget"] = thinking.summary, thinking.budget
        if wire.output_config is not None or wire.output_format is not None:
            fields["output_schema"] = self._schema()
        if wire.metadata is not None:
            metadata = dict(wire.metadata)
            user = metadata.pop("user_id", None)
            fields["user"] = user if isinstance(user, str) else None
            if metadata:
                self.extra["metadata"] = metadata
        if wire.cache_control is not None:
            cache = fields["cache"] = cache_of(wire.cache_control)
            if cache is None:
                self.extra["cache_control"] = wire.cache_control
        return Request(
            messages=messages,
            system=first + system,
            tools=() if wire.tools is UNSET and wire.mcp_servers is None else self._tools(),
            stop=tuple(wire.stop_sequences or ()),
            continues=self.state,
            extra=self._extra(),
            **fields,
        )

    def _tools(self) -> tuple[Tool | OpaqueTool, ...]:
        raw = self.wire.tools
        tools = () if raw is UNSET else _TOOLS.read(bytes(raw), self.changes, self._offered)
        servers = decode_servers(self.wire.mcp_servers)
        return (*tools, *servers) if servers else tools

    def _offered(self, text: bytes) -> tuple[Tool | OpaqueTool, ...]:
        wire = read_member(b"tools", text, ToolsWire)
        return tuple(
            [decode_tool(tool, self.changes, f"/tools/{place}") for place, tool in enumerate(wire.tools or ())]
        )

    def _schema(self) -> dict[str, Any] | None:
        """The output schema, under its name or its older one; a format of another kind only passes through."""
        config = self.wire.output_config
        form = (config.get("format") if config is not None else None) or self.wire.output_format
        if not is_object(form):
            return None
        schema = form.get("schema")
        is_schema = form.get("type") == "json_schema" and is_object(schema)
        rest = {name: value for name, value in form.items() if not is_schema or name not in ("type", "schema")}
        if rest:
            self.extra["output_config"] = {**self.extra.get("output_config", {}), "format": rest}
        return schema if is_schema and is_object(schema) else None

    def _extra(self) -> dict[str, dict[str, Any]]:
        """The members that only pass through, and the beta features that some of them need."""
        self.extra.update(_read_passing(self.wire))
        if self.betas:
            betas = [beta.strip() for value in self.betas for beta in value.split(",")]
            self.extra[BETAS] = [beta for beta in betas if beta]
        return {NAME: self.extra} if self.extra else {}


# The answer


def reply_encoder(changes: Changes, *, own: bool = False) -> AssistantEncoder:
    """An encoder for the blocks of an answer; an `own` one came in this dialect."""
    blocks = BlockEncoder(_FACTS, Marks(_QUIRKS, changes), changes)
    return AssistantEncoder(blocks, _CLIENT, changes, reply=True, own=own)


_FACTS, _QUIRKS, _CLIENT = Facts(), Quirks(), Target()


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    if not context.says_own(NAME) and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    response = adopt_answer(response, changes)
    own = context.says_own(NAME)
    wire = ResponseWire(
        id=response.id or (context.make_id() if context.make_id else None),
        type="message",
        role="assistant",
        model=context.model or response.wire_model or response.model,
        content=reply_encoder(changes, own=context.source == NAME).encode(response.parts, ""),
        stop_reason=stop_word(response, changes, own=own),
        stop_sequence=None,
        usage=None if own and response.usage is None else encode_usage(response.usage, changes, own=own),
    )
    for place in range(len(response.alternatives)):
        changes.add("alternatives_unsupported", f"/alternatives/{place}")
    if NAME in response.extra:
        merge_members(wire, response.extra[NAME])
    meant = (wire.stop_sequence is None) + (wire.stop_reason is None)
    text = encode_wire(wire, nulls=meant) if context.request is None else complete_text(wire, meant)
    return whole_reply(text, changes, context)


def stop_word(response: Response[Any], changes: Changes, *, own: bool) -> str | None:
    """The wire's stop reason, with an entry where it says less than the canonical one.

    An answer that came in this dialect (`own`) keeps its own word.
    """
    if own:
        return response.finish_reason_raw
    word, exact = encode_finish(response.finish_reason)
    if not exact:
        changes.add("finish_reason_approximated", "/finish_reason", f"{response.finish_reason} is sent as {word}")
    return word


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status, when to come back, and whether at all if that is unusual."""
    del context
    status, body = encode_error_body(error)
    return error_reply(status, body, error, id_header="request-id")
