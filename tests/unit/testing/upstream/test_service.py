"""The strict upstream as a service: scripted answers, refusals, cuts, on a port and in the process."""

from __future__ import annotations

import ast
import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import interlingua as il
import interlingua.testing.upstream as package
from interlingua.testing import conformance
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from interlingua.testing.upstream.refusals import ERROR_STATUSES
from tests.support.cells import cells
from tests.support.client import AWAITED, BLOCKING, Face

MODELS = {
    "openai-chat": "openai-chat/gpt-4.1",
    "openai-responses": "openai-responses/gpt-6-astra",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3-pro",
    "ollama": "ollama/qwen3",
    "cohere": "cohere/command-a-reasoning-08-2025",
    "bedrock": "bedrock/us.anthropic.claude-opus-5",
    "unified": "hub/smart",
}
"""A model of every dialect."""
PAIR = Say(
    thinking="Let me see.",
    text="Looking it up.",
    calls=(Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Bergen"})),
    cached_tokens=5,
    reasoning_tokens=3,
)


@pytest.fixture(params=MODELS)
def dialect(request: pytest.FixtureRequest) -> str:
    """The name of a dialect."""
    return request.param


@pytest.fixture(autouse=True)
def _hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another interlingua, at an address that is never called."""
    monkeypatch.setenv("LLM_HUB", "interlingua://token@127.0.0.1:9?tls=0")


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whether to stream."""
    return request.param


@pytest.fixture
def ask(streamed: bool, face: Face, dialect: str) -> Any:
    """Asks the model of the dialect, whole or streamed."""

    def asking(prompt: Any = "Hi", **options: Any) -> il.Response[Any]:
        model = face.model(MODELS[dialect])
        return face.finish(model.stream(prompt, **options)) if streamed else face.generate(model, prompt, **options)

    return asking


def get_weather(city: str) -> str:
    """The weather of a city."""
    if city == "Bergen":
        raise il.ToolError("the road is closed")
    return f"4 degrees in {city}"


@pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")
def test_a_tool_loop_with_thoughts(dialect: str, ask: Any) -> None:
    """Two calls at once, a failed one among them, and a thought that comes back as it was given: all of it is taken."""
    tools = il.Toolbox([get_weather])
    with Upstream(dialect, PAIR, "Cold.", "Still cold.").standing() as upstream:
        reply = ask("Weather?", tools=tools, effort="high")
        again = ask(tools.execute(reply.tool_calls), history=reply, tools=tools, effort="high")
        last = ask("And now?", history=again, tools=tools, effort="high")
    assert [str(verdict) for verdict in upstream.verdicts] == ["taken"] * 3
    assert [call.arguments for call in reply.tool_calls] == [{"city": "Oslo"}, {"city": "Bergen"}]
    assert reply.usage is not None
    assert reply.usage.input_tokens == 20
    assert reply.usage.output_tokens == 10
    assert reply.usage.cache_read_tokens == (None if dialect == "ollama" else 5)
    assert (again.text, last.text) == ("Cold.", "Still cold.")


def test_what_ends_an_answer(dialect: str, ask: Any) -> None:
    """A limit and a refusal."""
    with Upstream(dialect, Say(text="One two", finish="length"), Say(refusal="I will not.")).standing():
        assert ask().finish_reason == "length"
        finish = ask().finish_reason
    others = {"google": "content_filter", "bedrock": "content_filter", "ollama": "stop", "cohere": "stop"}
    assert finish == others.get(dialect, "refusal")


@cells("status", ERROR_STATUSES)
def test_every_status_is_a_typed_error(dialect: str, ask: Any, status: int) -> None:
    """The error of that status in the service's own body, with Retry-After where the service sends one."""
    with Upstream(dialect, *[Fail(status)] * 4).standing(), pytest.raises(il.UpstreamError) as caught:
        ask()
    assert caught.value.status in (status, 503) or (dialect, caught.value.status) == ("bedrock", 403)
    if status == 429 and dialect not in ("ollama", "cohere", "bedrock"):
        assert caught.value.retry_after_s == 7.0


def test_a_stream_that_breaks_off(dialect: str, face: Face) -> None:
    """What came before the cut is in the error."""
    cut = Cut(Say(text="One two three four five"), after=-3)
    with Upstream(dialect, cut).standing(), pytest.raises(il.IncompleteStreamError) as caught:
        face.finish(face.model(MODELS[dialect]).stream("Count."))
    assert caught.value.partial is not None
    assert caught.value.partial.text.startswith("One")


def test_an_error_in_a_stream(dialect: str, face: Face) -> None:
    """The error that comes after 200 is the service's own."""
    with Upstream(dialect, Fail(500, late=True)).standing(), pytest.raises(il.UpstreamError):
        face.finish(face.model(MODELS[dialect]).stream("Count."))


def test_on_a_port_it_judges_and_answers(
    dialect: str, face: Face, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over real sockets: a wrong key is 401, an unknown model 404, and the right ones are answered."""

    def ask(spec: str) -> str:
        model = face.model(spec, max_tokens=50)
        return (face.finish(model.stream("Hi")) if streamed else face.generate(model, "Hi")).text

    name = MODELS[dialect].partition("/")[2]
    upstream = Upstream(dialect, "Hello.", models=frozenset({name}), key="sesame")
    with upstream.serving() as base_url:
        address = base_url.removeprefix("http://")
        scheme = "interlingua" if dialect == "unified" else dialect
        monkeypatch.setenv("LLM_MINE", f"{scheme}://sesame@{address}?tls=0")
        monkeypatch.setenv("LLM_OTHER", f"{scheme}://wrong@{address}?tls=0")
        assert ask(f"mine/{name}") == "Hello."
        assert upstream.verdicts[-1].ok
        with pytest.raises(il.AuthenticationError):
            ask(f"other/{name}")
        with pytest.raises(il.NotFoundError):
            ask("mine/no-such-model")


def test_a_refused_request_uses_up_nothing() -> None:
    """The real service answers only what it takes; the script waits for it."""
    upstream = Upstream("openai-chat", "Hello.")
    with upstream.serving() as base_url:
        bad = _post(base_url, "/v1/chat/completions", b'{"model":"m"}')
        good = _post(base_url, "/v1/chat/completions", b'{"model":"m","messages":[{"role":"user","content":"x"}]}')
    assert (bad[0], good[0]) == (400, 200)
    assert b"'messages' is missing" in bad[1].replace(b"`", b"'")
    assert b"Hello." in good[1]
    assert [verdict.ok for verdict in upstream.verdicts] == [False, True]


def _post(base_url: str, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=10)
    try:
        headers = {"content-type": "application/json", "authorization": "Bearer x"}
        connection.request("POST", path, body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def test_nothing_of_the_dialects_is_imported() -> None:
    """The judges are independent of what they judge: no module of either package imports a dialect or a type."""
    folders = [Path(each.__path__[0]) for each in (package, conformance)]
    named = {
        (path.name, name)
        for folder in folders
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *[alias.name for alias in node.names]]
        if "dialects" in name or name.startswith(("interlingua.codec", "interlingua.types"))
    }
    # wire.model_table, which they do read, is data with its evidence: tests/corpus/test_model_table.py.
    assert named == set()


def test_a_conversation_is_compacted() -> None:
    """`/responses/compact` of the official client: the user's messages and one sealed item, which is known again."""
    openai = pytest.importorskip("openai", reason="the official SDK is not installed")
    upstream = Upstream("openai-responses")
    with upstream.serving() as base_url, openai.OpenAI(base_url=base_url + "/v1", api_key="key") as client:
        history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
        raw = client.responses.with_raw_response.compact(model="gpt-6-astra", input=history)
        short, again = raw.parse(), json.loads(raw.text)["output"]
        assert [item.type for item in short.output] == ["message", "compaction"]
        assert (short.object, short.usage.total_tokens > 0) == ("response.compaction", True)
        client.responses.create(model="gpt-6-astra", input=[*again, {"role": "user", "content": "And now?"}])
        with pytest.raises(openai.BadRequestError, match="temperature"):
            client.responses.compact(model="gpt-6-astra", input="Hi", extra_body={"temperature": 1})
    assert [verdict.ok for verdict in upstream.verdicts] == [True, True, False]
