"""THK-07 through a gateway: tool loops of clients whose dialect has no room for what the provider must get back."""

from __future__ import annotations

import pytest

from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any
from tests.support.cells import cells
from tests.support.gateway import gateway
from tests.support.tool_loops import CLIENTS, MODELS, REASONERS, SCRIPT, Client, Provider, reasoner

PAIRS = [(client, upstream) for client in CLIENTS for upstream in MODELS if client != upstream]


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells(("client", "upstream"), PAIRS)
def test_thk_07_a_tool_loop_brings_every_seal_back(client: str, upstream: str, stream: bool) -> None:
    """Five requests, parallel and repeated calls, a second question: each time every seal so far, byte by byte."""
    provider = Provider(upstream)
    with provider.standing():
        user = Client(client, gateway(), MODELS[upstream], stream=stream)
        first = user.say("Weather in Oslo and Bergen?")
        second = user.answer(first, ["4", "5"])
        user.answer(second, ["4"])
        fourth = user.say("And Rome?")
        user.answer(fourth, ["20"])
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 5
    before: list[str] = []
    for number, given in enumerate(provider.given):
        assert provider.sent_back(number) == before
        before = before + given
    assert len(before) >= 3


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells("upstream", REASONERS)
@cells("client", [client for client in CLIENTS if client != "openai-chat"])
def test_thk_10_a_tool_loop_brings_readable_reasoning_back(client: str, upstream: str, stream: bool) -> None:
    """DeepSeek and Kimi get all of their reasoning again, from clients that never show it."""
    provider = reasoner(upstream)
    with provider.standing():
        user = Client(client, gateway(), REASONERS[upstream], stream=stream)
        second = user.answer(user.say("Weather in Oslo and Bergen?"), ["4", "5"])
        user.answer(second, ["4"])
        user.answer(user.say("And Rome?"), ["20"])
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 5
    assert [provider.reasoning(number) for number in range(5)] == [
        [],
        ["Two places."],
        ["Two places.", "Once more."],
        ["Two places.", "Once more.", "Done."],
        ["Two places.", "Once more.", "Done.", "Again."],
    ]


@pytest.mark.parametrize("client", ["openai-chat", "ollama"])
def test_thk_07_the_parts_of_a_turn_come_back_as_they_were(client: str) -> None:
    """To Gemini the turn goes back as it came: same parts, same ids, same order of arguments."""
    provider = Provider("google")
    with provider.standing():
        user = Client(client, gateway(), MODELS["google"], stream=False)
        user.answer(user.say("Weather?"), ["4", "5"])
    sent = decode_any(provider.requests[1].body)["contents"]
    assert sent[1] == decode_any(provider.answers[0])["candidates"][0]["content"]
    ids = [part["functionCall"]["id"] for part in sent[1]["parts"] if "functionCall" in part]
    assert [part["functionResponse"]["id"] for part in sent[2]["parts"]] == ids


@pytest.mark.parametrize("client", ["openai-chat", "ollama"])
def test_two_tenants_never_see_each_others_seals(client: str) -> None:
    """The same words under two keys: each gets its own seals back, and one that sends the other's turn gets none."""
    keys = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("team-a", "team-b"))
    made = gateway(keys=keys)
    provider = Provider("google", SCRIPT[0], SCRIPT[0], SCRIPT[2], SCRIPT[2], SCRIPT[2])
    headers: tuple[Headers, ...] = ((("x-api-key", "team-a"),), (("x-api-key", "team-b"),))
    with provider.standing():
        clients = [Client(client, made, MODELS["google"], stream=False, headers=own) for own in headers]
        answers = [user.say("Weather?") for user in clients]
        for user, answer in zip(clients, answers, strict=True):
            user.answer(answer, ["4", "5"])
        thief = Client(client, made, MODELS["google"], stream=False, headers=headers[1])
        thief.history = clients[0].history[:-1]
        thief.ask()
    assert provider.sent_back(2) == provider.given[0]
    assert provider.sent_back(3) == provider.given[1]
    assert provider.given[0][0] not in provider.sent_back(4)


def test_a_reasoning_store_that_lost_everything_falls_back_to_the_documented_filler() -> None:
    """A miss is normal: Gemini gets the value that it documents for that, and the client reads it in the header."""
    provider = Provider("google")
    with provider.standing():
        user = Client("openai-chat", gateway(), MODELS["google"], stream=False)
        first = user.say("Weather?")
        user.made = gateway()
        user.answer(first, ["4", "5"])
    assert provider.sent_back(1) == ["skip_thought_signature_validator"]
    assert provider.verdicts[1].ok
