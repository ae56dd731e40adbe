"""The way to a URL, and what is sent on it."""

from __future__ import annotations

import pytest

from interlingua.errors import ConfigError
from interlingua.transport import routes
from interlingua.transport.routes import Routes
from interlingua.wire.http import HttpRequest

URL = "http://h.test/a"
HEADERS = (("x", "1"),)


def test_a_request_is_written_whole() -> None:
    """Head and body in one; with the same headers again, with others, another method, no body, a large one."""
    route = Routes({})[URL]
    head = b"POST /a HTTP/1.1\r\nhost: h.test\r\nx: %d\r\n"
    for body in (b"{}", b"", b"[1]"):
        assert route.written(HttpRequest(url=URL, headers=HEADERS, body=body)) == (
            head % 1 + b"content-length: %d\r\n\r\n%b" % (len(body), body),
            b"",
        )
    assert route.written(HttpRequest(url=URL, headers=(("x", "2"),)))[0] == head % 2 + b"content-length: 0\r\n\r\n"
    assert route.written(HttpRequest(method="GET", url=URL, headers=HEADERS))[0] == (
        b"GET /a HTTP/1.1\r\nhost: h.test\r\nx: 1\r\n\r\n"
    )
    large = bytes(262_145)
    assert route.written(HttpRequest(url=URL, headers=HEADERS, body=large)) == (
        head % 1 + b"content-length: 262145\r\n\r\n",
        large,
    )


def test_a_route_is_found_once_and_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same object for the same URL; what cannot be written is not remembered as written."""
    monkeypatch.setattr(routes, "_MAX_ROUTES_BYTES", 20_000)
    known = Routes({})
    first = known[URL]
    assert known["http://h.test/" + "a"] is first
    for path in "bcdefghijk":
        known[f"http://h.test/{path}"]
    assert known[URL] is not first
    assert known[URL].peer == "h.test:80"
    broken = HttpRequest(url=URL, headers=(("x", "a\r\nb: c"),))
    for _ in range(2):
        with pytest.raises(ConfigError, match="line break"):
            first.written(broken)


def test_a_proxy_of_plain_http_is_asked_for_the_whole_url() -> None:
    """With its credential; one of https is not in the head."""
    found = Routes({"http_proxy": "http://u:p@proxy.test:3128", "https_proxy": "http://u:p@proxy.test:3128"})
    plain, secure = found[URL], found["https://h.test/a"]
    assert plain.written(HttpRequest(url=URL))[0] == (
        b"POST http://h.test/a HTTP/1.1\r\nhost: h.test\r\nproxy-authorization: Basic dTpw\r\ncontent-length: 0\r\n\r\n"
    )
    assert secure.written(HttpRequest(url=URL))[0] == b"POST /a HTTP/1.1\r\nhost: h.test\r\ncontent-length: 0\r\n\r\n"
    assert plain.proxy is not None
    assert (plain.proxy.origin.peer, secure.proxy) == ("proxy.test:3128", plain.proxy)
