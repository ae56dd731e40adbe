"""A transport of the caller's own: clients of httpx, objects of the seam, HTTP options; keys and retries stay ours."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest

import interlingua as il
import interlingua.aio
from interlingua.testing import use
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.server import Answer, Hold, chunked, reply, serving
from tests.support.socks import socks_proxy
from tests.support.tls import Authority

CHAT: dict[str, Any] = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "big",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Oslo."}, "finish_reason": "stop"}],
}  # fmt: skip
OK = Answer((reply(json.dumps(CHAT).encode(), headers="content-type: application/json\r\n"),))
_CHUNK = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"big","choices":[{"index":0,'
FRAMES = (
    _CHUNK + b'"delta":{"role":"assistant","content":"Os"},"finish_reason":null}]}\n\n',
    _CHUNK + b'"delta":{"content":"lo."},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
STREAM = Answer(
    (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        chunked(*FRAMES),
    )
)
BUSY = Answer((reply(b"{}", status="503 Service Unavailable"),))


def lab(port: int, host: str = "127.0.0.1", *, tls: bool = False) -> il.Registry:
    """A registry in which `lab` is a server on loopback, with a key."""
    return il.Registry({"LLM_LAB": f"openai://key-1@{host}:{port}/v1{'' if tls else '?tls=0'}"})


# Clients of httpx


def test_r55_an_httpx_client_carries_whole_answers_and_streams() -> None:
    """The key is ours, plain headers of the client go along, and the client stays open."""
    with serving([OK, STREAM]) as server, httpx.Client(headers={"x-team": "a"}, trust_env=False) as client:
        model = il.model("lab/big", registry=lab(server.port), transport=client)
        assert model.generate("Capital of Norway?").text == "Oslo."
        with model.stream("And again?") as stream:
            assert list(stream.text_stream) == ["Os", "lo."]
        assert not client.is_closed
        first = server.seen[0]
        assert [first.header(name) for name in ("authorization", "x-team", "user-agent")] == [
            "Bearer key-1", "a", "interlingua",
        ]  # fmt: skip


def test_r55_an_awaited_httpx_client_carries_whole_answers_and_streams() -> None:
    """The awaited twin takes the awaited client."""

    async def ask(port: int) -> tuple[str, list[str]]:
        async with httpx.AsyncClient(trust_env=False) as client:
            model = interlingua.aio.model("lab/big", registry=lab(port), transport=client)
            whole = await model.generate("Capital of Norway?")
            async with model.stream("And again?") as stream:
                return whole.text, [text async for text in stream.text_stream]

    with serving([OK, STREAM]) as server:
        assert asyncio.run(ask(server.port)) == ("Oslo.", ["Os", "lo."])


def test_r55_a_blocking_client_serves_awaited_calls_from_threads() -> None:
    """An `httpx.Client` is good for both faces."""

    async def ask(port: int, client: httpx.Client) -> list[str]:
        model = interlingua.aio.model("lab/big", registry=lab(port), transport=client)
        async with model.stream("And again?") as stream:
            return [text async for text in stream.text_stream]

    with serving([STREAM]) as server, httpx.Client(trust_env=False) as client:
        assert asyncio.run(ask(server.port, client)) == ["Os", "lo."]


def test_r55_an_awaited_client_is_refused_where_calls_block() -> None:
    """The error names both ways out."""
    client = httpx.AsyncClient()
    model = il.model("lab/big", registry=lab(1), transport=client)
    with pytest.raises(il.UsageError, match=r"can only be awaited: call the model of interlingua\.aio, or hand in"):
        model.generate("Hi")
    asyncio.run(client.aclose())


def test_r55_requests_go_through_a_socks_proxy() -> None:
    """The client's proxy is used, which our own transport does not speak."""
    with serving([OK]) as server, socks_proxy() as proxy, httpx.Client(proxy=proxy.url) as client:
        model = il.model("lab/big", registry=lab(server.port), transport=client)
        assert model.generate("Capital of Norway?").text == "Oslo."
        assert proxy.targets == [("127.0.0.1", server.port)]


def test_r55_retries_and_health_stay_ours() -> None:
    """A 503 through the client is asked again, and sent as an attempt."""
    with serving([BUSY, OK]) as server, httpx.Client(trust_env=False) as client:
        answer = il.model("lab/big", registry=lab(server.port), transport=client).generate("Hi")
        assert [(attempt.outcome, attempt.status) for attempt in answer.attempts] == [("failed", 503), ("served", None)]


def test_a_redirect_elsewhere_is_not_followed_by_the_client() -> None:
    """A client that follows redirects does not carry the key to another host."""
    away = Answer((reply(b"", status="307 Temporary Redirect", headers="location: http://127.0.0.2:9/v1\r\n"),))
    with serving([away]) as server, httpx.Client(follow_redirects=True, trust_env=False) as client:
        model = il.model("lab/big", registry=lab(server.port), transport=client, retries=0)
        with pytest.raises(
            il.Error, match=r"answered with a redirect to http://127\.0\.0\.2:9/v1, and keys are sent to no other"
        ):
            model.generate("Hi")
        assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("options", "names"),
    [({"auth": ("user", "password")}, r"\(auth\)"), ({"headers": {"Authorization": "Bearer x"}}, r"\(authorization\)")],
)
def test_a_client_with_a_credential_of_its_own_is_refused(options: dict[str, Any], names: str) -> None:
    """It would send that to every host; the error shows no value."""
    with httpx.Client(**options) as client, pytest.raises(il.UsageError, match=names) as caught:
        il.model("lab/big", transport=client)
    assert "password" not in str(caught.value)


def test_a_client_that_is_closed_is_a_fault_of_the_caller() -> None:
    """Nobody is asked again."""
    client = httpx.Client()
    client.close()
    with pytest.raises(il.UsageError, match=r"the httpx client cannot send to 127\.0\.0\.1"):
        il.model("lab/big", registry=lab(9), transport=client).generate("Hi")


# Objects of the seam


class Recorder:
    """A blocking transport of somebody's own that answers by itself."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def open(self, request: HttpRequest, timeouts: il.Timeouts) -> Body:
        """The reply to any request."""
        del timeouts
        self.urls.append(request.url)
        return Body(
            HttpReply(status=200, headers=(("content-type", "application/json"),), body=json.dumps(CHAT).encode())
        )

    def close(self) -> None:
        """Must not be called: it is the caller's."""
        raise AssertionError


class Body:
    """A whole reply."""

    def __init__(self, whole: HttpReply) -> None:
        self.status: int = whole.status
        self.headers: tuple[tuple[str, str], ...] = whole.headers
        self._body = whole.body

    def read(self) -> bytes:
        """The body, then nothing."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Nothing is open."""


class AwaitedRecorder:
    """Its awaited twin."""

    async def open(self, request: HttpRequest, timeouts: il.Timeouts) -> AwaitedBody:
        """The reply to any request."""
        return AwaitedBody(Recorder().open(request, timeouts))

    async def close(self) -> None:
        """Must not be called."""
        raise AssertionError


class AwaitedBody:
    """A whole reply, awaited."""

    def __init__(self, body: Body) -> None:
        self.status: int = body.status
        self.headers: tuple[tuple[str, str], ...] = body.headers
        self._body = body

    async def read(self) -> bytes:
        """The body, then nothing."""
        return self._body.read()

    async def close(self) -> None:
        """Nothing is open."""


class Broken:
    """A transport that fails as the system does."""

    def open(self, request: HttpRequest, timeouts: il.Timeouts) -> Body:
        """Never a reply."""
        raise ConnectionRefusedError

    def close(self) -> None:
        """Nothing is open."""


def test_r55_an_object_of_the_seam_carries_what_leaves_the_process() -> None:
    """Blocking and awaited; targets inside the process do not go through it, and a fake stands before it."""
    carried = Recorder()
    model = il.model("lab/big", registry=lab(9), transport=carried)
    assert model.generate("Hi").text == "Oslo."
    awaited = interlingua.aio.model("lab/big", registry=lab(9), transport=AwaitedRecorder())
    assert asyncio.run(awaited.generate("Hi")).text == "Oslo."
    assert "fake of interlingua" in il.model("fake/x", transport=carried).generate("Hi").text
    with use("From the fake."):
        assert model.generate("Hi").text == "From the fake."
    assert carried.urls == ["http://127.0.0.1:9/v1/chat/completions"]


def test_a_transport_that_fails_as_the_system_does_is_a_typed_error() -> None:
    """The error names the host, and the next target is asked."""
    model = il.model("lab/big,fake/x", registry=lab(9), transport=Broken(), retries=0)
    answer = model.generate("Hi")
    assert answer.attempts[0].error == (
        "APIConnectionError: cannot connect to 127.0.0.1:9: connection refused; is the server running?"
    )


@pytest.mark.parametrize("value", ["http://proxy", 7, Recorder, Path(), object()])
def test_what_is_no_transport_is_refused(value: Any) -> None:
    """At once, with what is taken."""
    with pytest.raises(il.UsageError, match=r"transport takes an httpx\.Client, an httpx\.AsyncClient, or an object"):
        il.model("lab/big", transport=value)


# HTTP options


def test_r55_http_options_say_whom_to_trust(tmp_path: Path) -> None:
    """`ca_file` trusts the server's authority, and `verify=False` anybody; the default trusts neither."""
    authority = Authority(tmp_path)
    context: ssl.SSLContext = authority.context("localhost")
    with serving([OK, OK, OK], context=context) as server:
        registry = lab(server.port, "localhost", tls=True)
        trusting = il.model("lab/big", registry=registry, http=il.HttpOptions(ca_file=authority.file))
        assert trusting.generate("Hi").text == "Oslo."
        assert il.model("lab/big", registry=registry, http=il.HttpOptions(verify=False)).generate("Hi").text == "Oslo."
        with pytest.raises(il.APIConnectionError, match="is not trusted"):
            il.model("lab/big", registry=registry, retries=0).generate("Hi")


def test_r55_equal_options_share_connections() -> None:
    """Two models with equal options keep one connection."""
    with serving([OK, OK]) as server:
        models = [
            il.model("lab/big", registry=lab(server.port), http=il.HttpOptions(max_connections=3)) for _ in range(2)
        ]
        for model in models:
            model.generate("Hi")
        assert server.connections == 1


def test_connections_end_with_the_last_model_that_has_their_options() -> None:
    """Nothing of them is left open then."""
    body = reply(json.dumps(CHAT).encode(), headers="content-type: application/json\r\n")
    with serving([Answer((body, Hold()))]) as server:
        model = il.model("lab/big", registry=lab(server.port), http=il.HttpOptions(max_connections=4))
        model.generate("Hi")
        del model
        gc.collect()
        assert server.hung_up.wait(60)


def test_r55_awaited_calls_have_options_too(tmp_path: Path) -> None:
    """The awaited twin makes its own transport of the same options."""
    authority = Authority(tmp_path)
    with serving([OK], context=authority.context("localhost")) as server:
        model = interlingua.aio.model(
            "lab/big", registry=lab(server.port, "localhost", tls=True), http=il.HttpOptions(ca_file=authority.file)
        )
        assert asyncio.run(model.generate("Hi")).text == "Oslo."


def test_options_that_exclude_each_other_are_refused() -> None:
    """A client brings options of its own; a later option replaces an earlier one, and None takes it back."""
    with pytest.raises(il.UsageError, match="transport and http exclude each other"):
        il.model("fake/x", transport=Recorder(), http=il.HttpOptions())
    with pytest.raises(il.UsageError, match=r"http takes il\.HttpOptions, not \{"):
        il.model("fake/x", http={"verify": False})  # pyright: ignore[reportArgumentType] - what is tested
    model = il.model("lab/big", registry=lab(9), http=il.HttpOptions()).with_options(transport=Recorder())
    assert model.generate("Hi").text == "Oslo."
    assert model.with_options(transport=None).settings.carrier is None


def test_a_model_with_a_transport_is_not_pickled() -> None:
    """Sockets stay in their process, and the error says so."""
    with pytest.raises(TypeError, match="its transport, its HTTP options and its clock stay here"):
        pickle.dumps(il.model("fake/x", http=il.HttpOptions()))


# A clock, a registry


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


def test_r55_health_goes_by_a_clock_of_ones_own() -> None:
    """A target that asked to be left alone for an hour is asked again when the clock says so; nobody waits."""
    clock, served = Clock(), Answer((reply(json.dumps(CHAT).encode()),))
    later = Answer((reply(b"{}", status="429 Too Many Requests", headers="retry-after: 3600\r\n"),))
    with serving([later, served]) as server:
        model = il.model("lab/big,fake/x", registry=lab(server.port), clock=clock, retries=0)
        assert [attempt.outcome for attempt in model.generate("Hi").attempts] == ["failed", "served"]
        assert [attempt.outcome for attempt in model.generate("Hi").attempts] == ["skipped", "served"]
        clock.now_s += 3_601
        assert [attempt.model for attempt in model.generate("Hi").attempts] == ["lab/big"]


def test_r55_durations_go_by_the_clock_too() -> None:
    """A clock that stands still measures nothing."""
    answer = il.model("fake/x", clock=Clock()).generate("Hi")
    assert [attempt.duration_s for attempt in answer.attempts] == [0.0]
    with pytest.raises(il.UsageError, match="clock takes a function that gives seconds, not 3"):
        il.model("fake/x", clock=3)  # pyright: ignore[reportArgumentType] - what is tested


def test_r55_a_registry_is_a_value() -> None:
    """What one registry knows another one does not, and neither does the process."""
    registry = il.Registry({})
    registry.register_alias("smart", "fake/x")
    assert il.model("smart", registry=registry).generate("Hi").model == "fake/x"
    assert il.model("smart", registry=registry).with_options(n=1).generate("Hi").model == "fake/x"
    with pytest.raises(il.UnknownModelError, match="no model or alias 'smart'"):
        il.model("smart").generate("Hi")
    with pytest.raises(il.UsageError, match=r"registry takes an il\.Registry, not a dict"):
        il.model("smart", registry={})  # pyright: ignore[reportArgumentType] - what is tested
