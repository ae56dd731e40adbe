"""The loop in every dialect, against services that refuse what the real ones refuse."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import interlingua as il
from interlingua.testing import no_network
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from tests.support.agents import FACES, AgentFace, get_weather
from tests.support.imitated import IMITATED

SPECS = {
    "openai-chat": "openai-chat/gpt-4.1",
    "openai-responses": "openai/gpt-5.6",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3-pro",
    "ollama": "ollama/qwen3-vl",
    "cohere": "cohere/command-a-03-2025",
    "unified": "hub/smart",
    "bedrock": "bedrock/us.anthropic.claude-opus-5",
}
ENDS = {"openai-chat": -3, "cohere": -2, "bedrock": -2}
"""Where the frames begin that tell the end of a stream, counted from behind; elsewhere it is one."""
every = pytest.mark.parametrize("dialect", SPECS)
both = pytest.mark.parametrize("face", FACES, ids=repr)
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])

CALLS = Say(
    thinking="Hm.",
    calls=(
        Call("get_weather", {"city": "Oslo"}),
        Call("get_weather", {"town": "Bergen"}),
        Call("find_weather", {"city": "Narvik"}),
    ),
)


@pytest.fixture(autouse=True)
def _hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that speaks our own format."""
    monkeypatch.setenv("LLM_HUB", "interlingua://token-of-the-hub@hub.example")


def _run(face: AgentFace, streamed: bool, upstream: Upstream, **options: Any) -> il.Run[Any]:
    with no_network(), upstream.standing():
        agent = face.agent(SPECS[upstream.dialect], **options)
        if not streamed:
            return face.run(agent)
        live = agent.stream("Weather?")
        face.live(live)
        return live


def test_every_dialect_is_here() -> None:
    """No dialect whose service is imitated is left out."""
    assert set(SPECS) == set(IMITATED)


@every
@both
@ways
def test_r38_a_loop_that_every_service_takes(dialect: str, face: AgentFace, streamed: bool) -> None:
    """Good, bad and unknown calls of one step, a blank answer, another call, an answer: no request is refused."""
    again = Say(calls=(Call("get_weather", {"city": "Bergen"}),))
    upstream = Upstream(dialect, CALLS, Say(), again, Say(text="It is cold."))
    run = _run(face, streamed, upstream, system="Be terse.")
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert (run.stop_reason, run.output, len(run.steps)) == ("done", "It is cold.", 4)
    assert [result.is_error for step in run.steps for result in step.results] == [False, True, True, False]
    assert [result.call_id for result in run.steps[0].results] == [call.id for call in run.messages[2].tool_calls]
    ids = [call.id for message in run.messages for call in message.tool_calls]
    assert len(set(ids)) == len(ids) == 4


@both
@pytest.mark.parametrize(
    ("dialect", "streamed"),
    [
        ("openai-chat", False),
        ("openai-chat", True),
        ("openai-responses", False),
        ("openai-responses", True),
        ("anthropic", True),
    ],
)
def test_r38_a_broken_call_in_every_dialect(dialect: str, face: AgentFace, streamed: bool) -> None:
    """Wherever arguments are text, broken ones are answered with an error, and the loop goes on."""
    upstream = Upstream(dialect, Say(calls=(Call("get_weather", text='{"city": Oslo}'),)), Say(text="It is cold."))
    run = _run(face, streamed, upstream)
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert run.steps[0].results[0].is_error is True
    assert run.output == "It is cold."


@every
@both
@ways
def test_r38_a_failing_service_ends_the_run_with_its_error(dialect: str, face: AgentFace, streamed: bool) -> None:
    """What a call raises comes through, with the run as far as it came."""
    upstream = Upstream(dialect, Say(calls=(Call("get_weather", {"city": "Oslo"}),)), Fail(429))
    with pytest.raises(il.RateLimitError) as caught:
        _run(face, streamed, upstream)
    assert caught.value.run is not None
    assert [message.role for message in caught.value.run.messages] == ["user", "assistant", "tool"]


@every
@both
def test_sse_10_calls_of_a_cut_stream_never_run(dialect: str, face: AgentFace) -> None:
    """A stream that breaks off before its end runs no tool."""
    ran: list[str] = []

    def look(city: str) -> str:
        """Look."""
        ran.append(city)
        return city

    upstream = Upstream(dialect, Cut(Say(calls=(Call("look", {"city": "Oslo"}),)), ENDS.get(dialect, -1)))
    with pytest.raises(il.IncompleteStreamError):
        _run(face, True, upstream, tools=[look])
    assert ran == []


@every
@both
@ways
def test_r36_typed_output_after_tools(dialect: str, face: AgentFace, streamed: bool) -> None:
    """The last answer of a loop with tools is a value of the type, whichever form the target takes."""
    value = {"cities": ["Oslo", "Bergen"]}
    say = Say(text=json.dumps(value))
    upstream = Upstream(dialect, Say(calls=(Call("get_weather", {"city": "Oslo"}),)), say)
    schema = {
        "title": "Plan",
        "type": "object",
        "properties": {"cities": {"type": "array", "items": {"type": "string"}}},
        "required": ["cities"],
        "additionalProperties": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", il.ChangeWarning)  # some targets are told the schema in words
        run = _run(face, streamed, upstream, output=schema)
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert run.output == value
    assert get_weather("Oslo")["celsius"] == 4
