"""Conformance of Ollama's `/api/chat`."""

from __future__ import annotations

from typing import Any

from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, parsed
from interlingua.testing.wirefacts.values import members, objects, word

__all__ = ["OLLAMA_TONGUE"]

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length"}


def _body(question: Question, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(question),
        "stream": question.stream,
        "options": {"num_predict": question.limit},
    }
    if question.tool:
        function = {"name": TOOL, "description": TOOL_TEXT, "parameters": TOOL_SCHEMA}
        body["tools"] = [{"type": "function", "function": function}]
    if question.schema:
        body["format"] = SCHEMA
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    more = {"images": [PNG]} if question.image else {}
    results = [
        {
            "role": "tool",
            "tool_name": result.call.name,
            **({"tool_call_id": result.call.id} if result.call.id else {}),
            "content": ("ERROR: " if result.is_error else "") + result.text,
        }
        for result in question.results
    ]
    return [{"role": "user", "content": question.text, **more}, *question.turn, *results]


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    return _answer_of(members(body.get("message")), body, faults)


def _answer_of(message: dict[str, Any], last: dict[str, Any], faults: list[str]) -> Seen:
    calls = objects(message.get("tool_calls"))
    finish = word(last.get("done_reason"))
    return Seen(
        text=word(message.get("content")),
        calls=[_call(call) for call in calls],
        finish="tool_calls" if calls and finish == "stop" else _FINISHES.get(finish, "other" if finish else ""),
        has_usage="eval_count" in last,
        turn=[message],
        faults=faults,
    )


def _call(call: dict[str, Any]) -> CallSeen:
    function = members(call.get("function"))
    return CallSeen(id=word(call.get("id")), name=word(function.get("name")), arguments=function.get("arguments"))


def _streamed(body: bytes, faults: list[str]) -> Seen:
    lines = [line for line in body.split(b"\n") if line.strip()]
    text, calls, last = "", list[dict[str, Any]](), dict[str, Any]()
    for place, line in enumerate(lines):
        frame = members(parsed(line, f"line {place}", faults))
        faults += [f"line {place} {fault}" for fault in shape_faults("ollama", "Frame", frame)]
        if "error" in frame:
            faults.append(f"line {place}: an error in the stream: {frame['error']}")
        if last.get("done"):
            faults.append(f"line {place}: something follows the last line")
        message = members(frame.get("message"))
        text += word(message.get("content"))
        calls += objects(message.get("tool_calls"))
        last = frame
    if last.get("done") is not True:
        faults.append("stream: no line that says done at its end")
    else:
        faults += [f"the end {fault}" for fault in shape_faults("ollama", "Whole", last)]
    message = {"role": "assistant", "content": text}
    return _answer_of({**message, "tool_calls": calls} if calls else message, last, faults)


OLLAMA_TONGUE = Tongue(
    path="/api/chat",
    body=_body,
    whole=_whole,
    streamed=_streamed,
    forces=False,
    knows_results=False,
)
"""How `/api/chat` is spoken."""
