"""Canonical requests and answers, each of which shows one thing, for the golden files of what they become on a wire."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Literal, cast

from msgspec.structs import replace

from interlingua.dialects._contract import EncodeOptions, Facts, Quirks, Target
from interlingua.types.capability import Capability
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Part,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, Role
from interlingua.types.request import Request, ServerState
from interlingua.types.response import Alternative, FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage

__all__ = ["OWN_SEALS", "answers", "requests", "rich_requests", "targets"]

PNG = b"\x89PNG\r\n\x1a\n"
PDF = b"%PDF-1.7"
WAV = b"RIFF\x04\x00\x00\x00WAVE"
OWN_SEALS: dict[str, dict[str, Any]] = {
    "openai-chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "gAAA"}]},
    "openai-responses": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    "anthropic": {"signature": "EqQB"},
    "google": {"thoughtSignature": "c2ln"},
}
"""Sealed state as each dialect has it."""
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ZONE = {"type": "object", "properties": {"tz": {"type": ["string", "null"], "default": None}}}
TIME = {
    "type": "object",
    "properties": {"time": {"type": "string"}},
    "required": ["time"],
    "additionalProperties": False,
}
WEATHER_TOOL = Tool(name="get_weather", description="Current weather", parameters=CITY)
TIME_TOOL = Tool(name="get_time", description="Local time", parameters=ZONE)
CALL_1 = ToolCall("call_1", "get_weather", '{"city": "Oslo"}')
CALL_2 = ToolCall("call_2", "get_time", "{}")
RESULT_1 = ToolResult("call_1", "get_weather", "4 degrees")
RESULT_2 = ToolResult("call_2", "get_time", "12:00")


def said(role: Role, *parts: Part | str, **members: Any) -> Message:
    """A message; a text is a part."""
    return Message(role, tuple(TextPart(part) if isinstance(part, str) else part for part in parts), **members)


HELLO = (said("user", "Hello"),)
CALLED = (said("user", "Both?"), said("assistant", CALL_1, CALL_2), said("tool", RESULT_1, RESULT_2))
TOOLS = (WEATHER_TOOL, TIME_TOOL)


def requests() -> Iterator[tuple[str, Request, EncodeOptions]]:
    """Name, request, and how it is to be encoded."""
    for name, request in (*_conversations(), *_results(), *_tools(), *_knobs(), *_foreign()):
        yield name, request, EncodeOptions(target=Target(model="m"))
    everything: frozenset[Capability] = frozenset(typing.get_args(Capability))
    for name, request in (*_conversations(), *_results(), *_foreign()):
        yield f"{name}, all allowed", request, EncodeOptions(target=Target(model="m"), allow=everything)
    for name, request in _histories():
        yield name, request, EncodeOptions(target=Target(model="m"))
        yield f"{name}, repaired", request, EncodeOptions(target=Target(model="m"), history="mend")
    yield "streamed", Request(messages=HELLO), EncodeOptions(target=Target(model="m"), stream=True)
    counted = EncodeOptions(target=Target(model="m"), stream=True, stream_usage=True)
    yield "streamed with counts", Request(messages=HELLO), counted


def _conversations() -> Iterator[tuple[str, Request]]:
    image, document, audio = (
        ImagePart(PNG, "image/png"),
        DocumentPart(PDF, "application/pdf"),
        AudioPart(WAV, "audio/wav"),
    )
    yield "text", Request(messages=HELLO)
    yield "no messages", Request()
    yield "several texts", Request(messages=(said("user", "One.", "Two."), said("user", "Three.")))
    yield "system", Request(messages=HELLO, system=(TextPart("Be brief."),))
    yield "system of two", Request(messages=HELLO, system=(TextPart("Be brief."), TextPart("Be kind.")))
    yield "system message first", Request(messages=(said("system", "Be brief."), *HELLO))
    yield (
        "system message later",
        Request(messages=(*HELLO, said("assistant", "Hi."), said("system", "Be brief."), *HELLO)),
    )
    yield "turns", Request(messages=(*HELLO, said("assistant", "Hi."), said("user", "Bye.")))
    yield "assistant first", Request(messages=(said("assistant", "Hi."), *HELLO))
    yield "assistant last", Request(messages=(*HELLO, said("assistant", "I think")))
    yield "assistant twice", Request(messages=(*HELLO, said("assistant", "Hi."), said("assistant", "Ho."), *HELLO))
    yield "empty text", Request(messages=(said("user", ""), said("assistant", ""), *HELLO))
    yield "named", Request(messages=(said("user", "Hello", name="ada"),))
    yield "image", Request(messages=(said("user", "What?", image),))
    yield "image with detail", Request(messages=(said("user", ImagePart(PNG, "image/png", "high")),))
    yield "document", Request(messages=(said("user", document),))
    yield "document with a name", Request(messages=(said("user", DocumentPart(PDF, "application/pdf", "a.pdf")),))
    yield "text document", Request(messages=(said("user", DocumentPart(b"Hi", "text/plain", "a.txt")),))
    yield "video", Request(messages=(said("user", DocumentPart(b"\0\0", "video/mp4")),))
    yield "audio", Request(messages=(said("user", audio),))
    yield "photo", Request(messages=(said("user", ImagePart(b"\xff\xd8\xff\xe0", "image/jpeg")),))
    for kind in ("json", "xml", "yaml", "javascript"):
        yield f"{kind} document", Request(messages=(said("user", DocumentPart(b"0", f"application/{kind}", "a")),))
    yield "audio without a short name", Request(messages=(said("user", AudioPart(b"0", "audio/opus")),))
    yield "audio of another type", Request(messages=(said("user", AudioPart(b"ID3", "audio/mpeg")),))
    yield "image of the assistant", Request(messages=(*HELLO, said("assistant", image), *HELLO))
    yield (
        "audio of the assistant",
        Request(messages=(*HELLO, said("assistant", AudioPart(WAV, "audio/wav", "Hi.")), *HELLO)),
    )
    yield "document of the assistant", Request(messages=(*HELLO, said("assistant", document), *HELLO))
    yield "refusal", Request(messages=(*HELLO, said("assistant", RefusalPart("No.")), *HELLO))
    yield "thinking", Request(messages=(*HELLO, said("assistant", ThinkingPart("Hm."), "Hi."), *HELLO))
    yield "thinking alone", Request(messages=(*HELLO, said("assistant", ThinkingPart("Hm.")), *HELLO))
    cited = TextPart("See.", annotations=(Citation("openai-chat", {"type": "url_citation"}),))
    yield "annotations", Request(messages=(*HELLO, said("assistant", cited), *HELLO))
    broken = BrokenToolCall("call_1", "get_time", '{"tz":', "cut_off")
    yield "broken call without a result", Request(messages=(*HELLO, said("assistant", broken), *HELLO))
    result = ToolResult("call_1", "get_time", "No such arguments.", is_error=True)
    yield "broken call", Request(messages=(*HELLO, said("assistant", broken), said("tool", result)))


def _results() -> Iterator[tuple[str, Request]]:
    def answered(content: Any, **members: Any) -> Request:
        result = ToolResult("call_2", "get_time", content, **members)
        return Request(messages=(*HELLO, said("assistant", CALL_2), said("tool", result)))

    image = ImagePart(PNG, "image/png")
    yield "results", Request(messages=CALLED, tools=TOOLS)
    yield "results apart", Request(messages=(*CALLED[:2], said("tool", RESULT_1), said("tool", RESULT_2)))
    yield "results in another order", Request(messages=(*CALLED[:2], said("tool", RESULT_2, RESULT_1)))
    yield "words beside results", Request(messages=(*CALLED[:2], said("tool", RESULT_1, "Mild.", RESULT_2, "So?")))
    yield "results, then words", Request(messages=(*CALLED, said("user", "So?")))
    yield (
        "words before a call",
        Request(messages=(*HELLO, said("assistant", "Hm.", CALL_2, "So."), said("tool", RESULT_2))),
    )
    yield "failed result", answered("No clock.", is_error=True)
    yield "failed result that says so", answered("ERROR: No clock.", is_error=True)
    yield "result that begins like an error", answered("ERROR: none")
    yield "failed result without words", answered("", is_error=True)
    yield "empty result", answered("")
    yield "value as a result", answered(Json({"hour": 12}))
    yield "failed value as a result", answered(Json({"code": 7}), is_error=True)
    yield "value with a reference", answered(Json({"$ref": "#/a"}))
    yield "list as a result", answered(Json([1, 2]))
    yield "null as a result", answered(Json(None))
    yield "texts as a result", answered((TextPart("One."), TextPart("Two.")))
    yield "image as a result", answered((TextPart("See."), image))
    yield "image alone as a result", answered((image,))
    yield "document as a result", answered((DocumentPart(PDF, "application/pdf", "a.pdf"),))
    yield "audio as a result", answered((AudioPart(WAV, "audio/wav"),))
    yield "failed image as a result", answered((image,), is_error=True)
    yield "failed words and image as a result", answered((TextPart("Dark."), image), is_error=True)
    yield "marked result", answered("12:00", cache="5m")
    yield "value among parts", answered((Json({"hour": 12}), image))
    freeform = ToolCall("call_1", "patch", '{"input": "*** Begin"}', freeform=True)
    tool = Tool(name="patch", description="Patches", freeform=Freeform("lark", "start: /.+/"))
    result = said("tool", ToolResult("call_1", "patch", "Done."))
    yield "freeform call", Request(messages=(*HELLO, said("assistant", freeform), result), tools=(tool,))


def _tools() -> Iterator[tuple[str, Request]]:
    def offered(*tools: Tool | OpaqueTool, **members: Any) -> Request:
        return Request(messages=HELLO, tools=tools, **members)

    yield "tools", offered(*TOOLS)
    yield "tool without words", offered(Tool(name="now"))
    yield (
        "tool with an odd name",
        offered(Tool(name="get.time/now ü", description="Now"), Tool(name="x" * 70, description="Long")),
    )
    yield (
        "strict tools",
        offered(
            Tool(name="now", description="Now", parameters=TIME, strict=True),
            Tool(name="then", description="Then", parameters=TIME, strict=True),
        ),
    )
    yield "one strict tool", offered(Tool(name="now", description="Now", parameters=TIME, strict=True), TIME_TOOL)
    yield "tools that are not strict", offered(Tool(name="now", description="Now", parameters=CITY, strict=False))
    yield "marked tool", offered(Tool(name="now", description="Now", parameters=CITY, cache="1h"), TIME_TOOL)
    yield "freeform tool", offered(Tool(name="patch", description="Patches", freeform=Freeform()))
    yield (
        "freeform tool with a grammar",
        offered(Tool(name="patch", description="Patches", freeform=Freeform("regex", "a+"))),
    )
    for choice in ("auto", "none", "required"):
        yield f"choice {choice}", offered(*TOOLS, tool_choice=choice)
        yield f"choice {choice} without tools", offered(tool_choice=choice)
    yield "choice by name", offered(*TOOLS, tool_choice=NamedTool("get_time"))
    yield "choice of one", offered(*TOOLS, tool_choice=AllowedTools(("get_time",)))
    yield "choice of one that must be", offered(*TOOLS, tool_choice=AllowedTools(("get_time",), "required"))
    yield "choice of both", offered(*TOOLS, tool_choice=AllowedTools(("get_time", "get_weather")))
    yield "parallel", offered(*TOOLS, parallel_tool_calls=True)
    yield "one call at a time", offered(*TOOLS, parallel_tool_calls=False)
    yield "one call at a time that must be", offered(*TOOLS, parallel_tool_calls=False, tool_choice="required")
    yield "schema", Request(messages=HELLO, output_schema=TIME)
    named: dict[str, Any] = {"schema_name": "trip", "schema_description": "A trip", "schema_strict": True}
    yield "schema with a name", Request(messages=HELLO, output_schema=TIME, **named)
    yield "schema that is not strict", Request(messages=HELLO, output_schema=CITY, schema_strict=False)
    yield "schema and tools", offered(*TOOLS, output_schema=TIME)
    yield "JSON mode", Request(messages=HELLO, json_mode=True)
    yield "JSON mode and system", Request(messages=HELLO, json_mode=True, system=(TextPart("Be brief."),))


def _knobs() -> Iterator[tuple[str, Request]]:
    values: dict[str, Any] = {
        "max_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.1,
        "stop": ("END", "\n\n"),
        "seed": 7,
        "presence_penalty": 0.25,
        "frequency_penalty": -0.25,
        "logit_bias": {"50256": -100},
        "logprobs": 2,
        "n": 2,
        "verbosity": "low",
        "service_tier": "flex",
        "user": "u-1",
        "metadata": {"team": "a"},
        "store": True,
        "cache_key": "k-1",
    }
    for name, value in values.items():
        yield name, Request(messages=HELLO, **{name: value})
    for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max"):
        yield f"effort {effort}", Request(messages=HELLO, effort=effort)
    for summary in ("none", "auto", "concise", "detailed"):
        yield f"thinking_summary {summary}", Request(messages=HELLO, thinking_summary=summary)
    yield "thinking on", Request(messages=HELLO, thinking=True)
    yield "thinking off", Request(messages=HELLO, thinking=False)
    yield "thinking_budget", Request(messages=HELLO, thinking_budget=2000)
    yield "thinking_budget and max_tokens", Request(messages=HELLO, thinking_budget=2000, max_tokens=1000)
    yield "effort and budget", Request(messages=HELLO, effort="high", thinking_budget=2000)
    yield (
        "effort and sampling",
        Request(messages=HELLO, effort="high", temperature=0.5, top_k=3, tool_choice="required"),
    )
    yield "temperature over one", Request(messages=HELLO, temperature=1.5)
    yield "store off", Request(messages=HELLO, store=False)
    yield "logprobs alone", Request(messages=HELLO, logprobs=0)
    yield "temperature and top_p", Request(messages=HELLO, temperature=0.5, top_p=0.9)
    for cache in ("auto", "5m", "1h"):
        yield f"cache {cache}", Request(messages=CALLED, tools=TOOLS, cache=cache, system=(TextPart("Be brief."),))
    marked = said("user", TextPart("Hello", cache="5m"), ImagePart(PNG, "image/png", cache="1h"))
    yield "marked parts", Request(messages=(marked,), system=(TextPart("Be brief.", cache="1h"),))


def _foreign() -> Iterator[tuple[str, Request]]:
    for name, data in OWN_SEALS.items():
        sealed = Sealed(name, data, "p", "m")
        thinking, call = ThinkingPart("Hm.", sealed), ToolCall("call_2", "get_time", "{}", sealed=sealed)
        turn = said("assistant", thinking, TextPart("Hi.", sealed=sealed), call)
        yield f"sealed by {name}", Request(messages=(*HELLO, turn, said("tool", RESULT_2)))
        yield (
            f"empty thinking of {name}",
            Request(messages=(*HELLO, said("assistant", ThinkingPart("", sealed)), *HELLO)),
        )
        yield (
            f"opaque part of {name}",
            Request(messages=(said("user", "Hi", OpaquePart(name, "new", {"type": "new"})),)),
        )
        reference = OpaquePart(name, "media_ref", {"type": "image", "fileData": {"fileUri": "gs://a"}})
        yield f"reference of {name}", Request(messages=(said("user", "See.", reference),))
        turn = said("assistant", OpaquePart(name, "server_call", {"type": "server_call"}), "Hi.")
        yield f"opaque turn of {name}", Request(messages=(*HELLO, turn, *HELLO))
        yield (
            f"tool of {name}",
            Request(messages=HELLO, tools=(OpaqueTool(name, "search", {"type": "search"}), TIME_TOOL)),
        )
        system = Message("system", (TextPart("Be brief."),), "ada", {name: {"new_member": 1}})
        yield f"system message of {name}", Request(messages=(system, *HELLO))
        yield f"state of {name}", Request(messages=HELLO, continues=ServerState(name, {"id": "x"}))
        extra = {name: {"new_member": 1}}
        text = TextPart("Hello", extra=extra)
        message = Message("user", (text,), extra=extra)
        yield (
            f"members of {name}",
            Request(messages=(message,), tools=(Tool(name="now", description="Now", extra=extra),), extra=extra),
        )


def _histories() -> Iterator[tuple[str, Request]]:
    yield "missing result", Request(messages=(*CALLED[:2], said("tool", RESULT_1), said("user", "So?")))
    yield "no result at the end", Request(messages=CALLED[:2])
    yield "orphan result", Request(messages=(*HELLO, said("tool", RESULT_1)))
    yield "result twice", Request(messages=(*CALLED[:2], said("tool", RESULT_1, RESULT_1, RESULT_2)))
    yield "one id twice", Request(messages=(*CALLED, *CALLED))
    named = ToolCall("call_1", "get_time", "{}")
    yield "one id for two tools", Request(messages=(*HELLO, said("assistant", CALL_1, named), said("tool", RESULT_1)))


# Targets


def targets() -> Iterator[tuple[str, Target]]:
    """Each quirk and each fact alone, with each of its values."""
    for field, kind in typing.get_type_hints(Quirks).items():
        for value in _values(field, kind):
            yield f"quirk {field} {_shown(value)}", Target(model="m", provider="p", quirks=Quirks(**{field: value}))
    for field, kind in typing.get_type_hints(Facts).items():
        for value in _values(field, kind):
            yield f"fact {field} {_shown(value)}", Target(model="m", provider="p", facts=Facts(**{field: value}))
    budgets = Facts(efforts=frozenset(), thinking=frozenset({"enabled", "disabled"}))
    yield "budgets and no efforts", Target(model="m", provider="p", facts=budgets)


def rich_requests() -> Iterator[tuple[str, Request]]:
    """Requests in which every quirk and fact has something to change."""
    image, document, audio = (
        ImagePart(PNG, "image/png"),
        DocumentPart(PDF, "application/pdf", "a.pdf"),
        AudioPart(WAV, "audio/wav"),
    )
    seals = {name: Sealed(name, data, "p", "m") for name, data in OWN_SEALS.items()}
    sampling: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.25, "frequency_penalty": 0.5}
    knobs: dict[str, Any] = {"max_tokens": 100, "stop": ("END",), "seed": 7, "user": "u-1", "service_tier": "flex"}
    yield "knobs", Request(messages=HELLO, system=(TextPart("Be brief."),), effort="high", **sampling, **knobs)
    choice = AllowedTools(("get_time",), "required")
    odd = Tool(name="get.time-now", description="Now", strict=True)
    yield "tools", Request(messages=HELLO, tools=(*TOOLS, odd), tool_choice=choice, parallel_tool_calls=True)
    yield "named choice", Request(messages=HELLO, tools=(*TOOLS, Tool(name="now")), tool_choice=NamedTool("get_time"))
    yield "no choice", Request(messages=HELLO, tools=TOOLS, tool_choice="none")
    freeform = Tool(name="patch", description="Patches", freeform=Freeform("lark", "start: /.+/"))
    yield "freeform", Request(messages=HELLO, tools=(freeform,), tool_choice="required")
    yield "schema", Request(messages=HELLO, system=(TextPart("Be brief."),), output_schema=TIME, schema_strict=True)
    yield "schema and tools", Request(messages=HELLO, output_schema=TIME, tools=TOOLS)
    yield "JSON mode", Request(messages=HELLO, json_mode=True, tool_choice="auto")
    results = (RESULT_1, ToolResult("call_2", "get_time", (TextPart("See."), image)))
    later = (said("system", "Be kind."), said("user", "So?"))
    turns = (*HELLO, said("assistant", CALL_1, CALL_2), said("tool", *results), *later)
    yield "results", Request(messages=turns, tools=TOOLS, system=(TextPart("Be brief."),))
    yield "images", Request(messages=(said("user", "See.", image, image),))
    yield "documents", Request(messages=(said("user", "See.", document),))
    yield "video", Request(messages=(said("user", DocumentPart(b"\0\0", "video/mp4")),))
    yield "audio", Request(messages=(said("user", audio),))
    for name, sealed in seals.items():
        turn = said("assistant", ThinkingPart("Hm.", sealed), ToolCall("call_2", "get_time", "{}", sealed=sealed))
        thought = (*HELLO, turn, said("tool", RESULT_2), said("assistant", "Noon."), *HELLO)
        yield f"sealed by {name}", Request(messages=thought, tools=TOOLS, effort="low", thinking_summary="auto")
    yield "thinking", Request(messages=(*HELLO, said("assistant", ThinkingPart("Hm."), "Hi."), *HELLO), thinking=True)
    yield "no thinking", Request(messages=HELLO, thinking=False, max_tokens=100)
    yield "budget", Request(messages=HELLO, thinking_budget=2000, temperature=0.5)
    for effort in ("minimal", "low", "medium", "xhigh", "max"):
        yield f"effort {effort}", Request(messages=HELLO, effort=effort)
    yield "marks", Request(messages=(said("user", TextPart("Hello", cache="1h")),), tools=(TIME_TOOL,), cache="5m")


SETS: dict[str, list[frozenset[str]]] = {
    "efforts": [frozenset({"low", "high"}), frozenset({"none", "medium"})],
    "service_tiers": [frozenset({"default"})],
    "thinking": [frozenset({"adaptive"}), frozenset({"enabled"}), frozenset({"disabled"}), frozenset()],
    "unsupported": [frozenset({name}) for name in ("temperature", "stop", "seed", "user", "parallel_tool_calls")],
}


def _values(field: str, kind: Any) -> list[Any]:
    """Some values of a quirk or fact that its default is not."""
    if field in SETS:
        return list(SETS[field])
    options = typing.get_args(kind) if typing.get_origin(kind) is not Literal else (kind,)
    values = [value for option in options or (kind,) for value in _plain_values(option)]
    default = next(given for owner in (Quirks(), Facts()) if (given := getattr(owner, field, ...)) is not ...)
    return [value for value in values if value != default]


def _plain_values(kind: Any) -> list[Any]:
    if typing.get_origin(kind) is Literal:
        return list(typing.get_args(kind))
    return {bool: [False, True], int: [16]}.get(kind, [])


def _shown(value: object) -> str:
    return ",".join(sorted(map(str, cast("frozenset[str]", value)))) if isinstance(value, frozenset) else str(value)


# Answers


def answers() -> Iterator[tuple[str, Response[Any]]]:
    """Name and answer."""

    def answer(*parts: Part, reason: FinishReason = "stop", **members: Any) -> Response[Any]:
        return Response(parts=parts, finish_reason=reason, model="p/m", wire_model="m-1", id="id-1", **members)

    image = ImagePart(PNG, "image/png")
    yield "text", answer(TextPart("Hi."))
    yield "nothing", answer()
    yield "nameless", Response(parts=(TextPart("Hi."),))
    yield "two texts", answer(TextPart("Hi."), TextPart("Ho."))
    yield "call", answer(CALL_1, reason="tool_calls")
    yield "calls after words", answer(TextPart("Both."), CALL_1, CALL_2, reason="tool_calls")
    yield "words after a call", answer(CALL_2, TextPart("So."), reason="tool_calls")
    yield "freeform call", answer(ToolCall("call_1", "patch", '{"input": "a\\n"}', freeform=True), reason="tool_calls")
    broken = BrokenToolCall("call_1", "get_time", '{"tz":', "cut_off")
    yield "broken call", answer(broken, reason="length")
    yield "thinking", answer(ThinkingPart("Hm."), TextPart("Hi."))
    for name, data in OWN_SEALS.items():
        sealed = Sealed(name, data, "p", "m")
        yield f"sealed by {name}", answer(ThinkingPart("Hm.", sealed), TextPart("Hi.", sealed=sealed))
        yield f"sealed call of {name}", answer(ToolCall("call_2", "get_time", "{}", sealed=sealed), reason="tool_calls")
        yield f"sealed silence of {name}", answer(ThinkingPart("", sealed), TextPart("Hi."))
        cited = TextPart("See.", annotations=(Citation(name, {"type": "url_citation", "url": "https://a.test"}),))
        yield f"cited by {name}", answer(cited)
        yield f"cited twice by {name}", answer(cited, replace(cited, annotations=cited.annotations * 2))
        yield (
            f"opaque part of {name}",
            answer(OpaquePart(name, "server_call", {"type": "server_call"}), TextPart("Hi.")),
        )
        yield f"members of {name}", answer(TextPart("Hi.", extra={name: {"new": 1}}), extra={name: {"new_member": 1}})
    yield "refusal", answer(RefusalPart("No."), reason="refusal")
    yield "image", answer(TextPart("See."), image)
    yield "audio", answer(AudioPart(WAV, "audio/wav", "Hi."))
    yield "document", answer(DocumentPart(PDF, "application/pdf", "a.pdf"))
    yield (
        "two choices",
        answer(TextPart("Hi."), alternatives=(Alternative(parts=(TextPart("Ho."),), finish_reason="length"),)),
    )
    calls = Alternative(parts=(CALL_1,), finish_reason="tool_calls")
    yield "two choices with calls", answer(CALL_2, reason="tool_calls", alternatives=(calls,))
    for reason in typing.get_args(FinishReason):
        yield f"finish {reason}", answer(TextPart("Hi."), *((CALL_2,) if reason == "tool_calls" else ()), reason=reason)
    yield "raw reason", answer(TextPart("Hi."), finish_reason_raw="its_own_word")
    yield "counts", answer(TextPart("Hi."), usage=Usage(input_tokens=12, output_tokens=5))
    whole = Usage(input_tokens=300, output_tokens=65, cache_read_tokens=128, cache_write_tokens=64, reasoning_tokens=25)
    yield "every count", answer(TextPart("Hi."), usage=whole)
    yield "some counts", answer(TextPart("Hi."), usage=Usage(output_tokens=5))
