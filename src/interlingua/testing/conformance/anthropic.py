"""Conformance of Messages."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, arguments_of, frames_of
from interlingua.testing.wirefacts.values import members, objects, word
from interlingua.wire.http import Headers

__all__ = ["ANTHROPIC_TONGUE"]

_FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}
_FITS = {
    "text_delta": ("text", "text"),
    "input_json_delta": ("tool_use", "partial_json"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
}
"""Delta -> the block it fills, and the member that holds its text."""


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "max_tokens": question.limit, "messages": _messages(question)}
    if question.tool:
        body["tools"] = [{"name": TOOL, "description": TOOL_TEXT, "input_schema": TOOL_SCHEMA}]
    if question.forced:
        body["tool_choice"] = {"type": "any"}
    if question.schema:
        body["output_config"] = {"format": {"type": "json_schema", "schema": SCHEMA}}
    if question.stream:
        body["stream"] = True
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"type": "text", "text": question.text}]
    if question.image:
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        content.insert(0, {"type": "image", "source": source})
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}, *question.turn]
    results = [
        {
            "type": "tool_result",
            "tool_use_id": result.call.id,
            "content": result.text,
            **({"is_error": True} if result.is_error else {}),
        }
        for result in question.results
    ]
    return [*messages, {"role": "user", "content": results}] if results else messages


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    blocks = objects(body.get("content"))
    return Seen(
        text="".join(word(block.get("text")) for block in blocks if block.get("type") == "text"),
        calls=[
            CallSeen(id=word(block.get("id")), name=word(block.get("name")), arguments=block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ],
        finish=_FINISHES.get(word(body.get("stop_reason")), "other" if body.get("stop_reason") else ""),
        has_usage=isinstance(body.get("usage"), dict),
        turn=[{"role": "assistant", "content": blocks}],
        faults=faults,
    )


class _Stream:
    """Puts the events of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.blocks: list[dict[str, Any]] = []
        self.is_open = self.is_done = False
        self.ending: dict[str, Any] = {}
        self.pieces = ""

    def frame(self, place: int, name: str | None, frame: dict[str, Any]) -> None:
        """One event."""
        kind = word(frame.get("type"))
        if name != kind:
            self.faults.append(f"frame {place}: the event is named {name} and says {kind}")
        if (kind == "message_start") != (place == 0) and kind != "ping":
            self.faults.append(f"frame {place}: {kind} where message_start should be first, and once")
        if self.is_done:
            self.faults.append(f"frame {place}: {kind} follows message_stop")
        if self.ending and kind.startswith("content_block"):
            self.faults.append(f"frame {place}: {kind} follows message_delta")
        self.is_done = self.is_done or kind == "message_stop"
        if kind == "message_delta":
            self.ending = frame
        if kind.startswith("content_block"):
            self.block(place, kind, frame)

    def block(self, place: int, kind: str, frame: dict[str, Any]) -> None:
        """An event of a block's life."""
        index = frame.get("index")
        expected = len(self.blocks) if kind == "content_block_start" else len(self.blocks) - 1
        if index != expected:
            self.faults.append(f"frame {place}: {kind} of block {index} where {expected} would be next")
        if (kind == "content_block_start") == self.is_open:
            self.faults.append(f"frame {place}: {kind} while {'another' if self.is_open else 'no'} block is open")
        if kind == "content_block_start":
            self.blocks.append(dict(members(frame.get("content_block"))))
            self.is_open, self.pieces = True, ""
        elif kind == "content_block_delta" and self.blocks:
            self.delta(place, members(frame.get("delta")))
        elif self.blocks:
            self.close()

    def delta(self, place: int, delta: dict[str, Any]) -> None:
        """A piece of the open block."""
        block = self.blocks[-1]
        kind, member = _FITS.get(word(delta.get("type")), ("", ""))
        if kind != block.get("type"):
            self.faults.append(f"frame {place}: {delta.get('type')} in a block of {block.get('type')}")
        elif member == "partial_json":
            self.pieces += word(delta.get(member))
        else:
            block[member] = word(block.get(member)) + word(delta.get(member))

    def close(self) -> None:
        """The end of the open block."""
        self.is_open = False
        block = self.blocks[-1]
        if block.get("type") == "tool_use":
            if block.get("input") != {}:
                self.faults.append(f"block {len(self.blocks) - 1}: begins with an input that is not empty")
            block["input"] = arguments_of(self.pieces, f"block {len(self.blocks) - 1}", self.faults)

    def answer(self) -> Seen:
        """The whole answer."""
        if not self.is_done:
            self.faults.append("stream: no message_stop at its end")
        if self.is_open:
            self.faults.append("stream: a block never ended")
        if not self.ending:
            self.faults.append("stream: no message_delta")
        reason = members(self.ending.get("delta")).get("stop_reason")
        return _whole({"content": self.blocks, "stop_reason": reason, "usage": self.ending.get("usage")}, self.faults)


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream = _Stream(faults)
    for place, (name, frame) in enumerate(frames_of("anthropic", body, faults)):
        stream.frame(place, name, frame)
    return stream.answer()


def _headers(key: str) -> Headers:
    return (("x-api-key", key), ("anthropic-version", "2023-06-01"))


ANTHROPIC_TONGUE = Tongue(path="/messages", headers=_headers, body=_body, whole=_whole, streamed=_streamed)
"""How Messages is spoken."""
