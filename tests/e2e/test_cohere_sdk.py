"""Cohere's official client at a gateway: documents, citations, models, typed errors, streams that break."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import cohere
import pytest
from cohere.core.api_error import ApiError

import interlingua as il
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.stream.unfold import unfold
from interlingua.testing.upstream import Fail, Say, Upstream
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any
from tests.support.gateway import serving

KEY = "a-key-of-a-client"
ALIASES = {"command-a": "cohere/command-a-03-2025", "claude": "anthropic/claude-opus-4-5"}
DOCUMENTS: list[Any] = [{"id": "d1", "data": {"title": "Fjords", "text": "Fjords are deep."}}, "Water is cold."]
CITED: dict[str, Any] = {
    "start": 0,
    "end": 4,
    "text": "Deep",
    "sources": [
        {
            "type": "document",
            "id": "d1",
            "document": {"id": "d1", "title": "Fjords", "text": "Fjords are deep.", "url": "https://a.test/f"},
        }
    ],
    "type": "TEXT_CONTENT",
}
ANSWER: dict[str, Any] = {
    "id": "c-1",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "Deep and cold."}], "citations": [CITED]},
    "finish_reason": "COMPLETE",
    "usage": {"tokens": {"input_tokens": 9, "output_tokens": 4}},
}
USER = [{"role": "user", "content": "How are fjords?"}]


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """A gateway with one key."""
    with serving(aliases=ALIASES, keys=(GatewayKey(name="team", hash=hash_key(KEY)),)) as address:
        yield address


@contextmanager
def _client(url: str, key: str = KEY) -> Generator[Any]:
    client: Any = cohere.ClientV2(api_key=key, base_url=url, max_retries=0)
    try:
        yield client
    finally:
        client._client_wrapper.httpx_client.httpx_client.close()


def _read() -> il.Response[Any]:
    return get_dialect("cohere").decode_response(
        HttpReply(status=200, body=json.dumps(ANSWER).encode()), DecodeContext()
    )


def test_r66_documents_reach_cohere_and_claude(url: str) -> None:
    """Beside the messages for Cohere, as documents of the first message for Claude, with their titles."""
    with Upstream("cohere").standing() as upstream, _client(url) as client:
        client.chat(model="command-a", messages=USER, documents=DOCUMENTS)
    body = decode_any(upstream.requests[0].body)
    assert (body["documents"], body["messages"]) == (DOCUMENTS, USER)
    with Upstream("anthropic").standing() as upstream, _client(url) as client:
        client.chat(model="claude", messages=USER, documents=DOCUMENTS, max_tokens=100)
    [message] = decode_any(upstream.requests[0].body)["messages"]
    told = [(part.get("title"), part["source"]["data"]) for part in message["content"] if part["type"] == "document"]
    assert told == [("Fjords", "Fjords are deep."), (None, "Water is cold.")]
    assert message["content"][-1] == {"type": "text", "text": "How are fjords?"}


def test_r66_citations_reach_the_clients_of_other_dialects() -> None:
    """An address, a title and a place in the text, in each dialect's own form."""
    response = _read()
    text = response.parts[0]
    assert isinstance(text, il.TextPart)
    [cited] = text.annotations
    assert (cited.url, cited.title, cited.quote) == ("https://a.test/f", "Fjords", "Fjords are deep.")
    assert (cited.start, cited.end) == (0, 4)
    bodies = {
        name: decode_any(get_dialect(name).encode_response(response, ServerContext(source="cohere", model="m")).body)
        for name in ("openai-chat", "openai-responses", "anthropic", "google", "cohere")
    }
    [note] = bodies["openai-chat"]["choices"][0]["message"]["annotations"]
    assert note["url_citation"] == {"start_index": 0, "end_index": 4, "title": "Fjords", "url": "https://a.test/f"}
    assert bodies["anthropic"]["content"][0]["citations"][0]["url"] == "https://a.test/f"
    [chunk] = bodies["google"]["candidates"][0]["groundingMetadata"]["groundingChunks"]
    assert chunk == {"web": {"uri": "https://a.test/f", "title": "Fjords"}}
    assert bodies["cohere"]["message"]["citations"] == [CITED]


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "google"])
def test_r66_citations_of_others_are_documents(dialect: str) -> None:
    """The client gets the words, the place and a document with the address; the stream says the same."""
    cited = il.Citation(dialect, {}, "https://b.test", "B", None, "It is cold.", 9, 13)
    response = il.Response(parts=(il.TextPart("Deep and cold.", (cited,)),), finish_reason="stop")
    expected = {
        "start": 9,
        "end": 13,
        "text": "cold",
        "sources": [
            {
                "type": "document",
                "id": "https://b.test",
                "document": {"id": "https://b.test", "title": "B", "url": "https://b.test", "text": "It is cold."},
            }
        ],
        "type": "TEXT_CONTENT",
        "content_index": 0,
    }
    spoken = get_dialect("cohere")
    body = decode_any(spoken.encode_response(response, ServerContext()).body)
    assert body["message"]["citations"] == [expected]
    encoder = spoken.stream_encoder(ServerContext())
    stream = b"".join([encoder.encode(event) for event in unfold(response)])
    decoder = spoken.stream_decoder(DecodeContext())
    end = [*decoder.feed(stream), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    text = end.response.parts[0]
    assert isinstance(text, il.TextPart)
    assert [one.raw for one in text.annotations] == [expected]


def test_r66_every_cut_of_a_stream_is_an_error() -> None:
    """Whatever the byte at which it breaks off, the end is an error with what came, until the end was said."""
    spoken = get_dialect("cohere")
    call = il.ToolCall("w_1", "weather", '{"city":"Oslo"}')
    response = _calling(_read(), call)
    encoder = spoken.stream_encoder(ServerContext())
    stream = b"".join([encoder.encode(event) for event in unfold(response)])
    said = stream.index(b"event: message-end")
    whole_from = stream.index(b"\n\n", said)
    for place in range(len(stream)):
        decoder = spoken.stream_decoder(DecodeContext())
        last = [*decoder.feed(stream[:place]), *decoder.close()][-1:]
        assert len(last) == 1
        assert isinstance(last[0], StreamEnd if place >= whole_from else StreamError), place


def _calling(response: il.Response[Any], call: il.ToolCall) -> il.Response[Any]:
    """The response with a call behind its text."""
    return il.Response(parts=(*response.parts, call), finish_reason="tool_calls", usage=response.usage, id="c-1")


def test_r66_models_are_listed_for_the_sdk(url: str) -> None:
    """Under the path that OpenAI's clients ask, too, and in Cohere's own form."""
    with _client(url) as client:
        listed = client.models.list(endpoint="chat", page_size=100)
    assert "command-a" in [model.name for model in listed.models]
    assert all(model.endpoints == ["chat"] for model in listed.models)


@pytest.mark.parametrize(
    ("failure", "kind", "status"),
    [
        (Fail(404, "no such model"), cohere.NotFoundError, 404),
        (Fail(400, "bad"), cohere.BadRequestError, 400),
        (Fail(429, "slow"), cohere.TooManyRequestsError, 429),
        (Fail(500, "oops"), cohere.InternalServerError, 500),
        (Fail(503, "busy"), cohere.ServiceUnavailableError, 503),
    ],
)
@pytest.mark.parametrize("dialect", ["cohere", "anthropic"])
def test_r66_errors_are_those_that_its_users_catch(
    url: str, failure: Fail, kind: type[ApiError], status: int, dialect: str
) -> None:
    """Of Cohere and of another provider, whole and as the answer to a stream."""
    model = {"cohere": "command-a", "anthropic": "claude"}[dialect]
    with Upstream(dialect, *[failure] * 8).standing(), _client(url) as client:
        with pytest.raises(kind) as caught:
            client.chat(model=model, messages=USER, max_tokens=50)
        with pytest.raises(kind):
            list(client.chat_stream(model=model, messages=USER, max_tokens=50))
    assert caught.value.status_code == status
    assert isinstance(caught.value.body["message"], str)


def test_r66_a_wrong_key_is_unauthorized(url: str) -> None:
    """401, as from Cohere."""
    with _client(url, "wrong") as client, pytest.raises(cohere.UnauthorizedError):
        client.chat(model="command-a", messages=USER)


def test_r66_the_awaited_client_streams(url: str) -> None:
    """`AsyncClientV2`, of another provider: its thought and its text."""

    async def run() -> list[Any]:
        client: Any = cohere.AsyncClientV2(api_key=KEY, base_url=url)
        asked = {"model": "claude", "messages": USER, "max_tokens": 3000}
        thinking = {"type": "enabled", "token_budget": 1500}
        try:
            return [event async for event in client.chat_stream(**asked, thinking=thinking)]
        finally:
            await client._client_wrapper.httpx_client.httpx_client.aclose()

    with Upstream("anthropic", Say(thinking="Hm.", text="Deep and cold.")).standing():
        events = asyncio.run(run())
    kinds = [event.delta.message.content.type for event in events if event.type == "content-start"]
    assert kinds == ["thinking", "text"]
    assert (events[-1].type, events[-1].delta.finish_reason) == ("message-end", "COMPLETE")


def test_r66_a_plan_is_text_before_its_calls_and_goes_back() -> None:
    """What Claude says before a call is Cohere's plan, and the other way round."""
    spoken = get_dialect("cohere")
    turn = il.Message("assistant", (il.TextPart("I will look."), il.ToolCall("w_1", "weather", "{}")))
    result = il.Message("tool", (il.ToolResult("w_1", "weather", "4"),))
    request = il.Request(messages=(il.user("Hi"), turn, result))
    encoded = spoken.encode_request(request, EncodeOptions(target=Target(model="m")))
    assert decode_any(encoded.body)["messages"][1] == {
        "role": "assistant",
        "tool_plan": "I will look.",
        "tool_calls": [{"id": "w_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    }
    again = spoken.decode_request(HttpRequest(url="http://test/v2/chat", body=encoded.body), DecodeOptions())
    assert again.request.messages[1].text == "I will look."
