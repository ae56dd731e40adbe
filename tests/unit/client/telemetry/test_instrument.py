"""OpenTelemetry: spans, their parents, attributes and metrics, with the exporters of its own SDK."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec
import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import interlingua as il
from interlingua import aio
from interlingua.client.telemetry import instrument as telemetry
from interlingua.client.telemetry import semantics, transcript
from interlingua.testing import FakeModel, tool_call, use
from tests.support.agents import FACES, AgentFace, get_weather
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunks, scripted, sse
from tests.unit.client.test_observe import KEY, refusal

both = pytest.mark.parametrize("agents", FACES, ids=repr)


class Collected:
    """What the exporters have got."""

    def __init__(self) -> None:
        """Providers of this test's own."""
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader])
        self.tracer = self.tracers.get_tracer("application")

    def instrument(self, *, content: bool = False) -> il.Instrumentation:
        """The instrumentation, into these providers."""
        return il.instrument(content=content, tracer_provider=self.tracers, meter_provider=self.meters)

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in order of their ends."""
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        """The one span of that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def tree(self) -> dict[str, list[str]]:
        """The names of the spans below each span, by its name; the roots stand under an empty one."""
        names = {span.context.span_id: span.name for span in self.spans if span.context}
        found: dict[str, list[str]] = {}
        for span in sorted(self.spans, key=lambda span: span.start_time or 0):
            found.setdefault(names[span.parent.span_id] if span.parent else "", []).append(span.name)
        return found

    def points(self) -> dict[str, list[Any]]:
        """The data points of every metric, by its name."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
        return {metric.name: list(metric.data.data_points) for scope in scopes for metric in scope.metrics}


@pytest.fixture
def collected() -> Iterator[Collected]:
    """Exporters that the process is instrumented for."""
    found = Collected()
    instrumentation = found.instrument()
    yield found
    instrumentation.uninstrument()


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(autouse=True)
def _work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_WORK", f"openai://{KEY}@gateway.example/v1?price_in=2&price_out=8")
    monkeypatch.setenv("LLM_SPARE", f"openai://{KEY}@spare.example:8443/v1")


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """What a span holds."""
    return dict(span.attributes or {})


# Spans


def test_a_call_is_a_span(face: Face, collected: Collected) -> None:
    """Name, kind and attributes as the conventions have them; the target's place, usage, price, tags."""
    with scripted(chat("a")), il.meter(team="search"):
        face.generate(face.model("work/x"), max_tokens=9, temperature=0.5, stop=("END",), seed=3)
    (span,) = collected.spans
    assert (span.name, span.kind, span.status.status_code, span.parent) == (
        "chat x", SpanKind.CLIENT, StatusCode.UNSET, None,
    )  # fmt: skip
    assert attributes(span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "work",
        "gen_ai.request.model": "x",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.request.seed": 3,
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "gpt-test-1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "server.address": "gateway.example",
        "server.port": 443,
        "interlingua.attempts": 1,
        "interlingua.changes": 0,
        "interlingua.cost_usd": pytest.approx(22e-6),
        "interlingua.tag.team": "search",
    }
    assert [event.name for event in span.events] == ["interlingua.attempt_started"]


def test_a_stream_is_a_span_until_its_end(face: Face, collected: Collected) -> None:
    """A stream says so, and when its first content came."""
    with scripted(sse(*chunks("c", "d"))):
        face.finish(face.model("work/x").stream("Hi"))
    told = attributes(collected.named("chat x"))
    assert told["gen_ai.request.stream"] is True
    assert told["gen_ai.response.time_to_first_chunk"] >= 0


def test_an_error_sets_the_status(face: Face, collected: Collected) -> None:
    """The class is `error.type`, the sentence the description of the status."""
    with scripted(refusal(401, "no such user")), pytest.raises(il.AuthenticationError):
        face.generate(face.model("work/x"))
    span = collected.named("chat x")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "no such user")
    told = attributes(span)
    assert (told["error.type"], told["http.response.status_code"]) == ("AuthenticationError", 401)


def test_a_chain_is_one_span_with_its_tries(face: Face, collected: Collected) -> None:
    """Nothing is counted twice: tries are events, and the span ends under the name of who answered."""
    with scripted(refusal(401, "no such user"), chat("b")):
        face.generate(face.model("work/x,spare/y"))
    span = collected.named("chat y")
    assert [(event.name, dict(event.attributes or {}).get("interlingua.target")) for event in span.events] == [
        ("interlingua.attempt_started", "work/x"),
        ("interlingua.attempt_failed", "work/x"),
        ("interlingua.target_benched", "work/x"),
        ("interlingua.attempt_started", "spare/y"),
    ]
    failed = dict(span.events[1].attributes or {})
    assert (failed["error.type"], failed["http.response.status_code"]) == ("AuthenticationError", 401)
    told = attributes(span)
    assert (told["gen_ai.provider.name"], told["gen_ai.request.model"]) == ("spare", "y")
    assert (told["server.address"], told["server.port"], told["interlingua.attempts"]) == ("spare.example", 8443, 2)
    assert span.status.status_code == StatusCode.UNSET


def test_a_stream_that_is_left_ends_its_span(collected: Collected) -> None:
    """A reader who leaves is no error."""
    with scripted(sse(*chunks("c", "d"))), il.model("work/x").stream("Hi") as stream:
        next(stream)
    span = collected.named("chat x")
    assert (attributes(span)["interlingua.closed"], span.status.status_code) == (True, StatusCode.UNSET)


@both
def test_an_agent_is_a_tree(agents: AgentFace, collected: Collected) -> None:
    """Calls and tools lie below the run, what a handler begins lies below its tool, whatever thread or task runs it."""

    def look(city: str) -> str:
        """Looks.

        Args:
            city: City name.
        """
        with collected.tracer.start_as_current_span(f"own {city}"):
            return city

    answers = [[tool_call("look", city="Oslo"), tool_call("look", city="Bergen")], "Done."]
    with collected.tracer.start_as_current_span("application"), use(FakeModel(answers)):
        agents.run(agents.agent("fake/m", tools=[look]))
    tree = collected.tree()
    assert tree[""] == ["application"]
    assert tree["application"] == ["invoke_agent"]
    assert sorted(tree["invoke_agent"]) == ["chat m", "chat m", "execute_tool look", "execute_tool look"]
    assert sorted(tree["execute_tool look"]) == ["own Bergen", "own Oslo"]


@both
def test_agents_and_models_in_tools_lie_below_them(agents: AgentFace, collected: Collected) -> None:
    """A sub-agent's run is below the tool that runs it, its calls below the run."""
    inner = agents.agent("fake/inner", tools=[]).as_tool("ask_inner", "Asks another agent.")
    with use(FakeModel([tool_call("ask_inner", task="Say hi."), "Hi.", "Done."])):
        agents.run(agents.agent("fake/outer", tools=[inner]))
    spans = {span.context.span_id: span for span in collected.spans if span.context}

    def line(span: ReadableSpan) -> list[str]:
        return [span.name, *(line(spans[span.parent.span_id]) if span.parent else [])]

    assert line(collected.named("chat inner")) == [
        "chat inner", "invoke_agent", "execute_tool ask_inner", "invoke_agent",
    ]  # fmt: skip


@both
def test_runs_and_tools_have_their_attributes(agents: AgentFace, collected: Collected) -> None:
    """What a run came to, and which call a tool worked on."""
    with use(FakeModel([tool_call("get_weather", call_id="c-9", city="Oslo"), "Done."])):
        agents.run(agents.agent("openai/m"))
    run, tool = collected.named("invoke_agent"), collected.named("execute_tool get_weather")
    told = attributes(run)
    assert (told["gen_ai.operation.name"], told["gen_ai.provider.name"]) == ("invoke_agent", "openai")
    assert (told["interlingua.stop_reason"], told["interlingua.steps"]) == ("done", 2)
    assert told["gen_ai.usage.output_tokens"] > 0
    assert attributes(tool) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c-9",
    }
    assert (run.kind, tool.kind) == (SpanKind.INTERNAL, SpanKind.INTERNAL)


@both
def test_a_failing_tool_sets_the_status(agents: AgentFace, collected: Collected) -> None:
    """The class of what was raised is told, its text, which may be private, is not."""

    def broken(city: str) -> str:
        """Fails.

        Args:
            city: City name.
        """
        raise ValueError(KEY + city)

    with use(FakeModel([tool_call("broken", city="Oslo"), "Done."])):
        agents.run(agents.agent(tools=[broken]))
    span = collected.named("execute_tool broken")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "ValueError")
    assert attributes(span)["error.type"] == "ValueError"
    assert collected.named("invoke_agent").status.status_code == StatusCode.UNSET


def test_map_inherits_the_span_around_it(collected: Collected) -> None:
    """The calls of a map, which run in threads, belong to the span that is current where it is read."""
    with scripted(chat("a"), chat("b")), collected.tracer.start_as_current_span("application"):
        list(il.model("work/x").map(["1", "2"], concurrency=2))
    assert collected.tree() == {"": ["application"], "application": ["chat x", "chat x"]}


async def test_tasks_do_not_mix(collected: Collected) -> None:
    """Two runs at once: every call lies below the run of its own task."""
    with use(FakeModel(lambda _: "Done.")):
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(aio.Agent(f"fake/{name}").run("Hi"))
    runs = {span.context.span_id: attributes(span) for span in collected.spans if span.name == "invoke_agent"}  # pyright: ignore[reportOptionalMemberAccess]  # finished spans have one
    for name in ("a", "b"):
        parent = collected.named(f"chat {name}").parent
        assert parent is not None
        assert runs[parent.span_id]["gen_ai.request.model"] == name


def test_nothing_stays_attached(collected: Collected) -> None:
    """After a tool has run, the caller's current span is what it was."""
    il.Toolbox([get_weather]).execute(il.ToolCall("c", "get_weather", '{"city":"Oslo"}'))
    assert not trace.get_current_span().get_span_context().is_valid
    assert collected.named("execute_tool get_weather").parent is None


# Content


def test_content_is_off_by_default(collected: Collected) -> None:
    """No message, system text, tool, argument or result is in any span."""
    with scripted(chat("SECRET")):
        il.model("work/x").generate("SECRET", system="SECRET", tools=[get_weather], user="SECRET")
    il.Toolbox([get_weather]).execute(il.ToolCall("c", "get_weather", '{"city":"SECRET"}'))
    assert "SECRET" not in "".join([span.to_json() for span in collected.spans])


def test_content_in_the_shapes_of_the_conventions() -> None:
    """Messages, instructions, tools, arguments and results as JSON texts; media as type and size."""
    collected = Collected()
    instrumentation = collected.instrument(content=True)
    prompt = [
        il.user("Look"),
        il.Message("assistant", (il.ThinkingPart("Hm."), il.ToolCall("c1", "get_weather", '{"city":"Oslo"}'))),
        il.Message("tool", (il.ToolResult("c1", "get_weather", il.Json({"celsius": 4})),)),
    ]
    try:
        with use(FakeModel("It is cold.")):
            il.model("fake/m").generate(prompt, system="Be short.", tools=[get_weather])
        il.Toolbox([get_weather]).execute(il.ToolCall("c", "get_weather", '{"city":"Oslo"}'))
    finally:
        instrumentation.uninstrument()
    told = attributes(collected.named("chat m"))
    assert msgspec.json.decode(told["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Look"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Hm."},
                {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"celsius": 4}}]},
    ]
    assert msgspec.json.decode(told["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "It is cold."}], "finish_reason": "stop"}
    ]
    assert msgspec.json.decode(told["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be short."}]
    assert msgspec.json.decode(told["gen_ai.tool.definitions"])[0]["name"] == "get_weather"
    work = attributes(collected.named("execute_tool get_weather"))
    assert work["gen_ai.tool.call.arguments"] == '{"city":"Oslo"}'
    assert msgspec.json.decode(work["gen_ai.tool.call.result"]) == {"city": "Oslo", "celsius": 4}


def test_parts_of_every_kind() -> None:
    """Media are their type and size, broken calls their raw text, what has no form is named; nothing is sealed."""
    request = il.Request(
        messages=(
            il.Message("user", (il.ImagePart(b"12345678", "image/png"), il.DocumentPart(b"123", "text/plain"))),
            il.Message("assistant", (il.BrokenToolCall("c", "t", "{oops", "malformed"), il.RefusalPart("No."))),
            il.Message("user", (il.OpaquePart("anthropic", "media_ref", {"url": "SECRET"}),)),
            il.Message("tool", (il.ToolResult("c", "t", (il.TextPart("a"), il.Json([1]))),)),
        )
    )
    assert [
        message["parts"]
        for message in msgspec.json.decode(transcript.request_attributes(request)["gen_ai.input.messages"])
    ] == [
        [
            {"type": "image", "mime_type": "image/png", "size_bytes": 8},
            {"type": "document", "mime_type": "text/plain", "size_bytes": 3},
        ],
        [
            {"type": "tool_call", "id": "c", "name": "t", "arguments": "{oops"},
            {"type": "text", "content": "No."},
        ],
        [{"type": "opaque", "dialect": "anthropic", "kind": "media_ref"}],
        [
            {
                "type": "tool_call_response",
                "id": "c",
                "response": [{"type": "text", "content": "a"}, {"type": "json", "content": [1]}],
            }
        ],
    ]


def test_sec_05_no_span_holds_a_key(collected: Collected) -> None:
    """A key that comes back in an error is in no span."""
    lines = refusal(401, f"bad key {KEY}"), refusal(500, f"bad key {KEY}")
    with scripted(*lines, alone=False), pytest.raises(il.ChainExhaustedError):
        il.model("work/x,spare/y").generate("Hi", retries=0, headers={"x-tenant": f"{KEY}-tenant"})
    told = "".join([span.to_json() for span in collected.spans])
    assert KEY not in told
    assert "bad key ***" in told


# Metrics


def test_metrics_of_calls(face: Face, collected: Collected) -> None:
    """Duration, tokens of both kinds and the time to the first content, with provider and models."""
    with scripted(chat("a"), sse(*chunks("c", "d"))):
        face.generate(face.model("work/x"))
        face.finish(face.model("work/x").stream("Hi"))
    points = collected.points()
    (duration,) = points["gen_ai.client.operation.duration"]
    assert duration.count == 2
    assert dict(duration.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "work",
        "gen_ai.request.model": "x",
        "gen_ai.response.model": "gpt-test-1",
        "server.address": "gateway.example",
        "server.port": 443,
    }
    assert tuple(duration.explicit_bounds) == semantics.SECONDS
    tokens = {
        point.attributes["gen_ai.token.type"]: (point.count, point.sum) for point in points["gen_ai.client.token.usage"]
    }
    assert tokens == {"input": (2, 6), "output": (2, 4)}
    assert [point.count for point in points["gen_ai.client.operation.time_to_first_chunk"]] == [1]


@both
def test_metrics_of_runs_and_tools(agents: AgentFace, collected: Collected) -> None:
    """Durations of runs and of tools, errors with their class."""
    with use(FakeModel([tool_call("get_weather", city="Oslo"), "Done."])):
        agents.run(agents.agent("fake/m"))
    points = collected.points()
    assert [point.count for point in points["gen_ai.invoke_agent.duration"]] == [1]
    assert [dict(point.attributes)["gen_ai.tool.name"] for point in points["gen_ai.execute_tool.duration"]] == [
        "get_weather"
    ]


# The names


def test_names_are_those_of_the_published_conventions() -> None:
    """Every `gen_ai.` name is one that OpenTelemetry's own package knows, but for those that are younger than it."""
    published = "opentelemetry.semconv._incubating"
    gen_ai_attributes = import_module(f"{published}.attributes.gen_ai_attributes")
    gen_ai_metrics = import_module(f"{published}.metrics.gen_ai_metrics")
    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    ours = {*semantics.NAMES.values(), *semantics.PARAMETERS.values(), *semantics.ANSWER.values()}
    ours |= set(semantics.USAGE.values())
    assert {name for name in ours if name.startswith("gen_ai.")} - known == set()
    metrics = {value for value in vars(gen_ai_metrics).values() if isinstance(value, str)}
    assert {metric.name for metric in semantics.METRICS.values()} - metrics == {
        "gen_ai.invoke_agent.duration", "gen_ai.execute_tool.duration",
    }  # fmt: skip
    providers = {value.value for value in gen_ai_attributes.GenAiProviderNameValues}
    assert set(semantics.PROVIDERS.values()) - providers == {"moonshot_ai"}


# Switching it on and off


def test_twice_is_once(collected: Collected) -> None:
    """Asked for again it is the same one, and a call makes one span; with other terms it is refused."""
    assert collected.instrument() is collected.instrument()
    with pytest.raises(il.UsageError, match="other terms"):
        collected.instrument(content=True)
    with scripted(chat("a")):
        il.model("work/x").generate("Hi")
    assert len(collected.spans) == 1


def test_uninstrument_ends_it() -> None:
    """No spans after it, those that were open are ended, and it can be begun anew."""
    collected = Collected()
    first = collected.instrument()
    with scripted(sse(*chunks("a", "b")), chat("b")):
        stream = il.model("work/x").stream("Hi").open()
        first.uninstrument()
        first.uninstrument()
        stream.finish()
        il.model("work/x").generate("Hi")
    assert len(collected.spans) == 1
    second = collected.instrument()
    assert second is not first
    second.uninstrument()


def test_open_spans_are_bounded(monkeypatch: pytest.MonkeyPatch, collected: Collected) -> None:
    """What is older than the bound is ended as it is."""
    monkeypatch.setattr(telemetry, "MAX_OPEN_SPANS", 2)
    with scripted(*[sse(*chunks("a", "b")) for _ in range(3)]):
        streams = [il.model("work/x").stream("Hi").open() for _ in range(3)]
        assert len(collected.spans) == 1
        for stream in streams:
            stream.close()
    assert len(collected.spans) == 3


def test_without_an_sdk_nothing_happens() -> None:
    """With the API alone, calls go on as ever."""
    instrumentation = il.instrument()
    try:
        with use(FakeModel(["a"])):
            assert il.model("fake/m").generate("Hi").text == "a"
    finally:
        instrumentation.uninstrument()


def test_without_the_extra_it_says_so() -> None:
    """A missing package is named with the extra that brings it."""
    code = """
import sys
sys.modules["opentelemetry"] = None
import interlingua as il
try:
    il.instrument()
except il.ConfigError as error:
    assert "interlingua[otel]" in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_sentences_can_be_left_out() -> None:
    """A refusal that repeats the question: its class is told, its words are not."""
    collected = Collected()
    made = il.instrument(sentences=False, tracer_provider=collected.tracers, meter_provider=collected.meters)
    try:
        with use([il.BadRequestError("no answer to: my question", status=400)]), pytest.raises(il.BadRequestError):
            il.model("openai/gpt-5.6").generate("my question")
    finally:
        made.uninstrument()
    (span,) = collected.spans
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "BadRequestError"
    assert "my question" not in span.to_json()
