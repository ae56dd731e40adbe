"""Embeddings and rerank at the gateway: any client to any provider, under keys, budgets, policy and hooks."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.client import vectors as client_vectors
from interlingua.dialects._vectors import EmbedDialect
from interlingua.dialects.table import get_embedding
from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import HookSettings
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.settings import GatewayKey
from interlingua.gateway.surfaces import vectors
from interlingua.gateway.surfaces.vectors import MAX_INPUTS
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import gateway

ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-openai", "GEMINI_API_KEY": "g-key", "ANTHROPIC_API_KEY": "sk-ant",
    "LLM_WORK": "openai-compatible://token@127.0.0.1:1/v1?tls=0&price_in=10&price_out=100",
    "LLM_OTHER": "openai-compatible://token@127.0.0.2:1/v1?tls=0",
    "LLM_SMALL": "openai-compatible://token@127.0.0.3:1/v1?tls=0&embed_inputs=2",
}  # fmt: skip
JSON: Headers = (("content-type", "application/json"),)


class Provider(Script):
    """Answers in the form of the path that it is asked at, and remembers what it was asked."""

    def __init__(self, status: int = 200, body: bytes = b"") -> None:
        super().__init__()
        self.status, self.body = status, body

    def answer(self, request: HttpRequest) -> Line:
        """Vectors of two numbers, the second the number of letters; documents by their length."""
        self.requests.append(request)
        if self.status != 200 or self.body:
            return Line(pieces=(self.body or b'{"error":{"message":"no"}}',), status=self.status)
        return Line(pieces=(encode(_answer(request.url, decode_any(request.body))),))


def _answer(url: str, body: dict[str, Any]) -> Any:
    if url.endswith("/rerank"):
        lengths = [{"index": place, "relevance_score": len(text) / 10} for place, text in enumerate(body["documents"])]
        return {"results": lengths, "model": body["model"], "usage": {"total_tokens": 6}}
    if url.endswith(":batchEmbedContents"):
        texts = [each["content"]["parts"][0]["text"] for each in body["requests"]]
        return {"embeddings": [{"values": [0.5, len(text)]} for text in texts]}
    vectors = [[0.5, len(text)] for text in body["input"]]
    if url.endswith("/api/embed"):
        return {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 2}
    data = [{"object": "embedding", "index": place, "embedding": each} for place, each in enumerate(vectors)]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 2, "total_tokens": 2}}


async def _asked(
    provider: Provider, path: str, body: object, made: Gateway | None = None, headers: Headers = JSON, query: str = ""
) -> GatewayReply:
    text = body if isinstance(body, bytes) else encode(body)
    request = GatewayRequest(path=path, body=text, headers=headers, query=query, peer="127.0.0.1")
    blocking, awaited = ReplayTransport(script=provider), AsyncReplayTransport(script=provider)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        return await (made or gateway(ENVIRONMENT))(request)


def _body(reply: GatewayReply) -> Any:
    assert isinstance(reply.body, bytes)
    return decode_any(reply.body)


def _header(reply: GatewayReply, name: str) -> str | None:
    return dict(reply.headers).get(name)


CLIENTS = ("openai", "google", "ollama", "cohere")


def _asking(client: str, model: str) -> tuple[str, Any]:
    """What a client asks for two texts, and where."""
    texts = ["Hi", "Oslo"]
    if client == "google":
        path = f"/v1beta/models/{model}:batchEmbedContents"
        return path, {"requests": [{"content": {"parts": [{"text": text}]}} for text in texts]}
    if client == "cohere":
        return "/v2/embed", {"model": model, "texts": texts, "input_type": "search_document"}
    return "/v1/embeddings" if client == "openai" else "/api/embed", {"model": model, "input": texts}


def _vectors(client: str, body: Any) -> list[list[float]]:
    """The vectors in the answer to it."""
    if client == "cohere":
        return body["embeddings"]["float"]
    if client == "openai":
        return [each["embedding"] for each in body["data"]]
    return [each["values"] for each in body["embeddings"]] if client == "google" else body["embeddings"]


TARGETS = {
    "work/m": "http://127.0.0.1:1/v1/embeddings",
    "openai/text-embedding-3-small": "https://api.openai.com/v1/embeddings",
    "google/gemini-embedding-001":
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents",
    "ollama/nomic": "http://localhost:11434/api/embed",
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("client", CLIENTS)
async def test_r67_any_client_reaches_any_provider(client: str, target: str) -> None:
    """The vectors are the same, in the client's form; the header says who served."""
    provider = Provider()
    path, body = _asking(client, target)
    reply = await _asked(provider, path, body)
    assert (reply.status, _vectors(client, _body(reply))) == (200, [[0.5, 2.0], [0.5, 4.0]])
    assert [request.url for request in provider.requests] == [TARGETS[target]]
    assert _header(reply, "x-interlingua-target") == target


async def test_one_text_in_the_older_forms() -> None:
    """Google's single request, and Ollama's older path."""
    single = {"content": {"parts": [{"text": "Hi"}]}}
    reply = await _asked(Provider(), "/v1/models/work/m:embedContent", single)
    assert _body(reply) == {"embedding": {"values": [0.5, 2.0]}, "usageMetadata": {"promptTokenCount": 2}}
    reply = await _asked(Provider(), "/api/embeddings", {"model": "google/gemini-embedding-001", "prompt": "Hi"})
    assert _body(reply) == {"embedding": [0.5, 2.0]}


async def test_unknown_members_go_to_their_own_dialect_alone() -> None:
    """Verbatim to a target that speaks it; dropped with an entry for any other one."""
    provider, body = Provider(), {"model": "work/m", "input": "Hi", "truncate_prompt_tokens": 5}
    await _asked(provider, "/v1/embeddings", body)
    assert provider.requests[0].body == b'{"model":"m","input":["Hi"],"truncate_prompt_tokens":5}'
    reply = await _asked(Provider(), "/v1/embeddings", {**body, "model": "ollama/nomic"})
    assert _header(reply, "x-interlingua-changes") == "dropped extra_foreign /extra/openai-chat"
    request = {"content": {"parts": [{"text": "Hi"}]}, "taskType": "QUESTION_ANSWERING", "title": "T"}
    provider = Provider()
    await _asked(provider, "/v1beta/models/google/g:batchEmbedContents", {"requests": [request]})
    assert decode_any(provider.requests[0].body) == {"requests": [{"model": "models/g", **request}]}


async def test_what_a_target_cannot_take_is_refused_in_the_clients_form() -> None:
    """Tokens of OpenAI at Google, and a target without embeddings."""
    reply = await _asked(Provider(), "/v1/embeddings", {"model": "google/g", "input": [1, 2]})
    assert (reply.status, "/inputs/0" in _body(reply)["error"]["message"]) == (400, True)
    reply = await _asked(Provider(), "/api/embed", {"model": "anthropic/claude-opus-5", "input": "Hi"})
    assert (reply.status, "makes no vectors" in _body(reply)["error"]) == (400, True)


async def test_r67_a_chain_of_two_models_is_refused_before_anything_is_sent() -> None:
    """A chain of one model goes on to the next provider."""
    provider = Provider()
    reply = await _asked(provider, "/v1/embeddings", {"model": "work/m,google/g", "input": "Hi"})
    assert (reply.status, provider.requests) == (400, [])
    assert "do not compare" in _body(reply)["error"]["message"]

    class Down(Provider):
        def answer(self, request: HttpRequest) -> Line:
            line = super().answer(request)
            return Line(pieces=(b"{}",), status=500) if "127.0.0.1" in request.url else line

    down = Down()
    reply = await _asked(down, "/v1/embeddings", {"model": "work/m,other/m", "input": "Hi"})
    assert (reply.status, _header(reply, "x-interlingua-target")) == (200, "other/m")
    assert (_header(reply, "x-interlingua-skipped") or "").startswith("work/m (failed: InternalServerError)")


async def test_more_texts_than_a_target_takes_go_out_in_several_requests() -> None:
    """One answer, in the order of the texts, with the tokens of all requests."""
    provider = Provider()
    reply = await _asked(provider, "/v1/embeddings", {"model": "small/m", "input": ["a", "bb", "ccc", "dddd", "e"]})
    assert [each["embedding"][1] for each in _body(reply)["data"]] == [1, 2, 3, 4, 1]
    assert sorted(len(decode_any(request.body)["input"]) for request in provider.requests) == [1, 2, 2]
    assert _body(reply)["usage"] == {"prompt_tokens": 6, "total_tokens": 6}


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/v1/embeddings", b'{"input":"Hi"}', "/model"),
        ("/v1/embeddings", b'{"model":"work/m"}', "/input"),
        ("/v1/embeddings", b'{"model":"work/m","input":"Hi","model":"openai/evil"}', "/model"),
        ("/v1/embeddings", b'{"model":"work/m","input":"Hi","Model":"openai/evil"}', "Model"),
        ("/v1/embeddings", b'{"model":"work/m","input":"Hi"', "JSON"),
        ("/v1/rerank", b'{"model":"work/m","query":"Hi"}', "/documents"),
        ("/api/embed", b'{"model":"work/m","input":3}', "/input"),
        ("/v1beta/models/work/m:batchEmbedContents",
         b'{"requests":[{"model":"models/private","content":{"parts":[{"text":"a"}]}}]}', "/requests/0/model"),
        ("/v1beta/models/work/m:batchEmbedContents",
         b'{"requests":[{"model":"models/work/m","model":"models/private"}]}', "/requests/0/model"),
    ],
)  # fmt: skip
async def test_bodies_are_read_strictly(path: str, body: bytes, place: str) -> None:
    """What is missing, ambiguous or no JSON is told in the client's form, with the place; nobody is asked."""
    provider = Provider()
    reply = await _asked(provider, path, body)
    assert (reply.status, provider.requests) == (400, [])
    assert isinstance(reply.body, bytes)
    assert place in reply.body.decode()


async def test_an_error_of_the_provider_comes_in_the_clients_form() -> None:
    """With its status; a key that it repeats is in no answer."""
    provider = Provider(429, b'{"error":{"message":"slow down, sk-openai"}}')
    reply = await _asked(provider, "/v1beta/models/openai/e:embedContent", {"content": {"parts": [{"text": "a"}]}})
    assert (reply.status, _body(reply)["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert b"sk-openai" not in encode(_body(reply))


# Under keys


def _keyed(*budgets: str, models: tuple[str, ...] = (), **terms: Any) -> Gateway:
    read = tuple([read_budget(each) for each in budgets])
    key = GatewayKey(name="a", hash=hash_key("secret"), models=models, terms=Terms(budgets=read, **terms))
    return gateway(ENVIRONMENT, {"mine": "work/m"}, keys=(key,))


KEYED: Headers = (*JSON, ("x-api-key", "secret"))


async def _rows(made: Gateway) -> list[tuple[str, int, int, int]]:
    rows = made.admission.accounts.rows  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]  # those of memory
    return [(row.model, row.input_tokens, row.nano_usd, row.estimated) for row in rows]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # the same


async def test_r67_a_key_asks_for_its_models_alone() -> None:
    """By the name that it may use; nothing is asked without a key."""
    made, provider = _keyed(models=("mine",)), Provider()
    body = {"model": "mine", "input": "Hi"}
    assert (await _asked(provider, "/v1/embeddings", body, made, KEYED)).status == 200
    assert (await _asked(provider, "/v1/embeddings", {**body, "model": "openai/x"}, made, KEYED)).status == 403
    assert (await _asked(provider, "/v1/embeddings", {**body, "fallbacks": ["x"]}, made, KEYED)).status == 403
    assert (await _asked(provider, "/v1/embeddings", body, made, KEYED, query="model=x")).status == 403
    assert (await _asked(provider, "/v1/embeddings", body, made)).status == 401
    assert len(provider.requests) == 1


async def test_r67_a_budget_counts_what_was_read() -> None:
    """In tokens and in money: 2 tokens at 10 dollars for a million. What does not fit any more is refused with 402."""
    made = _keyed("3 tokens", "1 USD")
    body = {"model": "work/m", "input": "Hi"}
    assert (await _asked(Provider(), "/v1/embeddings", body, made, KEYED)).status == 200
    assert await _rows(made) == [("work/m", 2, 20_000, 0)]
    reply = await _asked(Provider(), "/v1/embeddings", {**body, "input": "a few more words"}, made, KEYED)
    assert (reply.status, _body(reply)["error"]["code"]) == (402, "insufficient_quota")


async def test_a_budget_in_money_wants_a_price() -> None:
    """Where none is known nothing is sent."""
    made, provider = _keyed("1 USD"), Provider()
    reply = await _asked(provider, "/v1/embeddings", {"model": "other/m", "input": "Hi"}, made, KEYED)
    assert (reply.status, provider.requests) == (403, [])


async def test_tokens_that_nobody_counts_are_estimated() -> None:
    """Google tells no counts."""
    made = _keyed("1000 tokens")
    body = {"model": "google/g", "input": "a text of some words"}
    assert (await _asked(Provider(), "/v1/embeddings", body, made, KEYED)).status == 200
    ((model, tokens, _, estimated),) = await _rows(made)
    assert (model, estimated, 3 <= tokens <= 8) == ("google/g", 1, True)


async def test_a_request_that_fails_is_not_charged() -> None:
    """A provider's refusal."""
    made = _keyed("1000 tokens")
    assert (
        await _asked(Provider(400), "/v1/embeddings", {"model": "work/m", "input": "Hi"}, made, KEYED)
    ).status == 400
    assert [row[1:3] for row in await _rows(made)] == [(0, 0)]


class Selective(Provider):
    """Refuses the request that holds a word, or leaves it without an answer."""

    def __init__(self, word: str, *, hangs: bool = False) -> None:
        super().__init__()
        self.word, self.hangs = word, hangs

    def answer(self, request: HttpRequest) -> Line:
        """The vectors, but for that word."""
        if self.word.encode() not in request.body:
            return super().answer(request)
        if self.hangs:
            raise asyncio.CancelledError
        return Provider(400).answer(request)


@pytest.mark.parametrize(("hangs", "charged"), [(False, 4), (True, 5)])
async def test_requests_that_were_answered_are_charged_though_another_one_fails(hangs: bool, charged: int) -> None:
    """What came is paid for; where the client leaves meanwhile all that was reserved is, since nobody knows more."""
    made, provider = _keyed("1000 tokens"), Selective("eeee", hangs=hangs)
    body = {"model": "small/m", "input": ["aaaa", "bbbb", "cccc", "dddd", "eeee"]}
    try:
        assert (await _asked(provider, "/v1/embeddings", body, made, KEYED)).status == 400
    except asyncio.CancelledError:
        assert hangs
    assert sum([row[1] for row in await _rows(made)]) == charged


class Spoiling(Provider):
    """Answers with a vector of no number at one address, where a text is `eeee`."""

    def answer(self, request: HttpRequest) -> Line:
        """The vectors, but for that word."""
        line = super().answer(request)
        is_spoilt = "127.0.0.3" in request.url and b"eeee" in request.body
        return Line(pieces=(b'{"data":[{"embedding":["x"]}]}',)) if is_spoilt else line


@pytest.mark.parametrize(("model", "status", "charged"), [("small/m,work/m", 200, [6, 2]), ("small/m", 502, [6])])
async def test_an_answer_that_cannot_be_read_is_charged_by_its_own_texts(
    model: str, status: int, charged: list[int]
) -> None:
    """Three requests of two texts, of which one cannot be read: it is charged by its two, not by all six."""
    made = _keyed("1000 tokens")
    body = {"model": model, "input": ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"]}
    assert (await _asked(Spoiling(), "/v1/embeddings", body, made, KEYED)).status == status
    assert [row[1] for row in await _rows(made)] == charged


async def test_a_request_holds_a_bounded_number_of_texts() -> None:
    """Nothing is sent for more."""
    provider = Provider()
    reply = await _asked(provider, "/v1/embeddings", {"model": "work/m", "input": ["a"] * (MAX_INPUTS + 1)})
    assert (reply.status, provider.requests) == (400, [])
    assert "10,001 texts in one request; 10,000 is the most" in _body(reply)["error"]["message"]


async def test_the_policy_holds_for_the_texts() -> None:
    """A denied word in one of them, and how much there may be in all; many texts are no many messages."""
    policy = PolicySettings(denied_words=("secret",), max_text_characters=50, max_messages=1)
    made, provider = gateway(ENVIRONMENT, hooks=HookSettings(policy=policy)), Provider()
    body = {"model": "work/m", "input": ["one", "two", "three"]}
    assert (await _asked(provider, "/v1/embeddings", body, made)).status == 200
    assert (await _asked(provider, "/v1/embeddings", {**body, "input": ["a", "a Secret."]}, made)).status == 400
    assert (await _asked(provider, "/v1/embeddings", {**body, "input": ["x" * 51]}, made)).status == 400
    rerank = {"model": "work/m", "query": "q", "documents": ["a", "a secret"]}
    assert (await _asked(provider, "/v1/rerank", rerank, made)).status == 400
    assert len(provider.requests) == 1


async def test_tokens_are_not_past_the_policy() -> None:
    """A list of tokens is a text that no hook can read: 403, unless the operator lets it pass."""
    body = {"model": "work/m", "input": [[1, 2, 3]]}
    policy = PolicySettings(denied_words=("secret",))
    passing = HookSettings(policy=policy, unread="pass")
    for hooks, status, count in ((HookSettings(policy=policy), 403, 0), (passing, 200, 1)):
        made, provider = gateway(ENVIRONMENT, hooks=hooks), Provider()
        reply = await _asked(provider, "/v1/embeddings", body, made)
        assert (reply.status, len(provider.requests)) == (status, count)
        assert (b"/v1/embeddings is not read here" in encode(_body(reply))) == (status == 403)


async def test_r67_a_rerank_in_jinas_form() -> None:
    """The best first; documents where they are wanted; any dialect's client sees errors of Chat."""
    body = {"model": "work/m", "query": "q", "documents": ["a", "bbb"], "top_n": 1, "return_documents": True}
    reply = await _asked(Provider(), "/v1/rerank", body)
    answer = _body(reply)
    assert answer["results"] == [{"index": 1, "relevance_score": 0.3, "document": {"text": "bbb"}}]
    assert (answer["model"], answer["usage"]) == ("work/m", {"total_tokens": 6})
    reply = await _asked(Provider(), "/v1/rerank", {**body, "model": "openai/x"})
    assert (reply.status, "has no rerank" in _body(reply)["error"]["message"]) == (400, True)


async def test_inputs_in_tokens_are_reserved() -> None:
    """A list of tokens does not fit into a budget that it is larger than; nobody is asked."""
    made, provider = _keyed("3 tokens"), Provider()
    body = {"model": "work/m", "input": [1, 2, 3, 4, 5]}
    reply = await _asked(provider, "/v1/embeddings", body, made, KEYED)
    assert (reply.status, provider.requests) == (402, [])


async def test_vectors_of_several_dimensions_are_no_answer() -> None:
    """Two texts, and a vector of one number beside one of two."""
    provider = Provider(body=b'{"data":[{"embedding":[1,2]},{"embedding":[1]}]}')
    reply = await _asked(provider, "/v1/embeddings", {"model": "work/m", "input": ["a", "b"]})
    assert (reply.status, "several dimensions" in encode(_body(reply)).decode()) == (502, True)


@pytest.mark.parametrize("member", ["model", "content"])
async def test_a_configuration_replaces_neither_model_nor_content(member: str) -> None:
    """Hooks, prices and models of keys are about what stands beside it."""
    provider, request = Provider(), {"content": {"parts": [{"text": "a"}]}, "embedContentConfig": {member: "other"}}
    reply = await _asked(provider, "/v1beta/models/google/g:batchEmbedContents", {"requests": [request]})
    assert (reply.status, provider.requests) == (400, [])
    assert f"/embedContentConfig/{member}" in _body(reply)["error"]["message"]


async def test_an_answer_holds_a_bounded_number_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of one client have an end: requests that are still to come are not sent, and none is repeated."""
    monkeypatch.setattr(vectors, "MAX_NUMBERS", 5)
    provider = Provider()
    body = {"model": "small/m,work/m", "input": ["a"] * 40}
    reply = await _asked(provider, "/v1/embeddings", body)
    assert reply.status == 400
    assert "the vectors hold more than 5 numbers" in _body(reply)["error"]["message"]
    assert len(provider.requests) < 10
    assert (await _asked(Provider(), "/v1/embeddings", {"model": "small/m", "input": ["a"] * 2})).status == 200


@pytest.mark.parametrize("spoilt", [False, True])
async def test_large_answers_are_read_and_written_off_the_event_loop(
    spoilt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a megabyte of numbers is the same answer, and the same error where it is none."""
    threads: list[str] = []

    def noted(step: Any) -> Any:
        def run(*arguments: Any) -> Any:
            threads.append(threading.current_thread().name)
            return step(*arguments)

        return run

    form = get_embedding("openai-chat")
    assert form is not None
    form = replace(form, decode_response=noted(form.decode_response), encode_response=noted(form.encode_response))

    def get(_: str) -> EmbedDialect:
        return form

    for module in (client_vectors, vectors):
        monkeypatch.setattr(module, "get_embedding", get)
    numbers = [0.25] * 70_000 + (["x"] if spoilt else [])
    provider = Provider(body=encode({"data": [{"index": 0, "embedding": numbers}], "usage": {"prompt_tokens": 1}}))
    reply = await _asked(provider, "/v1/embeddings", {"model": "work/m", "input": ["a"]})
    assert reply.status == (502 if spoilt else 200)
    assert len(threads) == (1 if spoilt else 2)
    assert "MainThread" not in threads
    if not spoilt:
        assert _body(reply)["data"][0]["embedding"] == numbers
