"""The response that a Chat Completions stream adds up to: an assembler of its own, small and forgiving.

Rules (wire/compat-quirks.md §10)
- A call is found by index, then by id; a different id on a known index, or a name on a call that is whole, opens a
  new one; what has neither id nor name goes on with the newest.
- A name is set once; an empty one is not yet known; complete arguments that come again are ignored.
- A later finish reason, usage or model replaces an earlier one; null and empty ones say nothing.
- A whole message counts where no delta came before it; behind deltas it says them again.
- The stream is done with a finish reason or `[DONE]`; without either it was cut.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from interlingua.testing.wirefacts.openai_chat import NO_CHOICE, error_facts, response_facts
from interlingua.testing.wirefacts.values import (
    StreamFacts,
    arguments_value,
    event_data,
    is_broken,
    items,
    joined,
    members,
    objects,
    word,
)

__all__ = ["assemble", "stream_facts"]


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the stream adds up to, how it ended, and by which error."""
    body, end, error = assemble(text)
    return StreamFacts(response_facts(body), end, error, body)


def assemble(text: str) -> tuple[Any, str, Any]:
    """The whole answer that the frames make, how the stream ended (`done`, `cut`, `error`), and the error's facts."""
    answer = _Answer()
    for data in event_data(text):
        if data == "[DONE]":
            answer.done = True
            break
        frame = members(json.loads(data))
        answer.feed(frame)
        if (error := error_facts(200, frame)) is not None:
            return answer.body(), "error", error
    if answer.done and not answer.choices:
        return answer.body(), "error", dict(NO_CHOICE)
    return answer.body(), "done" if answer.is_done else "cut", None


class _Answer:
    def __init__(self) -> None:
        self.choices: dict[int, _Choice] = {}
        self.model: str | None = None
        self.id: str | None = None
        self.usage: Any = None
        self.done = False

    @property
    def is_done(self) -> bool:
        finished = bool(self.choices) and all(choice.finish for choice in self.choices.values())
        return self.done or finished

    def feed(self, frame: Any) -> None:
        self.model = frame.get("model") or self.model
        self.id = self.id or frame.get("id")
        self.usage = frame.get("usage") or members(frame.get("x_groq")).get("usage") or self.usage
        for place, choice in enumerate(objects(frame.get("choices"))):
            number = choice.get("index")
            number = number if isinstance(number, int) else place
            self.choices.setdefault(number, _Choice()).feed(choice)

    def body(self) -> Any:
        return {
            "id": self.id,
            "model": self.model,
            "choices": [self.choices[number].body() for number in sorted(self.choices)],
            "usage": self.usage,
        }


OWN = (None, "", "function", "custom")
"""The types of calls that the client answers; one of another type was run by its server."""


class _Choice:
    def __init__(self) -> None:
        self.hosted: list[Any] = []
        self.text: list[str] = []
        self.thinking: list[str] = []
        self.detailed: list[str] = []
        self.refusal: list[str] = []
        self.seals: list[dict[str, Any]] = []
        self.calls: list[_Call] = []
        self.images: list[Any] = []
        self.annotations: list[Any] = []
        self.audio = b""
        self.finish: str | None = None
        self.began = False

    def feed(self, choice: Any) -> None:
        delta = members(choice.get("delta") or (None if self.began else choice.get("message")))
        self.began = True
        self.finish = choice.get("finish_reason") or self.finish
        self._content(delta.get("content"))
        self._thinking(delta)
        self.refusal.append(word(delta.get("refusal")))
        self.images.extend(items(delta.get("images")))
        self.annotations.extend(items(delta.get("annotations")))
        self.audio += base64.b64decode(word(members(delta.get("audio")).get("data")))
        for call in objects(delta.get("tool_calls")):
            if call.get("type") in OWN or "function" in call or "custom" in call:
                self._call(call)
            else:
                self.hosted.append(call)
        if legacy := delta.get("function_call"):
            self._call({"index": 0, "function": legacy})

    def _content(self, content: Any) -> None:
        self.text.append(word(content))
        for part in objects(content):
            if part.get("type") == "thinking":
                self.thinking.append(joined(part.get("thinking")))
                self.seals.append({"signature": part.get("signature")})
            else:
                self.text.append(word(part.get("text")))

    def _thinking(self, delta: Any) -> None:
        details = objects(delta.get("reasoning_details"))
        self.detailed.extend([word(detail.get("text") or detail.get("summary")) for detail in details])
        self.thinking.append(word(delta.get("reasoning_content")) or word(delta.get("reasoning")))
        self.seals.extend([{name: detail.get(name) for name in ("signature", "data")} for detail in details])

    def _call(self, delta: Any) -> None:
        custom = members(delta.get("custom"))
        function = members(delta.get("function")) or custom or delta
        name, arguments = word(function.get("name")), function.get("arguments", custom.get("input"))
        text = json.dumps(arguments) if isinstance(arguments, dict) else word(arguments)
        call = self._slot(_index(delta.get("index")), word(delta.get("id")).strip(), name, text)
        call.grow(name, text)
        call.is_custom = call.is_custom or bool(custom)
        if "extra_content" in delta:
            call.extra_content = delta["extra_content"]

    def _slot(self, index: int | None, call_id: str, name: str, text: str) -> _Call:
        """The call that a delta belongs to, opened if there is none."""
        result = self._find_call(index, call_id, name)
        is_other = result is not None and (
            (bool(call_id) and bool(result.id) and call_id != result.id)
            or (bool(name) and result.is_whole and text.startswith("{") and text != result.arguments)
        )
        if result is None or is_other:
            result = _Call(index, call_id)
            self.calls.append(result)
        result.id = result.id or call_id
        return result

    def _find_call(self, index: int | None, call_id: str, name: str) -> _Call | None:
        newest_first = self.calls[::-1]
        if index is not None:
            same = next((call for call in newest_first if call.index == index), None)
            return same or (newest_first[0] if newest_first and not (call_id or name) else None)
        if call_id:
            return next((call for call in newest_first if call.id == call_id), None)
        newest = newest_first[0] if newest_first else None
        return None if newest is None or (name and newest.name) else newest

    def body(self) -> Any:
        message = {
            "content": "".join(self.text),
            "reasoning": "".join(self.thinking) or "".join(self.detailed),
            "reasoning_details": self.seals,
            "refusal": "".join(self.refusal),
            "images": self.images,
            "annotations": self.annotations,
            "audio": {"data": base64.b64encode(self.audio).decode()} if self.audio else None,
            "tool_calls": [*[call.body() for call in self.calls if call.name], *self.hosted],
        }
        return {"message": message, "finish_reason": self.finish}


class _Call:
    def __init__(self, index: int | None, call_id: str) -> None:
        self.index = index
        self.id = call_id
        self.name = ""
        self.arguments = ""
        self.is_custom = False
        self.extra_content: Any = None

    @property
    def is_whole(self) -> bool:
        return bool(self.arguments.strip()) and not is_broken(arguments_value(self.arguments))

    def grow(self, name: str, text: str) -> None:
        self.name = self.name or name
        if not (self.is_whole and text.strip() == self.arguments.strip()):
            self.arguments += text

    def body(self) -> Any:
        if self.is_custom:
            return {"id": self.id, "type": "custom", "custom": {"name": self.name, "input": self.arguments}}
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "function": function, "extra_content": self.extra_content}


def _index(value: Any) -> int | None:
    """The index as a number; None when it is none."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
