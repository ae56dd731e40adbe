"""Facts of Converse bodies: read as the Messages body that says the same.

Rules
- Converse has the blocks of Messages under other names; this module renames them, and `anthropic.py` reads them.
- A mark for the prompt cache stands behind what it marks; where that takes none, an empty text has it.
- Calls and results of the service's own tools are steps; a JSON result is its text.
- An answer does not name its model, and has no id.
- What a stream adds up to is a whole answer; it is done with `messageStop` after the stop of every
  block; behind it the counts may follow.

Source: wire/bedrock.md §1-§5.
"""

from __future__ import annotations

import json
from typing import Any

from interlingua.testing.wirefacts import anthropic
from interlingua.testing.wirefacts.errors import error_class
from interlingua.testing.wirefacts.values import (
    FactReader,
    Facts,
    StreamFacts,
    arguments_value,
    digest,
    is_broken,
    items,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = [
    "READER", "as_message", "as_messages", "assemble", "error_facts", "request_facts", "request_faults",
    "response_facts", "schema_of", "stream_facts",
]  # fmt: skip

STOP_REASONS = finish_words("bedrock")
TYPES = {
    "pdf": "application/pdf", "csv": "text/csv", "doc": "application/msword", "html": "text/html", "txt": "text/plain",
    "md": "text/markdown", "xls": "application/vnd.ms-excel",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "mov": "video/quicktime", "mkv": "video/x-matroska", "flv": "video/x-flv", "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp", "mpg": "video/mpeg",
}  # fmt: skip
SOUNDS = {"mp3": "audio/mpeg", "m4a": "audio/mp4", "mpga": "audio/mpeg"}


# Requests


def as_messages(body: Any, model: str | None = None) -> dict[str, Any]:
    """The Messages body that says what a request says."""
    body = members(body)
    config, fields = members(body.get("inferenceConfig")), members(body.get("additionalModelRequestFields"))
    output, tools = members(body.get("outputConfig")), members(body.get("toolConfig"))
    request = {
        "model": model,
        "system": _blocks(body.get("system"), "user"),
        "messages": [
            {"role": one.get("role"), "content": _blocks(one.get("content"), word(one.get("role")))}
            for one in objects(body.get("messages"))
        ],
        "tools": _tools(objects(tools.get("tools"))),
        "tool_choice": _choice(members(tools.get("toolChoice")), fields),
        "output_config": {"effort": output.get("effort"), "format": _format(output)},
        "max_tokens": config.get("maxTokens"),
        "temperature": config.get("temperature"),
        "top_p": config.get("topP"),
        "top_k": fields.get("top_k"),
        "stop_sequences": config.get("stopSequences"),
        "thinking": fields.get("thinking"),
        "service_tier": members(body.get("serviceTier")).get("type"),
    }
    return {name: value for name, value in request.items() if value not in (None, [], {})}


def _format(output: dict[str, Any]) -> dict[str, Any]:
    schema = _json_schema(output).get("schema")
    return {"type": "json_schema", "schema": json.loads(schema)} if isinstance(schema, str) else {}


def _json_schema(output: dict[str, Any]) -> dict[str, Any]:
    return members(members(members(output.get("textFormat")).get("structure")).get("jsonSchema"))


def schema_of(body: Any) -> dict[str, Any]:
    """The facts of a request's output schema: its text, its name, its description."""
    return _json_schema(members(members(body).get("outputConfig")))


def _choice(choice: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    own = members(fields.get("tool_choice"))
    if own:
        return own
    return next(({"type": kind, **members(value)} for kind, value in choice.items()), dict[str, Any]())


def _tools(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for entry in entries:
        spec = members(entry.get("toolSpec"))
        if spec:
            schema = members(spec.get("inputSchema")).get("json")
            definition = {
                "name": spec.get("name"),
                "description": spec.get("description"),
                "strict": spec.get("strict"),
            }
            tools.append({**definition, "input_schema": schema})
        elif "cachePoint" in entry and tools and "input_schema" in tools[-1]:
            tools[-1]["cache_control"] = _mark(entry["cachePoint"])
        else:
            tools.append({"type": next(iter(entry), "unknown"), **entry})
    return tools


def _mark(point: Any) -> dict[str, Any]:
    return {**members(point), "type": "ephemeral"}


def _blocks(content: Any, role: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for block in objects(content):
        if "cachePoint" not in block:
            converted = _block(block, role)
            blocks += [converted] if converted is not None else []
            continue
        if not blocks or blocks[-1].get("type") not in MARKED or "cache_control" in blocks[-1]:
            blocks.append({"type": "text", "text": ""})
        blocks[-1]["cache_control"] = _mark(block["cachePoint"])
    return blocks


MARKED = ("text", "image", "document", "tool_result", None)
MEDIA = ("image", "document", "video", "audio")


def _block(block: dict[str, Any], role: str) -> dict[str, Any] | None:
    for name in MEDIA:
        if name in block:
            return _media(name, members(block[name]), block)
    reasoning, guarded = members(block.get("reasoningContent")), members(members(block.get("guardContent")).get("text"))
    match block:
        case {"text": text}:
            return {"type": "text", "text": text} if text else None
        case {"citationsContent": {**cited}}:
            text = "".join([word(one.get("text")) for one in objects(cited.get("content"))])
            return {"type": "text", "text": text, "citations": items(cited.get("citations"))}
        case {"toolUse": {**call}}:
            if word(call.get("type")) not in ("", "tool_use"):
                return {"type": word(call["type"]), "toolUse": call}
            return {
                "type": "tool_use",
                "id": call.get("toolUseId"),
                "name": call.get("name"),
                "input": call.get("input", {}),
            }
        case {"toolResult": {**result}}:
            return _result(result, role)
        case _ if reasoning:
            return _thinking(reasoning)
        case _:
            return {"type": "text", "text": guarded["text"]} if "text" in guarded else block


def _thinking(reasoning: dict[str, Any]) -> dict[str, Any]:
    if "redactedContent" in reasoning:
        return {"type": "redacted_thinking", "data": reasoning["redactedContent"]}
    text = members(reasoning.get("reasoningText"))
    return {"type": "thinking", "thinking": word(text.get("text")), "signature": word(text.get("signature"))}


def _media(name: str, medium: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    source, form = members(medium.get("source")), word(medium.get("format"))
    kind = {
        "image": f"image/{form}",
        "audio": SOUNDS.get(form, f"audio/{form}"),
        "video": TYPES.get(form, form if "/" in form else f"video/{form}"),
        "document": TYPES.get(form or "txt", f"application/{form}"),
    }[name]
    if isinstance(source.get("text"), str):
        return {"type": "document", "source": {"type": "text", "media_type": kind, "data": source["text"]}}
    if isinstance(source.get("bytes"), str):
        data = {"type": "base64", "media_type": kind, "data": source["bytes"]}
        return {"type": "image" if name == "image" else "document", "source": data}
    return block


def _result(result: dict[str, Any], role: str) -> dict[str, Any]:
    if role == "assistant":
        return {"type": "bedrock_tool_result", "toolResult": result}
    content: list[dict[str, Any]] = []
    for part in objects(result.get("content")):
        if "json" in part:
            text = json.dumps(part["json"], ensure_ascii=False, separators=(",", ":"))
            content.append({"type": "text", "text": text})
        elif (converted := _block(part, role)) is not None:
            content.append(converted)
    failed = result.get("status") == "error"
    return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": content, "is_error": failed}


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    entries = objects(members(members(body).get("toolConfig")).get("tools"))
    ran = [entry for entry in entries if "toolSpec" not in entry and "cachePoint" not in entry]
    return {**anthropic.request_facts(as_messages(body, model)), "server_tools": ran}


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return anthropic.request_faults(as_messages(body))


# Answers


def as_message(body: Any) -> dict[str, Any]:
    """The Messages answer that says what an answer says, its stop reason aside."""
    body = members(body)
    usage = members(body.get("usage"))
    message = members(members(body.get("output")).get("message"))
    return {
        "content": _blocks(message.get("content"), "assistant"),
        "usage": {
            "input_tokens": usage.get("inputTokens"),
            "output_tokens": usage.get("outputTokens"),
            "cache_read_input_tokens": usage.get("cacheReadInputTokens"),
            "cache_creation_input_tokens": usage.get("cacheWriteInputTokens"),
        },
    }


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    message = as_message(body)
    facts = anthropic.response_facts(message)
    [choice] = facts["choices"]
    reason = STOP_REASONS.get(word(members(body).get("stopReason")), "other")
    if choice["calls"] and reason in ("stop", "other"):
        reason = "tool_calls"
    if reason == "tool_calls" and not choice["calls"]:
        reason = "stop"
    shown = [members(block.get("source")) for block in message["content"] if block.get("type") in ("image", "document")]
    media = [digest(word(source.get("media_type")), word(source.get("data"))) for source in shown]
    return {**facts, "model": None, "choices": [{**choice, "finish_reason": reason, "media": media}]}


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer; None for a body that is none."""
    error = members(body)
    if status < 400 and not (error.get("message") and "output" not in error):
        return None
    effective = status if status >= 400 else None
    return {"status": effective, "class": error_class(effective, body)}


# Streams

EXCEPTIONS = {
    "throttlingException": "RateLimitError",
    "serviceUnavailableException": "OverloadedError",
    "validationException": "BadRequestError",
}


def stream_facts(text: str) -> StreamFacts:
    """The facts of what the stream adds up to, how it ended, and by which error."""
    body, end, error = assemble(text)
    return StreamFacts(response_facts(body), end, error, body)


def assemble(text: str) -> tuple[Any, str, Any]:
    """The whole answer that the events make, how the stream ended (`done`, `cut`, `error`), and the error's facts."""
    answer, end = _Answer(), "cut"
    for line in text.split("\n"):
        for name, payload in members(json.loads(line or "{}")).items():
            if name.endswith("Exception"):
                kind = EXCEPTIONS.get(name, "InternalServerError")
                code = word(members(payload).get("code"))
                finer = error_class(400, payload) if code else kind
                return answer.body(), "error", {"status": None, "class": finer}
            answer.feed(name, members(payload))
            end = "done" if name == "messageStop" and not answer.open else end
    return answer.body(), end, None


class _Answer:
    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.pieces: dict[int, list[str]] = {}
        self.open: set[int] = set()

    def feed(self, name: str, payload: dict[str, Any]) -> None:
        index = payload.get("contentBlockIndex") or 0
        match name:
            case "contentBlockStop":
                self.open.discard(index)
            case "contentBlockStart":
                self.open.add(index)
                self.blocks[index] = {kind: dict(members(one)) for kind, one in members(payload.get("start")).items()}
            case "contentBlockDelta":
                self.open.add(index)
                self._delta(self.blocks.setdefault(index, {}), index, members(payload.get("delta")))
            case "messageStop" | "metadata":
                self.members |= {key: value for key, value in payload.items() if key != "p"}
            case _:
                pass

    def _delta(self, block: dict[str, Any], index: int, delta: dict[str, Any]) -> None:
        match delta:
            case {"text": text}:
                block["text"] = word(block.get("text")) + text
            case {"reasoningContent": {**more}}:
                _reason(block.setdefault("reasoningContent", {}), more)
            case {"toolUse": {"input": piece}}:
                self.pieces.setdefault(index, []).append(piece)
            case {"citation": citation}:
                block["citations"] = [*items(block.get("citations")), citation]
            case {"toolResult": content}:
                block["toolResult"]["content"] = [*items(block["toolResult"].get("content")), *content]
            case {"image": {"source": source}}:
                block["image"]["source"] = source
            case _:
                pass

    def body(self) -> Any:
        blocks = [self._block(index) for index in sorted(self.blocks)]
        return {**self.members, "output": {"message": {"role": "assistant", "content": blocks}}}

    def _block(self, index: int) -> dict[str, Any]:
        block = self.blocks[index]
        if "citations" in block:
            return {"citationsContent": {"content": [{"text": word(block.get("text"))}], **block}}
        if "toolUse" not in block:
            return block
        text = "".join(self.pieces.get(index, ())) or "{}"
        value = arguments_value(text)
        return {"toolUse": {**block["toolUse"], "input": text if is_broken(value) else value}}


def _reason(block: dict[str, Any], more: dict[str, Any]) -> None:
    if "redactedContent" in more:
        block["redactedContent"] = more["redactedContent"]
        return
    text = block.setdefault("reasoningText", {"text": ""})
    text["text"] += word(more.get("text"))
    if "signature" in more:
        text["signature"] = more["signature"]


READER = FactReader(request_facts, request_faults, response_facts, stream_facts, error_facts, "bedrock")
"""The readers of the dialect."""
