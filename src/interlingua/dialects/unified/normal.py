"""The normal form of bodies: two that have one normal form mean the same.

Shape: a parsed body in, a parsed body out; every rule is one function, told in docs/dialects/unified.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RULES", "absent_members", "normal_form", "plain_content", "result_names", "views"]

FREE = frozenset(
    {
        *("arguments", "parameters", "output_schema", "raw", "data", "value", "content", "metadata", "extra"),
        *("logit_bias", "changes", "attempts"),
    }
)
"""Members whose values are free, or said as they are: nothing in them is absent."""
ALWAYS_WRITTEN = FREE - {"extra", "changes", "attempts"} | {"freeform"}
"""Members that are said even when they are empty."""
SWITCHES = frozenset({"store", "thinking", "parallel_tool_calls", "strict", "schema_strict"})
"""Members whose false is said, and not what is meant by nothing."""
EMPTY: tuple[object, ...] = (None, False, [], {})
DEFAULTS: dict[str, object] = {"type": "tool", "choice": 0, "syntax": "text", "mode": "auto"}
"""Values that are the same as none; `type` only where a tool says it."""


def absent_members(body: object) -> object:
    """Null and false, empty lists and objects, and what the format itself takes for not said, are absent."""
    if is_list(body):
        return [absent_members(item) for item in body]
    if not is_object(body):
        return body
    inner = {name: value if name in FREE else absent_members(value) for name, value in body.items()}
    return {name: value for name, value in inner.items() if _is_said(name, value, body)}


def _is_said(name: str, value: object, body: dict[str, Any]) -> bool:
    if name in ALWAYS_WRITTEN:
        is_message = name == "content" and "role" in body
        return not (is_message and value in (None, "")) and (value is not None or name in ("content", "value", "raw"))
    if name in SWITCHES and value is False:
        return True
    if name in DEFAULTS and type(value) is type(DEFAULTS[name]) and value == DEFAULTS[name]:
        return False
    return not any(value == empty and type(value) is type(empty) for empty in EMPTY)


_NOTHING = object()


def views(body: object) -> object:
    """`text` and `tool_calls` of an answer say again what its parts say."""
    if is_list(body):
        return [views(item) for item in body]
    if not is_object(body):
        return body
    dropped = ("text", "tool_calls") if "finish_reason" in body else ()
    return {name: value if name in FREE else views(value) for name, value in body.items() if name not in dropped}


def _messages(body: dict[str, Any]) -> list[Any]:
    messages = body.get("messages")
    return messages if is_list(messages) else []


def plain_content(body: object) -> object:
    """`content` of a message, and a system text, are one text part."""
    if not is_object(body):
        return body
    messages = [_spelled(message) for message in _messages(body)]
    system = body.get("system")
    if isinstance(system, str):
        body = {**body, "system": [{"type": "text", "text": system}] if system else []}
    return {**body, "messages": messages}


def _spelled(message: Any) -> Any:
    if not is_object(message) or not isinstance(message.get("content"), str):
        return message
    rest = {name: value for name, value in message.items() if name != "content"}
    text = message["content"]
    return {**rest, "parts": [{"type": "text", "text": text}]} if text else rest


def result_names(body: object) -> object:
    """The name of a result is that of its call."""
    if not is_object(body):
        return body
    names: dict[str, object] = {}
    messages = [
        {**message, "parts": [_named_part(part, names) for part in message["parts"]]}
        if is_object(message) and is_list(message.get("parts"))
        else message
        for message in _messages(body)
    ]
    return {**body, "messages": messages}


def _named_part(part: Any, names: dict[str, object]) -> Any:
    if not is_object(part):
        return part
    if part.get("type") == "tool_call":
        names[str(part.get("id"))] = part.get("name")
    named = part.get("type") == "tool_result" and part.get("name") == names.get(str(part.get("tool_call_id")), _NOTHING)
    return {name: value for name, value in part.items() if name != "name"} if named else part


RULES: dict[str, tuple[Callable[[object], object], ...]] = {
    "request": (plain_content, result_names),
    "response": (views,),
    "chunk": (views,),
}
"""The rules of each kind of body, in the order in which they are applied, before absent members are left out."""


def normal_form(kind: str, body: object) -> object:
    """The normal form of a parsed body of that kind."""
    value = body
    for rule in RULES[kind]:
        value = rule(value)
    return absent_members(value)
