"""A Responses client that goes on by ids, through a whole gateway: what is kept, where, and what the upstream gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import MODELS, gateway

WEATHER: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {}},
}
KEYS = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("team-a", "team-b"))


def _ask(made: Gateway, body: dict[str, Any], headers: Headers = (), path: str = "/v1/responses") -> GatewayReply:
    request = GatewayRequest(path=path, body=encode(body), headers=headers, peer="127.0.0.1")

    async def whole() -> GatewayReply:
        reply = await made(request)
        if isinstance(reply.body, bytes):
            return reply
        return GatewayReply(
            status=reply.status, headers=reply.headers, body=b"".join([piece async for piece in reply.body])
        )

    return asyncio.run(whole())


def _told(reply: GatewayReply) -> Any:
    assert isinstance(reply.body, bytes)
    assert reply.status == 200, reply.body
    return decode_any(reply.body)


def _last(reply: GatewayReply) -> Any:
    """The answer in the last event of a stream."""
    assert isinstance(reply.body, bytes)
    events = [frame.partition(b"data: ")[2] for frame in reply.body.split(b"\n\n") if b"data: " in frame]
    return decode_any(events[-1])["response"]


@pytest.mark.parametrize("dialect", ["anthropic", "google", "openai-chat", "ollama", "cohere"])
@pytest.mark.parametrize("stream", [False, True])
def test_srv_12_a_client_goes_on_from_an_answer_of_another_dialect(dialect: str, stream: bool) -> None:
    """The gateway keeps the answer and says so; the next request brings the whole conversation to the upstream."""
    made = gateway()
    with Upstream(dialect, Say(calls=(Call("get_weather", {}),)), "It is 4 degrees.").standing() as upstream:
        asked = {"model": MODELS[dialect], "input": "Weather?", "tools": [WEATHER], "stream": stream}
        reply = _ask(made, asked)
        first = _last(reply) if stream else _told(reply)
        assert first["id"].startswith("resp_il")
        assert (first["store"], first["previous_response_id"]) == (True, None)
        call = next(item for item in first["output"] if item["type"] == "function_call")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "4"}
        second = _told(
            _ask(
                made,
                {"model": MODELS[dialect], "previous_response_id": first["id"], "input": [result], "tools": [WEATHER]},
            )
        )
        assert second["previous_response_id"] == first["id"]
        assert [verdict.ok for verdict in upstream.verdicts] == [True, True]
        assert b"Weather?" in upstream.requests[1].body
        assert b"store" not in upstream.requests[0].body + upstream.requests[1].body
    assert asyncio.run(made.stored.find("", second["id"])) is not None


def test_srv_12_nothing_is_kept_of_a_client_that_says_so() -> None:
    """`store: false` is told in the answer, and going on from it is refused by the name of the member."""
    made = gateway()
    with Upstream("anthropic", "Hello").standing():
        first = _told(_ask(made, {"model": MODELS["anthropic"], "input": "Hi", "store": False}))
        assert first["store"] is False
        refused = _ask(made, {"model": MODELS["anthropic"], "previous_response_id": first["id"], "input": "And?"})
    assert refused.status == 400
    assert isinstance(refused.body, bytes)
    error = decode_any(refused.body)["error"]
    assert error["code"] == "previous_response_not_found"
    assert error["message"].startswith("previous_response_id: there is no answer")


def test_srv_13_a_provider_that_keeps_its_answers_is_the_only_one() -> None:
    """A Responses provider gets its own id and the new input, the rest as it came; nothing is kept here."""
    made = gateway(keys=KEYS)
    model = MODELS["openai-responses"]
    key_a, key_b = ((("x-api-key", name),) for name in ("team-a", "team-b"))
    with Upstream("openai-responses", "Hello", "Again").standing() as upstream:
        first = _told(_ask(made, {"model": model, "input": "Hi"}, key_a))
        body = {"model": model, "previous_response_id": first["id"], "input": "And?"}
        assert _ask(made, body, key_b).status == 400
        assert _ask(made, body, key_a).status == 200
        sent = decode_any(upstream.requests[1].body)
    assert len(upstream.requests) == 2
    assert sent == {"model": model.partition("/")[2], "previous_response_id": "resp_00000002", "input": "And?"}


def test_srv_13_a_conversation_that_is_kept_here_is_not_kept_twice() -> None:
    """When the name of the model leads to a Responses provider later, that one gets everything and keeps nothing."""
    made = gateway()
    with Upstream("anthropic", "Hello").standing():
        first = _told(_ask(made, {"model": MODELS["anthropic"], "input": "Hi"}))
    with Upstream("openai-responses", "Again").standing() as upstream:
        body = {"model": MODELS["openai-responses"], "previous_response_id": first["id"], "input": "And?"}
        second = _told(_ask(made, body))
        sent = decode_any(upstream.requests[0].body)
        assert upstream.verdicts[0].ok, str(upstream.verdicts[0])
    assert sent["store"] is False
    assert "previous_response_id" not in sent
    assert [item["role"] for item in sent["input"]] == ["user", "assistant", "user"]
    assert not [item for item in sent["input"] if "id" in item]
    assert second["id"].startswith("resp_il")
    assert (second["store"], second["previous_response_id"]) == (True, first["id"])


def test_sec_11_tenants_do_not_reach_each_others_answers() -> None:
    """Another key is told the same about an answer of team-a as about one that never was."""
    made = gateway(keys=KEYS)
    with Upstream("anthropic", "Hello").standing() as upstream:
        first = _told(_ask(made, {"model": MODELS["anthropic"], "input": "Hi"}, (("x-api-key", "team-a"),)))
        for response_id in (first["id"], "resp_il" + "a" * 22):
            body = {"model": MODELS["anthropic"], "previous_response_id": response_id, "input": "And?"}
            refused = _ask(made, body, (("x-api-key", "team-b"),))
            assert refused.status == 400
            assert isinstance(refused.body, bytes)
            message = decode_any(refused.body)["error"]["message"]
            assert message.replace(response_id, "ID") == (
                "previous_response_id: there is no answer 'ID'; send the conversation itself, or begin a new one"
            )
    assert len(upstream.requests) == 1


def test_srv_11_a_reference_to_an_item_is_resolved_or_named() -> None:
    """An item that was kept stands for itself; one that nobody keeps is refused with the name of the member."""
    made = gateway()
    with Upstream("anthropic", "Hello", "Again").standing() as upstream:
        first = _told(_ask(made, {"model": MODELS["anthropic"], "input": "Hi"}))
        items = [
            {"role": "user", "content": "Hi"},
            {"type": "item_reference", "id": first["output"][0]["id"]},
            {"role": "user", "content": "And?"},
        ]
        _told(_ask(made, {"model": MODELS["anthropic"], "input": items}))
        sent = decode_any(upstream.requests[1].body)["messages"]
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]
        items[1] = {"type": "item_reference", "id": "msg_68af"}
        refused = _ask(made, {"model": MODELS["anthropic"], "input": items})
    assert refused.status == 400
    assert isinstance(refused.body, bytes)
    assert "item_reference" in refused.body.decode()


def test_srv_13_only_the_provider_that_keeps_the_answer_is_asked() -> None:
    """Of two Responses providers the one that knows the id gets it, whichever comes first in the chain."""
    aliases = {"first": "azure-a/gpt-4.1", "both": "azure-b/gpt-4.1,azure-a/gpt-4.1"}
    environ = {f"LLM_AZURE_{name}": f"openai-responses://k@{name.lower()}.example/v1" for name in ("A", "B")}
    made = gateway(environ, aliases)
    with Upstream("openai-responses", "Hello", "Again").standing() as upstream:
        first = _told(_ask(made, {"model": "first", "input": "Hi"}))
        _told(_ask(made, {"model": "both", "previous_response_id": first["id"], "input": "And?"}))
    assert [request.url for request in upstream.requests] == ["https://a.example/v1/responses"] * 2


def test_what_no_target_of_a_chain_can_take_is_the_clients_fault() -> None:
    """400 and not 502, on which SDKs would ask again; the header names each target."""
    made = gateway(aliases={"two": "anthropic/claude-opus-4-5,anthropic/claude-haiku-4-5"})
    with Upstream("anthropic").standing() as upstream:
        reply = _ask(made, {"model": "two", "input": "Hi", "previous_response_id": "resp_unknown"})
    assert reply.status == 400
    assert isinstance(reply.body, bytes)
    error = decode_any(reply.body)["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"].count("previous_response_id") == 2
    assert upstream.requests == []
    assert dict(reply.headers)["x-interlingua-skipped"].count("UnsupportedError") == 2
