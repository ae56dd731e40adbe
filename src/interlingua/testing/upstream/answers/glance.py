"""A request at a glance: enough for a model of few words to answer it.

Rules
- Only what is asked last counts: the last user text, the results after it, the tools, the choice, the schema.
- The rest of a request is the judge's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from interlingua.providers.example import example_of
from interlingua.testing.upstream.answers.say import Call, Say
from interlingua.testing.upstream.verdict import Asked
from interlingua.testing.wirefacts.bedrock import as_messages
from interlingua.testing.wirefacts.values import items, members, objects, word
from interlingua.wire.json import encode

__all__ = ["Glance", "answer", "glance"]

FEW_TOKENS = 16
"""A limit up to which an answer does not fit."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """A request at a glance."""

    text: str = ""
    """The last user text."""
    results: tuple[str, ...] = ()
    """The results of the calls of the turn before."""
    tools: dict[str, Any] = {}
    """Name -> schema of every function that may be called."""
    forced: bool = False
    """Whether a call is demanded."""
    parallel: bool = True
    """Whether there may be several calls."""
    schema: Any = None
    """The schema of the answer."""
    images: int = 0
    """How many images there are."""
    limit: int | None = None
    """The longest answer, in tokens."""
    thinks: bool = False
    """Whether a thought is asked for."""


def glance(dialect: str, request: Asked) -> Glance:
    """The request at a glance."""
    return _READERS[dialect](request.body)


def answer(dialect: str, request: Asked) -> Say:
    """The answer of a model of few words to the request, the same each time."""
    view = glance(dialect, request)
    thought = "Let me see." if view.thinks else ""
    if view.limit is not None and view.limit <= FEW_TOKENS:
        return Say(text="One two three", thinking=thought, finish="length", output_tokens=view.limit)
    if view.tools and (view.forced or not view.results) and (view.forced or _wants_a_tool(view)):
        return Say(calls=_calls(view), thinking=thought)
    if view.schema is not None:
        return Say(text=encode(example_of(members(view.schema))).decode(), thinking=thought)
    if view.results:
        return Say(text=f"The tools say: {'; '.join(view.results)}", thinking=thought)
    if view.images:
        return Say(text=f"I see {view.images} image.", thinking=thought)
    return Say(text="Hello from the strict upstream.", thinking=thought)


def _wants_a_tool(view: Glance) -> bool:
    return any(name in view.text for name in view.tools)


def _calls(view: Glance) -> tuple[Call, ...]:
    """A call of the tool that the text names, else of the first; two when the text asks for two."""
    name = next((name for name in view.tools if name in view.text), next(iter(view.tools)))
    call = Call(name, members(example_of(members(view.tools[name]))))
    return (call, call) if view.parallel and "twice" in view.text else (call,)


# One reader for each dialect


def _chat(body: dict[str, Any]) -> Glance:
    messages = objects(body.get("messages"))
    functions = {name: function for tool in objects(body.get("tools")) for name, function in _nested(tool)}
    choice = body.get("tool_choice")
    named = word(members(members(choice).get("function")).get("name"))
    return Glance(
        text=_last_text(messages),
        results=tuple(_text(message.get("content")) for message in _tail(messages, lambda m: m.get("role") == "tool")),
        tools=_chosen(functions, named, off=choice == "none"),
        forced=choice == "required" or bool(named),
        parallel=body.get("parallel_tool_calls") is not False,
        schema=members(members(body.get("response_format")).get("json_schema")).get("schema"),
        images=_count(messages, "image_url"),
        limit=body.get("max_completion_tokens") or body.get("max_tokens"),
    )


def _responses(body: dict[str, Any]) -> Glance:
    raw = body.get("input")
    elements = [{"role": "user", "content": raw}] if isinstance(raw, str) else objects(raw)
    functions = {
        word(tool.get("name")): tool.get("parameters") for tool in objects(body.get("tools")) if "name" in tool
    }
    choice = body.get("tool_choice")
    named = word(members(choice).get("name"))
    return Glance(
        text=_last_text(elements),
        results=tuple(
            _text(item.get("output")) for item in _tail(elements, lambda i: i.get("type") == "function_call_output")
        ),
        tools=_chosen(functions, named, off=choice == "none"),
        forced=choice == "required" or bool(named),
        parallel=body.get("parallel_tool_calls") is not False,
        schema=members(members(body.get("text")).get("format")).get("schema"),
        images=_count(elements, "input_image"),
        limit=body.get("max_output_tokens"),
        thinks=members(body.get("reasoning")).get("effort") not in (None, "none"),
    )


def _anthropic(body: dict[str, Any]) -> Glance:
    messages = objects(body.get("messages"))
    last = [block for message in messages[-1:] for block in objects(message.get("content"))]
    functions = {
        word(tool.get("name")): tool["input_schema"] for tool in objects(body.get("tools")) if "input_schema" in tool
    }
    choice = members(body.get("tool_choice"))
    return Glance(
        text=_last_text(messages),
        results=tuple(_text(block.get("content")) for block in last if block.get("type") == "tool_result"),
        tools=_chosen(functions, word(choice.get("name")), off=choice.get("type") == "none"),
        forced=choice.get("type") in ("any", "tool"),
        parallel=not choice.get("disable_parallel_tool_use"),
        schema=_output_format(body).get("schema"),
        images=_count(messages, "image"),
        limit=body.get("max_tokens"),
        thinks=members(body.get("thinking")).get("type") in ("enabled", "adaptive"),
    )


def _output_format(body: dict[str, Any]) -> dict[str, Any]:
    """The form of the output, under its name of today or under that of the beta `structured-outputs-2025-11-13`."""
    return members(members(body.get("output_config")).get("format")) or members(body.get("output_format"))


def _google(body: dict[str, Any]) -> Glance:
    contents = objects(body.get("contents"))
    last = [part for content in contents[-1:] for part in objects(content.get("parts"))]
    functions = {
        word(function.get("name")): function.get("parametersJsonSchema") or _lower(function.get("parameters"))
        for tool in objects(body.get("tools"))
        for function in objects(tool.get("functionDeclarations"))
    }
    choice = members(members(body.get("toolConfig")).get("functionCallingConfig"))
    names = [str(name) for name in items(choice.get("allowedFunctionNames"))]
    config = members(body.get("generationConfig"))
    mode = word(choice.get("mode")).upper()
    return Glance(
        text=" ".join(word(part.get("text")) for part in last),
        results=tuple(
            encode(members(part["functionResponse"]).get("response")).decode()
            for part in last
            if "functionResponse" in part
        ),
        tools={} if mode == "NONE" else {name: functions[name] for name in names or functions if name in functions},
        forced=mode == "ANY",
        schema=config.get("responseJsonSchema") or _lower(config.get("responseSchema")),
        images=sum("inlineData" in part for content in contents for part in objects(content.get("parts"))),
        limit=config.get("maxOutputTokens"),
        thinks=members(config.get("thinkingConfig")).get("includeThoughts") is True,
    )


def _ollama(body: dict[str, Any]) -> Glance:
    prompt = {"role": "user", "content": body.get("prompt"), "images": body.get("images")}
    messages = objects(body.get("messages")) or [prompt]
    functions = {name: function for tool in objects(body.get("tools")) for name, function in _nested(tool)}
    schema = body.get("format")
    return Glance(
        text=_last_text(messages),
        results=tuple(_text(message.get("content")) for message in _tail(messages, lambda m: m.get("role") == "tool")),
        tools=functions,
        schema=schema if isinstance(schema, dict) else None,
        images=sum(len(items(message.get("images"))) for message in messages),
        limit=members(body.get("options")).get("num_predict"),
        thinks=bool(body.get("think")),
    )


def _cohere(body: dict[str, Any]) -> Glance:
    messages = objects(body.get("messages"))
    functions = {name: function for tool in objects(body.get("tools")) for name, function in _nested(tool)}
    choice = body.get("tool_choice")
    blocks = [block for message in messages for block in objects(message.get("content"))]
    return Glance(
        text=_last_text(messages),
        results=tuple(_text(message.get("content")) for message in _tail(messages, lambda m: m.get("role") == "tool")),
        tools={} if choice == "NONE" else functions,
        forced=choice == "REQUIRED",
        schema=members(body.get("response_format")).get("json_schema"),
        images=sum(block.get("type") == "image_url" for block in blocks),
        limit=body.get("max_tokens"),
        thinks=members(body.get("thinking")).get("type") == "enabled",
    )


def _unified(body: dict[str, Any]) -> Glance:
    messages = objects(body.get("messages"))
    parts = [part for message in messages for part in objects(message.get("parts"))]
    last = objects((messages or [{}])[-1].get("parts"))
    functions: dict[str, Any] = {
        word(tool.get("name")): tool.get("parameters") or {} for tool in objects(body.get("tools"))
    }
    choice = body.get("tool_choice")
    named = word(members(choice).get("name"))
    latest = [message for message in messages if message.get("role") == "user"][-1:]
    return Glance(
        text=" ".join(word(m.get("content")) or _text(m.get("parts")) for m in latest),
        results=tuple(str(part.get("content")) for part in last if part.get("type") == "tool_result"),
        tools=_chosen(functions, named, off=choice == "none"),
        forced=choice == "required" or bool(named),
        parallel=body.get("parallel_tool_calls") is not False,
        schema=body.get("output_schema"),
        images=sum(part.get("type") == "image" for part in parts),
        limit=body.get("max_tokens"),
        thinks=body.get("effort") not in (None, "none"),
    )


_READERS: dict[str, Callable[[dict[str, Any]], Glance]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
    "cohere": _cohere,
    "bedrock": lambda body: _anthropic(as_messages(body)),
    "unified": _unified,
}


def _nested(tool: dict[str, Any]) -> list[tuple[str, Any]]:
    function = members(tool.get("function"))
    return [(word(function.get("name")), function.get("parameters"))] if function else []


def _chosen(functions: dict[str, Any], named: str, *, off: bool) -> dict[str, Any]:
    if off:
        return {}
    return {named: functions[named]} if named in functions else functions


def _last_text(messages: list[dict[str, Any]]) -> str:
    users = [message for message in messages if message.get("role") == "user"]
    return _text(users[-1].get("content")) if users else ""


def _text(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(word(part.get("text")) for part in objects(content))


def _tail(elements: list[dict[str, Any]], belongs: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The last elements that belong together."""
    tail: list[dict[str, Any]] = []
    for element in reversed(elements):
        if not belongs(element):
            break
        tail.insert(0, element)
    return tail


def _count(messages: list[dict[str, Any]], kind: str) -> int:
    return sum(part.get("type") == kind for message in messages for part in objects(message.get("content")))


def _lower(schema: Any) -> Any:
    """A schema with types in lower case: what Google's own form is to others."""
    if isinstance(schema, dict):
        return {
            name: item.lower() if name == "type" and isinstance(item, str) else _lower(item)
            for name, item in members(schema).items()
        }
    return [_lower(item) for item in items(schema)] if isinstance(schema, list) else schema
