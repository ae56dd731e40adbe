"""The response that a Messages stream adds up to: an assembler of its own.

Rules (wire/anthropic.md §3)
- Events go by the `type` in their data; blocks go by their index.
- Counts are cumulative: a later one replaces an earlier one, name by name.
- Pieces of `partial_json` are joined and read when the block stops; nothing at all is `{}`.
- A signature is set, not joined; a citation is added to its text.
- The stream is done with `message_stop`; without it, and without an error, it was cut.
"""

from __future__ import annotations

import json
from typing import Any

from interlingua.testing.wirefacts.anthropic import error_facts, request_facts, request_faults, response_facts
from interlingua.testing.wirefacts.values import (
    FactReader,
    StreamFacts,
    arguments_value,
    event_data,
    is_broken,
    items,
    members,
    word,
)

__all__ = ["READER", "assemble", "stream_facts"]


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the stream adds up to, how it ended, and by which error."""
    body, end, error = assemble(text)
    return StreamFacts(response_facts(body), end, error, body)


def assemble(text: str) -> tuple[Any, str, Any]:
    """The whole answer that the events make, how the stream ended (`done`, `cut`, `error`), and the error's facts."""
    answer = _Answer()
    for data in event_data(text):
        event = json.loads(data)
        if event.get("type", "error") == "error" and event.get("error"):
            return answer.body(), "error", error_facts(200, event)
        answer.feed(event)
        if event.get("type") == "message_stop":
            return answer.body(), "done", None
    return answer.body(), "cut", None


class _Answer:
    def __init__(self) -> None:
        self.message: dict[str, Any] = {}
        self.usage: dict[str, Any] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.pieces: dict[int, list[str]] = {}

    def feed(self, event: dict[str, Any]) -> None:
        index = event.get("index") or 0
        match event.get("type"):
            case "message_start":
                self.message = dict(members(event.get("message")))
                self._count(self.message.get("usage"))
            case "content_block_start":
                self.blocks[index] = dict(members(event.get("content_block")))
            case "content_block_delta":
                self._delta(index, members(event.get("delta")))
            case "message_delta":
                self.message |= {name: value for name, value in members(event.get("delta")).items() if value}
                self._count(event.get("usage"))
            case _:
                pass

    def _count(self, usage: Any) -> None:
        self.usage |= {name: count for name, count in members(usage).items() if count is not None}

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self.blocks.setdefault(index, {})
        match delta.get("type"):
            case "text_delta":
                block["text"] = word(block.get("text")) + word(delta.get("text"))
            case "thinking_delta":
                block["thinking"] = word(block.get("thinking")) + word(delta.get("thinking"))
            case "signature_delta":
                block["signature"] = delta.get("signature")
            case "citations_delta":
                block["citations"] = [*items(block.get("citations")), delta.get("citation")]
            case "compaction_delta":
                block["content"] = word(block.get("content")) + word(delta.get("content"))
            case "input_json_delta":
                self.pieces.setdefault(index, []).append(word(delta.get("partial_json")))
            case _:
                pass

    def body(self) -> Any:
        blocks = [self._block(index) for index in sorted(self.blocks)]
        return {**self.message, "content": blocks, "usage": self.usage}

    def _block(self, index: int) -> dict[str, Any]:
        text = "".join(self.pieces.get(index, ()))
        block = self.blocks[index]
        if not text.strip():
            return block
        value = arguments_value(text)
        return {**block, "input": text if is_broken(value) else value}


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "anthropic")
"""The readers of the dialect."""
