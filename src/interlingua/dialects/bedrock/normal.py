"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/bedrock.md lists them, a test holds each.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._normal import JsonObject, Rules, normalised, same_bytes, without_dull
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.json import decode_any

__all__ = ["RULES", "answer", "defaults", "normal_form", "output_format", "roles", "tools", "usage"]

VERBATIM = frozenset({"input", "json", "additionalModelResponseFields"})
"""Members whose inside is somebody else's."""
MEDIA = ("image", "document", "video", "audio")


def defaults(body: JsonObject) -> JsonObject:
    """A documented default is absent: no system text, no knobs, no stop sequences, and objects that say nothing."""
    config = body.get("inferenceConfig")
    if is_object(config):
        body["inferenceConfig"] = without_dull(config, {"stopSequences": []})
    dull: JsonObject = {
        "system": [], "inferenceConfig": {}, "additionalModelRequestFields": {}, "outputConfig": {}, "toolConfig": {},
        "requestMetadata": {},
    }  # fmt: skip
    return without_dull(body, dull)


def output_format(body: JsonObject) -> JsonObject:
    """A schema is what its text says."""
    config = body.get("outputConfig")
    form = config.get("textFormat") if is_object(config) else None
    structure = form.get("structure") if is_object(form) else None
    inner = structure.get("jsonSchema") if is_object(structure) else None
    if not is_object(inner) or not is_object(form) or not isinstance(inner.get("schema"), str):
        return body
    try:
        schema = decode_any(inner["schema"])
    except (DecodeError, LimitExceededError):
        return body
    form["structure"]["jsonSchema"] = {**inner, "schema": schema}
    return body


def tools(body: JsonObject) -> JsonObject:
    """An empty description of a tool is absent."""
    config = body.get("toolConfig")
    if not is_object(config) or not is_list(config.get("tools")):
        return body
    entries = [
        {**tool, "toolSpec": without_dull(tool["toolSpec"], {"description": ""})}
        if is_object(tool.get("toolSpec"))
        else tool
        for tool in config["tools"]
    ]
    return {**body, "toolConfig": {**config, "tools": entries}}


def roles(body: JsonObject) -> JsonObject:
    """Neighbours of one role are one message, results first; a turn that says nothing is absent."""
    if is_list(body.get("system")):
        body["system"] = _content(body["system"])
    if not is_list(body.get("messages")):
        return body
    messages: list[JsonObject] = []
    for message in body["messages"]:
        blocks = _content(message.get("content"))
        if not blocks:
            continue
        if messages and messages[-1].get("role") == message.get("role"):
            blocks = [*messages.pop()["content"], *blocks]
        if message.get("role") == "user":  # the results come first, each with its mark
            keys: list[bool] = []
            for block in blocks:
                keys.append(keys[-1] if "cachePoint" in block and keys else "toolResult" not in block)
            blocks = [block for _, block in sorted(zip(keys, blocks, strict=True), key=lambda pair: pair[0])]
        messages.append({**message, "content": blocks})
    return {**body, "messages": messages}


def _content(content: Any) -> list[JsonObject]:
    """A text of white space alone says nothing."""
    blocks = content if is_list(content) else []
    return [_block(block) for block in blocks if not isinstance(block.get("text"), str) or block["text"].strip()]


def _block(block: JsonObject) -> JsonObject:
    """Base64 is its bytes; a result that did not fail is one that says so; a mark of five minutes is the plain one."""
    if is_object(block.get("cachePoint")):
        return {**block, "cachePoint": without_dull(block["cachePoint"], {"ttl": "5m"})}
    for member in MEDIA:
        if is_object(block.get(member)):
            return {**block, member: _media(block[member])}
    if is_object(block.get("toolResult")):
        result = without_dull(block["toolResult"], {"status": "success"})
        return {**block, "toolResult": {**result, "content": _content(result.get("content"))}}
    if is_object(block.get("toolUse")):
        return {**block, "toolUse": {**block["toolUse"], "input": block["toolUse"].get("input", {})}}
    return block


def _media(media: JsonObject) -> JsonObject:
    source = media.get("source")
    if not is_object(source) or "bytes" not in source:
        return media
    return {**media, "source": {**source, "bytes": same_bytes(source["bytes"])}}


def answer(body: JsonObject) -> JsonObject:
    """The blocks of an answer, by the rules of content, and its role."""
    output = body.get("output")
    message = output.get("message") if is_object(output) else None
    if is_object(message) and is_object(output):
        content: list[JsonObject] = message.get("content") or []
        blocks = [_block(block) for block in content if block.get("text") != ""]
        body["output"] = {**output, "message": {"role": "assistant", **message, "content": blocks}}
    return body


def usage(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent, and so is the total."""
    counts = body.get("usage")
    if is_object(counts):
        body["usage"] = {name: value for name, value in counts.items() if value != 0 and name != "totalTokens"}
    return body


RULES: Rules = {
    "request": (output_format, tools, roles, defaults),
    "response": (answer, usage),
    "chunk": (usage,),
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
