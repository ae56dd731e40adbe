"""One request in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.table import DIALECTS
from interlingua.gateway.settings import GatewaySettings
from interlingua.testing import no_network
from tests.support.gateway import asking, body_of, gateway
from tests.unit.gateway.console.looking import kept, looked, with_keys

CHAT: dict[str, Any] = {
    "model": "smart",
    "messages": [{"role": "user", "content": "Hi"}],
    "logit_bias": {"1": 1},
    "max_tokens": 5,
}
GOOGLE: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


async def _sides(body: Any) -> Any:
    with no_network():
        return await kept(gateway(), looked("/console/sides", body=body))


async def test_a_pasted_request_is_shown_in_every_dialect() -> None:
    """What each says of it, and what each has no place for; nothing is sent, and no target needs to exist."""
    status, told = await _sides({"dialect": "openai-chat", "request": CHAT})
    assert (status, told["dialect"], told["model"], "answer" in told) == (200, "openai-chat", "smart", False)
    sides = {side["dialect"]: side for side in told["request"]}
    assert list(sides) == list(DIALECTS)
    assert (sides["openai-chat"]["body"], sides["openai-chat"]["as_it_came"]) == (CHAT, True)
    assert sides["anthropic"]["body"]["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert sides["google"]["body"]["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]
    assert sides["ollama"]["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    changes = [(change["action"], change["code"], change["path"]) for change in sides["anthropic"]["changes"]]
    assert ("dropped", "parameter_unsupported", "/logit_bias") in changes


async def test_googles_model_is_named_beside_its_request() -> None:
    """As in its path."""
    _, told = await _sides({"dialect": "gemini", "model": "a b/c", "request": GOOGLE})
    assert (told["dialect"], told["model"]) == ("google", "a b/c")
    assert told["request"][0]["body"]["model"] == "a b/c"


async def test_a_dialect_that_cannot_say_it_shows_why() -> None:
    """The others are shown all the same."""
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [audio]}]}
    _, told = await _sides({"dialect": "openai-chat", "request": body})
    sides = {side["dialect"]: side for side in told["request"]}
    assert "body" not in sides["anthropic"]
    assert "audio" in sides["anthropic"]["error"]
    assert sides["google"]["body"]["contents"]


@pytest.mark.parametrize(
    ("body", "path"),
    [({}, "/dialect"), ({"dialect": "latin", "request": CHAT}, "/dialect"), ({"dialect": "anthropic"}, "/request"),
     ({"dialect": "openai-chat", "request": {"messages": 7}}, "/messages")],
)  # fmt: skip
async def test_what_is_no_request_is_refused_with_its_place(body: Any, path: str) -> None:
    """As a client would be told."""
    status, told = await _sides(body)
    assert (status, path in told["error"]["message"]) == (400, True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "dialect", ["openai-chat", "anthropic", "google", "ollama", "cohere", "openai-responses", "unified"]
)
async def test_a_kept_request_is_shown_with_its_answer(dialect: str, stream: bool) -> None:
    """Where content is captured: what the client asked and got, in every dialect."""
    made = with_keys(console_content=True)
    made.feed.enter()
    reply = await made(asking(dialect, "smart", stream=stream, headers={"x-api-key": "a-key", "x-request-id": "one"}))
    await body_of(reply)
    status, told = await kept(made, looked("/console/sides", "a-key", {"id": "one"}))
    assert (status, told["dialect"], told["model"]) == (200, dialect, "smart")
    assert [side["dialect"] for side in told["answer"]] == list(DIALECTS)
    for sides, own in ((told["request"], [dialect]), (told["answer"], [] if stream else [dialect])):
        assert [side["dialect"] for side in sides if side.get("as_it_came")] == own
    answers = {side["dialect"]: side["body"] for side in told["answer"]}
    assert answers["openai-chat"]["choices"][0]["message"]["content"] == answers["ollama"]["message"]["content"] != ""
    other = await kept(made, looked("/console/sides", "boss-key", {"id": "one"}))
    assert other[0] == 200


async def test_nobody_sees_the_content_of_anothers_request() -> None:
    """An id is no key."""
    made = with_keys(console_content=True)
    made.feed.enter()
    await made(asking("openai-chat", "smart", headers={"x-api-key": "boss-key", "x-request-id": "one"}))
    status, told = await kept(made, looked("/console/sides", "a-key", {"id": "one"}))
    assert (status, told["error"]["message"]) == (404, "the content of this request is not kept, or not any more")


async def test_content_is_not_shown_once_that_is_switched_off() -> None:
    """Also what was captured before."""
    made = gateway(aliases={"smart": "fake/model"}, console_content=True)
    made.feed.enter()
    await made(asking("openai-chat", "smart", headers={"x-request-id": "one"}))
    assert (await kept(made, looked("/console/sides", body={"id": "one"})))[0] == 200
    made.set_up(GatewaySettings())
    assert (await kept(made, looked("/console/sides", body={"id": "one"})))[0] == 404


async def test_without_capture_there_is_no_content_to_show() -> None:
    """The request is known, what it said is not."""
    made = with_keys()
    made.feed.enter()
    await made(asking("openai-chat", "smart", headers={"x-api-key": "boss-key", "x-request-id": "one"}))
    assert (await kept(made, looked("/console/sides", "boss-key", {"id": "one"})))[0] == 404
