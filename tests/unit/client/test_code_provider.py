"""A provider in code: an object, its class or a function of a DSN answers as values, for both faces."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any

import pytest

import interlingua as il
import interlingua.aio
from interlingua.testing import use
from tests.support.tiny import PNG

CALL = il.ToolCall("c1", "get-weather", '{"city":"Oslo"}')


def said(request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
    """What every provider here answers: its name, its model and what it was told."""
    text = f"{call.provider}/{call.model}: {request.messages[-1].text}"
    return il.Response(
        parts=(il.TextPart(text),), finish_reason="stop", usage=il.Usage(input_tokens=3, output_tokens=2), id="a1"
    )


class Blocking:
    """Answers at once."""

    def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
        """The answer."""
        return said(request, call)

    def stream(self, request: il.Request, call: il.ProviderCall) -> Iterator[il.Event]:
        """The answer as events."""
        yield from il.unfold(said(request, call))


class Awaiting:
    """Answers after it has awaited something."""

    async def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
        """The answer."""
        await asyncio.sleep(0)
        return said(request, call)

    async def stream(self, request: il.Request, call: il.ProviderCall) -> AsyncIterator[il.Event]:
        """The answer as events."""
        for event in il.unfold(said(request, call)):
            await asyncio.sleep(0)
            yield event


class OnlyWhole:
    """Knows no streams."""

    def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
        """The answer."""
        return said(request, call)


class OnlyStreams:
    """Knows no whole answers."""

    async def stream(self, request: il.Request, call: il.ProviderCall) -> AsyncIterator[il.Event]:
        """The answer as events."""
        for event in il.unfold(said(request, call)):
            yield event


class Deferred:
    """Gives something to await without being declared `async`."""

    def generate(self, request: il.Request, call: il.ProviderCall) -> Awaitable[il.Response[Any]]:
        """The answer, to be awaited."""
        return Awaiting().generate(request, call)

    def stream(self, request: il.Request, call: il.ProviderCall) -> AsyncIterator[il.Event]:
        """The answer as events, to be awaited."""
        return Awaiting().stream(request, call)


def registered(provider: Any) -> il.Registry:
    """A registry in which `corp` is the provider."""
    registry = il.Registry({})
    registry.register_scheme("corp", provider)
    return registry


def blocking(registry: il.Registry) -> tuple[il.Response[Any], list[str], il.Response[Any]]:
    """A whole answer, and a streamed one with its pieces."""
    model = il.model("corp/small", registry=registry)
    whole = model.generate("Hi")
    with model.stream("Hi") as stream:
        return whole, list(stream.text_stream), stream.response


def awaited(registry: il.Registry) -> tuple[il.Response[Any], list[str], il.Response[Any]]:
    """The awaited twin."""

    async def ask() -> tuple[il.Response[Any], list[str], il.Response[Any]]:
        model = interlingua.aio.model("corp/small", registry=registry)
        whole = await model.generate("Hi")
        async with model.stream("Hi") as stream:
            pieces = [text async for text in stream.text_stream]
        return whole, pieces, stream.response

    return asyncio.run(ask())


PROVIDERS = [Blocking, Awaiting, OnlyWhole, OnlyStreams, Deferred]


@pytest.mark.parametrize("face", [blocking, awaited])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_r55_a_provider_in_code_answers_both_faces(
    provider: type, face: Callable[[il.Registry], tuple[il.Response[Any], list[str], il.Response[Any]]]
) -> None:
    """Blocking and awaiting code, whole and streamed, with counts, id and the name of the target."""
    whole, pieces, streamed = face(registered(provider()))
    assert (whole.text, pieces) == ("corp/small: Hi", ["corp/small: Hi"])
    assert (whole.model, whole.id, whole.usage, whole.finish_reason) == (
        "corp/small", "a1", il.Usage(input_tokens=3, output_tokens=2), "stop",
    )  # fmt: skip
    assert whole == streamed


def test_r55_awaiting_code_serves_a_caller_that_blocks_inside_a_loop() -> None:
    """As in a notebook; the thread of its loop ends with the exchange."""

    async def ask() -> str:
        return il.model("corp/small", registry=registered(Awaiting())).generate("Hi").text

    before = threading.active_count()
    assert asyncio.run(ask()) == "corp/small: Hi"
    assert threading.active_count() == before


def test_r55_the_code_sees_the_request_in_canonical_values() -> None:
    """System text, knobs, tools, pictures and sealed thoughts come as they were said."""
    seen: list[il.Request] = []

    class Looking:
        def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
            seen.append(request)
            return said(request, call)

    def get_weather(city: str) -> str:
        """Weather in a city."""
        return city

    picture = il.ImagePart(PNG, "image/png")
    thought = il.ThinkingPart("Hm.", sealed=il.Sealed("anthropic", {"signature": "c2ln"}))
    history = [il.user("Weather?"), il.assistant(thought, "Where?")]
    il.model("corp/small", registry=registered(Looking())).generate(
        ["Here.", picture], history=history, system="Be brief.", tools=[get_weather], max_tokens=7, temperature=0.5
    )
    (request,) = seen
    assert request.system == (il.TextPart("Be brief."),)
    assert request.messages == (*history, il.user("Here.", picture))
    assert (request.max_tokens, request.temperature) == (7, 0.5)
    assert [tool.name for tool in request.tools if isinstance(tool, il.Tool)] == ["get_weather"]


def test_r55_calls_come_back_under_the_callers_names() -> None:
    """A tool whose name our own format does not know keeps it for its caller."""

    class Calling:
        def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
            (tool,) = request.tools
            assert isinstance(tool, il.Tool)
            return il.Response(parts=(il.ToolCall("c1", tool.name, '{"city":"Oslo"}'),), finish_reason="tool_calls")

    tool = il.Tool(name="get-weather", description="Weather in a city.", parameters={"type": "object"})
    answer = il.model("corp/small", registry=registered(Calling())).generate("Hi", tools=[tool])
    assert answer.tool_calls == (CALL,)


# Names


def test_r55_a_provider_is_registered_for_the_process() -> None:
    """By `il.register_scheme`, as an object or as its class; it stands in chains and aliases like any other."""
    il.register_scheme("test-code", Blocking)
    assert il.model("test-code/small").generate("Hi").text == "test-code/small: Hi"
    assert il.model("test-code/a/b").generate("Hi").text == "test-code/a/b: Hi"


def test_r55_a_dsn_makes_its_own_provider() -> None:
    """A class that takes the DSN, or a function of it, is given host and token; one DSN is one object."""
    made: list[Corp] = []

    class Corp(Blocking):
        def __init__(self, dsn: il.Dsn) -> None:
            self.address = f"{dsn.host}:{dsn.port}"
            self.key = dsn.token.reveal() if dsn.token else None
            made.append(self)

    registry = il.Registry({"LLM_LAB": "corp://tok-1@lab.example:7000", "LLM_OTHER": "fun://other.example"})
    registry.register_scheme("corp", Corp)

    def function(dsn: il.Dsn) -> Corp:
        return Corp(dsn)

    registry.register_scheme("fun", function)
    assert il.model("lab/small", registry=registry).generate("Hi").text == "lab/small: Hi"
    assert il.model("lab/large", registry=registry).generate("Hi").text == "lab/large: Hi"
    assert il.model("other/x", registry=registry).generate("Hi").text == "other/x: Hi"
    assert [(corp.address, corp.key) for corp in made] == [("lab.example:7000", "tok-1"), ("other.example:None", None)]
    with pytest.raises(il.UnknownModelError, match="no provider 'corp'"):
        il.model("corp/small", registry=registry).generate("Hi")


def test_what_is_no_provider_is_refused() -> None:
    """Typed errors name the scheme, or the variable whose DSN it is."""
    registry = il.Registry({"LLM_LAB": "obj://lab.example", "LLM_BAD": "bad://x", "LLM_SAD": "sad://x"})

    class Needy(Blocking):
        def __init__(self, one: int, two: int) -> None:
            del one, two

    def sad(dsn: il.Dsn) -> Any:
        raise ValueError(dsn.host)

    with pytest.raises(il.ConfigError, match="scheme corp: takes an object with generate and stream, its class, or a"):
        registry.register_scheme("corp", "no provider")  # pyright: ignore[reportArgumentType] - what is tested
    with pytest.raises(
        il.ConfigError, match="scheme corp: Needy must be made without arguments, or with the DSN alone"
    ):
        registry.register_scheme("corp", Needy)
    registry.register_scheme("obj", Blocking())
    registry.register_scheme("bad", lambda _: 7)  # pyright: ignore[reportArgumentType] - what is tested
    registry.register_scheme("sad", sad)
    for spec, message in (
        ("lab/x", r"LLM_LAB: obj is a provider in code that takes no address; its models are obj/…"),
        (
            "bad/x",
            r"LLM_BAD: the function of the scheme bad gave an int, not an il\.Provider and nothing with generate",
        ),
        ("sad/x", r"LLM_SAD: the provider cannot be made: it raised a ValueError"),
    ):
        with pytest.raises(il.ConfigError, match=message):
            il.model(spec, registry=registry).generate("Hi")


# What goes wrong


class Failing:
    """Raises what it was made with, or gives it."""

    def __init__(self, value: object, *, late: bool = False) -> None:
        self.value = value
        self.late = late

    def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
        """Nothing good."""
        del request, call
        if isinstance(self.value, Exception):
            raise self.value
        return self.value  # pyright: ignore[reportReturnType] - what is tested

    def stream(self, request: il.Request, call: il.ProviderCall) -> Iterable[il.Event]:
        """Nothing good, after a word where `late`."""
        if self.late:
            yield from list(il.unfold(said(request, call)))[:3]
        if isinstance(self.value, Exception):
            raise self.value
        yield self.value  # pyright: ignore[reportReturnType] - what is tested


FAILURES: list[tuple[object, type[il.Error], str]] = [
    (
        ValueError("no such thing"),
        il.InternalServerError,
        r"corp/small: Failing\.\w+ raised a ValueError$",
    ),
    (il.RateLimitError("slow down", status=429, retry_after_s=9), il.RateLimitError, "slow down"),
    (
        ConnectionResetError("gone"),
        il.APIConnectionError,
        r"corp/small: Failing\.\w+ raised a ConnectionResetError$",
    ),
    (TimeoutError(), il.APITimeoutError, r"corp/small: Failing\.\w+ timed out"),
    ("text", il.InternalServerError, r"corp/small: Failing\.\w+ gave a str"),
    (None, il.InternalServerError, r"corp/small: Failing\.\w+ gave None"),
]


@pytest.mark.parametrize(("value", "kind", "message"), FAILURES)
def test_a_fault_of_the_code_is_a_typed_error_that_names_it(value: object, kind: type[il.Error], message: str) -> None:
    """Whole and streamed, blocking and awaited; a chain goes on."""
    registry = registered(Failing(value))
    model = il.model("corp/small", registry=registry, retries=0)
    twin = interlingua.aio.model("corp/small", registry=registry, retries=0)

    async def ask() -> None:
        await twin.generate("Hi")

    async def stream() -> None:
        async with twin.stream("Hi"):
            pass

    for ask_once in (lambda: model.generate("Hi"), lambda: asyncio.run(ask()), lambda: asyncio.run(stream())):
        with pytest.raises(kind, match=message):
            ask_once()
    with pytest.raises(kind, match=message), model.stream("Hi"):
        pass
    assert il.model("corp/small,fake/x", registry=registry, retries=0).generate("Hi").model == "fake/x"


def test_a_stream_that_breaks_in_the_middle_keeps_what_came() -> None:
    """The error is the code's, and `partial` what it had said."""
    registry = registered(Failing(ValueError("gone"), late=True))
    stream = il.model("corp/small", registry=registry).stream("Hi")
    with pytest.raises(il.Error, match=r"raised a ValueError$"), stream:
        list(stream)
    assert stream.partial is not None
    assert stream.partial.text == "corp/small: Hi"


def test_a_stream_without_its_end_is_incomplete() -> None:
    """Events that stop are no clean end."""

    class Stopping:
        def stream(self, request: il.Request, call: il.ProviderCall) -> Iterator[il.Event]:
            yield from list(il.unfold(said(request, call)))[:3]

    stream = il.model("corp/small", registry=registered(Stopping())).stream("Hi")
    with pytest.raises(il.IncompleteStreamError), stream:
        list(stream)


def test_code_that_awaits_is_held_to_the_deadline() -> None:
    """Blocking and awaited; it is cancelled, and code that blocks is told how long it has."""
    cancelled: list[str] = []

    class Slow:
        async def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(f"{call.timeout_s:g}")
                raise
            return said(request, call)

    registry = registered(Slow())
    with pytest.raises(il.APITimeoutError, match="corp/small"):
        il.model("corp/small", registry=registry, timeout_s=0.2, retries=0).generate("Hi")
    with pytest.raises(il.APITimeoutError, match="corp/small"):
        asyncio.run(interlingua.aio.model("corp/small", registry=registry, timeout_s=0.2, retries=0).generate("Hi"))
    assert cancelled == ["0.2", "0.2"]


def test_leaving_a_stream_closes_the_code() -> None:
    """Its `finally` runs, blocking and awaited."""
    ended: list[str] = []

    class Endless:
        def stream(self, request: il.Request, call: il.ProviderCall) -> Iterator[il.Event]:
            del request
            try:
                yield il.StreamStart(model=call.model)
                yield il.BlockStart(0, "text")
                while True:
                    yield il.TextDelta(0, "on and ")
            finally:
                ended.append("blocking")

    class EndlessAwaited:
        async def stream(self, request: il.Request, call: il.ProviderCall) -> AsyncIterator[il.Event]:
            try:
                for event in Endless().stream(request, call):
                    await asyncio.sleep(0)
                    yield event
            finally:
                ended.append("awaited")

    for provider in (Endless(), EndlessAwaited()):
        with il.model("corp/small", registry=registered(provider)).stream("Hi") as stream:
            assert next(stream.text_stream) == "on and "
    assert ended[0] == "blocking"
    assert "awaited" in ended


def test_r55_a_fake_stands_before_a_provider_in_code() -> None:
    """Under `use`, the code is not asked."""
    with use("From the fake.") as fake:
        answer = il.model("corp/small", registry=registered(Failing(ValueError()))).generate("Hi")
    assert (answer.text, fake.models) == ("From the fake.", ["corp/small"])
