"""`il.embed` and `il.rerank`, blocking and awaited: batches, chains, prices, limits, hooks, observers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua import aio
from interlingua.client.aio.embed import gathered as gathered_async
from interlingua.client.call.effect import Steps
from interlingua.client.call.values import Call, CallTarget
from interlingua.client.embed import check_embed, gathered
from interlingua.client.face import Face
from interlingua.client.hooks.cache import ResponseCache
from interlingua.client.vectors import embed_call
from interlingua.testing import FakeModel, no_network, use
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

WORK = "openai-compatible://token@127.0.0.1:1/v1?tls=0"


class Server(Script):
    """Gives each text a vector of its length, and remembers what it was asked; `fails` are texts that it refuses."""

    def __init__(self, *fails: str, status: int = 400) -> None:
        super().__init__()
        self.fails, self.status = fails, status

    def answer(self, request: HttpRequest) -> Line:
        """The vectors of a request."""
        self.requests.append(request)
        texts = decode_any(request.body)["input"]
        if any(text in self.fails for text in texts):
            return Line(pieces=(b'{"error":{"message":"no"}}',), status=self.status)
        data = [{"index": place, "embedding": [float(len(text))]} for place, text in enumerate(texts)]
        body = {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": len(texts)}}
        return Line(pieces=(encode(body),))


def _over(script: Script) -> Override:
    blocking, awaited = ReplayTransport(script=script), AsyncReplayTransport(script=script)
    return Override(lambda _: blocking, lambda _: awaited)


def _registry(**more: str) -> il.Registry:
    return il.Registry({"LLM_WORK": WORK, **more})


async def _both(texts: Any, script: Server, **options: Any) -> list[il.Embeddings]:
    """The vectors by both faces."""
    with overriding(_over(script)):
        return [il.embed(texts, **options), await aio.embed(texts, **options)]


async def test_r67_one_text_and_several() -> None:
    """One vector each, in order, with usage, target and attempts; the price is not known."""
    for answer in await _both("Oslo", Server(), model="work/m", registry=_registry()):
        assert (answer.vector, answer.model, answer.wire_model, answer.cost_usd) == ([4.0], "work/m", "m", None)
        assert answer.usage == il.Usage(input_tokens=1, output_tokens=0)
        assert [attempt.outcome for attempt in answer.attempts] == ["served"]
    for answer in await _both(iter(["a", "bbb"]), Server(), model="work/m", registry=_registry()):
        assert answer.vectors in ([[1.0], [3.0]], [])  # the second face finds the iterator used up
    with pytest.raises(il.UsageError, match="there are 2 vectors"):
        _ = (await _both(["a", "b"], Server(), model="work/m", registry=_registry()))[0].vector


async def test_r67_many_texts_go_out_in_several_requests_and_keep_their_order() -> None:
    """By the bound of the target's row; a DSN can say another one."""
    texts = [f"{'x' * (number % 7)}y" for number in range(25)]
    registry = il.Registry({"LLM_WORK": f"{WORK}&embed_inputs=10"})
    script = Server()
    for answer in await _both(texts, script, model="work/m", registry=registry, concurrency=2):
        assert answer.vectors == [[float(len(text))] for text in texts]
        assert answer.usage.input_tokens == 25
        assert len(answer.attempts) == 3
    assert sorted(len(decode_any(request.body)["input"]) for request in script.requests) == [5, 5, 10, 10, 10, 10]


async def test_texts_that_are_long_go_out_in_more_requests() -> None:
    """About so many tokens as a server takes at once."""
    registry = il.Registry({"LLM_WORK": f"{WORK}&embed_tokens=1000"})
    script = Server()
    with overriding(_over(script)):
        il.embed(["word " * 800, "word " * 800, "short"], model="work/m", registry=registry)
    assert sorted(len(decode_any(request.body)["input"]) for request in script.requests) == [1, 2]


async def test_r67_a_batch_that_fails_fails_the_call_and_says_which_texts() -> None:
    """The numbers of its texts stand before the error's own sentence."""
    texts = [f"t{number}" for number in range(30)]
    registry = il.Registry({"LLM_WORK": f"{WORK}&embed_inputs=10"})
    with overriding(_over(Server("t15"))):
        with pytest.raises(il.BadRequestError, match=r"^work/m: 400 texts 10 to 19 of 30: no"):
            il.embed(texts, model="work/m", registry=registry)
        with pytest.raises(il.BadRequestError, match=r"^work/m: 400 texts 10 to 19 of 30: no"):
            await aio.embed(texts, model="work/m", registry=registry)


async def test_r67_a_chain_goes_on_to_the_same_model_elsewhere() -> None:
    """An outage of the first target is the second one's chance; another model is refused before anything is sent."""
    registry = _registry(LLM_OTHER="openai-compatible://token@127.0.0.2:1/v1?tls=0", LLM_GOOGLE="google://k@h.example")
    script = Server()
    down = Line(when=lambda request: "127.0.0.1" in request.url, status=500, pieces=(b"{}",), times=None)

    class First(Server):
        def answer(self, request: HttpRequest) -> Line:
            return down if "127.0.0.1" in request.url else script.answer(request)

    with overriding(_over(First())):
        answer = il.embed("Hi", model="work/openai/m,other/m", registry=registry, retries=0)
    assert answer.model == "other/m"
    assert [attempt.outcome for attempt in answer.attempts] == ["failed", "served"]
    with overriding(_over(script)), pytest.raises(il.ConfigError, match="vectors of two models do not compare"):
        il.embed("Hi", model="work/m,google/n", registry=registry)
    assert len(script.requests) == 1


async def test_an_answer_with_too_few_vectors_is_refused() -> None:
    """Nobody could say which text lacks its own."""
    line = Line(pieces=(b'{"data":[{"index":0,"embedding":[1]}]}',), times=None)
    with overriding(_over(Script(line))), pytest.raises(il.DecodeError, match="gave 1 vectors for 2 texts"):
        il.embed(["a", "b"], model="work/m", registry=_registry())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"texts": b"x"}, "embed takes a text or several, not a bytes"),
        ({"texts": 5}, "embed takes a text or several, not"),
        ({"texts": ["a", il.ImagePart(data=b"x", media_type="image/png")]}, "text 1 is .*; only texts are taken"),
        ({"texts": ["a", ""]}, "text 1 is empty"),
        ({"texts": "a", "dimensions": 0}, "dimensions takes a whole number from 1 on"),
        ({"texts": "a", "input_type": "search"}, "input_type takes query, document"),
        ({"texts": "a", "concurrency": 0}, "concurrency takes 1 to 100"),
        ({"texts": "a", "temperature": 0}, "il.embed takes no temperature"),
        ({"texts": "a", "nonsense": 0}, "nonsense"),
    ],
)
def test_what_cannot_be_embedded_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Before anything is sent; a picture is refused with a word for it."""
    with no_network(), pytest.raises(il.UsageError, match=message):
        il.embed(model="work/m", registry=_registry(), **arguments)


def test_a_model_without_embeddings_says_so() -> None:
    """Messages has no such path."""
    with no_network(), pytest.raises(il.UnsupportedError, match="makes no vectors"):
        il.embed("a", model="anthropic/claude-opus-5")
    with no_network(), pytest.raises(il.UnsupportedError, match="ranks no documents"):
        il.rerank("a", ["b"], model="google/gemini-embedding-001")


async def test_no_texts_are_no_request() -> None:
    """Nothing is asked for nothing."""
    script = Server()
    for answer in await _both([], script, model="work/m", registry=_registry()):
        assert (len(answer), answer.vectors, answer.dimensions) == (0, [], 0)
    assert script.requests == []


def test_r67_the_price_is_that_of_what_was_read() -> None:
    """By the DSN; a price list that knows no price of output will do for embeddings."""
    registry = il.Registry({"LLM_WORK": f"{WORK}&price_in=2&price_out=50"})
    with overriding(_over(Server())), il.meter() as meter:
        answer = il.embed(["a", "b"], model="work/m", registry=registry)
    assert (answer.cost_usd, meter.cost_usd, meter.calls) == (4e-6, 4e-6, 1)
    assert meter.usage == il.Usage(input_tokens=2, output_tokens=0)


def test_the_price_list_knows_embedding_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's small one, 0.02 US dollars for a million tokens."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with overriding(_over(Server())):
        answer = il.embed("a", model="openai/text-embedding-3-small")
    assert answer.cost_usd == pytest.approx(2e-8)


def test_hooks_see_the_texts_and_change_them() -> None:
    """As the parts of one message; a cache of answers leaves them alone."""
    contexts: list[il.HookContext] = []

    class Shout(il.Hook):
        def before(self, request: il.Request, context: il.HookContext) -> il.Request:
            contexts.append(context)
            (message,) = request.messages
            parts = tuple([il.TextPart(part.text.upper()) for part in message.parts if isinstance(part, il.TextPart)])
            return il.Request(messages=(il.Message("user", parts),))

    script = Server()
    with overriding(_over(script)):
        hooks = [Shout(), ResponseCache()]
        il.embed(["a", "b"], model="work/m", registry=_registry(), hooks=hooks)
        answer = il.embed(["a", "b"], model="work/m", registry=_registry(), hooks=hooks)
    assert [decode_any(request.body)["input"] for request in script.requests] == [["A", "B"], ["A", "B"]]
    assert contexts[0].operation == "embeddings"
    assert [change.code for change in answer.changes] == ["request_hooked"]


def test_a_hook_that_takes_texts_away_is_refused() -> None:
    """The vectors would belong to other texts."""

    class Silence(il.Hook):
        def before(self, request: il.Request, context: il.HookContext) -> il.Request:
            return il.Request()

    with overriding(_over(Server())), pytest.raises(il.UsageError, match="has to leave the texts"):
        il.embed("a", model="work/m", registry=_registry(), hooks=[Silence()])


def test_observers_are_told_of_each_request() -> None:
    """A call of its own kind, with usage and without vectors in its line."""
    events: list[il.Observed] = []
    with overriding(_over(Server())), il.on_event(events.append):
        il.embed(["a", "b"], model="work/m", registry=_registry())
    started, finished = events[0], events[-1]
    assert isinstance(started, il.CallStarted)
    assert isinstance(finished, il.CallFinished)
    assert (started.operation, started.targets) == ("embeddings", ("work/m",))
    assert "operation=embeddings" in str(started)
    assert finished.usage == il.Usage(input_tokens=2, output_tokens=0)


def test_strict_refuses_what_would_be_dropped() -> None:
    """A word for what the texts are for, where the server has none."""
    with overriding(_over(Server())), pytest.raises(il.UnsupportedError, match="strict"):
        il.embed("a", model="work/m", registry=_registry(), input_type="query", strict=True)


async def test_r67_fakes_give_the_same_vectors_every_time() -> None:
    """Texts with words in common are near each other; a scripted fake does not use up its answers for it."""
    first = il.embed(["rain in Oslo", "Oslo in the rain", "stocks fall"], model="fake/any")
    with no_network(), use(FakeModel([])):
        again = await aio.embed(["rain in Oslo", "Oslo in the rain", "stocks fall"], model="google/gemini-embedding-2")
    assert first.vectors == again.vectors
    one, near, far = first.numpy()
    assert (float(one @ near) > 0.7, abs(float(one @ far)) < 0.3) == (True, True)
    best = il.rerank("rain", ["sun in Rome", "rain in Oslo", "x"], model="fake/any", top_n=2)
    assert (len(best), best[0].index, best[0].document) == (2, 1, "rain in Oslo")
    assert [each.index for each in await aio.rerank("rain", ["sun", "rain"], model="fake/any")] == [1, 0]


async def test_a_rerank_is_a_sequence_of_the_best() -> None:
    """With usage and target; scores come from the provider, documents are the caller's own."""
    body = {"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}], "model": "x"}
    script = Script(Line(pieces=(encode({**body, "usage": {"total_tokens": 4}}),), times=None))
    with overriding(_over(script)):
        ranking = il.rerank("rain", ["sun", "rain"], model="work/m", registry=_registry(), top_n=1)
        assert (await aio.rerank("rain", ["sun", "rain"], model="work/m", registry=_registry()))[0].score == 0.9
    assert list(ranking) == [il.Ranked(1, 0.9, "rain")]
    assert (ranking.model, ranking.usage.input_tokens) == ("work/m", 4)
    with pytest.raises(il.UsageError, match="several documents"):
        il.rerank("a", "b", model="work/m", registry=_registry())
    assert len(il.rerank("a", [], model="work/m", registry=_registry())) == 0
    wrong = Script(Line(pieces=(b'{"results":[{"index":7,"relevance_score":1}]}',), times=None))
    with overriding(_over(wrong)), pytest.raises(il.DecodeError, match="ranks document 7 of 1"):
        il.rerank("a", ["b"], model="work/m", registry=_registry())


class Giving(Server):
    """Gives every request one vector, whatever that is."""

    def __init__(self, vector: object) -> None:
        super().__init__()
        self.vector = vector

    def answer(self, request: HttpRequest) -> Line:
        """That vector."""
        return Line(pieces=(encode({"data": [{"index": 0, "embedding": self.vector}]}),))


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        ("", "without numbers"),
        ([], "without numbers"),
        ([1e39], "a number that no 32-bit float can hold"),
        ([1.0, -4e38], "a number that no 32-bit float can hold"),
        ("AAA=", "2 bytes are no 32-bit floats"),
        ("AACAPw!", "neither numbers nor base64"),
    ],
)
async def test_a_vector_that_is_none_is_refused(vector: object, why: str) -> None:
    """One without a number, and numbers that would be infinite as soon as they are packed."""
    with pytest.raises(il.DecodeError, match=why):
        await _both(["a"], Giving(vector), model="work/m", registry=_registry(), retries=0)


@pytest.mark.parametrize("vector", ["AACAPwAAAEA=", "AACAPwAAAEA", "AACAPw\r\nAAAEA=\n"])
async def test_base64_of_another_kind_means_the_same(vector: str) -> None:
    """Without its padding, and in lines; what was paid for is read."""
    answers = await _both(["a"], Giving(vector), model="work/m", registry=_registry())
    assert [made.vectors for made in answers] == [[[1.0, 2.0]]] * 2


async def test_a_deadline_is_that_of_all_requests_together() -> None:
    """Of 10 seconds each request has what those before it have left; a clock tells four seconds for each."""
    passed, left = [0.0], list[float | None]()

    def attempt(call: Call, target: CallTarget) -> Steps[il.Response[Any]]:
        del target
        left.append(call.settings.timeouts.total_s)
        passed[0] += 4.0
        return il.Response(output=il.Embeddings(packed=([1.0],)))
        yield

    registry = il.Registry({"LLM_WORK": f"{WORK}&embed_inputs=1"})
    ask = check_embed(["a", "b", "c", "d"], None, None, 1)
    call = embed_call(Face("work/m", registry=registry), ask, {"timeout_s": 10.0})
    call = replace(call, clock=lambda: passed[0])
    assert len(gathered(call, ask.inputs, attempt, 1)) == 4
    passed[0] = 0.0
    assert len(await gathered_async(call, ask.inputs, attempt, 1)) == 4
    assert left == [10.0, 6.0, 2.0, 0.001] * 2
