"""The usual answer, written at once, where it repeats nothing of its request: thinking, texts and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from interlingua.dialects._serve import JSON_HEADERS
from interlingua.dialects._usual.turns import SEALED, note_seals, plain_turn
from interlingua.dialects.openai_responses.assistant import COMPLETED
from interlingua.dialects.openai_responses.items import tail_of
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.reasons import WIRE_REASONS, encode_finish
from interlingua.dialects.openai_responses.usage import note_unknown
from interlingua.types.change import Changes
from interlingua.wire.http import HttpReply
from interlingua.wire.json import ExactStruct, encode_exact

if TYPE_CHECKING:
    from interlingua.dialects._contract import ServerContext
    from interlingua.dialects._usual.turns import Turn
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["write_usual"]

WORDS = {
    "stop": encode_finish(COMPLETED),
    "tool_calls": encode_finish(COMPLETED),
    "length": encode_finish(WIRE_REASONS["length"]),
}
"""Status and `incomplete_details` of the finish reasons that the wire says just so."""


class _Summary(ExactStruct):
    type: str
    text: str


class _Reasoning(ExactStruct):
    type: str
    id: str
    summary: tuple[_Summary]


class _Text(ExactStruct):
    type: str
    text: str
    annotations: tuple[()] = ()


class _Message(ExactStruct):
    type: str
    id: str
    role: str
    status: str
    content: list[_Text]


class _Call(ExactStruct):
    type: str
    id: str
    status: str
    call_id: str
    name: str
    arguments: str


class _InputDetails(ExactStruct):
    cached_tokens: int
    cache_write_tokens: int


class _OutputDetails(ExactStruct):
    reasoning_tokens: int


class _Usage(ExactStruct):
    input_tokens: int
    input_tokens_details: _InputDetails
    output_tokens: int
    output_tokens_details: _OutputDetails
    total_tokens: int


class _Answer(ExactStruct):
    id: str | UnsetType
    object: str
    created_at: int | UnsetType
    status: str
    error: None
    incomplete_details: dict[str, Any] | None
    instructions: None
    model: str
    output: list[_Reasoning | _Message | _Call]
    parallel_tool_calls: bool
    store: bool
    temperature: None
    tool_choice: str
    tools: tuple[()]
    top_p: None
    usage: _Usage | None
    metadata: dict[str, Any]


def write_usual(response: Response[Any], context: ServerContext) -> HttpReply | None:
    """The reply that a usual answer is; None for any other."""
    usage, ended = response.usage, WORDS.get(response.finish_reason)
    if ended is None or context.request is not None or context.source == NAME or response.alternatives:
        return None
    if response.extra.get(NAME) or (usage and usage.extra.get(NAME)):
        return None
    parts = response.parts
    turn = plain_turn(parts, NAME)
    if turn is None or len(parts) != bool(turn[0]) + len(turn[1]) + len(turn[2]) or len(parts) >= len(_NUMBERS):
        return None  # thinking without words is an item all the same
    answer_id = response.id or (context.make_id() if context.make_id else None)
    body = encode_exact(
        _Answer(
            answer_id or UNSET,
            "response",
            context.created or UNSET,
            ended[0],
            None,
            ended[1],
            None,
            context.model or response.wire_model or response.model,
            _items(turn, tail_of(answer_id) if answer_id else ""),
            True,
            False,
            None,
            "auto",
            (),
            None,
            None if usage is None else _usage(usage),
            {},
        )
    )
    if body is None:
        return None
    if context.changes is not None:
        changes = Changes(NAME, "encode_response")
        if turn[SEALED]:
            note_seals(changes, parts)
        if usage is not None:
            note_unknown(usage, changes)
        context.changes.extend(changes.entries)
    return HttpReply(status=200, headers=JSON_HEADERS, body=body)


def _usage(usage: Usage) -> _Usage:
    """The counts; unknown ones are 0, since clients insist on numbers."""
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    details = _InputDetails(usage.cache_read_tokens or 0, usage.cache_write_tokens or 0)
    return _Usage(read, details, written, _OutputDetails(usage.reasoning_tokens or 0), read + written)


def _items(turn: Turn, tail: str) -> list[_Reasoning | _Message | _Call]:
    """The items of a turn; `tail` is what their ids have from the answer's own."""
    thinking, texts, calls, _ = turn
    items: list[_Reasoning | _Message | _Call] = []
    if thinking:
        items.append(_Reasoning("reasoning", f"rs_{tail}01", (_Summary("summary_text", thinking),)))
    if texts:
        content = [_Text("output_text", text) for text in texts]
        items.append(_Message("message", f"msg_{tail}{_NUMBERS[len(items)]}", "assistant", COMPLETED, content))
    for call in calls:
        item_id = f"fc_{tail}{_NUMBERS[len(items)]}"
        items.append(_Call("function_call", item_id, COMPLETED, call.id, call.name, call.arguments_json))
    return items


_NUMBERS = tuple([f"{number:02}" for number in range(1, 100)])
"""How the items are counted."""
