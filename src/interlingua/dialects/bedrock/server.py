"""The server's role: what a client of Converse asks, and an answer in its own form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from interlingua.dialects._answer import changes_of
from interlingua.dialects._contract import DecodedRequest, Quirks, Target
from interlingua.dialects._foreign import adopt_answer
from interlingua.dialects._members import is_object, merge_members
from interlingua.dialects._serve import (
    JSON_HEADERS,
    clients_fault,
    error_reply,
    paired_history,
    read_member,
    whole_reply,
)
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.bedrock.assistant import AssistantEncoder, plain_turn
from interlingua.dialects.bedrock.client import FIELDS
from interlingua.dialects.bedrock.marks import Marks
from interlingua.dialects.bedrock.messages import decode_messages, decode_system
from interlingua.dialects.bedrock.parts import NAME, BlockEncoder
from interlingua.dialects.bedrock.reasons import TYPE_HEADER, encode_error_body, stop_word
from interlingua.dialects.bedrock.service import read_path
from interlingua.dialects.bedrock.thinking import decode_effort, decode_thinking
from interlingua.dialects.bedrock.tools import choice_rest, decode_choice, decode_tools
from interlingua.dialects.bedrock.usage import encode_usage
from interlingua.dialects.bedrock.wire import (
    AnswerWire,
    MessageWire,
    OutputWire,
    ReceivedToolConfigWire,
    ReceivedWire,
    ToolsWire,
    ToolWire,
)
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.stream.failure import failure_of
from interlingua.types.change import Changes
from interlingua.types.request import Request
from interlingua.wire.json import decode_any, decode_received, encode_wire, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeOptions, ServerContext
    from interlingua.dialects.bedrock.wire import BlockWire
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.types.tool import OpaqueTool, Tool, ToolChoice
    from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["NO_METRICS", "decode_request", "encode_error", "encode_response", "reply_encoder", "reply_members"]

KNOBS = {"maxTokens": "max_tokens", "temperature": "temperature", "topP": "top_p"}
"""Member of `inferenceConfig` -> field of a request."""
NO_METRICS = {"latencyMs": 0}
"""The metrics of an answer of another dialect, which every answer must state."""

# The request


@clients_fault("messages")
def decode_request(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    """The request of a client.

    Raises: DecodeError, with the place; HistoryError under `refuse`; LimitExceededError.
    """
    repairs: list[str] = []
    wire = decode_received(http.body, ReceivedWire, ("messages",), repairs=repairs)
    changes = changes_of(NAME, "decode_request", repairs)
    request = _RequestDecoder(wire, changes, options).decode()
    path = read_path(http.url)
    return DecodedRequest(
        model=path.model if path is not None else "",
        request=request,
        stream=path is not None and path.streams,
        changes=changes.done(),
    )


def _offered(text: bytes) -> tuple[Tool | OpaqueTool, ...]:
    """The tools that are this text.

    Raises: DecodeError, with the place.
    """
    wires = _read_tools(text)
    if wires is None:
        try:
            wires = read_member(b"tools", text, ToolsWire).tools or []
        except DecodeError as error:
            raise error.under("/toolConfig") from None
    return decode_tools(wires)


_read_tools = exact_reader(list[ToolWire])  # how deep they are was looked at in the body
_TOOLS = ToolCache()


class _RequestDecoder:
    """Reads one request; what the canonical request has no field for stays in `extra`."""

    def __init__(self, wire: ReceivedWire, changes: Changes, options: DecodeOptions) -> None:
        self.wire = wire
        self.changes = changes
        self.options = options
        self.extra: dict[str, Any] = dict(wire.extra or {})
        self.config: dict[str, Any] = dict(wire.inferenceConfig or {})
        self.output: dict[str, Any] = dict(wire.outputConfig or {})

    def decode(self) -> Request:
        wire = self.wire
        text = b"[]" if wire.messages is UNSET else bytes(wire.messages)
        system, messages = decode_messages(text, self.changes)
        config = wire.toolConfig or ReceivedToolConfigWire()
        schema, name = self._schema()
        # These knobs are fields of a request; what is no such number stays where it is.
        numbers: dict[str, Any] = {}
        for member, field in KNOBS.items():
            value = self.config.get(member)
            if type(value) is int or (type(value) is float and field != "max_tokens"):
                numbers[field] = self.config.pop(member)
        _check_guardrail(self.extra.get("guardrailConfig"))
        # What has a field of a request is taken out of the fields of the model.
        model_fields: object = wire.additionalModelRequestFields
        if model_fields is not None and not is_object(model_fields):
            self.extra[FIELDS] = model_fields
        fields = dict(model_fields) if is_object(model_fields) else {}
        thinking = decode_thinking(fields)
        top_k = fields.get("top_k")
        top_k = fields.pop("top_k") if type(top_k) is int and top_k > 0 else None
        choice, parallel = self._choice(config, fields)
        if fields:
            self.extra[FIELDS] = fields
        effort = decode_effort(self.output.get("effort"))
        if effort is not None:
            del self.output["effort"]
        return Request(
            messages=paired_history(messages, self.options, self.changes),
            system=(*decode_system(wire.system), *system),
            tools=self._tools(config),
            tool_choice=choice,
            parallel_tool_calls=parallel,
            output_schema=schema,
            schema_name=name,
            stop=self._stop(),
            top_k=top_k,
            effort=effort,
            thinking=thinking.enabled,
            thinking_budget=thinking.budget,
            service_tier=self._tier(),
            metadata=wire.requestMetadata or None,
            extra=self._extra(),
            **numbers,
        )

    def _tools(self, config: ReceivedToolConfigWire) -> tuple[Tool | OpaqueTool, ...]:
        if config.extra:
            self.extra.setdefault("toolConfig", {}).update(config.extra)
        return () if config.tools is UNSET else _TOOLS.read(bytes(config.tools), self.changes, _offered)

    def _stop(self) -> tuple[str, ...]:
        sequences = self.config.get("stopSequences")
        if not isinstance(sequences, list) or not all(isinstance(text, str) for text in sequences):  # pyright: ignore[reportUnknownVariableType]  # any JSON
            return ()
        return tuple(self.config.pop("stopSequences"))

    def _choice(self, config: ReceivedToolConfigWire, fields: dict[str, Any]) -> tuple[ToolChoice | None, bool | None]:
        """The tool choice; Claude's own stands for it where that forbids parallel calls."""
        own = fields.get("tool_choice")
        if config.toolChoice is not None or not is_object(own) or own.get("disable_parallel_tool_use") is not True:
            if config.toolChoice is None:
                return None, None
            if rest := choice_rest(config.toolChoice):
                self.extra.setdefault("toolConfig", {})["toolChoice"] = rest
            return decode_choice(config.toolChoice), None
        members = {name: value for name, value in own.items() if name not in ("type", "disable_parallel_tool_use")}
        del fields["tool_choice"]
        return decode_choice({str(own.get("type")): members}), False

    def _schema(self) -> tuple[dict[str, Any] | None, str | None]:
        """The output schema, which stands there as text, and its name; a format of another kind passes through."""
        form = self.output.pop("textFormat", None)
        if form is None:
            return None, None
        structure = form.get("structure") if is_object(form) else None
        inner = structure.get("jsonSchema") if is_object(structure) else None
        text = inner.get("schema") if is_object(inner) else None
        schema, path = None, "/outputConfig/textFormat/structure/jsonSchema/schema"
        if isinstance(text, str):
            try:
                schema = decode_any(text)
            except (DecodeError, LimitExceededError) as error:
                raise DecodeError(f"{path}: the schema is no JSON: {error.message}", path=path) from None
        if not is_object(schema) or not is_object(inner):
            self.output["textFormat"] = form
            return None, None
        name = inner.get("name")
        rest = {key: value for key, value in inner.items() if key not in ("schema", "name")}
        around = {key: value for key, value in structure.items() if key != "jsonSchema"} if is_object(structure) else {}
        around |= {"jsonSchema": rest} if rest else {}
        members = {key: value for key, value in form.items() if key != "structure"} | (
            {"structure": around} if around else {}
        )
        if members.get("type") == "json_schema":
            del members["type"]
        if members:
            self.output["textFormat"] = members
        return schema, name if isinstance(name, str) and name else None

    def _tier(self) -> str | None:
        tier_object = self.wire.serviceTier or {}
        tier = tier_object.get("type")
        if not isinstance(tier, str) or len(tier_object) > 1:
            if tier_object:
                self.extra["serviceTier"] = tier_object
            return None
        return tier

    def _extra(self) -> dict[str, dict[str, Any]]:
        for name, rest in (("inferenceConfig", self.config), ("outputConfig", self.output)):
            if rest:
                self.extra[name] = rest
        return {NAME: self.extra} if self.extra else {}


_GUARDRAIL = {
    "guardrailIdentifier": re.compile(
        r"[a-z0-9]*|arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+"
    ),
    "guardrailVersion": re.compile(r"|[1-9][0-9]{0,7}|DRAFT"),
}
"""How a guardrail and its version are named [service model, GuardrailConfiguration]."""


def _check_guardrail(config: object) -> None:
    """Nothing for a guardrail that can be one.

    Raises: DecodeError with the place, for what is no object, and for a name or a version that is none.
    """
    if config is None:
        return
    if not is_object(config):
        raise DecodeError("/guardrailConfig: a configuration is an object", path="/guardrailConfig")
    for name, pattern in _GUARDRAIL.items():
        value, path = config.get(name), f"/guardrailConfig/{name}"
        if value is not None and not (isinstance(value, str) and len(value) <= 2_048 and pattern.fullmatch(value)):
            raise DecodeError(f"{path}: no guardrail is named so", path=path)


# The answer


_CLIENT, _QUIRKS = Target(), Quirks()


def reply_encoder(changes: Changes, *, own: bool = False) -> AssistantEncoder:
    """An encoder for the blocks of an answer; an `own` one came in this dialect."""
    return AssistantEncoder(BlockEncoder(Marks(_QUIRKS, changes), changes, reply=True), _CLIENT, changes, own=own)


def encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    """A whole answer in the client's own form."""
    own = context.says_own(NAME)
    if not own and (failure := failure_of(response)):
        return encode_error(failure, context)
    changes = Changes(NAME, "encode_response")
    blocks = cast("list[BlockWire] | None", plain_turn(response.parts, {}, {}))  # plain ones have its members
    if blocks is None:
        blocks = reply_encoder(changes, own=context.source == NAME).encode(response.parts, "")
    members = reply_members(response, changes)
    message = MessageWire(role="assistant", content=blocks)
    output = OutputWire(message=message)
    if members:
        merge_members(message, members.pop("message", {}))
        merge_members(output, members.pop("output", {}))
    wire = AnswerWire(output=output, stopReason=stop_word(response, changes, own=own))
    if response.usage is not None or not own:
        wire.usage = encode_usage(response.usage, changes, own=own)
    merge_members(wire, members)
    if not own and wire.metrics is None:
        wire.metrics = NO_METRICS
    return whole_reply(encode_wire(wire), changes, context)


def reply_members(response: Response[Any], changes: Changes) -> dict[str, Any]:
    """The members of an answer that only pass through; an entry for those of other dialects, and for what is lost."""
    if response.alternatives:
        changes.add("alternatives_unsupported", "/alternatives")
    response = adopt_answer(response, changes)
    return dict(response.extra.get(NAME, {}))


def encode_error(error: Error, context: ServerContext) -> HttpReply:
    """An error in the dialect's own body, with its status and the name of its exception."""
    del context
    status, exception, body = encode_error_body(error)
    headers = (*JSON_HEADERS, (TYPE_HEADER, exception))
    return error_reply(status, body, error, headers=headers, id_header="x-amzn-requestid")
