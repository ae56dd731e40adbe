"""The latest response of a WebSocket: one for each connection, for itself alone, bounded."""

from __future__ import annotations

import pytest

from interlingua.errors import BadRequestError
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.core import Gateway
from interlingua.gateway.state.latest import Latest
from interlingua.gateway.state.stored import Prepared
from interlingua.wire.json import encode
from tests.support.gateway import gateway

ANSWER = encode({"output": [{"type": "message", "role": "assistant", "content": "One."}]})


def _latest(made: Gateway) -> Latest:
    """The latest response of a new connection to a gateway."""
    return Latest(made.make_id("ws_"), made.latest, made.stored)


def _prepared(text: str = "Hi", **members: object) -> Prepared:
    body = read_request(encode({"model": "m", "input": text, **members}), "openai-responses")
    return Prepared(body, body)


async def test_only_the_latest_is_kept() -> None:
    """The one before goes, and other connections never know either."""
    made = gateway()
    mine, others = _latest(made), _latest(made)
    await mine.keep("resp_1", lambda: ANSWER, _prepared())
    await mine.keep("resp_2", lambda: ANSWER, _prepared())
    assert [
        await latest.responses.find("", name) is not None for latest in (mine, others) for name in ("resp_1", "resp_2")
    ] == [
        False,
        True,
        False,
        False,
    ]
    assert len(made.latest) == 1
    await mine.forget()
    assert len(made.latest) == 0


async def test_a_turn_that_names_another_response_takes_nothing_away() -> None:
    """What fails without having gone on from the latest response leaves it there."""
    latest = _latest(gateway())
    await latest.keep("resp_1", lambda: ANSWER, _prepared())
    latest.begin()
    with pytest.raises(BadRequestError, match="there is no answer"):
        await latest.responses.prepare("", _prepared(previous_response_id="resp_il" + "0" * 22).body)
    await latest.fail()
    assert await latest.responses.find("", "resp_1") is not None
    latest.begin()
    assert (await latest.responses.prepare("", _prepared("And?", previous_response_id="resp_1").body)).is_changed
    await latest.fail()
    assert await latest.responses.find("", "resp_1") is None


async def test_what_its_provider_keeps_is_not_whole_here() -> None:
    """An unstored answer to a conversation of a provider's cannot be gone on from, so it is not kept."""
    made = gateway()
    latest = _latest(made)
    await latest.keep("resp_2", lambda: ANSWER, _prepared(previous_response_id="resp_elsewhere"))
    assert len(made.latest) == 0


async def test_a_conversation_that_is_too_large_is_not_kept() -> None:
    """All connections together are bounded; its client is told that the response is not there, and sends all of it."""
    made = gateway()
    latest = _latest(made)
    await latest.keep("resp_1", lambda: ANSWER, _prepared("x" * (33 * 1024 * 1024)))
    assert len(made.latest) == 0
