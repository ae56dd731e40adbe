"""The response that a streamGenerateContent answer adds up to: an assembler of its own.

Rules (wire/google.md §3)
- The frames are whole answers: server-sent events, or the objects of one JSON array.
- Neighbouring texts of one kind are one text, unless one of them is signed; empty ones without a signature are none.
- Counts and members of a candidate are those of the last frame that says them; the last finish reason counts.
- `partialArgs` set or extend the value at their path until the call no longer says that it will continue.
- The stream is done when every candidate has a finish reason, or the prompt was blocked; else it was cut.
"""

from __future__ import annotations

import json
import re
from typing import Any

from interlingua.testing.wirefacts.google import camel, error_facts, request_facts, request_faults, response_facts
from interlingua.testing.wirefacts.values import FactReader, StreamFacts, event_data, items, members, objects, word

__all__ = ["READER", "assemble", "stream_facts"]

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the stream adds up to, how it ended, and by which error."""
    body, end, error = assemble(text)
    return StreamFacts(response_facts(body), end, error, body)


def assemble(text: str) -> tuple[Any, str, Any]:
    """The whole answer that the frames make, how the stream ended (`done`, `cut`, `error`), and the error's facts."""
    answer = _Answer()
    for frame in _frames(text):
        if "error" in frame:
            return answer.body(), "error", error_facts(200, frame)
        answer.feed(camel(frame))
    return answer.body(), "done" if answer.finished() else "cut", None


def _frames(text: str) -> list[dict[str, Any]]:
    text = text.removeprefix("\ufeff").lstrip()
    if text[:1] in ("[", "{"):
        raw = json.loads(text)
        return objects(raw) if isinstance(raw, list) else [members(raw)]
    return [members(json.loads(data)) for data in event_data(text) if data != "[DONE]"]


class _Answer:
    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.usage: dict[str, Any] = {}
        self.candidates: dict[int, dict[str, Any]] = {}
        self.parts: dict[int, list[dict[str, Any]]] = {}
        self.partial: dict[int, dict[str, Any]] = {}

    def feed(self, frame: dict[str, Any]) -> None:
        self.usage |= members(frame.get("usageMetadata"))
        self.top |= {name: value for name, value in frame.items() if name not in ("candidates", "usageMetadata")}
        for candidate in objects(frame.get("candidates")):
            index = candidate.get("index") or 0
            rest = {name: value for name, value in candidate.items() if name != "content"}
            self.candidates.setdefault(index, {}).update(rest)
            for part in objects(members(candidate.get("content")).get("parts")):
                self._part(index, part)

    def _part(self, index: int, part: dict[str, Any]) -> None:
        parts = self.parts.setdefault(index, [])
        if "functionCall" in part:
            self._call(index, parts, part)
        elif part.keys() <= {"text", "thought"}:
            self._text(parts, part)
        else:
            parts.append(part)

    def _text(self, parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
        last = parts[-1] if parts else {}
        joins = "text" in last and last.keys() <= {"text", "thought"} and last.get("thought") == part.get("thought")
        if joins:
            last["text"] += word(part.get("text"))
        elif part.get("text"):
            parts.append(dict(part))

    def _call(self, index: int, parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
        call = members(part["functionCall"])
        going = self.partial.get(index) or {}
        if not going:
            if not call.get("name"):
                return
            going.update({"args": {}, **call})
            parts.append({**part, "functionCall": going})
        for piece in objects(call.get("partialArgs")):
            _place(members(going["args"]), piece)
        if call.get("willContinue"):
            self.partial[index] = going
        else:
            self.partial.pop(index, None)

    def finished(self) -> bool:
        blocked = members(self.top.get("promptFeedback")).get("blockReason")
        named = [candidate.get("finishReason") is not None for candidate in self.candidates.values()]
        return bool(blocked) or (bool(named) and all(named))

    def body(self) -> Any:
        candidates = [
            {**self.candidates[index], "content": {"parts": self.parts.get(index, [])}}
            for index in sorted(self.candidates)
        ]
        return {**self.top, "candidates": candidates, "usageMetadata": self.usage}


def _place(arguments: dict[str, Any], piece: dict[str, Any]) -> None:
    """Put the value of one piece at its path."""
    path = word(piece.get("jsonPath"))
    steps: list[Any] = [
        int(result[2]) if result[2] else result[1] or result[3] for result in _STEP.finditer(path.removesuffix("[]"))
    ]
    values = [piece[name] for name in ("stringValue", "numberValue", "boolValue") if name in piece]
    value: Any = values[0] if values else None
    if not values and path.endswith("[]"):
        value = []
    holder: Any = arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if following is None:
            _set(holder, step, value)
        else:
            holder = _get(holder, step, [] if isinstance(following, int) else {})


def _get(holder: Any, step: Any, fresh: Any) -> Any:
    if isinstance(step, int):
        while len(items(holder)) <= step:
            holder.append(type(fresh)())
        return holder[step]
    return holder.setdefault(step, fresh)


def _set(holder: Any, step: Any, value: Any) -> None:
    while isinstance(step, int) and len(items(holder)) <= step:
        holder.append(None)
    old: Any = holder[step] if isinstance(step, int) else holder.get(step)
    if isinstance(old, str) and isinstance(value, str):
        value = old + value
    holder[step] = old if value == [] and old else value


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "google")
"""The readers of the dialect."""
