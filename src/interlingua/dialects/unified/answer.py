"""Answers, both ways: what stands in a whole answer, in the end of a stream, and beside an error.

Rules
- `parts` say everything; `text` and `tool_calls` are written beside them for whoever wants no more, and not read.
- Nothing is left out but what the contract keeps to its own process: `raw`, `request`, `output`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.dialects.unified.parts import (
    NAME,
    calls_view,
    decode_part,
    encode_parts,
    extra_of,
    own_members,
    split_extra,
    with_members,
)
from interlingua.dialects.unified.wire import AlternativeWire, ResponseWire
from interlingua.types.message import text_of
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects.unified.wire import PartWire, UsageWire
    from interlingua.types.content import Part

__all__ = ["decode_answer", "decode_usage", "encode_answer"]


# Reading


def decode_answer(
    wire: ResponseWire, read: Callable[[PartWire, str], Part] = lambda part, _: decode_part(part)
) -> Response[Any]:
    """The response; `read` makes a part of a wire part at a path."""
    return Response(
        parts=tuple([read(part, f"/parts/{place}") for place, part in enumerate(wire.parts)]),
        finish_reason=wire.finish_reason,
        finish_reason_raw=wire.finish_reason_raw,
        usage=None if wire.usage is None else decode_usage(wire.usage),
        model=wire.model,
        wire_model=wire.wire_model,
        id=wire.id,
        alternatives=tuple([_alternative(one, place, read) for place, one in enumerate(wire.alternatives)]),
        changes=tuple(wire.changes),
        attempts=tuple(wire.attempts),
        cost_usd=wire.cost_usd,
        extra=extra_of(wire.members, wire.extra),
    )


def _alternative(wire: AlternativeWire, number: int, read: Callable[[PartWire, str], Part]) -> Alternative:
    return Alternative(
        parts=tuple([read(part, f"/alternatives/{number}/parts/{place}") for place, part in enumerate(wire.parts)]),
        finish_reason=wire.finish_reason,
        finish_reason_raw=wire.finish_reason_raw,
        extra=extra_of(wire.members, wire.extra),
    )


def decode_usage(wire: UsageWire) -> Usage:
    """Token counts."""
    return Usage(
        input_tokens=wire.input_tokens,
        output_tokens=wire.output_tokens,
        cache_read_tokens=wire.cache_read_tokens,
        cache_write_tokens=wire.cache_write_tokens,
        reasoning_tokens=wire.reasoning_tokens,
        extra=extra_of(wire.members, wire.extra),
    )


# Writing


def encode_answer(response: Response[Any], *, model: str, id: str | None = None) -> ResponseWire:
    """The answer under the name `model`; `id` is for one that has none of its own."""
    usage: Any = response.usage  # it is written as it is: the contract and the wire have the same members
    if usage is not None and own_members(usage.extra):
        usage = with_members(msgspec.structs.replace(usage, extra=split_extra(usage.extra)), usage.extra[NAME])
    wire = ResponseWire(
        id=response.id or id,
        model=model,
        wire_model=response.wire_model,
        text=text_of(response.parts),
        tool_calls=calls_view(response.parts),
        parts=encode_parts(response.parts, {}, {}),
        finish_reason=response.finish_reason,
        finish_reason_raw=response.finish_reason_raw,
        usage=usage,
        alternatives=[_encoded_alternative(one) for one in response.alternatives],
        changes=list(response.changes),
        attempts=list(response.attempts),
        cost_usd=response.cost_usd,
        members=split_extra(response.extra),
    )
    own = own_members(response.extra)
    return cast("ResponseWire", with_members(wire, own)) if own else wire


def _encoded_alternative(one: Alternative) -> AlternativeWire:
    wire = AlternativeWire(
        text=text_of(one.parts),
        tool_calls=calls_view(one.parts),
        parts=encode_parts(one.parts, {}, {}),
        finish_reason=one.finish_reason,
        finish_reason_raw=one.finish_reason_raw,
        members=split_extra(one.extra),
    )
    own = own_members(one.extra)
    return cast("AlternativeWire", with_members(wire, own)) if own else wire
