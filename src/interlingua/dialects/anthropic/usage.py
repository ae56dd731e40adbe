"""Token counts, both ways.

The wire counts what was read from the prompt cache and written to it apart from the other input; the canonical input is
the sum of the three, and is taken apart again on the way back. Everything else stays in `extra` as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import ValidationError, convert

from interlingua.dialects._members import is_object
from interlingua.dialects.anthropic.parts import NAME
from interlingua.types.usage import MAX_COUNT, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage"]

INPUT, READ, WRITTEN = "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
OUTPUT, DETAILS, THINKING = "output_tokens", "output_tokens_details", "thinking_tokens"
_COUNTED = (INPUT, READ, WRITTEN, OUTPUT)
COUNTS = frozenset(_COUNTED)
_ALL = COUNTS | {DETAILS}


def decode_usage(wire: Mapping[str, Any], changes: Changes | None = None) -> Usage:
    """The counts of an answer, or of a stream so far; `changes` is told of those that are odd."""
    fresh, read, written, output = [
        value if value is None or (type(value) is int and 0 <= value <= MAX_COUNT) else _whole(value, changes)
        for value in map(wire.get, _COUNTED)
    ]
    details, reasoning, read_here = wire.get(DETAILS), None, COUNTS
    thought = details.get(THINKING) if is_object(details) else None
    if type(thought) is int and is_object(details):
        reasoning = thought if 0 <= thought <= MAX_COUNT else _whole(thought, changes)
        details = {name: value for name, value in details.items() if name != THINKING} if len(details) > 1 else {}
        read_here = COUNTS if details else _ALL
    extra: dict[str, Any] = {}
    if not read_here.issuperset(wire):
        members = {**wire, DETAILS: details} if DETAILS in wire else wire
        extra = {name: value for name, value in members.items() if name not in read_here and value is not None}
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
        extra={NAME: extra} if extra else {},
    )


def _whole(value: object, changes: Changes | None) -> int | None:
    """The whole number that a count is which was written as another one, or as text; None for one that says nothing."""
    try:
        count = convert(value, int, strict=False) if type(value) in (int, float, str) else None
    except ValidationError:
        return None
    if count is None:
        return None
    if type(value) is not int and changes is not None:
        changes.repaired(("whole_number",))
    if 0 <= count <= MAX_COUNT:
        return count
    if changes is not None:
        changes.repaired(("count_clamped",))
    return None if count < 0 else MAX_COUNT


def encode_usage(usage: Usage | None, changes: Changes, *, own: bool) -> dict[str, Any]:
    """The counts on the wire; clients insist on numbers, so an unknown one is 0, save in the dialect's `own` answers.

    On the wire no token counts twice: where cache reads and writes are more than the input, writes give way.
    """
    usage = usage or Usage()
    if not own and (usage.input_tokens is None or usage.output_tokens is None):
        changes.add("parameter_added", "/usage", "sent as 0, because the provider did not count them")
    total, read, written = usage.input_tokens or 0, usage.cache_read_tokens, usage.cache_write_tokens
    if read is not None and usage.input_tokens is not None and read > total:
        why = f"the {read} tokens read from the cache are more than the input has"
        changes.add("parameter_adjusted", "/usage/input_tokens", why)
    room = max(0, total - (read or 0))
    if written is not None and written > room and usage.input_tokens is not None:
        why = f"{written} are more than the input has beside those read from the cache"
        changes.add("parameter_adjusted", "/usage/cache_write_tokens", why)
        written = room
    wire: dict[str, Any] = {}
    if not own or usage.input_tokens is not None:
        wire[INPUT] = max(0, total - (read or 0) - (written or 0))
    if written is not None:
        wire[WRITTEN] = written
    if read is not None:
        wire[READ] = read
    if not own or usage.output_tokens is not None:
        wire[OUTPUT] = usage.output_tokens or 0
    wire |= usage.extra.get(NAME, {})
    if usage.reasoning_tokens is not None:
        wire[DETAILS] = {**wire.get(DETAILS, {}), THINKING: usage.reasoning_tokens}
    return wire
