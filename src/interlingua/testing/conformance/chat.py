"""Conformance of Chat Completions."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, arguments_of, frames_of
from interlingua.testing.wirefacts.values import members, objects, word

__all__ = ["CHAT_TONGUE"]

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls"}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": _messages(question), "max_completion_tokens": question.limit}
    if question.tool:
        function = {"name": TOOL, "description": TOOL_TEXT, "parameters": TOOL_SCHEMA}
        body["tools"] = [{"type": "function", "function": function}]
    if question.forced:
        body["tool_choice"] = "required"
    if question.schema:
        named = {"name": "weather", "strict": True, "schema": SCHEMA}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    if question.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
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
    choice = (objects(body.get("choices")) or [{}])[0]
    message = members(choice.get("message"))
    calls = [_call(call, f"call {place}", faults) for place, call in enumerate(objects(message.get("tool_calls")))]
    return Seen(
        text=word(message.get("content")),
        calls=calls,
        finish=_finish(choice.get("finish_reason"), refusal=word(message.get("refusal"))),
        has_usage=isinstance(body.get("usage"), dict),
        turn=[{name: message[name] for name in ("role", "content", "tool_calls") if message.get(name) is not None}],
        faults=faults,
    )


def _call(call: dict[str, Any], where: str, faults: list[str]) -> CallSeen:
    function = members(call.get("function"))
    arguments = arguments_of(word(function.get("arguments")), where, faults)
    return CallSeen(id=word(call.get("id")), name=word(function.get("name")), arguments=arguments)


def _finish(reason: Any, *, refusal: str) -> Finish:
    if refusal or reason == "content_filter":
        return "refusal"
    return _FINISHES.get(word(reason), "other" if reason else "")


class _Stream:
    """Puts the frames of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.text = self.refusal = ""
        self.calls: list[dict[str, Any]] = []
        self.finish: Any = None
        self.has_usage = self.has_role = self.is_done = False
        self.ids: set[str] = set()

    def frame(self, place: int, name: str | None, frame: dict[str, Any]) -> None:
        """One frame."""
        if self.is_done:
            self.faults.append(f"frame {place}: something follows [DONE]")
        if name == "[DONE]":
            self.is_done = True
            return
        self.ids.add(word(frame.get("id")))
        self.has_usage = self.has_usage or isinstance(frame.get("usage"), dict)
        for choice in objects(frame.get("choices")):
            self.choice(place, choice)

    def choice(self, place: int, choice: dict[str, Any]) -> None:
        """One choice of a frame."""
        delta = members(choice.get("delta"))
        contents = {name for name in ("content", "tool_calls", "refusal") if delta.get(name)}
        if contents and self.finish:
            self.faults.append(f"frame {place}: {', '.join(sorted(contents))} after the finish reason")
        if contents and not self.has_role and "role" not in delta:
            self.faults.append(f"frame {place}: the first delta has no role")
        self.has_role = self.has_role or "role" in delta or bool(contents)
        self.text += word(delta.get("content"))
        self.refusal += word(delta.get("refusal"))
        for call in objects(delta.get("tool_calls")):
            self.call(place, call)
        self.finish = choice.get("finish_reason") or self.finish

    def call(self, place: int, delta: dict[str, Any]) -> None:
        """One piece of a call."""
        index = delta.get("index")
        function = members(delta.get("function"))
        if index == len(self.calls):
            if not (delta.get("id") and function.get("name")):
                self.faults.append(f"frame {place}: call {index} begins without id or name")
            self.calls.append({"id": delta.get("id"), "name": function.get("name"), "arguments": ""})
        if not isinstance(index, int) or index >= len(self.calls):
            self.faults.append(f"frame {place}: call index {index} where {len(self.calls)} would be next")
            return
        self.calls[index]["arguments"] += word(function.get("arguments"))

    def answer(self) -> Seen:
        """The whole answer."""
        if not self.is_done:
            self.faults.append("stream: no [DONE] at its end")
        if self.finish is None:
            self.faults.append("stream: no finish reason")
        if len(self.ids) > 1:
            self.faults.append(f"stream: {len(self.ids)} different ids")
        wire = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in self.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        return Seen(
            text=self.text,
            calls=[_call(call, f"call {place}", self.faults) for place, call in enumerate(wire)],
            finish=_finish(self.finish, refusal=self.refusal),
            has_usage=self.has_usage,
            turn=[{**message, "tool_calls": wire} if wire else message],
            faults=self.faults,
        )


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream = _Stream(faults)
    for place, (name, frame) in enumerate(frames_of("openai-chat", body, faults)):
        stream.frame(place, name, frame)
    return stream.answer()


CHAT_TONGUE = Tongue(path="/chat/completions", body=_body, whole=_whole, streamed=_streamed)
"""How Chat Completions is spoken."""
