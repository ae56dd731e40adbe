"""Our client against llmock, a server of OpenAI Chat that we did not write and that breaks what it is told to break."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

import interlingua as il
from interlingua.client.state import forget_state
from tests.support import ports
from tests.support.client import AWAITED, BLOCKING, Face
from tests.support.trying import at_best

pytestmark = pytest.mark.skipif(find_spec("llmock") is None, reason="llmock is not installed")

OURS = {"PATH", "HOME", "SYSTEMROOT", "VIRTUAL_ENV"}
"""What the server may know of the environment: no key, no proxy."""


@dataclass
class Mock:
    """The running server."""

    port: int

    def call(self, path: str, body: Any = None) -> Any:
        """What its own interface answers; a body is posted."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=5) as reply:
            return json.load(reply)

    def behave(self, behavior: str, **facts: Any) -> None:
        """Do this to the next request."""
        self.call("/_llmock/scenario", {"behaviors": [{"type": behavior, **facts}]})


@pytest.fixture(scope="module")
def server() -> Generator[Mock]:
    """One server for all tests of this file."""
    place = ports.Place()
    program = "from llmock.cli import app; app()"
    environment = {name: value for name, value in os.environ.items() if name in OURS}
    process = subprocess.Popen(
        [sys.executable, "-c", program, "serve", "--port", str(place.port), "--log-level", "critical"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    mock = Mock(place.port)
    try:
        _await_health(mock)
        yield mock
    finally:
        process.terminate()
        process.wait(10)


def _await_health(mock: Mock) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            mock.call("/health")
            return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.fixture
def mock(server: Mock, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The server, with nothing in store, as the provider `mock`."""
    server.call("/_llmock/reset", {})
    monkeypatch.setenv("LLM_MOCK", f"openai://key-of-nobody@127.0.0.1:{server.port}/v1?tls=0")
    return server


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@dataclass
class Place:
    city: str
    celsius: float


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"4 degrees in {city}"


def _ask(face: Face, model: Any, prompt: Any, *, streamed: bool, **options: Any) -> il.Response[Any]:
    return face.finish(model.stream(prompt, **options)) if streamed else face.generate(model, prompt, **options)


def test_a_whole_answer(face: Face, mock: Mock) -> None:
    """Text, counts and who served."""
    mock.behave("reply", text="Oslo is in Norway.")
    reply = face.generate(face.model("mock/gpt-4o"), "Where is Oslo?")
    assert (reply.text, reply.finish_reason, reply.model) == ("Oslo is in Norway.", "stop", "mock/gpt-4o")
    assert reply.usage is not None
    assert reply.usage.output_tokens
    assert reply.usage.total_tokens


def test_a_stream(face: Face, mock: Mock) -> None:
    """It comes in pieces, and adds up to the same with its counts."""
    mock.behave("reply", text="Oslo is in Norway.")
    events = face.events(face.model("mock/gpt-4o").stream("Where is Oslo?"))
    pieces = [event.text for event in events if isinstance(event, il.TextDelta)]
    assert (len(pieces), "".join(pieces)) == (4, "Oslo is in Norway.")
    assert isinstance(events[-1], il.StreamEnd)
    assert events[-1].response.usage is not None


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_a_tool_loop(face: Face, mock: Mock, streamed: bool) -> None:
    """It calls the tool that is offered; its result brings the answer."""
    tools = il.Toolbox([get_weather])
    model = face.model("mock/gpt-4o")
    reply = _ask(face, model, "What is the weather in Paris?", streamed=streamed, tools=tools)
    [call] = reply.tool_calls
    assert (call.name, reply.finish_reason) == ("get_weather", "tool_calls")
    assert isinstance(call.arguments["city"], str)
    results = tools.execute(reply.tool_calls)
    reply = _ask(face, model, results, streamed=streamed, history=reply, tools=tools)
    assert reply.tool_calls == ()
    assert reply.text


def test_a_typed_answer(face: Face, mock: Mock) -> None:
    """A dataclass goes out as a schema and comes back as a value."""
    reply = face.generate(face.model("mock/gpt-4o"), "Where?", output=Place)
    assert isinstance(reply.output, Place)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, il.BadRequestError),
        (401, il.AuthenticationError),
        (403, il.PermissionDeniedError),
        (404, il.NotFoundError),
        (409, il.UpstreamError),
        (413, il.RequestTooLargeError),
        (422, il.BadRequestError),
        (429, il.RateLimitError),
        (500, il.InternalServerError),
        (502, il.InternalServerError),
        (503, il.OverloadedError),
        (529, il.OverloadedError),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_errors_have_their_class(face: Face, mock: Mock, streamed: bool, status: int, kind: type[il.Error]) -> None:
    """Every status is raised as its class, before the first event of a stream as well."""
    mock.behave("fail", status=status)
    model = face.model("mock/gpt-4o", retries=0)
    with pytest.raises(il.UpstreamError) as caught:
        _ask(face, model, "Hi", streamed=streamed)
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert caught.value.retryable is (status in {409, 429} or status >= 500)


def test_the_wait_is_told(face: Face, mock: Mock) -> None:
    """Retry-After is in the error, in seconds."""
    mock.behave("fail", status=429, retry_after=2)
    with pytest.raises(il.RateLimitError) as caught:
        face.generate(face.model("mock/gpt-4o", retries=0))
    assert caught.value.retry_after_s == 2


@pytest.mark.parametrize("fault", ["disconnect", "truncate"])
def test_sse_10_a_stream_that_is_cut_is_incomplete(face: Face, mock: Mock, fault: str) -> None:
    """SSE-10: dropped or ended early without a word: an error with what came, where the vendors' SDKs see an end."""
    mock.behave("reply", text="one two three four five")
    mock.behave("stream_fault", kind=fault, after_chunks=3)
    with pytest.raises(il.IncompleteStreamError) as caught:
        face.finish(face.model("mock/gpt-4o").stream("Count."))
    assert caught.value.partial is not None
    assert caught.value.partial.text == "one two "


def test_a_malformed_chunk_is_an_error(face: Face, mock: Mock) -> None:
    """A chunk that is no JSON is our own error, not a parser's."""
    mock.behave("stream_fault", kind="malformed", after_chunks=2)
    with pytest.raises(il.DecodeError):
        face.finish(face.model("mock/gpt-4o").stream("Count."))


def test_a_stalled_stream_times_out(face: Face, mock: Mock) -> None:
    """A stream that hangs ends after the idle time."""

    def waited_s() -> float:
        mock.behave("stream_fault", kind="stall", after_chunks=2, stall_seconds=5)
        started = time.monotonic()
        with pytest.raises(il.APITimeoutError) as caught:
            face.finish(face.model("mock/gpt-4o", timeouts=il.Timeouts(idle_s=0.2)).stream("Count."))
        assert caught.value.phase == "idle"
        return time.monotonic() - started

    assert at_best(lambda: waited_s() < 3)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_malformed_arguments_are_an_error(face: Face, mock: Mock, streamed: bool) -> None:
    """A call whose arguments are no JSON is never handed over; the error names it."""
    mock.behave("tool_fault", kind="malformed_arguments")
    model = face.model("mock/gpt-4o", tools=il.Toolbox([get_weather]))
    with pytest.raises(il.MalformedArgumentsError) as caught:
        _ask(face, model, "Weather in Paris?", streamed=streamed)
    assert caught.value.call is not None
    assert caught.value.call.name == "get_weather"


def test_a_tool_that_was_never_offered(face: Face, mock: Mock) -> None:
    """The call comes through, and executing it is an error result that the model can read."""
    mock.behave("tool_fault", kind="unknown_tool")
    tools = il.Toolbox([get_weather])
    reply = face.generate(face.model("mock/gpt-4o"), "Weather in Paris?", tools=tools)
    [call] = reply.tool_calls
    assert call.name != "get_weather"
    [result] = [part for part in tools.execute(reply.tool_calls).parts if isinstance(part, il.ToolResult)]
    assert result.is_error


# Chains, in every dialect that the mock speaks

SERVICES = {
    "chat": ("openai-chat", "/v1", "gpt-4o"),
    "responses": ("openai-responses", "/v1", "gpt-4o"),
    "messages": ("anthropic", "/anthropic/v1", "claude-sonnet-4-5"),
    "gemini": ("google", "/gemini/v1beta", "gemini-2.5-flash"),
    "mistral": ("mistral", "/mistral/v1", "mistral-large-latest"),
}
"""Name -> the scheme that it is spoken to with, where it is, and a model."""


@pytest.fixture
def services(server: Mock, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The server as all of these, with nothing in store and nothing in its journal."""
    server.call("/_llmock/reset", {})
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.15)  # short pauses
    for name, (scheme, path, _) in SERVICES.items():
        monkeypatch.setenv(f"LLM_MOCK_{name.upper()}", f"{scheme}://key-of-nobody@127.0.0.1:{server.port}{path}?tls=0")
    return server


def _target(name: str) -> str:
    return f"mock-{name}/{SERVICES[name][2]}"


def _other(name: str) -> str:
    names = list(SERVICES)
    return names[(names.index(name) + 1) % len(names)]


def _chain(face: Face, name: str, **options: Any) -> Any:
    """A model of one service, with another one behind it."""
    return face.model(f"{_target(name)},{_target(_other(name))}", **options)


def _tries(attempts: tuple[Any, ...]) -> list[tuple[str, str, int | None]]:
    return [(attempt.model, attempt.outcome, attempt.status) for attempt in attempts]


def _findings(mock: Mock) -> list[tuple[str, str]]:
    """What the judge of the mock found: severity and code."""
    found = mock.call("/_llmock/verdict")["findings"]
    return [(finding["severity"], finding["code"]) for finding in found]


def _report(mock: Mock, *options: str) -> tuple[int, Any]:
    """Exit code and verdict of the mock's own command."""
    program = [sys.executable, "-c", "from llmock.cli import app; app()", "report", "--json"]
    done = subprocess.run(
        [*program, "--url", f"http://127.0.0.1:{mock.port}", *options],
        env={name: value for name, value in os.environ.items() if name in OURS},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_a_limit_that_passes_is_waited_for(face: Face, services: Mock, name: str, streamed: bool) -> None:
    """429 with Retry-After: the same target again, no earlier than it asked; the judge sees nothing wrong."""
    services.behave("fail", status=429, retry_after=0.3)
    began = time.monotonic()
    reply = _ask(face, _chain(face, name), "Hi", streamed=streamed)
    assert _tries(reply.attempts) == [(_target(name), "failed", 429), (_target(name), "served", None)]
    assert time.monotonic() - began >= 0.3
    assert _findings(services) == []


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_a_service_that_is_down_is_left(face: Face, services: Mock, name: str, streamed: bool) -> None:
    """500 twice: the next target serves, and the first one is not stormed."""
    services.behave("fail", status=500, times=2)
    reply = _ask(face, _chain(face, name), "Hi", streamed=streamed)
    assert _tries(reply.attempts) == [
        (_target(name), "failed", 500),
        (_target(name), "failed", 500),
        (_target(_other(name)), "served", None),
    ]
    assert _findings(services) == []


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_fault_of_the_target_is_not_tried_again(face: Face, services: Mock, name: str, status: int) -> None:
    """No retry can mend it: the next target at once."""
    services.behave("fail", status=status)
    reply = _ask(face, _chain(face, name), "Hi", streamed=True)
    assert [outcome for _, outcome, _ in _tries(reply.attempts)] == ["failed", "served"]
    assert _findings(services) == []


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed"])
def test_a_stream_that_breaks_before_its_first_word(face: Face, services: Mock, name: str, fault: str) -> None:
    """Nobody has read anything: it is asked again, or the next one is; the reader sees one whole answer."""
    services.behave("reply", text="one two three four five")
    services.behave("stream_fault", kind=fault, after_chunks=0)
    reply = _ask(face, _chain(face, name), "Count.", streamed=True)
    tries = _tries(reply.attempts)
    assert [outcome for _, outcome, _ in tries] == ["failed", "served"]
    assert tries[1][0] == _target(name if fault != "malformed" else _other(name))
    assert [code for severity, code in _findings(services) if severity == "error"] == []


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("fault", ["disconnect", "truncate"])
def test_a_stream_that_breaks_later_is_the_callers(face: Face, services: Mock, name: str, fault: str) -> None:
    """What came is kept and the error says that it may be tried again; the library tells no story twice."""
    words = " ".join(f"word{number}" for number in range(40))
    services.behave("reply", text=words)
    services.behave("stream_fault", kind=fault, after_chunks=9)
    model = _chain(face, name)
    with pytest.raises(il.IncompleteStreamError) as caught:
        _ask(face, model, "Count.", streamed=True)
    assert caught.value.retryable
    assert caught.value.partial is not None
    assert caught.value.partial.text
    assert words.startswith(caught.value.partial.text.strip())
    assert [outcome for _, outcome, _ in _tries(caught.value.attempts)] == ["served"]
    assert _ask(face, model, "Count.", streamed=True).text
    assert [code for severity, code in _findings(services) if severity == "error"] == []


@pytest.mark.parametrize("name", SERVICES)
def test_a_stream_that_hangs_is_left(face: Face, services: Mock, name: str) -> None:
    """A stall before the first word ends at the idle time, before the word comes; the second try serves."""
    services.behave("stream_fault", kind="stall", after_chunks=0, stall_seconds=5)
    model = _chain(face, name, timeouts=il.Timeouts(idle_s=0.3, first_byte_s=0.3))
    reply = _ask(face, model, "Count.", streamed=True)
    assert [outcome for _, outcome, _ in _tries(reply.attempts)] == ["failed", "served"]
    assert reply.attempts[0].error_class == "APITimeoutError"
    assert [code for severity, code in _findings(services) if severity == "error"] == []


def test_the_judge_of_the_mock_finds_no_fault(services: Mock) -> None:
    """`llmock report` on our retries in every dialect: no error.

    Its one warning is of the malformed chunk, after which the next target is asked, and not the same one again.
    """
    for place, name in enumerate(SERVICES):
        face = (BLOCKING, AWAITED)[place % 2]
        for behavior, facts in (
            ("fail", {"status": 429, "retry_after": 0.2}),
            ("fail", {"status": 500, "times": 2}),
            ("fail", {"status": 529}),
            ("fail", {"status": 401}),
            ("stream_fault", {"kind": "truncate", "after_chunks": 0}),
            ("stream_fault", {"kind": "disconnect", "after_chunks": 0}),
            ("stream_fault", {"kind": "malformed", "after_chunks": 0}),
        ):
            forget_state()
            services.behave(behavior, **facts)
            assert _ask(face, _chain(face, name), f"{name} {behavior} {facts}", streamed=True).text
    code, verdict = _report(services)
    assert code == 0, verdict
    assert verdict["passed"]
    assert verdict["faults_injected"] >= 7 * len(SERVICES)
    assert {finding["code"] for finding in verdict["findings"]} <= {"malformed_chunk_ignored"}
