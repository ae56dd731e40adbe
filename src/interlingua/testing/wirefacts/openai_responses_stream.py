"""The response that a Responses stream adds up to: an assembler of its own, small and forgiving.

Rules (wire/openai-responses.md §3, §4)
- An item is what its `output_item.done` says; one that never got there is what its deltas add up to. A text whose end
  contradicts its deltas is what the deltas said, since that was shown. A seal is not whole before its item is.
- An item is found by its `output_index`, where that is missing by its id.
- `response.completed` and `response.incomplete` end the stream, `response.failed` and `error` break it off; without
  any of them it was cut. Where no item came by itself, the last snapshot's count.
"""

from __future__ import annotations

import json
from typing import Any

from interlingua.testing.wirefacts.errors import is_bare
from interlingua.testing.wirefacts.openai_responses import error_facts, request_facts, request_faults, response_facts
from interlingua.testing.wirefacts.values import FactReader, Facts, StreamFacts, event_data, members, objects, word

__all__ = ["READER", "stream_facts"]


FAILURES = ("response.failed", "error")
ENDS = ("response.completed", "response.incomplete")


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the stream adds up to, how it ended, and by which error."""
    answer = _Answer()
    for data in event_data(text):
        if data == "[DONE]":
            continue
        event = json.loads(data)
        answer.feed(event)
        kind = event.get("type")
        bare = not kind and (bool(event.get("error")) or is_bare(event))
        if kind in FAILURES or bare:
            return _stream_facts(answer, "error", error_facts(200, event))
        if kind in ENDS:
            return _stream_facts(answer, "done")
    return _stream_facts(answer, "cut")


def _stream_facts(answer: _Answer, end: str, error: Facts | None = None) -> StreamFacts:
    body = answer.body()
    return StreamFacts(response_facts(body), end, error, body)


class _Answer:
    def __init__(self) -> None:
        self.response: dict[str, Any] = {}
        self.items: list[_Item] = []

    def feed(self, event: Any) -> None:
        self.response.update(members(event.get("response")))
        kind = word(event.get("type"))
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = members(event.get("item"))
            result = self._item(event.get("output_index"), item.get("id")) or self._new(event)
            result.value = item
            result.is_done = result.is_done or kind.endswith("done")
        elif kind.endswith(".delta") and (item := self._item(event.get("output_index"), event.get("item_id"))):
            item.grow(kind.removeprefix("response.").removesuffix(".delta"), event)

    def _item(self, index: Any, item_id: Any) -> _Item | None:
        by_index = [item for item in self.items if index is not None and item.index == index]
        by_id = [item for item in self.items if item_id and item.value.get("id") == item_id]
        return next(iter(by_index or by_id), None)

    def _new(self, event: Any) -> _Item:
        self.items.append(_Item(event.get("output_index")))
        return self.items[-1]

    def body(self) -> Any:
        streamed = [item.whole() for item in self.items]
        return {**self.response, "output": streamed or self.response.get("output")}


class _Item:
    def __init__(self, index: Any) -> None:
        self.index = index
        self.value: dict[str, Any] = {}
        self.is_done = False
        self.texts: dict[tuple[str, Any], str] = {}

    def grow(self, kind: str, event: Any) -> None:
        place = event.get("summary_index", event.get("content_index", 0))
        self.texts[kind, place] = self.texts.get((kind, place), "") + word(event.get("delta"))

    def _as_shown(self) -> Any:
        content: list[dict[str, Any]] = objects(self.value.get("content"))
        for place, part in enumerate(content):
            text = self.texts.get(("output_text", place), "")
            if not word(part.get("text")).startswith(text):
                part["text"] = text
        return self.value

    def whole(self) -> Any:
        """The item, with what its deltas said where it was never done."""
        if self.is_done:
            return self._as_shown()
        self.value.pop("encrypted_content", None)
        grown: dict[str, Any] = {}
        for (kind, _), text in sorted(self.texts.items(), key=lambda pair: str(pair[0])):
            match kind:
                case "output_text":
                    grown.setdefault("content", []).append({"type": "output_text", "text": text})
                case "refusal":
                    grown.setdefault("content", []).append({"type": "refusal", "refusal": text})
                case "reasoning_summary_text":
                    grown.setdefault("summary", []).append({"type": "summary_text", "text": text})
                case "reasoning_text":
                    grown.setdefault("content", []).append({"type": "reasoning_text", "text": text})
                case "function_call_arguments":
                    grown["arguments"] = text
                case "custom_tool_call_input":
                    grown["input"] = text
                case _:
                    pass
        rest = {name: value for name, value in self.value.items() if value or name not in grown}
        return {**rest, **{name: value for name, value in grown.items() if not objects(rest.get(name))}}


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "openai-responses")
"""The readers of this format."""
