"""What official clients ask beside conversations, over real sockets: lists, counts, kept answers, other endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, cast

import pytest

pytest.importorskip("anthropic", reason="the SDK is not installed")
pytest.importorskip("google.genai", reason="the SDK is not installed")
pytest.importorskip("ollama", reason="the SDK is not installed")
pytest.importorskip("openai", reason="the SDK is not installed")

import anthropic
import httpx
import ollama
import openai
from google import genai

from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.testing.upstream.loopback import serving as serving_lines
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any
from tests.support.gateway import provider, serving

ALIASES = {"smart": "up/claude-opus-4-5", "fast": "up/claude-haiku-4-5"}
NAMES = ["fast", "smart", "up/claude-haiku-4-5", "up/claude-opus-4-5"]
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


@pytest.fixture
def url() -> Iterator[str]:
    """A gateway in front of a strict Messages service of few words."""
    with (
        Upstream("anthropic").serving() as base,
        serving(providers={"up": provider("anthropic", base)}, aliases=ALIASES) as url,
    ):
        yield url


class Clients:
    """Official clients of one gateway."""

    def __init__(self, url: str) -> None:
        self.openai = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        self.google = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=url))
        self.ollama = ollama.Client(host=url)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every connection."""
        self.openai.close()
        self.anthropic.close()
        self.google.close()
        cast("Any", self.ollama)._client.close()


@pytest.fixture
def clients(url: str) -> Iterator[Clients]:
    """Official clients of the gateway."""
    with Clients(url) as made:
        yield made


def test_every_official_client_reads_its_list_of_models(clients: Clients) -> None:
    """OpenAI's, Anthropic's, Google's and Ollama's own types, each with the same names."""
    assert [model.id for model in clients.openai.models.list()] == NAMES
    assert clients.openai.models.retrieve("smart").owned_by == "up"
    client = clients.anthropic
    assert [(model.id, model.type) for model in client.models.list(limit=3)] == [(name, "model") for name in NAMES]
    assert client.models.retrieve("smart").display_name == "smart (up/claude-opus-4-5)"
    google = clients.google
    assert [model.name for model in google.models.list(config={"page_size": 3})] == [f"models/{name}" for name in NAMES]
    assert google.models.get(model="smart").display_name == "smart (up/claude-opus-4-5)"
    local = clients.ollama
    assert [model.model for model in local.list().models] == NAMES
    assert "tools" in (local.show("smart").capabilities or [])
    assert list(local.ps().models) == []


def test_official_clients_count_tokens(clients: Clients) -> None:
    """Each in its own form; a provider that cannot count is replaced by an estimate."""
    said: Any = [{"role": "user", "content": "hello world"}]
    assert clients.anthropic.messages.count_tokens(model="smart", messages=said).input_tokens == 10
    assert clients.google.models.count_tokens(model="smart", contents="hello world").total_tokens == 10
    assert clients.openai.responses.input_tokens.count(model="smart", input="hello world").input_tokens == 10


def test_srv_12_the_official_client_goes_on_by_ids() -> None:
    """Two turns with a tool by `previous_response_id`, whole and streamed; then the answer is read, listed, deleted."""
    upstream = Upstream("anthropic", Say(calls=(Call("get_weather", {"city": "Oslo"}),)), "It is 4 degrees.")
    with (
        upstream.serving() as base,
        serving(providers={"up": provider("anthropic", base)}) as url,
        Clients(url) as clients,
    ):
        _goes_on(clients.openai)
    sent = decode_any(upstream.requests[1].body)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert all(verdict.ok for verdict in upstream.verdicts)


def _goes_on(client: openai.OpenAI) -> None:
    first = client.responses.create(model="up/claude-opus-4-5", input="Weather?", tools=[WEATHER])
    call = next(item for item in first.output if item.type == "function_call")
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "4"}
    with client.responses.stream(
        model="up/claude-opus-4-5", previous_response_id=first.id, input=[result], tools=[WEATHER]
    ) as stream:
        second = stream.get_final_response()
    assert second.output_text == "It is 4 degrees."
    assert (second.previous_response_id, second.id) == (first.id, second.id)
    assert client.responses.retrieve(second.id).output_text == "It is 4 degrees."
    listed = client.responses.input_items.list(second.id)
    assert [item.type for item in listed] == ["function_call_output"]
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="up/claude-opus-4-5", input="?", previous_response_id=second.id)
    assert caught.value.code == "previous_response_not_found"


def test_the_official_client_compacts_a_conversation(clients: Clients) -> None:
    """The compacted window is sent back as it is."""
    client = clients.openai
    said: Any = [{"role": "user", "content": "We launch on Tuesday."}, {"role": "assistant", "content": "Noted."}]
    short = client.responses.compact(model="smart", input=said)
    assert (short.object, short.output[-1].type) == ("response.compaction", "compaction")
    window: Any = [item.model_dump(exclude_none=True, warnings=False) for item in short.output]
    again = client.responses.create(model="smart", input=[*window, {"role": "user", "content": "When?"}])
    assert again.status == "completed"


def _embedding(request: HttpRequest) -> Line:
    asked = decode_any(request.body)
    body = (
        b'{"object":"list","model":"%b","data":[{"object":"embedding","index":0,"embedding":[0.5]}],'
        % asked["model"].encode()
    )
    body += b'"usage":{"prompt_tokens":1,"total_tokens":1}}'
    return Line(pieces=(body,), headers=(("content-type", "application/json"),))


def test_what_only_a_provider_can_answer_is_passed_to_it() -> None:
    """Embeddings through the official client; a file goes nowhere as long as no provider is configured for it."""
    with (
        serving_lines(_embedding) as base,
        serving(providers={"vectors": provider("openai-chat", base)}, aliases={"e": "vectors/small"}) as url,
        Clients(url) as clients,
    ):
        made = clients.openai.embeddings.create(model="e", input="hello", encoding_format="float")
        assert (made.model, made.data[0].embedding) == ("e", [0.5])
        with pytest.raises(openai.NotFoundError, match="none is configured"):
            clients.openai.files.list()


def test_clients_that_probe_the_root_are_answered(url: str) -> None:
    """HEAD has no body, GET says who is there."""
    assert (httpx.head(f"{url}/").status_code, httpx.head(f"{url}/").content) == (200, b"")
    assert httpx.get(f"{url}/").text == "interlingua is running\n"
    assert httpx.get(f"{url}/api/version").json() == {"version": "0.13.0"}


GREETING = {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}


def test_srf_01_googles_paths_take_a_model_with_slashes(url: str) -> None:
    """`/v1beta/provider/model:generateContent`, as the JavaScript SDKs write it, whole, streamed and counted."""
    whole = httpx.post(f"{url}/v1beta/up/claude-opus-4-5:generateContent", json=GREETING)
    streamed = httpx.post(f"{url}/v1beta/up/claude-opus-4-5:streamGenerateContent?alt=sse", json=GREETING)
    counted = httpx.post(f"{url}/v1beta/up/claude-opus-4-5:countTokens", json=GREETING)
    explained = httpx.post(f"{url}/explain/v1beta/up/claude-opus-4-5:generateContent", json=GREETING)
    assert [reply.status_code for reply in (whole, streamed, counted, explained)] == [200, 200, 200, 200]
    assert whole.headers["x-interlingua-target"] == "up/claude-opus-4-5"
    assert whole.json()["candidates"][0]["finishReason"] == "STOP"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert counted.json()["totalTokens"] > 0


def test_messages_is_answered_without_a_version(url: str) -> None:
    """`/messages` and its count, for clients whose base URL ends without `/v1`; wrong models keep the dialect."""
    body = {"model": "smart", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello."}]}
    whole = httpx.post(f"{url}/messages", json=body)
    counted = httpx.post(f"{url}/messages/count_tokens", json={k: v for k, v in body.items() if k != "max_tokens"})
    wrong = httpx.post(f"{url}/messages", json={**body, "model": "none/such"})
    assert (whole.status_code, whole.json()["type"], whole.json()["stop_reason"]) == (200, "message", "end_turn")
    assert counted.json()["input_tokens"] > 0
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (404, "not_found_error")


def test_r64_a_stream_of_messages_begins_with_the_input_tokens() -> None:
    """Estimated by the bytes of the request until the provider counts; what the SDK adds up is the provider's count."""
    with (
        Upstream("openai-chat", "It is 4 degrees.").serving() as base,
        serving(providers={"up": provider("openai-chat", base)}) as url,
        Clients(url) as clients,
        clients.anthropic.messages.stream(
            model="up/gpt-4.1", max_tokens=50, messages=[{"role": "user", "content": "Weather in Oslo?"}]
        ) as stream,
    ):
        start = next(event for event in stream if event.type == "message_start")
        begun = start.message.usage.model_copy()
        final = stream.get_final_message().usage
    assert begun.input_tokens > 0
    assert (final.input_tokens, final.output_tokens) == (20, 10)
