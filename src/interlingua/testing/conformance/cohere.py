"""Conformance of Cohere's `/v2/chat`."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, arguments_of, frames_of
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["COHERE_TONGUE"]

_FINISHES: dict[str, Finish] = {
    "COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls",
}  # fmt: skip


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(question),
        "stream": question.stream,
        "max_tokens": question.limit,
    }
    if question.tool:
        function = {"name": TOOL, "description": TOOL_TEXT, "parameters": TOOL_SCHEMA}
        body["tools"] = [{"type": "function", "function": function}]
    if question.forced:
        body["tool_choice"] = "REQUIRED"
    if question.schema:
        body["response_format"] = {"type": "json_object", "json_schema": SCHEMA}
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    content: Any = question.text
    if question.image:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        content = [{"type": "text", "text": question.text}, image]
    results = [
        {
            "role": "tool",
            "tool_call_id": result.call.id,
            "content": ("ERROR: " if result.is_error else "") + result.text,
        }
        for result in question.results
    ]
    return [{"role": "user", "content": content}, *question.turn, *results]


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    return _answer_of(members(body.get("message")), body, faults)


def _answer_of(message: dict[str, Any], end: dict[str, Any], faults: list[str]) -> Seen:
    calls = objects(message.get("tool_calls"))
    reason = word(end.get("finish_reason"))
    turn = {name: message[name] for name in ("role", "content", "tool_plan", "tool_calls") if message.get(name)}
    return Seen(
        text="".join([word(block.get("text")) for block in objects(message.get("content"))]),
        calls=[_call(call, f"call {place}", faults) for place, call in enumerate(calls)],
        finish=_FINISHES.get(reason, "other" if reason else ""),
        has_usage=isinstance(members(end.get("usage")).get("tokens"), dict),
        turn=[turn],
        faults=faults,
    )


def _call(call: dict[str, Any], where: str, faults: list[str]) -> CallSeen:
    function = members(call.get("function"))
    arguments = arguments_of(word(function.get("arguments")), where, faults)
    return CallSeen(id=word(call.get("id")), name=word(function.get("name")), arguments=arguments)


class _Stream:
    """Puts the events of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.message: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        self.end: dict[str, Any] = {}
        self.open: str | None = None
        self.is_done = self.has_begun = False

    def event(self, place: int, name: str | None, event: dict[str, Any]) -> None:
        """One event."""
        if name == "[DONE]" and self.end:
            self.is_done = True
            return
        kind, index = word(event.get("type")), event.get("index")
        delta = members(event.get("delta"))
        message = members(delta.get("message"))
        if self.end:
            self.faults.append(f"frame {place}: something follows message-end")
        if name != kind:
            self.faults.append(f"frame {place}: the event {name!r} says that it is {kind!r}")
        if not self.has_begun and kind != "message-start":
            self.faults.append(f"frame {place}: {kind} before message-start")
        self.has_begun = True
        member = "tool_calls" if kind.startswith("tool-call") else "content"
        match kind.rpartition("-")[2]:
            case "start" if index is not None and member in message:
                self.start(place, index, member, message[member])
            case "delta" if kind == "tool-plan-delta":
                self.message["tool_plan"] += word(message.get("tool_plan"))
            case "delta":
                self.grow(place, index, member, members(message.get(member)))
            case "end" if kind == "message-end":
                self.finish(place, delta)
            case "end" if kind != "citation-end":
                self.open = None
            case _:
                pass

    def start(self, place: int, index: object, member: str, value: object) -> None:
        """A block or a call that begins."""
        blocks = self.message[member]
        if index != len(blocks) or self.open is not None:
            self.faults.append(f"frame {place}: {member} {index} begins where {len(blocks)} would be next")
        self.open = member
        blocks.append(dict(members(value)))

    def grow(self, place: int, index: object, member: str, more: dict[str, Any]) -> None:
        """More of the block or the call that is open."""
        blocks = self.message[member]
        if index != len(blocks) - 1 or self.open != member:
            self.faults.append(f"frame {place}: {member} {index} grows and is not open")
            return
        target = blocks[-1]
        if member == "tool_calls":
            target, more = members(target.get("function")), members(more.get("function"))
        for name, value in more.items():
            target[name] = word(target.get(name)) + word(value)

    def finish(self, place: int, delta: dict[str, Any]) -> None:
        """The end."""
        self.end = delta
        if delta.get("error"):
            self.faults.append(f"frame {place}: an error in the stream: {delta['error']}")
        if self.open is not None:
            self.faults.append(f"frame {place}: {self.open} is still open")

    def answer(self) -> Seen:
        """The whole answer."""
        if not self.end:
            self.faults.append("stream: no message-end")
        if not self.is_done:
            self.faults.append("stream: no [DONE] at its end")
        return _answer_of(self.message, self.end, self.faults)


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream = _Stream(faults)
    for place, (name, event) in enumerate(items(frames_of("cohere", body, faults))):
        stream.event(place, name, event)
    return stream.answer()


COHERE_TONGUE = Tongue(path="/chat", body=_body, whole=_whole, streamed=_streamed)
"""How `/v2/chat` is spoken; the base URL ends in `/v2`."""
