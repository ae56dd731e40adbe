"""Conformance of generateContent."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, frames_of
from interlingua.testing.wirefacts.values import members, objects, word
from interlingua.wire.http import Headers

__all__ = ["GOOGLE_TONGUE"]

_FINISHES: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "refusal"}


def _path(question: Question, model: str) -> str:
    operation = "streamGenerateContent?alt=sse" if question.stream else "generateContent"
    return f"/models/{quote(model, safe='')}:{operation}"


def _body(question: Question, _: str) -> dict[str, Any]:
    config: dict[str, Any] = {"maxOutputTokens": question.limit}
    if question.schema:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    body: dict[str, Any] = {"contents": _contents(question), "generationConfig": config}
    if question.tool:
        function = {"name": TOOL, "description": TOOL_TEXT, "parametersJsonSchema": TOOL_SCHEMA}
        body["tools"] = [{"functionDeclarations": [function]}]
    if question.forced:
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY"}}
    return body


def _contents(question: Question) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": question.text}]
    if question.image:
        parts.insert(0, {"inlineData": {"mimeType": "image/png", "data": PNG}})
    contents: list[dict[str, Any]] = [{"role": "user", "parts": parts}, *question.turn]
    results = [
        _result(result.call, {"error" if result.is_error else "output": result.text}) for result in question.results
    ]
    return [*contents, {"role": "user", "parts": results}] if results else contents


def _result(call: CallSeen, response: dict[str, Any]) -> dict[str, Any]:
    named = {"name": call.name, "response": response}
    return {"functionResponse": {"id": call.id, **named} if call.id else named}


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    candidate = (objects(body.get("candidates")) or [{}])[0]
    return _answer_of(
        objects(members(candidate.get("content")).get("parts")),
        word(candidate.get("finishReason")),
        isinstance(body.get("usageMetadata"), dict),
        faults,
    )


def _answer_of(parts: list[dict[str, Any]], finish: str, has_usage: bool, faults: list[str]) -> Seen:  # noqa: FBT001 - one of three readings
    calls = [members(part["functionCall"]) for part in parts if "functionCall" in part]
    return Seen(
        text="".join(word(part.get("text")) for part in parts if not part.get("thought")),
        calls=[
            CallSeen(id=word(call.get("id")), name=word(call.get("name")), arguments=call.get("args", {}))
            for call in calls
        ],
        finish="tool_calls" if calls and finish == "STOP" else _FINISHES.get(finish, "other" if finish else ""),
        has_usage=has_usage,
        turn=[{"role": "model", "parts": parts}],
        faults=faults,
    )


def _streamed(body: bytes, faults: list[str]) -> Seen:
    parts: list[dict[str, Any]] = []
    finish, has_usage = "", False
    frames = frames_of("google", body, faults)
    for _, frame in frames:
        candidate = (objects(frame.get("candidates")) or [{}])[0]
        new_parts = objects(members(candidate.get("content")).get("parts"))
        parts += [part for part in new_parts if part != {"text": ""}]
        finish = word(candidate.get("finishReason"))
        has_usage = isinstance(frame.get("usageMetadata"), dict)
    if not finish:
        faults.append("stream: no finishReason in its last frame")
    return _answer_of(parts, finish, has_usage, faults)


def _headers(key: str) -> Headers:
    return (("x-goog-api-key", key),)


GOOGLE_TONGUE = Tongue(path=_path, headers=_headers, body=_body, whole=_whole, streamed=_streamed)
"""How generateContent is spoken."""
