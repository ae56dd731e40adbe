"""Conformance of our own format."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, frames_of
from interlingua.testing.wirefacts.values import members, objects, word

__all__ = ["UNIFIED_TONGUE"]

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refusal": "refusal"}
_FITS = {"text_delta": "text", "thinking_delta": "thinking", "refusal_delta": "refusal", "tool_call_delta": "tool_call"}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": _messages(question), "max_tokens": question.limit}
    if question.tool:
        body["tools"] = [{"name": TOOL, "description": TOOL_TEXT, "parameters": TOOL_SCHEMA}]
    if question.forced:
        body["tool_choice"] = "required"
    if question.schema:
        body["output_schema"] = SCHEMA
    return {**body, "stream": True} if question.stream else body


def _messages(question: Question) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": question.text}]
    if question.image:
        parts.append({"type": "image", "data": PNG, "media_type": "image/png"})
    results = [
        {
            "type": "tool_result",
            "tool_call_id": result.call.id,
            "content": result.text,
            **({"is_error": True} if result.is_error else {}),
        }
        for result in question.results
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "parts": parts}, *question.turn]
    return [*messages, {"role": "tool", "parts": results}] if results else messages


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    parts = objects(body.get("parts"))
    calls = [part for part in parts if part.get("type") == "tool_call"]
    texts = "".join(word(part.get("text")) for part in parts if part.get("type") == "text")
    if word(body.get("text")) != texts:
        faults.append("`text` is not what the parts say")
    if [word(call.get("id")) for call in objects(body.get("tool_calls"))] != [word(call.get("id")) for call in calls]:
        faults.append("`tool_calls` are not those of the parts")
    finish = word(body.get("finish_reason"))
    return Seen(
        text=texts,
        calls=[
            CallSeen(id=word(call.get("id")), name=word(call.get("name")), arguments=call.get("arguments"))
            for call in calls
        ],
        finish=_FINISHES.get(finish, "other" if finish else ""),
        has_usage=isinstance(body.get("usage"), dict),
        turn=[{"role": "assistant", "parts": parts}],
        faults=faults,
    )


class _Stream:
    """Puts the events of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.kinds: dict[Any, str] = {}
        self.open: set[Any] = set()
        self.parts: list[Any] = []
        self.ending: dict[str, Any] | None = None

    def frame(self, place: int, name: str | None, frame: dict[str, Any]) -> None:
        """One event."""
        kind = word(frame.get("type"))
        if name != kind:
            self.faults.append(f"frame {place}: the event is named {name} and says {kind}")
        if (kind == "stream_start") != (place == 0):
            self.faults.append(f"frame {place}: {kind} where stream_start should be first, and once")
        if self.ending is not None:
            self.faults.append(f"frame {place}: {kind} follows the end")
        if kind == "stream_error":
            self.faults.append(f"frame {place}: an error in the stream: {frame.get('error')}")
        if kind == "stream_end":
            self.end(members(frame.get("response")))
        if "index" in frame:
            self.block(place, kind, frame)

    def block(self, place: int, kind: str, frame: dict[str, Any]) -> None:
        """An event of a block's life."""
        index = frame["index"]
        if kind == "block_start":
            if index != len(self.kinds):
                self.faults.append(f"frame {place}: block {index} where {len(self.kinds)} would be next")
            self.kinds[index] = word(frame.get("block"))
            self.open.add(index)
        elif kind in (*_FITS, "block_end") and index not in self.open:
            self.faults.append(f"frame {place}: {kind} of a block that is not open")
        elif kind in _FITS and self.kinds[index] != _FITS[kind]:
            self.faults.append(f"frame {place}: {kind} in a block of {self.kinds[index]}")
        elif kind == "block_end":
            self.open.discard(index)
            self.parts.append(frame.get("part"))

    def end(self, response: dict[str, Any]) -> None:
        """The last event."""
        self.ending = response
        self.faults += [f"the end {fault}" for fault in shape_faults("unified", "Whole", response)]
        if self.open:
            self.faults.append(f"stream: {len(self.open)} blocks never ended")
        if response.get("parts") != self.parts:
            self.faults.append("stream: the parts at the end are not what was streamed")


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream = _Stream(faults)
    for place, (name, frame) in enumerate(frames_of("unified", body, faults)):
        stream.frame(place, name, frame)
    if stream.ending is None:
        faults.append("stream: no stream_end at its end")
    return _whole(stream.ending or {}, faults)


UNIFIED_TONGUE = Tongue(path="/unified/v1/generate", body=_body, whole=_whole, streamed=_streamed)
"""How our own format is spoken."""
