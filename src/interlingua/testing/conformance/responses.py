"""Conformance of Responses."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, arguments_of, frames_of
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["RESPONSES_TONGUE"]

_ENDINGS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_DELTAS = {
    "response.output_text.delta": "response.output_text.done",
    "response.refusal.delta": "response.refusal.done",
    "response.function_call_arguments.delta": "response.function_call_arguments.done",
    "response.reasoning_summary_text.delta": "response.reasoning_summary_text.done",
}
_WHOLES = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.function_call_arguments.done": "arguments",
    "response.reasoning_summary_text.done": "text",
}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "input": _input(question), "max_output_tokens": question.limit}
    if question.tool:
        tool = {"type": "function", "name": TOOL, "description": TOOL_TEXT, "parameters": TOOL_SCHEMA, "strict": False}
        body["tools"] = [tool]
    if question.forced:
        body["tool_choice"] = "required"
    if question.schema:
        body["text"] = {"format": {"type": "json_schema", "name": "weather", "strict": True, "schema": SCHEMA}}
    if question.stream:
        body["stream"] = True
    return {**body, "store": False}


def _input(question: Question) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"type": "input_text", "text": question.text}]
    if question.image:
        content.append({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"})
    results = [
        {
            "type": "function_call_output",
            "call_id": result.call.id,
            "output": ("ERROR: " if result.is_error else "") + result.text,
        }
        for result in question.results
    ]
    return [{"role": "user", "content": content}, *question.turn, *results]


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    output = objects(body.get("output"))
    parts = [part for item in output if item.get("type") == "message" for part in objects(item.get("content"))]
    calls = [item for item in output if item.get("type") == "function_call"]
    return Seen(
        text="".join(word(part.get("text")) for part in parts),
        calls=[_call(call, f"call {place}", faults) for place, call in enumerate(calls)],
        finish=_finish(body, parts, calls),
        has_usage=isinstance(body.get("usage"), dict),
        turn=output,
        faults=faults,
    )


def _call(item: dict[str, Any], where: str, faults: list[str]) -> CallSeen:
    arguments = arguments_of(word(item.get("arguments")), where, faults)
    return CallSeen(id=word(item.get("call_id")), name=word(item.get("name")), arguments=arguments)


def _finish(body: dict[str, Any], parts: list[dict[str, Any]], calls: list[dict[str, Any]]) -> Finish:
    reason = members(body.get("incomplete_details")).get("reason")
    if reason is not None:
        return "length" if reason == "max_output_tokens" else "refusal"
    if any(part.get("type") == "refusal" for part in parts):
        return "refusal"
    return "tool_calls" if calls else "stop" if body.get("status") == "completed" else ""


class _Stream:
    """Puts the events of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.done: list[Any] = []
        self.open: dict[Any, dict[str, Any]] = {}
        self.texts: dict[tuple[str, Any, Any], str] = {}
        self.ending: dict[str, Any] | None = None

    def frame(self, place: int, name: str | None, frame: dict[str, Any]) -> None:
        """One event."""
        kind = word(frame.get("type"))
        if name == "[DONE]":
            return
        if name is not None and name != kind:
            self.faults.append(f"frame {place}: the event is named {name} and says {kind}")
        if frame.get("sequence_number") != place:
            self.faults.append(f"frame {place}: sequence_number {frame.get('sequence_number')}")
        if self.ending is not None:
            self.faults.append(f"frame {place}: {kind} follows the end")
        if place == 0 and kind != "response.created":
            self.faults.append(f"frame 0: {kind} where response.created should be")
        self.item(place, kind, frame)
        if kind in _ENDINGS:
            self.end(members(frame.get("response")))

    def item(self, place: int, kind: str, frame: dict[str, Any]) -> None:
        """An event of an item's life."""
        index = frame.get("output_index")
        if kind == "response.output_item.added":
            if index != len(self.done) + len(self.open):
                self.faults.append(f"frame {place}: item {index} where {len(self.done) + len(self.open)} would be next")
            self.open[index] = members(frame.get("item"))
        elif kind == "response.output_item.done":
            if self.open.pop(index, None) is None:
                self.faults.append(f"frame {place}: item {index} ends and never began")
            self.done.append(frame.get("item"))
        elif "item_id" in frame:
            self.piece(place, kind, frame)

    def piece(self, place: int, kind: str, frame: dict[str, Any]) -> None:
        """A delta, or the text that deltas come to."""
        where = (frame.get("output_index"), frame.get("content_index", frame.get("summary_index")))
        if members(self.open.get(where[0])).get("id") != frame.get("item_id"):
            self.faults.append(f"frame {place}: {kind} of an item that is not open")
        if kind in _DELTAS:
            key = (_DELTAS[kind], *where)
            self.texts[key] = self.texts.get(key, "") + word(frame.get("delta"))
        elif kind in _WHOLES and self.texts.get((kind, *where), "") != word(frame.get(_WHOLES[kind])):
            self.faults.append(f"frame {place}: {kind} differs from its deltas")

    def end(self, response: dict[str, Any]) -> None:
        """The last event."""
        self.ending = response
        self.faults += [f"the end {fault}" for fault in shape_faults("openai-responses", "Whole", response)]
        if self.open:
            self.faults.append(f"stream: {len(self.open)} items never ended")
        if items(response.get("output")) != self.done:
            self.faults.append("stream: the output at the end is not what was streamed")


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream = _Stream(faults)
    for place, (name, frame) in enumerate(frames_of("openai-responses", body, faults)):
        stream.frame(place, name, frame)
    if stream.ending is None:
        faults.append("stream: no response.completed at its end")
    return _whole(stream.ending or {"output": stream.done}, faults)


RESPONSES_TONGUE = Tongue(path="/responses", body=_body, whole=_whole, streamed=_streamed)
"""How Responses is spoken."""
