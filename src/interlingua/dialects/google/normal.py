"""The normal form N: two bodies with one normal form mean the same to this dialect.

The rules, one function each; docs/dialects/google.md lists them, a test holds each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._normal import JsonObject, Rules, normalised, same_bytes, without
from interlingua.dialects.google.schemas import to_json_schema
from interlingua.types.tool import EMPTY_PARAMETERS
from interlingua.wire.media import media_type_of

__all__ = [
    "RULES",
    "candidates",
    "cases",
    "contents",
    "declarations",
    "defaults",
    "instruction",
    "normal_form",
    "output_schema",
    "path",
    "tool_config",
    "usage",
]

VERBATIM = frozenset(
    {
        *("args", "response", "labels", "parameters"),
        *("parametersJsonSchema", "responseSchema", "responseJsonSchema"),
        *("parameters_json_schema", "response_schema", "response_json_schema"),
    }
)
"""Members whose inside is somebody else's."""
_SNAKE = re.compile(r"_([a-z])")


def cases(body: JsonObject) -> JsonObject:
    """Snake case is camel case, except inside those."""
    named = {_SNAKE.sub(lambda match: match[1].upper(), name): value for name, value in body.items()}
    return {name: value if name in VERBATIM else _cased(value) for name, value in named.items()}


def _cased(value: Any) -> Any:
    if is_list(value):
        return [_cased(item) for item in value]
    return cases(value) if is_object(value) else value


def path(body: JsonObject) -> JsonObject:
    """The model in the body is the one in the path."""
    return without(body, {"model"})


EMPTY = frozenset(
    {"tools", "generationConfig", "toolConfig", "cachedContent", "candidates", "modelVersion", "responseId"}
)
"""Members that say nothing when they are empty."""


def defaults(body: JsonObject) -> JsonObject:
    """Empty lists of tools, stop sequences and candidates, and empty objects of settings, are absent.

    So is the wish for no log probabilities.
    """
    config: Any = body.get("generationConfig")
    if is_object(config):
        hollow = ("thinkingConfig", "stopSequences", "responseLogprobs")
        dull = [name for name in hollow if name in config and not config[name]]
        body["generationConfig"] = without(config, dull)
    return {name: value for name, value in body.items() if not (name in EMPTY and not value)}


def _listed(value: Any) -> list[Any]:
    """A single object stands for a list of one."""
    return value if is_list(value) else [value] if value is not None else []


def instruction(body: JsonObject) -> JsonObject:
    """A system instruction has no role; a string is one text part; without parts it is absent."""
    system = body.pop("systemInstruction", None)
    content = {"parts": [{"text": system}]} if isinstance(system, str) else system
    if is_object(content):
        parts = _parts(content.get("parts"))
        rest = without(content, {"role", "parts"})
        if parts or rest:
            body["systemInstruction"] = {**rest, "parts": parts}
    return body


def contents(body: JsonObject) -> JsonObject:
    """Neighbours of one role are one content; `function`, `tool` and no role are `user`."""
    if "contents" not in body:
        return body
    read: list[JsonObject] = []
    for content in _listed(body["contents"]):
        if is_object(content):
            role = content.get("role") or "user"
            parts = _parts(content.get("parts"))
            read.append({**content, "role": "user" if role in ("function", "tool") else role, "parts": parts})
    merged: list[JsonObject] = []
    for _, group in groupby(read, lambda content: content["role"]):
        same = list(group)
        rest = {name: value for content in same for name, value in content.items()}
        merged.append({**rest, "parts": [part for content in same for part in content["parts"]]})
    body["contents"] = merged
    return body


def _parts(parts: Any) -> list[Any]:
    """An empty text without a signature is no part."""
    return [
        _part(part)
        for part in _listed(parts)
        if not (is_object(part) and not part.get("text") and part.keys() <= {"text", "thought"})
    ]


def _part(part: object) -> object:
    if not is_object(part):
        return part
    if part.keys() <= {"thoughtSignature", "thought"}:
        part = {"text": "", **part}
    if part.get("thought") is False:
        part = without(part, {"thought"})
    reader = next((reader for name, reader in _MEMBERS.items() if name in part), None)
    return reader(part) if reader is not None else part


def _call(part: JsonObject) -> JsonObject:
    """A call without arguments has none."""
    return {**part, "functionCall": {"args": {}, **part["functionCall"]}}


def _result(part: JsonObject) -> JsonObject:
    """The value of a result is its `output` or its `error`; where it says nothing, an empty text or its parts."""
    result: JsonObject = part["functionResponse"]
    response = result.get("response")
    if not is_object(response):
        outcome: Any = (
            {"output": "" if response is None else response}
            if response is not None or not result.get("parts")
            else None
        )
    else:
        failed = response.get("error") is not None and "output" not in response
        alone = response.keys() == {"output"} or (failed and len(response) == 1)
        outcome = {"error" if failed else "output": next(iter(response.values())) if alone else response}
    parts = {"parts": _parts(result["parts"])} if result.get("parts") else {}
    return {**part, "functionResponse": {**without(result, {"response", "parts"}), "response": outcome, **parts}}


def _blob(part: JsonObject) -> JsonObject:
    """Base64 is its bytes; a type is in small letters, and under its one name."""
    blob: JsonObject = part["inlineData"]
    media_type = media_type_of(str(blob.get("mimeType", "application/octet-stream")).lower())
    return {**part, "inlineData": {**blob, "mimeType": media_type, "data": same_bytes(blob.get("data", ""))}}


_MEMBERS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _blob,
}


def declarations(body: JsonObject) -> JsonObject:
    """The declarations of all tools are one list, each other key a tool of its own; schemas are JSON Schema.

    No parameters are those of an empty object.
    """
    if "tools" not in body:
        return body
    entries = [entry for entry in _listed(body["tools"]) if is_object(entry)]
    declared: list[JsonObject] = []
    for tool in [tool for entry in entries for tool in entry.get("functionDeclarations") or ()]:
        schema = tool.get("parametersJsonSchema", to_json_schema(tool.get("parameters")))
        rest = without(tool, {"parameters", "parametersJsonSchema"})
        declared.append({**rest, "parametersJsonSchema": EMPTY_PARAMETERS if schema is None else schema})
    other = [{name: value} for entry in entries for name, value in entry.items() if name != "functionDeclarations"]
    body["tools"] = [*([{"functionDeclarations": declared}] if declared else []), *other]
    return body


def tool_config(body: JsonObject) -> JsonObject:
    """The mode `AUTO` is absent where it names no functions; modes are in capitals."""
    config = body.get("toolConfig")
    if not is_object(config):
        return body
    calling: JsonObject = dict(config.get("functionCallingConfig") or {})
    if "mode" in calling:
        calling["mode"] = str(calling["mode"]).upper()
    if not calling.get("allowedFunctionNames"):
        calling = without(calling, {"allowedFunctionNames"})
    if calling == {"mode": "AUTO"}:
        calling = {}
    rest = without(config, {"functionCallingConfig"})
    body["toolConfig"] = {**rest, **({"functionCallingConfig": calling} if calling else {})}
    return body


def output_schema(body: JsonObject) -> JsonObject:
    """`responseSchema` is `responseJsonSchema`, and a schema means JSON; levels of thinking are in capitals."""
    config = body.get("generationConfig")
    if not is_object(config):
        return body
    config = dict(config)
    if "responseSchema" in config:
        config["responseJsonSchema"] = to_json_schema(config.pop("responseSchema"))
    if "responseJsonSchema" in config:
        config.setdefault("responseMimeType", "application/json")
    thinking = config.get("thinkingConfig")
    if is_object(thinking) and isinstance(thinking.get("thinkingLevel"), str):
        config["thinkingConfig"] = {**thinking, "thinkingLevel": thinking["thinkingLevel"].upper()}
    body["generationConfig"] = config
    return body


def candidates(body: JsonObject) -> JsonObject:
    """A candidate is known by its place; its role is the model's; without parts it has no content."""
    if not is_list(body.get("candidates")):
        return body
    whole: list[JsonObject] = []
    for candidate in body["candidates"]:
        content: JsonObject = candidate.get("content") or {}
        parts = _parts(content.get("parts"))
        rest = without(content, {"role", "parts"})
        bare = {**rest, **({"parts": parts} if parts else {})}
        whole.append({**without(candidate, {"content", "index"}), **({"content": bare} if bare else {})})
    body["candidates"] = whole
    return body


def usage(body: JsonObject) -> JsonObject:
    """A count of 0 tokens is absent; the total is the sum."""
    metadata = body.get("usageMetadata")
    if not is_object(metadata):
        return body
    counts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    total = sum([metadata.get(name) or 0 for name in counts])
    counted = {name: value for name, value in {"totalTokenCount": total, **metadata}.items() if value != 0}
    body["usageMetadata"] = counted
    if not counted:
        del body["usageMetadata"]
    return body


ANSWER = (cases, defaults, candidates, usage)
RULES: Rules = {
    "request": (cases, path, instruction, contents, declarations, tool_config, output_schema, defaults),
    "response": ANSWER,
    "chunk": ANSWER,
}
"""The rules by kind of body, in order."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body; `kind` is request, response or chunk."""
    return normalised(body, RULES[kind], VERBATIM)
