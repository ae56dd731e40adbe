"""The deterministic fake behind `fake/…`: a pure function from a request to an answer that admits what it is.

Rules
- Tools are offered and the user spoke last: it calls one, with arguments of the tool's schema.
- A schema of the answer is given: it answers with a value of that schema.
- Otherwise it says that it is no model, and repeats what it was told; four characters of that are a token, and more
  than `max_tokens` of them are cut off.
"""

from __future__ import annotations

from typing import Any

from interlingua.dialects._contract import DecodedRequest
from interlingua.providers.example import example_of
from interlingua.types.content import Json, Part, TextPart, ToolCall
from interlingua.types.request import Request
from interlingua.types.response import FinishReason, Response
from interlingua.types.tool import AllowedTools, NamedTool, Tool
from interlingua.types.usage import Usage
from interlingua.wire.json import encode

__all__ = ["estimated_tokens", "fake_answer"]

TOKEN = 4
"""How many characters are one."""
MAX_ECHO = 200
"""How many characters of the last message are repeated."""


def fake_answer(decoded: DecodedRequest) -> Response[Any]:
    """The answer to a request, the same one every time."""
    request = decoded.request
    part = (
        _call(request)
        or _output(request)
        or TextPart(f"This is the fake of interlingua, not a model. {_summary(request)}")
    )
    finish: FinishReason = "tool_calls" if isinstance(part, ToolCall) else "stop"
    tokens, most = estimated_tokens(part), request.max_tokens
    if most is not None and isinstance(part, TextPart):
        if len(part.text) > most * TOKEN:
            part, finish = TextPart(part.text[: most * TOKEN]), "length"
        tokens = min(tokens, most)
    return Response(
        parts=(part,),
        finish_reason=finish,
        usage=Usage(input_tokens=estimated_tokens(request.messages), output_tokens=tokens),
        model=decoded.model,
        wire_model=decoded.model,
    )


def estimated_tokens(value: object) -> int:
    """A made-up token count: a quarter of the characters of the value's JSON."""
    return max(1, len(encode(value)) // TOKEN)


def _call(request: Request) -> ToolCall | None:
    tool = _tool(request)
    if tool is None or not request.messages or request.messages[-1].role != "user":
        return None
    number = sum(len(message.tool_calls) for message in request.messages)
    if tool.freeform is not None:
        return ToolCall(f"call_{number}", tool.name, encode({"input": "text"}).decode(), freeform=True)
    return ToolCall(f"call_{number}", tool.name, encode(example_of(tool.parameters) or {}).decode())


def _tool(request: Request) -> Tool | None:
    """The tool to call: the one that is named, or the first that may be called."""
    tools = {tool.name: tool for tool in request.tools if isinstance(tool, Tool)}
    match request.tool_choice:
        case "none":
            return None
        case NamedTool(name=name):
            return tools.get(name)
        case AllowedTools(names=names):
            return next((tools[name] for name in names if name in tools), None)
        case _:
            return next(iter(tools.values()), None)


def _output(request: Request) -> Part | None:
    if request.output_schema is not None:
        return TextPart(encode(example_of(request.output_schema)).decode())
    return TextPart("{}") if request.json_mode else None


def _summary(request: Request) -> str:
    if not request.messages:
        return "It was told nothing."
    last = request.messages[-1]
    if not last.tool_results:
        return f"It was told: {_short(last.text)}"
    match last.tool_results[0].content:
        case str(text):
            pass
        case Json(value=value):
            text = encode(value).decode()
        case parts:
            text = "".join([part.text for part in parts if isinstance(part, TextPart)])
    return f"The tool answered: {_short(text)}"


def _short(text: str) -> str:
    return text if len(text) <= MAX_ECHO else f"{text[:MAX_ECHO]}…"
