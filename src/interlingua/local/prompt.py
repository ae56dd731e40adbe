"""The conversation as a small model is shown it: plain turns of text, tools first.

Rules
- Tools and the caller's system text are one system turn at the head, the same for every turn of a conversation, so that
  the engine's prompt cache answers for it.
- A call is the JSON text that the grammar makes the model write; a result is a turn of the user that says whose it is.
- Adding a turn never changes the turns before it; neighbours of one role are one turn, as many templates want it.
- Text cannot forge a turn: control words of chat templates are taken apart.

Not responsible for: checking the request (`chat`), and for the template, which is the weights' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from interlingua.local.grammar import JsonSchema, ToolShape
from interlingua.wire import json

__all__ = ["Turn", "render", "shape_line"]

_CONTROL = re.compile(r"<(?=\|\w{1,40}\|>|/?s>|/?(?:start|end)_of_turn>)|\[(?=/?INST\])")
# The wording of these was measured with the smallest weights: see docs/guides/local.md.
_RESULT = "The answer of {name} is: {text}\nTell me the answer in one plain sentence."
_TOOLS = "Functions:\n{tools}\n"
_FITS = "Answer with the JSON of the function that fits."
_MAY_REPLY = f'{_FITS} Only if none fits, answer with {{"reply": "<your answer>"}}.'
_MAY_OUTPUT = f'{_FITS} Only if none fits, answer with {{{{"output": {{output}}}}}}.'
_OUTPUT = "Answer in JSON of this form:\n{output}"


class Turn(NamedTuple):
    """One turn as the template takes it."""

    role: str
    """system, user or assistant."""
    content: str
    """Its text."""


def render(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[ToolShape],
    *,
    reply: bool = True,
    output: JsonSchema | None = None,
) -> tuple[Turn, ...]:
    """The turns of a conversation whose `messages` are OpenAI's, with text alone."""
    head = [_instructions(tools, reply=reply, output=output)]
    rest: list[Turn] = []
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] in {"system", "developer"} and not rest:
            head.append(_text(message))
        else:
            rest.extend(_turns(message, names, wrapped=bool(tools) and reply))
    system = "\n\n".join(part for part in head if part)
    merged: list[Turn] = []
    for turn in [Turn("system", system), *rest] if system else rest:
        if merged and merged[-1].role == turn.role:
            merged[-1] = Turn(turn.role, f"{merged[-1].content}\n\n{turn.content}")
        else:
            merged.append(turn)
    return tuple(merged)


def shape_line(schema: JsonSchema, root: JsonSchema | None = None, depth: int = 0) -> str:
    """The form of what a schema describes, in a line: `{"city": <string>, "days": <integer>}`."""
    root = schema if root is None else root
    if isinstance(schema, bool) or depth > 6:
        return "<any>"
    if isinstance(target := schema.get("$ref"), str):
        # What `#/…` names in `root`; True, which says nothing, where there is none.
        node: Any = root
        for step in json.pointer_steps(target):
            node = cast("Mapping[str, Any]", node).get(step, True) if isinstance(node, Mapping) else True
        form = cast("JsonSchema", node) if isinstance(node, Mapping | bool) else True
        return shape_line(form, root, depth + 1)
    if "const" in schema:
        return json.encode(schema["const"]).decode()
    if isinstance(choices := schema.get("enum"), list):
        return "|".join(json.encode(choice).decode() for choice in cast("list[Any]", choices))
    for keyword in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(keyword), list):
            return " or ".join(shape_line(option, root, depth + 1) for option in cast("list[Any]", options))
    if isinstance(properties := schema.get("properties"), Mapping):
        members = cast("Mapping[str, Any]", properties).items()
        return "{" + ", ".join(f'"{name}": {shape_line(member, root, depth + 1)}' for name, member in members) + "}"
    if (items := schema.get("items")) is not None:
        return f"[{shape_line(items, root, depth + 1)}]"
    kind = schema.get("type", "any")
    name = "|".join(cast("list[str]", kind)) if isinstance(kind, list) else str(kind)
    return "{}" if name == "object" else f"<{name}>"


def _instructions(tools: Sequence[ToolShape], *, reply: bool, output: JsonSchema | None) -> str:
    form = "" if output is None else shape_line(output)
    if not tools:
        return _OUTPUT.format(output=form) if form else ""
    lines = "\n".join(f"- {_tool_line(tool)}" for tool in tools)
    if form:
        return _TOOLS.format(tools=lines) + _MAY_OUTPUT.format(output=form)
    return _TOOLS.format(tools=lines) + (_MAY_REPLY if reply else _FITS)


def _tool_line(tool: ToolShape) -> str:
    purpose = " ".join(tool.description.split())
    return f'{purpose} {{"name": "{tool.name}", "arguments": {shape_line(tool.parameters)}}}'.strip()


def _turns(message: Mapping[str, Any], names: dict[str, str], *, wrapped: bool) -> Iterable[Turn]:
    text = _text(message)
    match message["role"]:
        case "assistant":
            calls: list[str] = []
            for call in message.get("tool_calls") or ():
                function: Mapping[str, Any] = call["function"]
                names[str(call.get("id"))] = str(function["name"])
                name = json.encode(function["name"]).decode()
                calls.append(_defused(f'{{"name": {name}, "arguments": {function.get("arguments") or "{}"}}}'))
            content = f'{{"reply": {json.encode(text).decode()}}}' if wrapped and text and not calls else text
            yield Turn("assistant", "\n".join(part for part in (content, *calls) if part))
        case "tool":
            name = names.get(str(message.get("tool_call_id")), "the function")
            yield Turn("user", _RESULT.format(name=name, text=text))
        case "system" | "developer":
            yield Turn("system", text)
        case _:
            yield Turn("user", text)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return _defused(content)
    return _defused("".join(part.get("text", part.get("refusal", "")) for part in content or ()))


def _defused(text: str) -> str:
    """The text without the control words that templates are made of."""
    return _CONTROL.sub(lambda match: match[0] + " ", text)
