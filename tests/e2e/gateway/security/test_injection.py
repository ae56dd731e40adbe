"""What a client writes stays what it wrote: no header, frame, log line or metric is made of it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Upstream
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode
from tests.e2e.gateway.security.raw import BODY, chat, send
from tests.support.gateway import MODELS, asking, body_of, gateway, header_of, serving

EVIL = {
    "CR LF": "a\r\nset-cookie: stolen=1\r\n\r\n<script>",
    "LF": "a\n\ndata: {}\n\nevent: forged\n",
    "CR": "a\rb",
    "NUL": "a\0b",
    "NEL": "a\x85b",
    "a separator of lines": "a\u2028data: forged\u2029",
    "the other direction": "a\u202eb",
    "an escape of terminals": "a\x1b[2J\x1b]0;title\x07",
    "a quote": 'a"} 1\ninterlingua_forged_total{x="1',
    "beyond latin-1": "模型-🦊",
    "a tab": "a\tb",
}
evils = pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL.keys())
LINES = ("\r", "\n", "\0", "\x85", "\u2028", "\u2029", "\x1b", "\u202e")


def _head_of(reply: GatewayReply) -> str:
    """The headers as the server writes them: no name or value breaks out of its line."""
    told: list[Any] = []

    async def send(message: Any) -> None:
        told.append(message)

    async def receive() -> Any:
        if told:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": b""}

    async def answer(request: GatewayRequest) -> GatewayReply:
        assert request.path == "/"
        return reply

    made = gateway()
    made.answer = answer
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": ("127.0.0.1", 1)}
    asyncio.run(GatewayApp(made)(scope, receive, send))
    lines = [name + b": " + value for name, value in told[0]["headers"]]
    assert not [line for line in lines if any(byte < 0x20 or byte > 0x7E for byte in line)], lines
    return b"\n".join(lines).decode()


@evils
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", TONGUES)
def test_names_of_models_stay_in_their_place(dialect: str, stream: bool, evil: str) -> None:
    """As an alias's suffix, in every dialect, whole and streamed: refused, or shown as JSON shows it."""
    made = gateway(aliases={"any-*": MODELS["anthropic"]})
    with Upstream("anthropic").standing():
        reply = asyncio.run(_whole(made, asking(dialect, f"any-{evil}", stream=stream)))
    assert reply.status in (200, 400, 404)
    assert isinstance(reply.body, bytes)
    text = reply.body.decode(errors="replace")
    assert "\nset-cookie" not in text
    assert "\nevent: forged" not in text
    assert "\ndata: forged" not in text
    assert "set-cookie" not in {name for name, _ in reply.headers}
    _head_of(reply)


async def _whole(made: Gateway, request: GatewayRequest) -> GatewayReply:
    reply = await made(request)
    return GatewayReply(status=reply.status, headers=reply.headers, body=await body_of(reply))


@evils
@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/responses/compact", "/v1/chat/completions", "/explain"])
def test_names_of_targets_stay_in_their_place(path: str, evil: str) -> None:
    """Where a name goes to a provider as it is, and into a header from there."""
    body = {**BODY, "model": f"openai-chat/{evil}", "input": [{"role": "user", "content": "Hi"}]}
    request = GatewayRequest(path=path, headers=(("host", "localhost"),), body=encode(body), peer="127.0.0.1")
    with Upstream("openai-chat").standing() as upstream:
        reply = asyncio.run(_whole(gateway(), request))
    _head_of(reply)
    assert reply.status < 500
    for sent in upstream.requests:
        assert not [mark for mark in LINES if mark in sent.url]


@pytest.mark.parametrize("name", ["../../files", "..", "a/../../b", "./a", "a/..", "..\\a", "x,google/.."])
@pytest.mark.parametrize("dialect", ["google", "openai-chat"])
def test_names_of_models_do_not_climb(dialect: str, name: str) -> None:
    """A provider that has the model in its path is asked for nothing beside it with the operator's key."""
    with Upstream("google").standing() as upstream:
        reply = asyncio.run(gateway()(asking(dialect, f"google/{name}")))
    assert reply.status in (400, 404)
    assert upstream.requests == []


SPELLED = [
    rb'{"mod\u0065l":"cheap","metadata":{"model":"dear"},%s}',
    rb'{"mod\u0065l":"cheap","metadata":{"model":"cheap"},%s}',
    rb'{"model":"dear","mod\u0065l":"cheap",%s}',
    rb'{"model":"dear","model":"cheap",%s}',
    rb'{"model":"cheap","\u006dodel":"cheap",%s}',
]


@pytest.mark.parametrize("body", SPELLED)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
def test_a_key_reaches_no_model_by_spelling_the_member_twice(path: str, body: bytes) -> None:
    """A body that names the target twice is refused; of any other the name that was allowed alone is sent on."""
    keys = (GatewayKey(name="t", hash=hash_key("k"), models=("cheap",)),)
    made = gateway(aliases={"cheap": "openai-chat/small"}, keys=keys)
    request = asking("openai-chat", "cheap", headers={"x-api-key": "k"})
    text = body % b'"input":"x","messages":[{"role":"user","content":"x"}]'
    with Upstream("openai-chat").standing() as upstream:
        http = GatewayRequest(path=path, headers=request.headers, body=text, peer="127.0.0.1")
        reply = asyncio.run(_whole(made, http))
    if b'"metadata"' not in body:
        assert (reply.status, upstream.requests) == (400, [])
        assert isinstance(reply.body, bytes)
        assert b"/model: the member stands twice in one object" in reply.body
        return
    value: Any = decode_any(upstream.requests[-1].body)
    assert value["model"] == "small"
    assert value["metadata"] == decode_any(text)["metadata"]


@evils
def test_ids_of_requests_are_taken_only_when_they_are_harmless(evil: str) -> None:
    """Else there is a new one."""
    reply = asyncio.run(gateway()(asking("openai-chat", "fake/model", headers={"x-request-id": evil})))
    assert (header_of(reply, "x-request-id") or "").startswith("req_il")


HOSTILE_HEADERS: Headers = tuple(
    (name, "http://127.0.0.1:9/inside")
    for name in (
        "x-api-base",
        "x-base-url",
        "x-original-url",
        "x-rewrite-url",
        "x-forwarded-host",
        "x-target",
        "forwarded",
    )
)
MEMBERS = (
    "api_base",
    "base_url",
    "api_url",
    "endpoint",
    "host",
    "proxy",
    "custom_llm_provider",
    "api_key",
    "extra_headers",
)


@pytest.mark.parametrize("same", [True, False], ids=["relayed", "translated"])
@pytest.mark.parametrize("dialect", [name for name in TONGUES if name != "unified"])
def test_sec_01_a_litellm_lesson_the_key_goes_to_its_configured_host(dialect: str, same: bool) -> None:
    """Whatever a body, a header or a query names: requests go to the configured host, with its key."""
    target = dialect if same else "anthropic" if dialect != "anthropic" else "openai-chat"
    members: dict[str, Any] = dict.fromkeys(MEMBERS, "http://169.254.169.254/latest")
    request = asking(dialect, MODELS[target], **members)
    asked = GatewayRequest(
        path=request.path,
        query=f"{request.query}&api_base=http://127.0.0.1:9&key=client".lstrip("&"),
        headers=(*request.headers, *HOSTILE_HEADERS),
        body=request.body,
        peer="127.0.0.1",
    )
    with Upstream(target).standing() as upstream:
        asyncio.run(_whole(gateway(), asked))
    for sent in upstream.requests:
        assert "127.0.0.1" not in sent.url
        assert "169.254" not in sent.url
        assert not {name for name, _ in sent.headers} & {name for name, _ in HOSTILE_HEADERS}


@pytest.mark.parametrize("same", [True, False], ids=["relayed", "translated"])
def test_an_upstreams_headers_are_not_the_clients(same: bool) -> None:
    """Cookies, policies and redirects of a provider stay where they are."""
    model = MODELS["openai-chat" if same else "anthropic"]
    with Upstream("openai-chat" if same else "anthropic").standing():
        reply = asyncio.run(gateway()(asking("openai-chat", model)))
    names = {name for name, _ in reply.headers}
    assert not names & {"set-cookie", "location", "server", "via", "strict-transport-security", "alt-svc"}


# Logs and metrics


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_log_line_is_one_line(form: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever stands in names, ids, paths and headers, a request is one line of printable ASCII."""
    with serving(observing=Observing(log=form, metrics="open")) as url:
        for evil in EVIL.values():
            send(url, chat({**BODY, "model": f"fake/{evil}"}))
            send(url, chat(path="/v1/models/%0d%0aforged%20line%1b[2J%e2%80%a8", method="GET"))
        counted = send(url, chat(b"", path="/metrics", method="GET")).body.decode()
    lines = [line for line in capfd.readouterr().err.split("\n") if "/v1/" in line]
    assert len(lines) == 2 * len(EVIL)
    assert all(line.isascii() and line.isprintable() for line in lines)
    if form == "json":
        assert {json.loads(line)["status"] for line in lines} <= {200, 400, 404}
    assert "forged" not in counted
    assert all(line.startswith(("#", "interlingua_", "process_")) for line in counted.splitlines() if line)


def test_what_cannot_be_read_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Garbage is worth a line without content, and no trace."""
    with caplog.at_level(logging.DEBUG), serving() as url:
        send(url, b"GARBAGE \x1b[31m secret-of-a-client\r\n\r\n")
    assert "secret-of-a-client" not in caplog.text
    assert "Traceback" not in caplog.text


# Host and Origin


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway without keys, that may be asked as `gate.example`, by pages of `app.example`."""
    with serving(hosts=("gate.example",), origins=("https://app.example",)) as at:
        yield at


HOSTS = {
    "localhost": 200,
    "localhost:8787": 200,
    "LOCALHOST.": 200,
    "127.0.0.1:1": 200,
    "[::1]:8787": 200,
    "gate.example": 200,
    "attacker.example": 403,
    "127.0.0.1.attacker.example": 403,
    "localhost.attacker.example": 403,
    "gate.example.attacker.example": 403,
    "attacker.example:8787": 403,
    "localhost@attacker.example": 403,
    "": 403,
    "127.0.0.1/..": 403,
    "2130706433": 403,
    "0x7f000001": 403,
}


@pytest.mark.parametrize("host", HOSTS)
def test_sec_06_a_name_that_was_pointed_here_is_refused(url: str, host: str) -> None:
    """DNS rebinding: a page of that name would ask as one of its own origin."""
    told = chat(method="GET", path="/v1/models").replace(b"host: localhost", f"host: {host}".encode())
    assert send(url, told).status == HOSTS[host]


ORIGINS = {
    "http://localhost": 200,
    "https://app.example": 200,
    "https://APP.example/": 200,
    "http://app.example": 403,
    "https://app.example.attacker.example": 403,
    "https://attacker.example": 403,
    "http://localhost:3000": 403,
    "http://localhost.attacker.example": 403,
    "null": 403,
    "file://": 403,
    "chrome-extension://abcdef": 403,
    "": 403,
}


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_sec_06_pages_of_others_are_refused_and_told_nothing(url: str, origin: str, method: str) -> None:
    """No answer has a header of CORS, and what is refused reaches no model."""
    path = "/v1/models" if method == "GET" else "/v1/chat/completions"
    answer = send(url, chat(None, f"origin: {origin}", method=method, path=path))
    assert answer.status == ORIGINS[origin]
    assert not [name for name, _ in answer.headers if name.startswith("access-control-")]


def test_sec_06_a_preflight_is_not_granted(url: str) -> None:
    """From anybody: a browser then sends nothing that needs leave."""
    for origin in ("https://attacker.example", "https://app.example"):
        wish = ("access-control-request-method: POST", "access-control-request-headers: content-type")
        answer = send(url, chat(b"", f"origin: {origin}", *wish, method="OPTIONS"))
        assert answer.status in (403, 405)
        assert not [name for name, _ in answer.headers if name.startswith("access-control-")]
