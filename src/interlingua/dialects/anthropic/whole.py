"""Members that the vendor's own description requires of an answer, null where nothing is to be said.

Source: the OpenAPI description of Messages. Clients of the vendor's own kits do without them; strict ones do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.dialects._members import completed
from interlingua.dialects.anthropic.parts import is_bare_text
from interlingua.wire.json import ExactStruct, decode_any, encode_wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects.anthropic.wire import BlockWire, ResponseWire

__all__ = ["DELTA", "DELTA_USAGE", "MESSAGE", "USAGE", "complete_text", "required_of"]

_NULL = b"null"
MESSAGE: dict[str, None] = {"stop_details": None, "container": None}
"""Of an answer."""
DELTA: dict[str, None] = {"stop_details": None, "container": None}
"""Of what the end of a stream adds to it."""
DELTA_USAGE: dict[str, int | None] = {
    "input_tokens": None,
    "cache_creation_input_tokens": None,
    "cache_read_input_tokens": None,
    "output_tokens_details": None,
    "server_tool_use": None,
}
"""Of the counts at the end of a stream."""
USAGE: dict[str, int | None] = {
    "cache_creation": None,
    "cache_creation_input_tokens": None,
    "cache_read_input_tokens": None,
    "inference_geo": None,
    "output_tokens_details": None,
    "server_tool_use": None,
    "service_tier": None,
}
"""Of the counts of an answer."""
_IN_BLOCKS: dict[str, Mapping[str, bytes]] = {
    "text": {"citations": _NULL},
    "tool_use": {"caller": b'{"type":"direct"}'},
}
_IN_MESSAGE = dict.fromkeys(MESSAGE, _NULL)


def required_of(block: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a block of its type must have."""
    return {name: decode_any(text) for name, text in _IN_BLOCKS.get(block.get("type", ""), {}).items()}


class _Text(ExactStruct):
    citations: None
    type: str
    text: str


class _Call(ExactStruct):
    caller: dict[str, str]
    type: str
    id: str | None
    name: str | None
    input: msgspec.Raw | msgspec.UnsetType


_DIRECT = {"type": "direct"}


def complete_text(wire: ResponseWire, nulls: int) -> bytes:
    """An answer as JSON, with everything that is required of it; `nulls` as in `encode_wire`."""
    blocks = [_complete_block(block) for block in wire.content or ()]
    usage = {**USAGE, **(wire.usage or {})}
    nulls += list(usage.values()).count(None) + sum([type(block) is _Text for block in blocks])
    wire.content, wire.usage = cast("list[BlockWire]", blocks), usage
    return completed(wire, encode_wire(wire, nulls=nulls), _IN_MESSAGE)


def _complete_block(block: BlockWire) -> _Text | _Call | msgspec.Raw:
    """A block with everything that is required of one of its type."""
    if is_bare_text(block):
        return _Text(None, "text", block.text or "")
    if block.type == "tool_use" and block.caller is block.cache_control is block.extra is None:
        return _Call(_DIRECT, "tool_use", block.id, block.name, block.input)
    return msgspec.Raw(completed(block, encode_wire(block), _IN_BLOCKS.get(block.type or "", {})))
