"""Every route with every method: nothing is answered to who may not ask but what says that it is open."""

from __future__ import annotations

import hmac
import re
from contextlib import aclosing
from typing import Any

import pytest

from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_dialect, services
from interlingua.errors import AuthenticationError
from interlingua.gateway.core import DEFAULT_DIALECT, Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys import keyring
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.routes import ROUTES, find_route
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Upstream
from interlingua.wire.http import Headers
from interlingua.wire.json import encode
from tests.support.gateway import gateway

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get")
KEY, LIMITED = "a-key-for-everything", "a-key-for-one-model"
KEYS = (
    GatewayKey(name="name-of-the-first-key", hash=hash_key(KEY)),
    GatewayKey(name="name-of-the-second-key", hash=hash_key(LIMITED), models=("allowed",), team="name-of-a-team"),
)
SECRETS = (
    "name-of-the-first-key",
    "name-of-the-second-key",
    "name-of-a-team",
    "private-alias",
    "allowed",
    "inside.example",
    "planted-upstream-key",
    KEY,
    LIMITED,
)
OPEN = {
    ("HEAD", "/"),
    ("GET", "/"),
    ("GET", "/metrics"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/console/{name}"),
    ("GET", "/openapi.json"),
}
"""What says that it is answered without a key; a new entry here is a decision, not a repair."""
SAID = [{"role": "user", "content": "Hi"}]
BODY = {
    "model": "private-alias",
    "max_tokens": 9,
    "messages": SAID,
    "input": SAID,
    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
}
TOLD_HEADERS = {
    "content-type", "x-request-id", "request-id", "www-authenticate", "allow", "x-should-retry", "cache-control",
    "content-security-policy", "referrer-policy", "x-content-type-options", "x-frame-options",
    "cross-origin-opener-policy", "x-amzn-errortype",
    "cross-origin-resource-policy", "permissions-policy", "etag", "vary",
}  # fmt: skip


def path_of(pattern: str, model: str = "private-alias") -> str:
    """A path that fits a pattern."""
    named = re.sub(r"\{model(:path)?\}", model, pattern)
    inner = named.replace("{path:path}", "v1/chat/completions")
    return re.sub(r"\{\w+(:path)?\}", "something", inner)


PATHS = sorted({path_of(route.pattern) for route in ROUTES})


def made(**settings: Any) -> Gateway:
    """A gateway with keys, an alias and a provider, nothing of which is anybody's business."""
    environ = {"LLM_PRIVATE": "openai-compatible://planted-upstream-key@inside.example/v1"}
    aliases = {"private-alias": "private/some-model", "allowed": "private/some-model"}
    return gateway(environ, aliases, keys=KEYS, providers=("private",), **settings)


async def _asked(to: Gateway, method: str, path: str, headers: Headers = (), query: str = "") -> GatewayReply:
    body = encode(BODY) if method in ("POST", "PUT", "PATCH") else b""
    request = GatewayRequest(method=method, path=path, query=query, headers=headers, body=body, peer="203.0.113.9")
    return await to(request)


def _refused(path: str) -> int:
    """The status that the dialect of a path has for a key that is missing or wrong."""
    prefixes = [(prefix, name) for name, service in services().items() for prefix in service.prefixes]
    dialect = next((name for prefix, name in prefixes if path.startswith(prefix)), DEFAULT_DIALECT)
    return get_dialect(dialect).encode_error(AuthenticationError("no key"), ServerContext()).status


async def _said(reply: GatewayReply) -> bytes:
    """A whole body, or the first piece of one that has no end."""
    if isinstance(reply.body, bytes):
        return reply.body
    async with aclosing(reply.body) as pieces:
        async for piece in pieces:
            return piece
    return b""


def test_what_is_open_is_a_decision() -> None:
    """The table of routes and the list above agree."""
    assert {(route.method, route.pattern) for route in ROUTES if route.is_open} <= OPEN


@pytest.mark.parametrize(
    "brought",
    [
        (),
        (("authorization", "Bearer wrong"),),
        (("x-api-key", ""),),
        (("authorization", f"Basic {KEY}"),),
        (("x-api-key", hash_key(KEY)),),
        (("cookie", f"key={KEY}"),),
        (("x-api-key", f"{KEY} "[:-2]),),
        (("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1"), ("x-real-ip", "127.0.0.1")),
    ],
    ids=["none", "wrong", "empty", "another scheme", "the digest", "a cookie", "a part of it", "a forged address"],
)
async def test_every_route_and_method_without_the_key(brought: Headers) -> None:
    """Refused is all that is not open, known or not, and neither body nor headers tell what there is."""
    to = made()
    with Upstream("openai-chat").standing() as upstream:
        for path in [*PATHS, "/nothing", "/v1/../health/live", "/health/live/", "//health/live"]:
            for method in METHODS:
                reply = await _asked(to, method, path, brought)
                told = repr(reply.headers) + (await _said(reply)).decode()
                route = find_route(method, path)
                refused = _refused(path)
                if route is None or not route.is_open:
                    assert reply.status == refused, (method, path)
                    assert "www-authenticate" not in told  # a browser would ask its user
                assert reply.status in (200, refused, 404), (method, path)
                assert not [secret for secret in SECRETS if secret in told], (method, path, told)
                assert {name for name, _ in reply.headers} <= TOLD_HEADERS, (method, path, reply.headers)
    assert upstream.requests == []


async def test_an_unknown_path_is_told_apart_by_its_dialect_alone() -> None:
    """Without a key nobody learns which routes there are: the same refusal, whatever is asked."""
    to = made()
    told = {await _said(await _asked(to, "POST", path)) for path in ("/v1/embeddings", "/v1/nothing", "/nothing")}
    assert len(told) == 1


async def test_every_route_with_a_key_that_may_not_use_the_model() -> None:
    """Nothing that names a model reaches one that the key may not use, and no list shows it."""
    to = made()
    with Upstream("openai-chat").standing() as upstream:
        for path in PATHS:
            for method in METHODS:
                reply = await _asked(to, method, path, (("x-api-key", LIMITED),))
                told = repr(reply.headers) + (await _said(reply)).decode()
                assert reply.status < 500 or reply.status == 501, (method, path, told)
                if reply.status < 400 and not path.startswith(("/health", "/console")):
                    assert "private-alias" not in told, (method, path, told)
                assert "planted-upstream-key" not in told
                assert not [secret for secret in (KEY, LIMITED) if secret in told], (method, path)
    assert upstream.requests == []


@pytest.mark.parametrize("access", ["off", "keys", "open"])
async def test_metrics_are_told_to_whom_the_settings_say(access: Any) -> None:
    """Off and with keys nobody without one learns anything."""
    to = made(observing=Observing(metrics=access))
    reply = await _asked(to, "GET", "/metrics")
    assert reply.status == {"off": 404, "keys": 401, "open": 200}[access]
    assert (await _asked(to, "GET", "/metrics", (("x-api-key", KEY),))).status == {"off": 404}.get(access, 200)


async def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known or not, one comparison of digests of one length is made, by the function that takes its time."""
    compared: list[tuple[int, int]] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append((len(left), len(right)))
        return left == right

    monkeypatch.setattr(keyring.hmac, "compare_digest", compare)
    to = made()
    for given in (KEY, "wrong", KEY.upper(), "x" * 10_000):
        compared.clear()
        to.screen(GatewayRequest(path="/v1/models", headers=(("x-api-key", given),), peer="203.0.113.9"))
        assert compared == [(71, 71)], given
    assert hmac.compare_digest is compare


async def test_a_litellm_lesson_no_sql_on_the_way_of_a_key() -> None:
    """A key is looked up by its digest in memory: whatever is written in it is no part of any statement."""
    to = made()
    for given in ("' OR '1'='1", "1; DROP TABLE keys; --", "%' UNION SELECT hash FROM keys --", "\x00", "{{7*7}}"):
        reply = await _asked(to, "GET", "/v1/models", (("x-api-key", given),))
        assert reply.status == 401
        assert given not in (await _said(reply)).decode()


def test_a_litellm_lesson_nothing_is_run_or_rendered_for_a_client() -> None:
    """No route tests, runs, evaluates or renders what a client sends."""
    words = re.compile(r"test|exec|eval|shell|/run|template|plugin|config|reload|install|spawn|mcp", re.IGNORECASE)
    assert [route.pattern for route in ROUTES if words.search(route.pattern)] == []
