"""Facts of our own HTTP format, `/unified/v1/generate`.

Rules
- Sealed state, opaque parts and opaque tools are those of another format: what they say is read as that format has it.
- `text` and `tool_calls` of an answer say again what its parts say, and are not read.
- An answer with a broken call is an error with the answer beside it, as `partial`; the answer is what is read.
- The thinking of a message is one text; the reasoning items of Responses, known by their seals, are one each.
- A refusal without words is a filtered answer, in this format too.
- `arguments` are objects, those of a broken call the text that came.

Source: docs/dialects/unified.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from interlingua.testing.wirefacts.google import camel
from interlingua.testing.wirefacts.values import (
    Conversation,
    FactReader,
    Facts,
    StreamFacts,
    allowed_choice,
    arguments_value,
    counted,
    digest,
    items,
    joined,
    members,
    objects,
    word,
)

__all__ = [
    "READER",
    "error_facts",
    "references_of",
    "request_facts",
    "request_faults",
    "response_facts",
    "seals_of",
    "server_tool",
    "stream_facts",
]

MEDIA = ("image", "audio", "document")
CALLS = ("tool_call", "broken_tool_call")
SEALS: dict[str, tuple[str, ...]] = {
    "anthropic": ("signature", "data"),
    "bedrock": ("signature", "redactedContent"),
    "google": ("thoughtSignature",),
    "openai-responses": ("encrypted_content",),
    "openai-chat": ("signature", "thought_signature"),
}
"""Where each format keeps sealed state: the first member of these that is there."""


# Requests


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    tools = objects(body.get("tools"))
    opaque = [tool for tool in tools if tool.get("type") == "opaque_tool"]
    return {
        "model": body.get("model") or model,
        **_conversation(body).facts(),
        "tools": [_tool(tool) for tool in tools if tool.get("type") != "opaque_tool"],
        "server_tools": [*[server_tool(tool) for tool in opaque], *_hosted_choice(body)],
        "tool_choice": _choice(body.get("tool_choice")) if tools else None,
        "output_schema": body.get("output_schema") or ("json" if body.get("json_mode") else None),
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    conversation.text("system", joined(body.get("system")))
    for message in objects(body.get("messages")):
        _message(conversation, {"tool": "user"}.get(role := word(message.get("role")), role), message)
    return conversation


def _message(conversation: Conversation, role: str, message: dict[str, Any]) -> None:
    conversation.text(role, word(message.get("content")))
    parts = objects(message.get("parts"))
    for part in parts:
        _part(conversation, role, part)
    items = [part for part in parts if members(part.get("sealed")).get("dialect") == "openai-responses"]
    texts = [_thinking([part]) for part in items] + [_thinking([part for part in parts if part not in items])]
    conversation.thinking.extend([text for text in texts if text])
    conversation.seals.extend(_seals(parts))
    conversation.refusals.extend([word(part.get("text")) for part in parts if part.get("type") == "refusal"])


def _part(conversation: Conversation, role: str, part: dict[str, Any]) -> None:
    match part.get("type"):
        case "text":
            conversation.text(role, word(part.get("text")))
        case "tool_call":
            conversation.call(part.get("id"), word(part.get("name")), part.get("arguments"))
        case "tool_result":
            _result(conversation, part)
        case "opaque":
            conversation.references.extend(references_of(part))
        case kind if kind in MEDIA:
            conversation.media.append(_media(part))
        case _:
            pass


def _result(conversation: Conversation, result: dict[str, Any]) -> None:
    parts = objects(result.get("parts"))
    texts = [json.dumps(part["value"]) if part.get("type") == "json" else word(part.get("text")) for part in parts]
    content = result.get("content") if "parts" not in result else "".join(texts)
    if content is None or isinstance(content, bool | int | float):
        content = json.dumps(content)
    conversation.result(result.get("tool_call_id"), content, is_error=bool(result.get("is_error")))
    for part in parts:
        if part.get("type") in MEDIA:
            conversation.media.append(_media(part))
        elif part.get("type") == "opaque":
            conversation.references.extend(references_of(part))


def _media(part: dict[str, Any]) -> list[str]:
    return digest(word(part.get("media_type")), word(part.get("data")))


def references_of(part: dict[str, Any]) -> list[Any]:
    """The references of an opaque part, as its own format has it; nothing for what is no reference there."""
    raw = members(part.get("raw"))
    match part.get("dialect"):
        case "openai-chat":
            return [_chat_reference(raw)]
        case "openai-responses":
            names = ("image_url", "file_data", "file_id", "file_url")
            result = {name: raw[name] for name in names if raw.get(name) is not None}
            return [result] if raw.get("type") in ("input_image", "input_file") else []
        case "google":
            return [{name: value for name, value in members(camel(raw)).items() if name != "thoughtSignature"}]
        case _:
            return [_unmarked(raw)]


def _chat_reference(raw: dict[str, Any]) -> Any:
    kind = word(raw.get("type"))
    if kind == "file":
        file = members(raw.get("file"))
        url = word(file.get("file_data"))
        return {"file": url or file.get("file_id")}
    value = raw.get(kind)
    if kind == "audio" or "audio" in raw:
        return {"audio": members(raw.get("audio")).get("id")}
    return {kind: word(value) or word(members(value).get("url"))}


def _unmarked(value: Any) -> Any:
    """A value without its cache mark and without what is null."""
    if not isinstance(value, dict):
        return value
    return {name: member for name, member in members(value).items() if name != "cache_control" and member is not None}


def _thinking(parts: list[dict[str, Any]]) -> str:
    texts = [word(part.get("text")) for part in parts if part.get("type") == "thinking"]
    return "\n\n".join([text for text in texts if text])


def _seals(parts: list[dict[str, Any]]) -> list[Any]:
    return [seal for part in parts if part.get("type") != "opaque" for seal in seals_of(members(part.get("sealed")))]


def seals_of(sealed: dict[str, Any]) -> list[Any]:
    """The sealed values, as its own format has it."""
    data, dialect = members(sealed.get("data")), word(sealed.get("dialect"))
    if "reasoning_details" in data:
        return [
            seal
            for detail in objects(data["reasoning_details"])
            if (seal := detail.get("signature") or detail.get("data"))
        ]
    google = members(members(data.get("extra_content")).get("google"))
    result = [{**data, **google}.get(name) for name in SEALS.get(dialect, ())]
    return [seal for seal in result if seal][:1]


def _tool(tool: dict[str, Any]) -> Facts:
    schema = "freeform" if tool.get("freeform") is not None else tool.get("parameters")
    return {"name": tool.get("name"), "description": tool.get("description") or None, "schema": schema}


def server_tool(tool: dict[str, Any]) -> Any:
    """A tool that the provider runs, as its own format has it."""
    raw = tool.get("raw")
    return {"google": camel, "anthropic": _unmarked}.get(word(tool.get("dialect")), _as_it_is)(raw)


def _as_it_is(value: Any) -> Any:
    return value


def _hosted_choice(body: Any) -> list[Any]:
    """The choice of a tool that the provider runs; only the members of its own dialect can say it."""
    choice = members(members(body.get("extra")).get("openai-responses")).get("tool_choice")
    return [choice] if choice else []


def _choice(choice: Any) -> Any:
    """The tool choice; None is `auto`, said or not."""
    named = members(choice)
    match named.get("type"):
        case "named_tool":
            return {"name": named.get("name")}
        case "allowed_tools":
            return allowed_choice(items(named.get("names")), named.get("mode", "auto"))
        case _:
            return None if choice == "auto" else choice


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    answer = members(body.get("partial")) if "error" in body else body
    choices = [answer, *objects(answer.get("alternatives"))]
    return {
        "model": word(answer.get("model")),
        "choices": [_answer(choice) for choice in choices],
        "usage": _usage(answer.get("usage")),
    }


def _answer(choice: dict[str, Any]) -> Facts:
    parts = objects(choice.get("parts"))
    refusal = "".join([word(part.get("text")) for part in parts if part.get("type") == "refusal"])
    return {
        "text": "".join([word(part.get("text")) for part in parts if part.get("type") == "text"]),
        "thinking": _thinking(parts),
        "seals": _seals(parts),
        "calls": [_call(part) for part in parts if part.get("type") in CALLS],
        "refusal": refusal or None,
        "finish_reason": _reason(choice.get("finish_reason"), refused=bool(refusal)),
        "media": [_media(part) for part in parts if part.get("type") in MEDIA],
    }


def _reason(reason: Any, *, refused: bool) -> Any:
    """The finish reason; a refusal without words is a filtered answer, as in the formats that have no words for it."""
    return "content_filter" if reason == "refusal" and not refused else reason


def _call(part: dict[str, Any]) -> Facts:
    arguments = part.get("arguments") if "arguments" in part else part.get("raw_arguments")
    return {"name": part.get("name"), "arguments": arguments_value(arguments)}


def _usage(usage: Any) -> Facts | None:
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return counted({name: members(usage).get(f"{name}_tokens") for name in names})


# Streams


def stream_facts(text: str) -> StreamFacts:
    """The facts of the answer that the end event holds, or of what came before an error or a cut."""
    blocks: dict[tuple[int, int], dict[str, Any]] = {}
    head: dict[str, Any] = {}
    for event in _events(text):
        match event.get("type"):
            case "stream_end":
                return StreamFacts(response_facts(event["response"]), "done", None, event["response"])
            case "stream_error":
                return _broken(_so_far(head, blocks), "error", error_facts(200, event))
            case "stream_start":
                head = {"model": event.get("model"), "id": event.get("id")}
            case "usage_update":
                head["usage"] = {**members(head.get("usage")), **members(event.get("usage"))}
            case _:
                _grow(blocks, event)
    return _broken(_so_far(head, blocks), "cut")


def _events(text: str) -> Iterator[dict[str, Any]]:
    for frame in re.split(r"\r?\n\r?\n", text):
        data = "\n".join([line[5:].removeprefix(" ") for line in frame.splitlines() if line.startswith("data:")])
        if data:
            yield members(json.loads(data))


def _grow(blocks: dict[tuple[int, int], dict[str, Any]], event: dict[str, Any]) -> None:
    key = (event.get("choice", 0), event.get("index", 0))
    match event.get("type"):
        case "block_start" if event.get("block") == "tool_call":
            blocks[key] = {"type": "broken_tool_call", "name": event.get("name"), "raw_arguments": ""}
        case "block_start":
            blocks[key] = {"type": event.get("block"), "text": ""}
        case "text_delta" | "thinking_delta" | "refusal_delta":
            blocks[key]["text"] += event["text"]
        case "tool_call_delta":
            blocks[key]["raw_arguments"] += event["arguments"]
        case "block_end":
            blocks[key] = members(event.get("part"))
        case _:
            pass


def _broken(body: Any, end: str, error: Facts | None = None) -> StreamFacts:
    return StreamFacts(response_facts(body), end, error, body)


def _so_far(head: dict[str, Any], blocks: dict[tuple[int, int], dict[str, Any]]) -> Any:
    number = 1 + max((choice for choice, _ in blocks), default=0)
    choices = [
        {"parts": [blocks[key] for key in sorted(blocks) if key[0] == choice], "finish_reason": "error"}
        for choice in range(number)
    ]
    return {**head, **choices[0], "alternatives": choices[1:]}


# Errors


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error body or event; None for a body that is none."""
    error = members(members(body).get("error"))
    if status < 400 and not error:
        return None
    kind = word(error.get("type"))
    name = "".join([step.capitalize() for step in kind.split("_")])
    return {"status": status if status >= 400 else error.get("status"), "class": name.replace("Api", "API")}


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "unified")
"""The readers of this format."""
