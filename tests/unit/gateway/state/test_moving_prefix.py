"""Agents whose prefix moves from turn to turn: their reasoning is lost and told so, and their loops go on.

The bodies are those of coding agents: a system text with the time and the state of a folder, cache marks that move to
the latest message, text that a client puts before the thinking, and Claude Code's accounting line.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from interlingua.gateway.records.record import Record
from interlingua.testing.upstream import Call, Say
from tests.support.cells import cells
from tests.support.gateway import gateway
from tests.support.tool_loops import CLIENTS, MODELS, REASONERS, Client, Provider, reasoner

THOUGHTS = ("First.", "Second.", "Third.", "Last.")
CALLS = (Call("get_weather", {"city": "Oslo"}),)
STEPS = (
    *[Say(thinking=thought, text="Looking.", calls=CALLS) for thought in THOUGHTS[:3]],
    Say(thinking=THOUGHTS[3], text="It is 4 degrees."),
)
PAIRS = [
    *[(client, upstream) for client in CLIENTS for upstream in MODELS if client != upstream],
    *[(client, upstream) for client in CLIENTS for upstream in REASONERS if client != "openai-chat"],
]


def _provider(upstream: str) -> Provider:
    return reasoner(upstream, *STEPS) if upstream in REASONERS else Provider(upstream, *STEPS)


def _loop(client: Client, *, moves: bool) -> list[str]:
    """The headers of changes of three tool steps and an answer."""
    headers: list[str] = []
    numbers = count()
    response = None
    for _ in range(4):
        if moves:
            client.system = f"You are an agent. It is {next(numbers)} o'clock."
        response = client.say("Weather?") if response is None else client.answer(response, ["4"])
        headers.append(client.changes)
    return headers


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells(("client", "upstream"), PAIRS)
def test_an_agent_whose_system_text_moves_loops_on_the_documented_fillers(
    client: str, upstream: str, stream: bool
) -> None:
    """Nothing is refused, no reasoning of a turn before leaves, and each request tells that it is missing."""
    provider = _provider(upstream)
    with provider.standing():
        made = Client(client, gateway(), (MODELS | REASONERS)[upstream], stream=stream)
        headers = _loop(made, moves=True)
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 4
    assert ["reasoning_missing" in header for header in headers] == [False, True, True, True]
    assert not any("reasoning_restored" in header for header in headers)
    given = {seal for seals in provider.given for seal in seals} | set(THOUGHTS)
    for request in provider.requests:
        assert not [secret for secret in given if secret.encode() in request.body]


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells(("client", "upstream"), PAIRS)
def test_what_an_agent_has_put_back_is_told(client: str, upstream: str, stream: bool) -> None:
    """With a prefix that stays, every request after the first one tells that reasoning came back, and of no miss.

    The header says so, and the record that the log, the console and metrics are made of.
    """
    provider, serving, records = _provider(upstream), gateway(), list[Record]()
    serving.recorder.sinks = (records.append,)
    with provider.standing():
        made = Client(client, serving, (MODELS | REASONERS)[upstream], stream=stream, system="You are an agent.")
        headers = _loop(made, moves=False)
    codes = [[code for code in record.changed if " reasoning_" in code] for record in records]
    assert codes == [[], *[["repaired reasoning_restored /messages"]] * 3]
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 4
    assert ["reasoning_restored" in header for header in headers] == [False, True, True, True]
    assert not any("reasoning_missing" in header for header in headers)


@pytest.mark.parametrize("upstream", REASONERS)
def test_a_chat_client_that_drops_the_reasoning_it_got_loops_on_fillers(upstream: str) -> None:
    """It was given the reasoning in its own dialect; what it does not send back is filled in."""
    provider = reasoner(upstream, *STEPS)
    with provider.standing():
        _loop(Client("openai-chat", gateway(), REASONERS[upstream], stream=False), moves=True)
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 4


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells(("client", "upstream"), PAIRS)
def test_a_turn_without_calls_behind_a_prefix_that_moved_is_a_miss(client: str, upstream: str, stream: bool) -> None:
    """A chat without tools whose system text moves: each request tells of every turn that lost its thinking."""
    says = [Say(thinking=thought, text=f"{number} degrees.") for number, thought in enumerate(THOUGHTS)]
    provider = reasoner(upstream, *says) if upstream in REASONERS else Provider(upstream, *says)
    headers: list[str] = []
    with provider.standing():
        user = Client(client, gateway(), (MODELS | REASONERS)[upstream], stream=stream)
        for number in range(4):
            user.system = f"You are an agent. It is {number} o'clock."
            user.say(f"And at {number}?")
            headers.append(user.changes)
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 4
    assert ["dropped reasoning_missing /messages" in header for header in headers] == [False, True, True, True]
    assert not any("reasoning_restored" in header for header in headers)
    given = {seal for seals in provider.given for seal in seals} | set(THOUGHTS)
    for request in provider.requests:
        assert not [secret for secret in given if secret.encode() in request.body]


def _marked(history: list[Any]) -> list[Any]:
    """A history as Claude Code shows it: texts as lists, and a mark on the latest block of the last two messages."""
    shown: list[Any] = json.loads(json.dumps(history))
    for message in shown:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    for message in shown[-2:]:
        message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return shown


def _text_first(history: list[Any]) -> list[Any]:
    """A history with the text of each turn of the model before a thought that nobody signed, and in two pieces."""
    shown = _marked(history)
    for message in shown:
        if message["role"] == "assistant":
            first, *rest = message["content"]
            halves = [{**first, "text": first["text"][:3]}, {"type": "text", "text": first["text"][3:]}]
            message["content"] = [*halves, {"type": "thinking", "thinking": "So it seems.", "signature": ""}, *rest]
    return shown


@pytest.mark.parametrize("upstream", ["google", "openai-responses", *REASONERS])
@pytest.mark.parametrize("respell", [_marked, _text_first])
def test_what_clients_rewrite_is_no_other_conversation(respell: Any, upstream: str) -> None:
    """Moving marks, texts in pieces and before thinking, an accounting line: all reasoning comes back."""
    provider, numbers = _provider(upstream), count()

    def accounted(history: list[Any]) -> list[Any]:
        made.system = f"x-anthropic-billing-header: cc_version=2.1.117.{next(numbers)}; cch=7{next(numbers)}fea;"
        return respell(history)

    with provider.standing():
        made = Client(
            "anthropic", gateway(), (MODELS | REASONERS)[upstream], stream=True, system="x", respell=accounted
        )
        headers = _loop(made, moves=False)
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 4
    assert ["reasoning_restored" in header for header in headers] == [False, True, True, True]
    assert not any("reasoning_missing" in header for header in headers)
