"""The shape of a stream that was written: blocks open and close, and pieces add up to what the end says.

A client may show the pieces or wait for the end; where a format says a thing twice, both have to say the same.

Source: wire/anthropic.md §3, wire/openai-responses.md §3, docs/dialects/unified.md.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from interlingua.testing.wirefacts.values import arguments_value, event_data, items, joined, members, objects, word

__all__ = ["answer_faults", "stream_faults"]


def answer_faults(dialect: str, body: Any) -> list[str]:
    """The faults of the end of an answer that was translated: clients run calls when its reason says so."""
    faults: list[str] = []
    if dialect == "openai-chat":
        for choice in objects(members(body).get("choices")):
            called = bool(members(choice.get("message")).get("tool_calls"))
            faults += ["calls under the finish reason stop"] if called and choice.get("finish_reason") == "stop" else []
    elif dialect == "anthropic":
        called = any(block.get("type") == "tool_use" for block in objects(members(body).get("content")))
        faults += ["calls under the stop reason end_turn"] if called and body.get("stop_reason") == "end_turn" else []
    return faults


def stream_faults(dialect: str, text: str, *, named: bool = True) -> list[str]:
    """The faults of the shape of a stream; nothing for a format that says everything once.

    `named` says that the id and the model of the answer were known when it began.
    """
    reader = READERS.get(dialect)
    if reader is None:
        return []
    faults = reader([members(json.loads(data)) for data in event_data(text) if data != "[DONE]"])
    return [fault for fault in faults if named or not fault.startswith(ANSWER)]


ANSWER = "the answer"


def _anthropic(events: list[dict[str, Any]]) -> Iterator[str]:
    opened: set[Any] = set()
    ended = any(event.get("type") == "message_stop" for event in events)
    for event in events:
        index = event.get("index")
        match event.get("type"):
            case "content_block_start":
                opened.add(index)
            case "content_block_delta" if index not in opened:
                yield f"block {index} grows and is not open"
            case "content_block_stop" if index not in opened:
                yield f"block {index} closes and is not open"
            case "content_block_stop":
                opened.discard(index)
            case _:
                pass
    if ended and opened:
        yield f"block {min(opened)} never closes"


PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
}


def _responses(events: list[dict[str, Any]]) -> Iterator[str]:
    pieces: dict[Any, str] = defaultdict(str)
    notes: dict[Any, int] = defaultdict(int)
    opened: dict[Any, dict[str, Any]] = {}
    first: dict[str, Any] = {}
    for event in events:
        kind, index = word(event.get("type")), event.get("output_index")
        if kind == "response.created":
            first = members(event.get("response"))
        elif kind == "response.output_item.added":
            opened[index] = members(event.get("item"))
        elif kind in PIECES:
            pieces[index] += word(event.get("delta"))
        elif kind == "response.output_text.annotation.added":
            notes[index] += 1
        elif kind == "response.output_item.done":
            done = members(event.get("item"))
            yield from _item(done, opened.pop(index, None), pieces[index], index)
            cited = sum(len(items(part.get("annotations"))) for part in objects(done.get("content")))
            if cited != notes[index]:
                yield f"item {index} has {cited} citations, {notes[index]} were told"
        elif kind == "response.completed":
            yield from _same(first, members(event.get("response")), ("id", "model"), ANSWER)
            yield from [f"item {index} never ends" for index in opened]


def _item(done: dict[str, Any], added: dict[str, Any] | None, pieces: str, index: Any) -> Iterator[str]:
    if added is None:
        yield f"item {index} ends and was not added"
        return
    yield from _same(added, done, ("type", "id", "call_id", "name"), f"item {index}")
    content = [*objects(done.get("summary")), *objects(done.get("content"))]
    text = "".join([word(part.get("text")) + word(part.get("refusal")) for part in content])
    text += word(done.get("arguments")) + word(done.get("input"))
    if text != pieces and done.get("type") in ("message", "function_call", "custom_tool_call", "reasoning"):
        yield f"the pieces of item {index} are not what it says: {pieces[-60:]!r} != {text[-60:]!r}"


def _same(one: dict[str, Any], other: dict[str, Any], names: tuple[str, ...], what: str) -> Iterator[str]:
    for name in names:
        if one and (one.get(name) or None) != (other.get(name) or None):
            yield f"{what} begins and ends under another {name}: {one.get(name)!r} != {other.get(name)!r}"


def _unified(events: list[dict[str, Any]]) -> Iterator[str]:
    stream = _Unified()
    for event in events:
        yield from stream.feed(event)


class _Unified:
    """The blocks of a stream of our own format."""

    def __init__(self) -> None:
        self.blocks: dict[Any, dict[str, Any]] = {}
        self.pieces: dict[Any, str] = defaultdict(str)
        self.notes: dict[Any, int] = defaultdict(int)
        self.seals: set[Any] = set()
        self.start: dict[str, Any] = {}

    def feed(self, event: dict[str, Any]) -> Iterator[str]:
        """The faults of one more event."""
        key = (event.get("choice", 0), event.get("index", 0))
        match event.get("type"):
            case "stream_start":
                self.start = event
            case "block_start":
                self.blocks[key] = event
            case "text_delta" | "thinking_delta" | "refusal_delta" | "tool_call_delta":
                self.pieces[key] += word(event.get("text")) + word(event.get("arguments"))
            case "annotation":
                self.notes[key] += 1
            case "seal":
                self.seals.add(key)
            case "block_end":
                yield from self._ends(key, members(event.get("part")))
            case "stream_end":
                response = members(event.get("response"))
                yield from _same(self.start, response, ("id", "model", "wire_model"), ANSWER)
                yield from [f"block {key[1]} never ends" for key in self.blocks]
                yield from _parts(self.pieces, response)
            case _:
                pass

    def _ends(self, key: tuple[int, int], part: dict[str, Any]) -> Iterator[str]:
        yield from _block(self.blocks.pop(key, None), part, self.pieces[key], key[1])
        if self.notes[key] != (cited := len(items(part.get("annotations")))):
            yield f"block {key[1]} has {cited} citations, {self.notes[key]} were told"
        if part.get("type") in SEALED and part.get("sealed") and key not in self.seals:
            yield f"block {key[1]} has a signature that no event told"


SEALED = ("text", "thinking", "tool_call")
"""Blocks whose sealed state comes in an event of its own."""


def _block(start: dict[str, Any] | None, part: dict[str, Any], pieces: str, index: int) -> Iterator[str]:
    if start is None:
        yield f"block {index} ends and was not open"
        return
    if part.get("type") in ("tool_call", "broken_tool_call"):
        yield from _same(start, part, ("id", "name"), f"block {index}")
        if part.get("type") == "tool_call" and arguments_value(pieces) != members(part.get("arguments")):
            yield f"the pieces of block {index} are not its arguments: {pieces[-60:]!r}"
    elif part.get("type") in ("text", "thinking", "refusal") and word(part.get("text")) != pieces:
        yield f"the pieces of block {index} are not what it says: {pieces[-60:]!r} != {word(part.get('text'))[-60:]!r}"


def _parts(pieces: dict[Any, str], response: dict[str, Any]) -> Iterator[str]:
    """The texts of the answer are those of its pieces."""
    for index, part in enumerate(objects(response.get("parts"))):
        if part.get("type") == "text" and pieces.get((0, index), "") != joined([part]):
            yield f"part {index} is not what its pieces said"


READERS: dict[str, Callable[[list[dict[str, Any]]], Iterator[str]]] = {
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "unified": _unified,
}
"""The formats that open and close blocks, or say things twice."""
