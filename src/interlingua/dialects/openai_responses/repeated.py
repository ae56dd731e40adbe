"""The members of its request that an answer repeats, and their values where the request said nothing.

Rules
- Where the request is known, the answer has every member that the vendor's own description requires, null or not.
- Tools go back in the caller's own words: names as they were asked, no schema rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._contract import Quirks
from interlingua.dialects._members import completed, is_object
from interlingua.dialects._tool_cache import CachedTools, Written
from interlingua.dialects.openai_responses.client import REPEATED
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.tools import encode_choice, encode_tool
from interlingua.types.change import Changes
from interlingua.types.tool import Tool
from interlingua.wire.json import TextSlots, encode, encode_wire

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects.openai_responses.wire import ResponseWire
    from interlingua.types.request import Request

__all__ = ["answer_text", "repeat"]

_NULL = b"null"
REQUIRED: dict[str, bytes] = dict.fromkeys(
    (
        "completed_at",
        "previous_response_id",
        "reasoning",
        "max_output_tokens",
        "max_tool_calls",
        "safety_identifier",
        "prompt_cache_key",
    ),
    _NULL,
)
"""Members that are there in every answer, null where nothing is to be said."""
_QUIRKS = Quirks()
_REPEATED = (NAME, "repeated")
"""The way of writing tools which is that of an answer."""


def repeat(wire: ResponseWire, request: Request | None) -> None:
    """Put into an answer what it repeats of its request."""
    members = REPEATED if request is None else _members(request)
    for name, value in members.items():
        setattr(wire, name, value)


def answer_text(wire: ResponseWire, context: ServerContext) -> bytes:
    """An answer as JSON, with the nulls that clients insist on."""
    values = [wire.error, wire.incomplete_details, wire.instructions, wire.temperature, wire.top_p, wire.usage]
    if is_object(wire.reasoning):
        values += wire.reasoning.values()
    texts = None
    if type(wire.tools) is Raw:  # nothing has to be looked for in what was written before
        texts = TextSlots()
        wire.tools = texts.place(bytes(wire.tools))
    text = encode_wire(wire, nulls=values.count(None), slots=texts)
    return text if context.request is None else completed(wire, text, REQUIRED)


def _members(request: Request) -> dict[str, Any]:
    own = request.extra.get(NAME, {})
    form: dict[str, Any] = {"type": "json_object" if request.json_mode else "text"}
    if request.output_schema is not None:
        form = {"type": "json_schema", "name": request.schema_name or "response", "schema": request.output_schema}
        form |= {"description": request.schema_description, "strict": bool(request.schema_strict)}
    choice: Any = "auto"
    if request.tool_choice is not None and "tool_choice" not in own:
        freeform = frozenset([tool.name for tool in request.tools if isinstance(tool, Tool) and tool.freeform])
        choice = encode_choice(request.tool_choice, {}, freeform)
    return {
        "instructions": "\n\n".join([part.text for part in request.system]) or None,
        "parallel_tool_calls": request.parallel_tool_calls is not False,
        "tool_choice": own.get("tool_choice", choice),
        "tools": _tools(request),
        "metadata": request.metadata or {},
        "temperature": 1.0 if request.temperature is None else request.temperature,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "presence_penalty": request.presence_penalty or 0.0,
        "frequency_penalty": request.frequency_penalty or 0.0,
        "top_logprobs": request.logprobs or 0,
        "truncation": own.get("truncation", "disabled"),
        "text": {"format": form, "verbosity": request.verbosity or "medium"},
        "reasoning": {"effort": request.effort, "summary": request.thinking_summary},
        "max_output_tokens": request.max_tokens,
        "max_tool_calls": own.get("max_tool_calls"),
        "background": bool(own.get("background")),
        "service_tier": request.service_tier or "default",
        "prompt_cache_key": request.cache_key,
        "safety_identifier": own.get("safety_identifier"),
        "previous_response_id": own.get("previous_response_id"),
    }


def _tools(request: Request) -> list[Any] | Raw:
    """The tools; as text where they are known, which is written once."""
    tools = request.tools
    if type(tools) is not CachedTools:
        return _told_tools(request)
    written = tools.written.get(_REPEATED)
    if written is None:
        written = tools.written[_REPEATED] = Written(encode(_told_tools(request)), ())
    return Raw(written.text)


def _told_tools(request: Request) -> list[Any]:
    changes = Changes(NAME, "encode_response")  # the request was decoded from these very tools
    wires = [encode_tool(tool, {}, _QUIRKS, changes, "") for tool in request.tools if isinstance(tool, Tool)]
    whole: list[Any] = []
    for wire in wires:
        tool: dict[str, Any] = {"type": wire.type, "name": wire.name, "description": wire.description}
        if wire.type == "custom":
            tool["format"] = wire.format
        else:
            tool |= {"parameters": wire.parameters, "strict": bool(wire.strict)}
        whole.append(tool)
    return whole
