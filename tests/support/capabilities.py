"""What each dialect can say, found out by letting it: one request or answer for each capability, and what changed.

Rules
- A request goes to the dialect's own service (the row of the matrix; what single models refuse is another matter), an
  answer to a client of the dialect.
- Nothing changed: native. Said in another way: approximated. Left out: dropped. Not sent: impossible.
- Only what the probe is about counts; each probe says nothing else that any dialect could lose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from interlingua.dialects._contract import DecodeContext, EncodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.stream.unfold import unfold
from interlingua.testing.fake import in_pieces
from interlingua.testing.laws import encode_stream, events_of
from interlingua.types.change import Change
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
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.event import (
    Event,
    StreamEnd,
    StreamError,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from interlingua.types.response import Alternative, FinishReason, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage
from tests.matrix.cases import target

__all__ = ["ANSWERS", "REQUESTS", "STREAMS", "Level", "Outcome", "Probe", "outcome"]

Level: TypeAlias = Literal["native", "approximated", "dropped", "impossible"]
"""How a dialect says something: as it is, in another way, not at all, or it refuses."""
LEVELS: dict[str, Level] = {"repaired": "native", "approximated": "approximated", "dropped": "dropped"}


class Outcome(NamedTuple):
    """How a dialect does with a capability."""

    level: Level
    codes: tuple[str, ...] = ()
    """The codes of `changes` that say so."""


class Probe(NamedTuple):
    """A capability, the requirement that asks for it, and how to find out."""

    requirement: str
    what: str
    find: Callable[[str], Outcome]


# Requests

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name."}},
    "required": ["city"],
    "additionalProperties": False,
}
GET_WEATHER = Tool(name="get_weather", description="Weather of a city.", parameters=CITY)
GET_TIME = Tool(name="get_time", description="Local time of a city.", parameters=CITY)
TOOLS = (GET_WEATHER, GET_TIME)
ASK = user("Weather and time in Oslo?")
OSLO = ToolCall("call_1", "get_weather", '{"city":"Oslo"}')
TIME = ToolCall("call_2", "get_time", '{"city":"Oslo"}')
PNG = ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")
PDF = DocumentPart(b"%PDF-1.4", "application/pdf")


def _asking(*parts: Any, **members: Any) -> Request:
    return Request(messages=(user(*parts) if parts else ASK,), max_tokens=4000, **members)


def _step() -> ServerToolPart:
    """A search of another provider, with what it found."""
    return ServerToolPart("elsewhere", "web", {"web": "q"}, "web", None, {"query": "q"}, "rain")


def _answered(call: ToolCall, content: Any, **members: Any) -> Request:
    """A history with one call and its result."""
    result = Message("tool", (ToolResult(call.id, call.name, content, **members),))
    return Request(messages=(ASK, assistant(call), result), tools=TOOLS, max_tokens=4000)


SEALS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "c2VhbA==", "index": 0}]
    },
    "openai-responses": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
    "anthropic": {"signature": "c2VhbA=="},
    "google": {"thoughtSignature": "c2VhbA=="},
    "bedrock": {"signature": "c2VhbA=="},
}
"""How each dialect seals; the others cannot, and carry at most what others sealed."""


def _sealed(dialect: str) -> Request:
    """A history with a thought that the dialect's own service sealed; Anthropic's where it seals nothing itself."""
    issuer = dialect if dialect in SEALS else "anthropic"
    thought = ThinkingPart("Hm.", None if dialect == "google" else Sealed(issuer, SEALS[issuer]))
    result = Message("tool", (ToolResult("call_1", "get_weather", "4 degrees"),))
    return Request(messages=(ASK, assistant(thought, OSLO), result), tools=TOOLS, effort="high", max_tokens=4000)


def _as_its_own(request: Request, dialect: str) -> Request:
    """The request with the first call of each turn sealed, where the dialect's own calls are: its filler is no loss."""
    if dialect != "google":
        return request
    seal = Sealed("google", SEALS["google"])
    messages = [_sealed_turn(message, seal) for message in request.messages]
    return msgspec.structs.replace(request, messages=tuple(messages))


def _sealed_turn(message: Message, seal: Sealed) -> Message:
    first = next((part for part in message.parts if isinstance(part, ToolCall)), None)
    parts = [msgspec.structs.replace(part, sealed=seal) if part is first else part for part in message.parts]
    return msgspec.structs.replace(message, parts=tuple(parts))


def _request(requirement: str, what: str, request: Request | Callable[[str], Request], *, case: str = "text") -> Probe:
    def find(dialect: str) -> Outcome:
        asked = _as_its_own(request(dialect) if callable(request) else request, dialect)
        try:
            service = target(dialect, case)
            known = facts_for(service.provider, dialect, "any model")  # of every model of the service
            service = msgspec.structs.replace(service, facts=known)
            encoded = get_dialect(dialect).encode_request(asked, EncodeOptions(target=service))
        except UnsupportedError as error:
            return Outcome("impossible", _codes(error.changes, "refused"))
        return _outcome(encoded.changes)

    return Probe(requirement, what, find)


def _outcome(changes: tuple[Change, ...]) -> Outcome:
    """The worst of what happened."""
    for action in ("dropped", "approximated"):
        if codes := _codes(changes, action):
            return Outcome(LEVELS[action], codes)
    return Outcome("native")


def _codes(changes: tuple[Change, ...], action: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(change.code for change in changes if change.action == action))


REMOTE = OpaquePart("elsewhere", "media_ref", {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
RUN = ToolCall("call_1", "run", '{"input":"ls"}', freeform=True)
BROKEN = BrokenToolCall("call_1", "get_weather", '{"city"', "malformed")
BROKEN_RESULT = Message("tool", (ToolResult("call_1", "get_weather", "not JSON", is_error=True),))
ODD = ToolCall("call:1|" + "x" * 60, "weather.get/now", '{"city":"Oslo"}')
ODD_TOOL = msgspec.structs.replace(GET_WEATHER, name=ODD.name)
ODD_RESULT = Message("tool", (ToolResult(ODD.id, ODD.name, "4 degrees"),))
BOTH = Message(
    "tool", (ToolResult("call_1", "get_weather", "4"), ToolResult("call_2", "get_time", Json({"time": "14:05"})))
)

REQUESTS: tuple[Probe, ...] = (
    _request("R04", "images", _asking("Look.", PNG)),
    _request("R04", "documents (PDF)", _asking("Read.", PDF)),
    _request("R04", "audio (WAV)", _asking("Listen.", AudioPart(b"RIFF", "audio/wav"))),
    _request("R04", "media by another provider's reference", _asking("Look.", REMOTE)),
    _request("R05", "system text", _asking(system=(TextPart("Be brief."),))),
    _request(
        "R05",
        "system text later on",
        Request(messages=(ASK, assistant("4."), system("Be brief."), ASK), max_tokens=4000),
    ),
    _request("R12", "tool definitions", _asking(tools=TOOLS)),
    _request("R12", "freeform tools", _asking(tools=(Tool(name="run", description="A shell.", freeform=Freeform()),))),
    _request(
        "R12", "tools that another provider runs", _asking(tools=(OpaqueTool("elsewhere", "web", {"type": "web"}),))
    ),
    _request(
        "R63",
        "steps of tools that another provider ran",
        Request(messages=(ASK, assistant(_step(), TextPart("4.")), ASK), max_tokens=4000),
    ),
    _request("R13", "arguments of earlier calls", _answered(OSLO, "4 degrees")),
    _request(
        "R14",
        "results of parallel calls",
        Request(messages=(ASK, assistant(OSLO, TIME), BOTH), tools=TOOLS, max_tokens=4000),
    ),
    _request("R14", "results with images", _answered(OSLO, (TextPart("A map."), PNG))),
    _request("R14", "results with documents", _answered(OSLO, (TextPart("A report."), PDF))),
    _request("R15", "results that are errors", _answered(OSLO, "no such city", is_error=True)),
    _request("R16", "choice `auto`", _asking(tools=TOOLS, tool_choice="auto")),
    _request("R16", "choice `none`", _asking(tools=TOOLS, tool_choice="none")),
    _request("R16", "choice `required`", _asking(tools=TOOLS, tool_choice="required")),
    _request("R16", "choice of one tool", _asking(tools=TOOLS, tool_choice=NamedTool("get_time"))),
    _request("R16", "choice of some tools", _asking(tools=TOOLS, tool_choice=AllowedTools(("get_time",)))),
    _request("R16", "no parallel calls", _asking(tools=TOOLS, parallel_tool_calls=False)),
    _request("R17", "structured output", _asking(output_schema=CITY)),
    _request("R17", "structured output with tools", _asking(output_schema=CITY, tools=TOOLS)),
    _request("R17", "any JSON object", _asking("As JSON, please.", json_mode=True)),
    _request("R18", "strict tools", _asking(tools=(msgspec.structs.replace(GET_WEATHER, strict=True),))),
    _request("R18", "strict output", _asking(output_schema=CITY, schema_strict=True)),
    _request(
        "R19",
        "foreign call ids and odd tool names",
        Request(messages=(ASK, assistant(ODD), ODD_RESULT), tools=(ODD_TOOL,), max_tokens=4000),
    ),
    _request(
        "R21",
        "broken calls in the history",
        Request(messages=(ASK, assistant(BROKEN), BROKEN_RESULT), tools=TOOLS, max_tokens=4000),
    ),
    _request("R22", "reasoning effort", _asking(effort="high")),
    _request("R22", "a budget for reasoning", _asking(thinking_budget=2048)),
    _request("R22", "sealed reasoning", _sealed, case="thinking"),
    _request(
        "R22",
        "readable reasoning of others",
        Request(messages=(ASK, assistant(ThinkingPart("Hm."), "4."), ASK), max_tokens=4000),
    ),
    _request("R25", "no tools at all", _asking(tools=())),
    _request("–", "a stop sequence", _asking(stop=("END",))),
    _request("–", "six stop sequences", _asking(stop=("A", "B", "C", "D", "E", "F"))),
    _request("–", "a temperature of 1.5", _asking(temperature=1.5)),
    _request("–", "prompt caching", Request(messages=(user(TextPart("Long.", cache="5m"), "Hi"),), max_tokens=4000)),
)
"""What is asked of a model."""


# Answers


def _whole(requirement: str, what: str, response: Response[Any]) -> Probe:
    def find(dialect: str) -> Outcome:
        changes: list[Change] = []
        get_dialect(dialect).encode_response(response, ServerContext(model="m", make_id=lambda: "id", changes=changes))
        about_counts = requirement == "R09"
        return _outcome(tuple([one for one in changes if one.path.startswith("/usage") is about_counts]))

    return Probe(requirement, what, find)


def _response(*parts: Part, finish: FinishReason = "stop", usage: Usage | None = None) -> Response[Any]:
    return Response(parts=parts, finish_reason=finish, usage=usage or Usage(input_tokens=9, output_tokens=4))


COUNTED = Usage(
    input_tokens=1200, output_tokens=90, cache_read_tokens=1024, cache_write_tokens=128, reasoning_tokens=30
)
OTHER = Alternative(parts=(TextPart("b"),), finish_reason="stop")
CITED = TextPart("Tønsberg.", (Citation("elsewhere", {"document": "1"}, "https://a.test", "A"),))

ANSWERS: tuple[Probe, ...] = (
    _whole("R08", "text", _response(TextPart("Hello"))),
    _whole("R08", "further choices", msgspec.structs.replace(_response(TextPart("a")), alternatives=(OTHER,))),
    _whole("R08", "refusals", _response(RefusalPart("No."), finish="refusal")),
    _whole("R08", "a filtered answer", _response(TextPart("Well,"), finish="content_filter")),
    _whole("R08", "the length limit", _response(TextPart("Well,"), finish="length")),
    _whole("R63", "citations of another provider", _response(CITED)),
    _whole("R63", "steps of tools that another provider ran, answered", _response(_step(), TextPart("4."))),
    _whole("R09", "counts of caches and reasoning", _response(TextPart("a"), usage=COUNTED)),
    _whole("R11", "parallel calls", _response(OSLO, TIME, finish="tool_calls")),
    _whole("R20", "calls beside the length limit", _response(OSLO, finish="length")),
    _whole("R20", "freeform calls", _response(RUN, finish="tool_calls")),
    _whole("R21", "broken calls", _response(BROKEN, finish="length")),
    _whole("R22", "readable reasoning", _response(ThinkingPart("Hm."), TextPart("4."))),
)
"""What a client is answered."""


# Streams


def _streamed(requirement: str, what: str, response: Response[Any], wanted: type) -> Probe:
    """Whether a client of the dialect gets the pieces of one kind piece by piece, as they came."""

    def find(dialect: str) -> Outcome:
        given = list(in_pieces(unfold(response)))
        came = [event for event in _told(dialect, given) if type(event) is wanted]
        pieces = [event for event in given if type(event) is wanted]
        return Outcome("native") if len(came) >= min(len(pieces), 2) else Outcome("approximated", ("told whole",))

    return Probe(requirement, what, find)


def _told(dialect: str, events: list[Event]) -> list[Event]:
    """What a client of the dialect reads of a stream."""
    found = get_dialect(dialect)
    context = ServerContext(model="m", make_id=lambda: "id")
    return events_of(found, [encode_stream(found, events, context)], DecodeContext())


def _cut(dialect: str) -> Outcome:
    """Whether a stream without its end is read as one that was cut."""
    events: list[Event] = [one for one in unfold(_response(TextPart("Hello"))) if not isinstance(one, StreamEnd)]
    last = _told(dialect, events)[-1]
    is_error = isinstance(last, StreamError) and last.error == "IncompleteStreamError"
    return Outcome("native" if is_error else "impossible")


CALLING = _response(ToolCall("call_1", "get_weather", '{"city": "Oslo", "days": 2}'), finish="tool_calls")
STREAMS: tuple[Probe, ...] = (
    _streamed("R26", "text as it comes", _response(TextPart("Hello to all of you")), TextDelta),
    _streamed(
        "R26", "reasoning as it comes", _response(ThinkingPart("Hm, let me see."), TextPart("4.")), ThinkingDelta
    ),
    _streamed("R26", "whole calls", CALLING, ToolCallReady),
    _streamed("R27", "arguments as they come", CALLING, ToolCallDelta),
    Probe("R29", "a cut stream is an error", _cut),
)
"""What a client is told piece by piece."""


@cache
def outcome(probe: Probe, dialect: str) -> Outcome:
    """How `dialect` does with a capability."""
    return probe.find(dialect)
