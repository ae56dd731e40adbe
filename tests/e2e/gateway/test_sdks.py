"""The official SDKs through the gateway, in front of every kind of upstream.

What they ask is what the strict upstream takes, and what they get is what they expect, as plain values of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from importlib.util import find_spec
from typing import NamedTuple

import pytest

from interlingua.testing.upstream import Upstream
from interlingua.testing.upstream.answers.say import Call as Called
from interlingua.testing.upstream.answers.say import Cut, Fail, Say
from tests.support.gateway import provider, serving
from tests.support.sdks import SDKS, Answer, Call, Sdk, SdkError, sdk

UPSTREAMS = {
    "openai-chat": "openai-chat/gpt-5.4",
    "openai-responses": "openai-responses/gpt-5.6",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "google": "google/gemini-3-pro",
    "ollama": "ollama/qwen3",
    "cohere": "cohere/command-a-03-2025",
    "unified": "hub/some-model",
}
PACKAGES = {"openai-responses": "openai", "google": "google.genai"}
ENDS = {
    "openai": ("stop", "tool_calls", "length"),
    "openai-responses": ("completed", "completed", "incomplete"),
    "anthropic": ("end_turn", "tool_use", "max_tokens"),
    "google": ("STOP", "STOP", "MAX_TOKENS"),
    "ollama": ("stop", "stop", "length"),
    "cohere": ("COMPLETE", "TOOL_CALL", "MAX_TOKENS"),
}
"""How each SDK says that an answer ended, called, was cut."""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
"""One red pixel."""


class Stage(NamedTuple):
    """A client, a gateway and an upstream."""

    client: Sdk
    upstream: Upstream
    name: str
    kind: str

    @property
    def sent_well(self) -> bool:
        """Whether the upstream took every request."""
        return [problem for verdict in self.upstream.verdicts for problem in verdict.problems] == []


@pytest.fixture(params=SDKS)
def name(request: pytest.FixtureRequest) -> str:
    """The SDK."""
    if find_spec(PACKAGES.get(str(request.param), str(request.param))) is None:
        pytest.skip(f"the {request.param} package is not installed")
    return request.param


@pytest.fixture(params=UPSTREAMS)
def kind(request: pytest.FixtureRequest) -> str:
    """The dialect of the upstream."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether answers are streamed."""
    return request.param


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """One gateway for all; a model is named by the dialect of its upstream."""
    with serving(aliases=UPSTREAMS) as address:
        yield address


@pytest.fixture
def stage(url: str, name: str, kind: str) -> Generator[Stage]:
    """An SDK in front of a gateway in front of the model of few words."""
    yield from staged(url, name, kind, Upstream(kind))


def staged(url: str, name: str, kind: str, upstream: Upstream) -> Generator[Stage]:
    """The stage around an upstream."""
    with upstream.standing():
        client = sdk(name, url)
        try:
            yield Stage(client, upstream, name, kind)
        finally:
            client.close()


def test_a_text(stage: Stage, stream: bool) -> None:
    """A text comes with its end and its counts."""
    said = stage.client.ask(stage.kind, "Hi", stream=stream)
    assert said == Answer("Hello from the strict upstream.", [], ENDS[stage.name][0], (20, 10), said.thinking)
    assert stage.sent_well


def test_an_answer_that_is_cut(stage: Stage, stream: bool) -> None:
    """The limit is passed on, and sent as the reason."""
    said = stage.client.ask(stage.kind, "Hi", stream=stream, limit=16)
    assert (said.text, said.finish) == ("One two three", ENDS[stage.name][2])
    assert stage.sent_well


def test_parallel_calls_over_two_turns(stage: Stage, stream: bool) -> None:
    """Two calls at once, their results, and what the model makes of them."""
    said = stage.client.ask(stage.kind, "get_weather twice, please", stream=stream, tools=True)
    assert [call._replace(id="") for call in said.calls] == [Call("", "get_weather", {"city": "text"})] * 2
    assert len({call.id for call in said.calls}) == 2 or stage.name == "ollama"
    assert said.finish == ENDS[stage.name][1]
    said = stage.client.answer(stage.kind, ["4 degrees", "5 degrees"], stream=stream)
    assert said.calls == []
    assert re.findall(r"\d degrees", said.text) == ["4 degrees", "5 degrees"]
    assert stage.sent_well


def test_structured_output(stage: Stage, stream: bool) -> None:
    """A schema binds the answer."""
    said = stage.client.ask(stage.kind, "Weather?", stream=stream, schema=True)
    assert json.loads(said.text) == {"city": "text", "celsius": 0}
    assert stage.sent_well


def test_an_image(stage: Stage) -> None:
    """An image arrives."""
    assert stage.client.ask(stage.kind, "What is it?", image=PNG).text == "I see 1 image."
    assert stage.sent_well


@pytest.mark.parametrize("kind", ["openai-responses", "anthropic", "google", "ollama", "unified"])
def test_thinking_over_a_tool_loop(url: str, name: str, kind: str, stream: bool) -> None:
    """Thoughts come where the dialect shows them, and sealed ones are back at their issuer in the next turn."""
    script = (Say(thinking="Let me see.", calls=(Called("get_weather", {"city": "Oslo"}),)), "It is 4 degrees.")
    for stage in staged(url, name, kind, Upstream(kind, *script)):
        said = stage.client.ask(stage.kind, "get_weather", stream=stream, tools=True, thinking=True)
        assert [call.arguments for call in said.calls] == [{"city": "Oslo"}]
        assert said.thinking == "Let me see."
        assert stage.client.answer(stage.kind, ["4 degrees"], stream=stream).text == "It is 4 degrees."
        assert stage.sent_well


@pytest.mark.parametrize("kind", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_an_error_has_the_sdks_own_class(url: str, name: str, kind: str, status: int, stream: bool) -> None:
    """What the upstream refuses is the SDK's own error, asked for once."""
    for stage in staged(url, name, kind, Upstream(kind, Fail(status, "Not like this."))):
        with pytest.raises(SdkError) as raised:
            stage.client.ask(stage.kind, "Hi", stream=stream)
        assert raised.value.status == status
        assert "Not like this." in str(raised.value)
        assert len(stage.upstream.requests) == 1


@pytest.mark.parametrize("kind", ["openai-responses", "google"])
def test_a_busy_upstream_is_asked_again(name: str, kind: str, stream: bool) -> None:
    """One 503 is no error of the client's."""
    upstream = Upstream(kind, Fail(503, "Busy."), "It is 4 degrees.")
    with upstream.serving() as address, serving(providers={"up": provider(kind, address)}) as url:
        client = sdk(name, url)
        try:
            assert client.ask("up/some-model", "Hi", stream=stream).text == "It is 4 degrees."
        finally:
            client.close()
    assert len(upstream.requests) == 2


def test_a_stream_that_is_cut_is_an_error(url: str, name: str, kind: str) -> None:
    """A stream whose upstream broke off ends in the SDK's own error, never in a clean end."""
    for stage in staged(url, name, kind, Upstream(kind, Cut(Say(text="It is four degrees in Oslo."), -4))):
        with pytest.raises((SdkError, Exception)) as raised:
            stage.client.ask(stage.kind, "Hi", stream=True)
        assert not isinstance(raised.value, AssertionError)
