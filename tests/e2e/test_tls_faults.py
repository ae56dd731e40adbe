"""Providers whose TLS fails, met by the library and by `il serve`: the chain goes on, and half an answer is none."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

import interlingua as il
from interlingua.client.state import forget_state
from interlingua.transport.aio import HttpTransport as AsyncHttpTransport
from interlingua.transport.options import HttpOptions
from interlingua.transport.override import Override, overriding
from interlingua.transport.sync import HttpTransport
from tests.e2e.gateway.test_serve import _serving
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunk, chunks
from tests.support.server import Answer, Farewell, Seen, reply, serving
from tests.support.tls import Authority, relay

KEY = "sk-planted-0123456789"
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
CERTIFICATES = ("expired", "of another host", "self-signed")
FAULTS = (*CERTIFICATES, "cut handshake", "no TLS", "cut body")


def _said(seen: Seen) -> Answer:
    """What a sound provider answers, its end told by the end of TLS alone."""
    if b'"stream":true' in seen.body:
        return Answer((EVENTS, *chunks("Hel", "lo"), Farewell()), close=True)
    return Answer((JSON, chat("Hello").body, Farewell()), close=True)


def _cut(seen: Seen) -> Answer:
    """Half of that, and an end that anybody can make."""
    if b'"stream":true' in seen.body:
        return Answer((EVENTS, chunk({"role": "assistant", "content": ""})), close=True)
    return Answer((JSON, chat("Hello").body), close=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One authority for the tests of this file."""
    return Authority(tmp_path_factory.mktemp("authority"))


@contextmanager
def _broken(fault: str, authority: Authority) -> Generator[int]:
    """The port of a provider with that fault."""
    with ExitStack() as stack:
        match fault:
            case "expired":
                context = authority.context(days=(-9, -1))
            case "of another host":
                context = authority.context("other.test")
            case "self-signed":
                context = authority.self_signed()
            case _:
                context = None if fault == "no TLS" else authority.context()
        server = stack.enter_context(serving(_cut if fault == "cut body" else _said, context=context))
        if fault != "cut handshake":
            yield server.port
            return
        between = stack.enter_context(relay(server.port))
        between.cut_at = 100
        yield between.port


@pytest.fixture(params=FAULTS)
def providers(request: pytest.FixtureRequest, authority: Authority) -> Generator[dict[str, str]]:
    """A provider that breaks and a sound one, as variables."""
    with _broken(request.param, authority) as bad, serving(_said, context=authority.context()) as good:
        forget_state()
        yield {
            "FAULT": request.param,
            "LLM_BAD": f"openai://{KEY}@localhost:{bad}/v1",
            "LLM_GOOD": f"openai://{KEY}@localhost:{good.port}/v1",
        }


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(
    request: pytest.FixtureRequest, authority: Authority, providers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Generator[Face]:
    """Both faces of the client, which trust the authority."""
    for name, value in providers.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)
    options = HttpOptions(ca_file=authority.file)
    with closing(HttpTransport(options)) as blocking, ExitStack() as stack:
        awaited = AsyncHttpTransport(options)
        stack.callback(awaited.close_without_loop)
        stack.enter_context(overriding(Override(lambda _: blocking, lambda _: awaited)))
        yield request.param


@pytest.mark.parametrize("streamed", [False, True])
def test_a_chain_goes_on_behind_tls_that_fails(face: Face, *, streamed: bool) -> None:
    """The sound target serves; the attempt at the other one says why, without a key."""
    model = face.model("bad/m,good/m", retries=0)
    response = face.finish(model.stream("Hi")) if streamed else face.generate(model, "Hi")
    assert response.text == "Hello"
    assert [(attempt.model, attempt.outcome) for attempt in response.attempts] == [
        ("bad/m", "failed"),
        ("good/m", "served"),
    ]
    why = response.attempts[0].error or ""
    assert why.startswith("APIConnectionError")
    assert KEY not in why


@pytest.mark.parametrize("streamed", [False, True])
def test_alone_it_is_an_error_of_the_connection(face: Face, providers: dict[str, str], *, streamed: bool) -> None:
    """What the caller has to change is not tried again."""
    model = face.model("bad/m", retries=1)
    with pytest.raises(il.APIConnectionError) as caught:
        face.finish(model.stream("Hi")) if streamed else face.generate(model, "Hi")
    is_lasting = providers["FAULT"] in (*CERTIFICATES, "no TLS")
    assert len(caught.value.attempts) == (1 if is_lasting else 2)
    assert caught.value.retryable is not is_lasting
    assert KEY not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("providers", ["cut body"], indirect=True)
def test_a_stream_that_is_cut_is_incomplete_and_one_with_its_end_is_whole(
    face: Face, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends a stream of Chat is `[DONE]`: with it nobody waits for the end of TLS, without it there is no reply."""
    for pieces, is_whole in ((chunks("Hel", "lo"), True), (chunks("Hel", done=False), False)):
        with serving(Answer((EVENTS, *pieces), close=True), context=authority.context()) as server:
            monkeypatch.setenv("LLM_BAD", f"openai://{KEY}@localhost:{server.port}/v1")
            stream = face.model("bad/m,good/m").stream("Hi")
            if is_whole:
                assert face.finish(stream).text == "Hello"
                continue
            with pytest.raises(il.IncompleteStreamError) as caught:
                face.finish(stream)
            assert caught.value.partial is not None
            assert caught.value.partial.text == "Hel"


def test_a_gateway_goes_on_and_says_what_failed(providers: dict[str, str], authority: Authority) -> None:
    """As a process: chains serve, whole and streamed; alone it is a 502 in the client's words, without a key."""
    environ = {name: text for name, text in providers.items() if name != "FAULT"}
    flags = ("-m", "bad/m", "--log", "json", "--log-content")
    with _serving(*flags, SSL_CERT_FILE=authority.file, **environ) as served:
        for streamed in (False, True):
            body: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "stream": streamed}
            answer = served.ask({"model": "bad/m,good/m", **body})
            assert (answer.status, answer.getheader("x-interlingua-target")) == (200, "good/m")
            assert "bad/m" in (answer.getheader("x-interlingua-skipped") or "")
            whole = answer.read().decode()
            assert whole.endswith("data: [DONE]\n\n") if streamed else "Hello" in whole
            failed = served.ask({"model": "bad/m", **body})
            told = failed.read().decode()
            assert failed.status == 502, told
            assert json.loads(told)["error"]["message"]
            assert KEY not in told
        served.process.terminate()
        assert served.process.stderr is not None
        assert KEY not in served.process.stderr.read()


def test_a_reply_that_breaks_is_none(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON that could be whole, cut where only its end is missing, is asked for again."""
    counted: list[Seen] = []

    def script(seen: Seen) -> Answer:
        counted.append(seen)
        return _cut(seen) if len(counted) == 1 else Answer((reply(chat("Again").body),))

    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)
    options = HttpOptions(ca_file=authority.file)
    with closing(HttpTransport(options)) as own, serving(script, context=authority.context()) as server:
        monkeypatch.setenv("LLM_BAD", f"openai://{KEY}@localhost:{server.port}/v1")
        with overriding(Override(lambda _: own, lambda _: AsyncHttpTransport(options))):
            response = il.model("bad/m", retries=1).generate("Hi")
    assert response.text == "Again"
    assert [attempt.outcome for attempt in response.attempts] == ["failed", "served"]
