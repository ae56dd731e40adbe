"""Values of a wrong kind at every public door: each is taken, or refused with an error of ours."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import interlingua as il
from interlingua import aio, codec
from interlingua.testing import FakeModel, no_network, use

WRONG: list[Any] = [
    None, 0, -1, 3.5, True, float("nan"), "", "x", b"x", [], ["x"], (), {}, {"a": 1}, object(), int, lambda: 3
]  # fmt: skip
"""One of each kind that people hand in by mistake."""
OPTIONS = sorted(il.Options.__annotations__)
DEFINITIONS = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
REPLY = {
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}]
}
RESULT = il.ToolResult(call_id="a", name="f", content="x")
CHAT: dict[str, Any] = {"id": "x", "messages": []}
CODEC: Any = codec
MODEL, AWAITED = il.model("fake/echo"), aio.model("fake/echo")


def streamed(prompt: Any = "Hi", **options: Any) -> None:
    """Read a stream to its end."""
    with MODEL.stream(prompt, **options) as stream:
        list(stream)


def resolved_by(answer: Any) -> None:
    """Resolve a name by a resolver that gives this."""
    registry = il.Registry({})
    registry.register_resolver(lambda _: answer)
    registry.resolve("nobody/x")


def made_by_scheme(answer: Any) -> None:
    """Resolve a DSN whose scheme gives this."""
    registry = il.Registry({"LLM_MY": "sch://k@h/v1"})
    registry.register_scheme("sch", lambda _: answer)
    registry.resolve("my/x")


def registered(**options: Any) -> None:
    """Register an alias of two targets."""
    il.Registry({}).register_alias("smart", "openai/x,openai/y", **options)


def provider(key: Any) -> None:
    """Register a provider with a key."""
    row = il.Provider(name="mine", base_url="http://127.0.0.1:1", dialects=("openai-chat",))
    il.Registry({}).register_provider(row, key=key)


DOORS: dict[str, Callable[[Any], object]] = {
    "model": lambda value: il.model(value).generate("Hi"),
    "model(api_key)": lambda value: il.model("openai/x", api_key=value).explain("Hi"),
    "model(base_url)": lambda value: il.model("openai/x", base_url=value).explain("Hi"),
    "model(registry)": lambda value: il.model("openai/x", registry=value).explain("Hi"),
    "model(login)": lambda value: il.model("openai/x", login=value).explain("Hi"),
    "embed": lambda value: il.embed(value, model="openai/x", api_key="k"),
    "embed(model)": lambda value: il.embed(["a"], model=value),
    "rerank": lambda value: il.rerank(value, ["a"], model="cohere/x", api_key="k"),
    "rerank(documents)": lambda value: il.rerank("a", value, model="cohere/x", api_key="k"),
    **{f"model({name})": lambda value, name=name: il.model("fake/echo", **{name: value}) for name in OPTIONS},
    **{f"generate({name})": lambda value, name=name: MODEL.generate("Hi", **{name: value}) for name in OPTIONS},
    **{f"stream({name})": lambda value, name=name: streamed(**{name: value}) for name in OPTIONS},
    **{f"explain({name})": lambda value, name=name: MODEL.explain("Hi", **{name: value}) for name in OPTIONS},
    **{f"aio.generate({name})": lambda value, name=name: AWAITED.generate("Hi", **{name: value}) for name in OPTIONS},
    "generate": MODEL.generate,
    "aio.generate": AWAITED.generate,
    "stream": streamed,
    "explain": MODEL.explain,
    "send": MODEL.send,
    "aio.send": AWAITED.send,
    "generate(history)": lambda value: MODEL.generate("Hi", history=value),
    "stream(history)": lambda value: streamed(history=value),
    "generate(output)": lambda value: MODEL.generate("Hi", output=value),
    "map": lambda value: list(MODEL.map(value)),
    "map(concurrency)": lambda value: list(MODEL.map(["a"], concurrency=value)),
    "map(journal)": lambda value: None if isinstance(value, str) and value else list(MODEL.map(["a"], journal=value)),
    "capabilities": il.capabilities,
    "aio.capabilities": aio.capabilities,
    "capabilities(registry)": lambda value: il.capabilities("openai/x", registry=value),
    **{
        f"HttpOptions({name})": lambda value, name=name: il.model("fake/echo", http=il.HttpOptions(**{name: value}))
        for name in il.HttpOptions.__struct_fields__
    },
    **{
        f"Timeouts({name})": lambda value, name=name: MODEL.generate("Hi", timeouts=il.Timeouts(**{name: value}))
        for name in il.Timeouts.__struct_fields__
    },
    "Registry": lambda value: il.Registry(value).resolve("openai/x"),
    "Registry.resolve": lambda value: il.Registry({}).resolve(value),
    "Registry.ranking": lambda value: il.Registry({}).ranking(value),
    "Registry.pointed(api_key)": lambda value: il.Registry({}).pointed(api_key=value),
    "Registry.pointed(base_url)": lambda value: il.Registry({}).pointed(base_url=value),
    "Registry.register_provider": lambda value: il.Registry({}).register_provider(value),
    "Registry.register_provider(key)": provider,
    "Registry.register_scheme": lambda value: il.Registry({}).register_scheme(value, cast("Any", int)),
    "Registry.register_scheme(factory)": lambda value: il.Registry({}).register_scheme("sch", value),
    "Registry.register_resolver": lambda value: il.Registry({}).register_resolver(value),
    "Registry.register_alias": lambda value: il.Registry({}).register_alias(value, "openai/x"),
    "Registry.register_alias(spec)": lambda value: il.Registry({}).register_alias("smart", value),
    "Registry.register_alias(policy)": lambda value: registered(policy=value),
    "Registry.register_alias(weights)": lambda value: registered(policy="weighted", weights=value),
    "Registry.register_alias(require)": lambda value: registered(require=value),
    "Registry.load_config": lambda value: il.Registry({}).load_config(value),
    "Registry.targets_of": lambda value: il.Registry({}).targets_of(value),
    "a resolver's answer": resolved_by,
    "a scheme's answer": made_by_scheme,
    "limit": lambda value: il.limit(value, rpm=1) if value != "x" else None,
    "limit(rpm)": lambda value: il.limit("nobody/*", rpm=value),
    "use_state": il.use_state,
    "health.suspend": il.health.suspend,
    "health.suspend(for_s)": lambda value: il.health.suspend("openai/x", for_s=value),
    "health.resume": il.health.resume,
    "aio.health.suspend": aio.health.suspend,
    "web_chat": il.web_chat,
    "web_chat(protocol)": lambda value: il.web_chat(CHAT, value),
    "web_chat(secret)": lambda value: il.web_chat(CHAT, secret=value),
    "tool": il.tool,
    "tool(approve)": lambda value: il.tool(giving(1), name="x", approve=value),
    "Toolbox": il.Toolbox,
    "Agent": il.Agent,
    "Agent(tools)": lambda value: il.Agent("fake/echo", tools=value),
    "Webhook": il.Webhook,
    **{
        f"Webhook({name})": lambda value, name=name: il.Webhook("http://127.0.0.1:1", **{name: value})
        for name in ("key", "timeout_s", "on_failure", "steps")
    },
    **{
        f"ResponseCache({name})": lambda value, name=name: il.ResponseCache(**{name: value})
        for name in ("ttl_s", "max_bytes", "shared")
    },
    "load": il.load,
    "dump": il.dump,
    "fold": il.fold,
    "unfold": lambda value: list(il.unfold(value)),
    "on_event": lambda value: il.on_event(value).close(),
    "codec.decode_definitions": CODEC.decode_definitions,
    "codec.decode_definitions(dialect)": lambda value: CODEC.decode_definitions(DEFINITIONS, value),
    "codec.encode_definitions": lambda value: CODEC.encode_definitions(value, "anthropic"),
    "codec.decode_tool_calls": lambda value: CODEC.decode_tool_calls(value, "openai-chat"),
    "codec.encode_result": lambda value: CODEC.encode_result(value, "anthropic"),
    "codec.encode_result(calls)": lambda value: CODEC.encode_result(RESULT, "anthropic", calls=value),
    "codec.bridge": lambda value: CODEC.bridge(value, "anthropic"),
    **{
        f"codec.encode_definitions({name})": lambda value, name=name: CODEC.encode_definitions(
            DEFINITIONS, **{"dialect": "anthropic", name: value}
        )
        for name in ("dialect", "provider", "model", "changes")
    },
    **{
        f"codec.decode_tool_calls({name})": lambda value, name=name: CODEC.decode_tool_calls(
            cast("Any", REPLY), **{"dialect": "openai-chat", name: value}
        )
        for name in ("dialect", "provider", "model", "changes", "definitions", "first_index")
    },
    **{
        f"codec.bridge({name})": lambda value, name=name: CODEC.bridge(
            "openai-chat", **{"target": "anthropic", name: value}
        )
        for name in ("target", "provider", "model", "allow", "history", "call_ids")
    },
}
"""Each public door of the library that takes a value of the caller's, by name."""


@pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")
@pytest.mark.parametrize("door", list(DOORS))
def test_a_value_of_a_wrong_kind_is_an_error_of_ours(
    door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is handed in, what comes out is an answer or an `il.Error`, never a bare Python error."""
    monkeypatch.chdir(tmp_path)
    failures: list[str] = []
    for value in WRONG:
        with use(FakeModel()), no_network():
            try:
                result = DOORS[door](value)
                if inspect.isawaitable(result):
                    asyncio.run(_awaited(result))
            except il.Error:
                pass
            except Exception as error:  # noqa: BLE001 - that there is none is what is tested
                failures.append(f"{value!r:.40}: {type(error).__name__}: {error}")
    assert failures == []


async def _awaited(value: Any) -> None:
    await value


# Code of the caller's that a call runs: the error says who raised it, and its words stay in `__cause__`.


def raising(error: Exception) -> Callable[..., Any]:
    """A function that raises."""

    def function(*_: object) -> Any:
        raise error

    return function


def giving(value: Any) -> Callable[..., Any]:
    """A function that gives a value."""

    def function(*_: object) -> Any:
        return value() if callable(value) else value

    return function


class Way:
    """A transport that is made of functions."""

    def __init__(self, opening: Callable[..., Any]) -> None:
        self._opening = opening

    def open(self, request: object, timeouts: object) -> Any:
        """What the function gives."""
        return self._opening(request, timeouts)

    def close(self) -> None:
        """Nothing is open."""


class Reply:
    """A reply of which anything may be wrong."""

    def __init__(self, status: Any = 200, headers: Any = (), read: Any = lambda: b"") -> None:
        self.status = status
        self.headers = headers
        self.read = read

    def close(self) -> None:
        """Nothing is open."""


async def soon(value: Any = None) -> Any:
    """A value, awaited."""
    return value


@pytest.mark.parametrize(
    ("opening", "kind", "sentence"),
    [
        (raising(KeyError("secret-word")), il.APIConnectionError, "open of the transport (Way) raised a KeyError"),
        (giving(None), il.UsageError, "open of the transport (Way) gave None, and a reply has status"),
        (giving(soon), il.UsageError, "open of the transport (Way) gives an awaitable: make it async def"),
        (giving(Reply("200")), il.UsageError, "open of the transport (Way) gave a reply with the status '200'"),
        (giving(Reply(headers=[("a", 1)])), il.UsageError, "whose headers are no pairs of texts, but a list"),
        (giving(Reply(headers=None)), il.UsageError, "whose headers are no pairs of texts, but None"),
        (giving(Reply(read=lambda: "text")), il.UsageError, "read of the transport (Way) gave a str, not bytes"),
        (giving(Reply(read=lambda: soon(b""))), il.UsageError, "of the transport (Way) gave a coroutine, not bytes"),
        (
            giving(Reply(read=raising(KeyError("secret-word")))),
            il.APIConnectionError,
            "read of the transport (Way) raised a KeyError",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_what_an_own_transport_raises_or_gives_names_it(
    opening: Callable[..., Any], kind: type[il.Error], sentence: str, awaited: bool
) -> None:
    """Its class and the step; the words of what it raised are not repeated."""
    options: Any = {"base_url": "http://127.0.0.1:1", "api_key": "k", "transport": Way(opening), "retries": 0}
    ask = (
        (lambda: asyncio.run(_awaited(aio.model("openai/x", **options).generate("Hi"))))
        if awaited
        else (lambda: il.model("openai/x", **options).generate("Hi"))
    )
    with pytest.raises(kind) as caught:
        ask()
    assert sentence in str(caught.value)
    assert "secret-word" not in str(caught.value)


class AwaitedWay:
    """An awaited transport that is made of functions."""

    def __init__(self, opening: Callable[..., Any]) -> None:
        self._opening = opening

    async def open(self, request: object, timeouts: object) -> Any:
        """What the function gives."""
        return self._opening(request, timeouts)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("opening", "kind", "sentence"),
    [
        (raising(KeyError("secret-word")), il.APIConnectionError, "open of the transport (AwaitedWay) raised"),
        (giving(None), il.UsageError, "open of the transport (AwaitedWay) gave None"),
        (giving(Reply()), il.UsageError, "read of the transport (AwaitedWay) gave a bytes, not something to await"),
        (giving(Reply(read=lambda: soon("x"))), il.UsageError, "the transport (AwaitedWay) gave a str, not bytes"),
    ],
)  # fmt: skip
def test_what_an_awaited_transport_raises_or_gives_names_it(
    opening: Callable[..., Any], kind: type[il.Error], sentence: str
) -> None:
    """Its class and the step, also where a reply forgets to be awaited."""
    model = aio.model("openai/x", base_url="http://127.0.0.1:1", api_key="k", transport=AwaitedWay(opening), retries=0)
    with pytest.raises(kind) as caught:
        asyncio.run(_awaited(model.generate("Hi")))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (raising(KeyError("secret-word")), "api_key: the function that gives the key raised a KeyError"),
        (lambda: 3, "api_key: the function that gives the key gave an int, not a text"),
        (lambda: soon("sk"), "api_key: the function that gives the key gave a coroutine, not a text"),
        (lambda: b"sk", "api_key: the function that gives the key gave a bytes, not a text"),
        (lambda: None, "openai: no key; api_key= is empty"),
        (lambda: "a\nb", "the key from api_key holds a character that a header cannot carry"),
    ],
)
def test_what_a_function_of_a_key_raises_or_gives_names_it(function: Any, sentence: str) -> None:
    """Where it is from, and what came instead of a key."""
    with no_network(), pytest.raises(il.ConfigError) as caught:
        il.model("openai/x", api_key=function, retries=0).generate("Hi")
    assert sentence in str(caught.value)
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize(
    ("clock", "sentence"),
    [
        (raising(KeyError("secret-word")), "the clock raised a KeyError"),
        (lambda: None, "the clock gave None, and a time is a number of seconds"),
        (lambda: "12", "the clock gave '12', and a time is a number of seconds"),
        (lambda: float("nan"), "the clock gave nan, and a time is a number of seconds"),
    ],
)
def test_what_a_clock_raises_or_gives_names_it(clock: Any, sentence: str) -> None:
    """In both faces."""
    with use(FakeModel()), pytest.raises(il.UsageError, match=sentence):
        il.model("fake/echo", clock=clock).generate("Hi")
    with use(FakeModel()), pytest.raises(il.UsageError, match=sentence):
        asyncio.run(_awaited(aio.model("fake/echo", clock=clock).generate("Hi")))


def test_a_resolver_that_raises_is_named() -> None:
    """Its name and the kind of the error."""
    registry = il.Registry({})
    registry.register_resolver(raising(KeyError("secret-word")))
    with pytest.raises(il.ConfigError, match=r"^the resolver raising\.<locals>\.function raised a KeyError for 'x/y'$"):
        registry.resolve("x/y")
