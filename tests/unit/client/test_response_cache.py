"""The cache of answers: what is kept, for whom, where and for how long."""

from __future__ import annotations

import asyncio
import json
import stat
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua import testing
from interlingua.client.hooks.cache import ResponseCache
from interlingua.client.hooks.stores import MAX_ENTRY_BYTES, OVERHEAD_BYTES, MemoryAnswers, SqliteAnswers, open_store
from tests.support.shared_servers import RoomOfPostgres, make_redis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from interlingua.client.hooks.stores import CacheStore


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Redis."""
    server = make_redis(tmp_path_factory.mktemp("redis"))
    yield server.url
    server.stop()


@pytest.fixture(params=["memory", "sqlite", "redis", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each place where answers can lie."""
    if request.param == "redis":
        return f"{request.getfixturevalue('redis')}&prefix={tmp_path.name}:"
    if request.param == "postgres":
        return RoomOfPostgres(request.getfixturevalue("postgres_server")).url
    return "memory" if request.param == "memory" else str(tmp_path / "answers.sqlite")


def _model(spec: str, cache: ResponseCache) -> Any:
    return il.model(spec, hooks=[cache])


def _numbered() -> Any:
    """A model that says how often it was asked."""
    numbers = iter(range(1, 100))
    return testing.use(lambda _: f"answer {next(numbers)}")


def test_r70_the_same_request_is_answered_once(place: str) -> None:
    """By both faces, whole and streamed; a hit has no id, costs nothing and is a stream as any other."""
    cache = ResponseCache(place)
    model, awaited = il.model("fake/m", hooks=[cache]), il.aio.model("fake/m", hooks=[cache])
    with _numbered() as fake:
        first = model.generate("Oslo?")
        again = model.generate("Oslo?")
        assert (first.text, again.text, again.cost_usd, again.id) == ("answer 1", "answer 1", 0.0, None)
        assert again.usage == first.usage
        assert again.messages == first.messages
        with model.stream("Oslo?") as stream:
            assert list(stream.text_stream) == ["answer 1"]
            assert stream.response == again

        async def asked() -> list[str]:
            text = (await awaited.generate("Oslo?")).text
            async with awaited.stream("Bergen?") as stream:
                pieces = [piece async for piece in stream.text_stream]
            return [text, "".join(pieces), (await awaited.generate("Bergen?")).text]

        assert asyncio.run(asked()) == ["answer 1", "answer 2", "answer 2"]
        assert len(fake.requests) == 2
    cache.close()


def test_r70_whatever_differs_is_another_request() -> None:
    """A knob, the history, the target and the way of the call."""
    cache = ResponseCache()
    with _numbered() as fake:
        il.model("fake/m", hooks=[cache]).generate("Oslo?")
        for spec, options in (
            ("fake/m", {"temperature": 0.0}),
            ("fake/m", {"history": [il.user("Hi"), il.assistant("Hi")]}),
            ("fake/m", {"allow": ["images"]}),
            ("fake/m", {"headers": {"x-a": "b"}}),
            ("fake/n", {}),
        ):
            _model(spec, cache).generate("Oslo?", **options)
        assert len(fake.requests) == 6


def _asked(cache: ResponseCache, owner: str, request: il.Request, answer: il.Response[Any]) -> il.Response[Any] | None:
    """What a cache has for an owner; where that is nothing, it is given the answer."""
    context = il.HookContext(model="m", targets=("anthropic/m",), owner=owner)
    found = cache.before(request, context)
    if isinstance(found, il.Response):
        return found
    cache.after(answer, context)
    return None


HI = il.Request(messages=(il.user("Hi"),))
SEAL = il.Sealed("anthropic", {"signature": "c2VhbA=="}, "anthropic", "m")
SEALED: il.Response[Any] = il.Response(
    parts=(il.ThinkingPart("Hm.", SEAL), il.ThinkingPart("", SEAL), il.TextPart("Hello.")),
    finish_reason="stop",
    id="msg_1",
    extra={"anthropic": {"container": {"id": "c_1"}}},
)


def test_r70_owners_share_nothing() -> None:
    """Neither the words nor the seals of one owner's answer reach another one."""
    cache = ResponseCache()
    assert _asked(cache, "team-a", HI, SEALED) is None
    assert _asked(cache, "team-b", HI, replace(SEALED, parts=(il.TextPart("Mine."),))) is None
    found = _asked(cache, "team-a", HI, SEALED)
    assert found is not None
    assert (found.parts, found.id) == (SEALED.parts, None)
    other = _asked(cache, "team-b", HI, SEALED)
    assert other is not None
    assert other.text == "Mine."


def test_r70_a_shared_cache_keeps_words_alone() -> None:
    """What a provider sealed, and names of what it keeps, belong to whom they were given."""
    cache = ResponseCache(shared=True)
    assert _asked(cache, "team-a", HI, SEALED) is None
    found = _asked(cache, "team-b", HI, SEALED)
    assert found is not None
    assert (found.parts, found.extra, found.id) == ((il.ThinkingPart("Hm."), il.TextPart("Hello.")), {}, None)


TOOL = il.Tool(name="add")


@pytest.mark.parametrize(
    "request_",
    [
        replace(HI, tools=(TOOL,)),
        replace(HI, tools=(il.OpaqueTool("anthropic", "web_search", {}),)),
        replace(HI, store=True),
        replace(HI, continues=il.ServerState("openai-responses", {"previous_response_id": "r"})),
        replace(HI, extra={"anthropic": {"mcp_servers": []}}),
    ],
    ids=["tools", "server tools", "stored", "continued", "mcp"],
)
def test_r70_nothing_is_kept_where_something_acts(request_: il.Request) -> None:
    """A second call would be answered without what the first one did."""
    cache = ResponseCache()
    assert _asked(cache, "", request_, SEALED) is None
    assert _asked(cache, "", request_, SEALED) is None


@pytest.mark.parametrize(
    "change",
    [
        {"finish_reason": "length"},
        {"finish_reason": "content_filter"},
        {"finish_reason": "refusal"},
        {"parts": ()},
        {"parts": (il.ToolCall("c", "add", "{}"),)},
        {"alternatives": (il.Alternative(parts=(il.TextPart("x"),), finish_reason="length"),)},
    ],
    ids=["length", "filter", "refusal", "empty", "calls", "a cut choice"],
)
def test_r70_only_whole_answers_are_kept(change: dict[str, Any]) -> None:
    """One that was cut, held back, or calls is asked for again."""
    cache = ResponseCache()
    answer = replace(SEALED, **change)
    assert _asked(cache, "", HI, answer) is None
    assert _asked(cache, "", HI, answer) is None


def test_r70_a_failed_call_keeps_nothing() -> None:
    """The next one is asked."""
    cache = ResponseCache()
    model = il.model("fake/m", hooks=[cache], retries=0)
    with testing.use([il.OverloadedError("busy", status=529), "Fine."]):
        with pytest.raises(il.OverloadedError):
            model.generate("Hi")
        assert model.generate("Hi").text == "Fine."


# Stores


class _Clock:
    """A clock that a test sets."""

    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def _store(kind: str, folder: Path, max_bytes: int, clock: _Clock) -> MemoryAnswers | SqliteAnswers:
    if kind == "memory":
        return MemoryAnswers(max_bytes, clock=clock)
    return SqliteAnswers(folder / "deep" / "answers.sqlite", max_bytes, now=clock)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_r70_an_answer_ends_in_time(kind: str, tmp_path: Path) -> None:
    """To the second."""
    clock = _Clock()
    store = _store(kind, tmp_path, 100_000, clock)
    store.put("a", b"one", 60)
    clock.now_s += 59.9
    assert store.get("a") == b"one"
    clock.now_s += 0.2
    assert store.get("a") is None
    store.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_r70_what_was_not_asked_for_the_longest_makes_room(kind: str, tmp_path: Path) -> None:
    """The bound counts bytes; an answer of more than an eighth of it is not kept."""
    clock, size = _Clock(), 2_000
    store = _store(kind, tmp_path, 16 * (size + OVERHEAD_BYTES), clock)
    for number in range(40):
        clock.now_s += 1
        store.put(f"n{number}", bytes(size), 1e6)
        assert store.get("n0") == bytes(size)
    left = [number for number in range(40) if store.get(f"n{number}") is not None]
    assert 14 <= len(left) <= 18
    assert (left[0], left[-1]) == (0, 39)
    store.put("large", bytes(4 * size), 1e6)
    store.put("larger", bytes(5 * size), 1e6)
    assert store.get("larger") is None
    store.close()


def test_r70_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    """And can be read by another process; what is no cache is refused."""
    first, second = SqliteAnswers(tmp_path / "a.sqlite", 100_000), SqliteAnswers(tmp_path / "a.sqlite", 100_000)
    first.put("a", b"one", 60)
    assert second.get("a") == b"one"
    assert stat.S_IMODE((tmp_path / "a.sqlite").stat().st_mode) == 0o600
    first.close()
    second.close()
    (tmp_path / "b.sqlite").write_bytes(b"no database at all, but a text" * 50)
    with pytest.raises(il.ConfigError, match=r"b\.sqlite is no cache of answers"):
        SqliteAnswers(tmp_path / "b.sqlite", 100_000)


def test_r70_a_store_that_fails_is_an_empty_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The call goes on, and the log says so once."""
    store = SqliteAnswers(tmp_path / "a.sqlite", 100_000)
    store.close()
    cache = ResponseCache(store)
    with testing.use("Fine."), caplog.at_level("WARNING", "interlingua"):
        model = il.model("fake/m", hooks=[cache])
        assert [model.generate("Hi").text, model.generate("Hi").text] == ["Fine.", "Fine."]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("the cache of answers in a.sqlite cannot be used: ")


def test_r70_a_redis_that_is_away_is_an_empty_store(caplog: pytest.LogCaptureFixture) -> None:
    """For both faces."""
    store: CacheStore = open_store("redis://127.0.0.1:9/0", 100_000)
    with testing.use("Fine."):
        assert il.model("fake/m", hooks=[ResponseCache(store)]).generate("Hi").text == "Fine."
        reply = asyncio.run(il.aio.model("fake/m", hooks=[ResponseCache(store)]).generate("Hi"))
    assert reply.text == "Fine."
    assert len(caplog.records) == 1
    store.close()


def test_r70_what_another_version_wrote_is_no_answer() -> None:
    """It is asked for again, and written anew."""
    store = MemoryAnswers(10_000_000)
    cache = ResponseCache(store)
    assert _asked(cache, "", HI, SEALED) is None
    (key,) = store._answers
    store.put(key, b'{"interlingua": 99, "kind": "response"}', 60)
    assert _asked(cache, "", HI, SEALED) is None
    assert _asked(cache, "", HI, SEALED) is not None


def test_r70_a_bound_is_a_bound() -> None:
    """Neither no time nor no bytes."""
    assert MAX_ENTRY_BYTES == 8 * 1024 * 1024
    for bounds in ({"ttl_s": 0.0}, {"max_bytes": 0}):
        with pytest.raises(il.ConfigError, match="more than 0"):
            ResponseCache(**bounds)  # pyright: ignore[reportArgumentType]  # what is wrong is tried


def test_r70_the_trace_of_a_call_makes_no_other_request() -> None:
    """A gateway with spans sends another `traceparent` with each call; any other header decides what is sent."""
    cache = ResponseCache()

    def asked(**headers: str) -> str:
        return il.model("fake/m", hooks=[cache], headers=headers).generate("Oslo?").text

    with _numbered():
        assert [asked(traceparent=f"00-{number}-01", tracestate="a=b") for number in range(2)] == ["answer 1"] * 2
        assert [asked(beta=name) for name in ("a", "b", "a")] == ["answer 2", "answer 3", "answer 2"]


class _Told:
    """An answer that says what was sent where."""

    status = 200
    headers = (("content-type", "application/json"),)

    def __init__(self, text: str) -> None:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._body = json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode()

    def read(self) -> bytes:
        """The whole body, then its end."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Nothing is open."""


class _Telling:
    """A transport whose answers name the host and the key of the request."""

    def open(self, request: Any, timeouts: Any) -> _Told:
        """The answer."""
        del timeouts
        return _Told(f"{request.url.split('/')[2]} {dict(request.headers).get('authorization')}")

    def close(self) -> None:
        """Nothing is open."""


def _pointed(cache: ResponseCache, environ: dict[str, str], **options: Any) -> str:
    model = il.model(
        "openai-chat/m", registry=il.Registry(environ), transport=_Telling(), hooks=[cache], **options
    )  # fmt: skip
    return model.generate("Oslo?").text


def test_r70_an_answer_for_one_key_is_given_to_no_other(place: str) -> None:
    """Neither the keys of `api_key=` nor those of registries share answers, and with `shared=True` all do."""
    home = "api.openai.com Bearer"
    for shared, texts in ((False, [f"{home} a", f"{home} b", f"{home} c", f"{home} a"]), (True, [f"{home} a"] * 4)):
        cache = ResponseCache(place, shared=shared)
        assert texts == [
            _pointed(cache, {}, api_key="a"),
            _pointed(cache, {}, api_key=lambda: "b"),
            _pointed(cache, {"OPENAI_API_KEY": "c"}),
            _pointed(cache, {"OPENAI_API_KEY": "c"}, api_key="a"),
        ]
        cache.close()


@pytest.mark.parametrize("shared", [False, True])
def test_r70_an_answer_of_one_address_is_no_answer_of_another(place: str, *, shared: bool) -> None:
    """A target of the same name at another address is another target, whoever shares the cache."""
    cache = ResponseCache(place, shared=shared)
    environ = {"OPENAI_API_KEY": "a"}
    assert _pointed(cache, environ) == "api.openai.com Bearer a"
    assert _pointed(cache, environ, base_url="https://one.example/v1") == "one.example Bearer a"
    assert _pointed(cache, {**environ, "OPENAI_BASE_URL": "https://two.example/v1"}) == "two.example Bearer a"
    assert _pointed(cache, environ) == "api.openai.com Bearer a"
    cache.close()
