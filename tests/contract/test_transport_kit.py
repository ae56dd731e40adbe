"""What every transport over real sockets has to do: blocking and awaited, ours and the library's."""

from __future__ import annotations

import gc
import gzip
import os
import socket
import threading
import time
import zlib
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError, ConfigError, LimitExceededError
from interlingua.transport.options import MAX_READ_BYTES, HttpOptions
from interlingua.wire.http import HttpRequest, header
from tests.support.faces import FACES, OWN, Face, face, quick, whole
from tests.support.server import Answer, Hold, Pause, Reset, Server, chunked, reply, serving
from tests.support.trying import at_best
from tests.support.waiting import until

BODY = b'{"model":"m"}'
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.fixture(params=FACES)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a transport."""
    if request.param.startswith("library"):
        pytest.importorskip("httpx", reason="the [http] extra is not installed")
    return request.param


@pytest.fixture
def transport(kind: str) -> Generator[Face]:
    """A transport with the usual options."""
    with face(kind) as made:
        yield made


def ask(server: Server, path: str = "/v1/chat", **members: object) -> HttpRequest:
    """A request to the server."""
    return HttpRequest(**({"url": server.url(path), "body": BODY, "headers": (("x-api-key", "k"),)} | members))  # pyright: ignore[reportArgumentType] - members of a request


def test_request_arrives_as_it_was_given(transport: Face) -> None:
    """Method, path, headers and body arrive; `host` and `content-length` are added and nothing else."""
    with serving(Answer((reply(b"ok"),))) as server:
        got = whole(transport.open(ask(server, "/v1/chat?a=1&b=%20 ü"), quick()))
    assert (got.status, got.body) == (200, b"ok")
    seen = server.seen[0]
    assert seen.line == "POST /v1/chat?a=1&b=%20%20%C3%BC HTTP/1.1"
    lines = sorted(seen.head.lower().split(b"\r\n")[1:])
    assert lines == [b"content-length: 13", f"host: 127.0.0.1:{server.port}".encode(), b"x-api-key: k"]
    assert seen.body == BODY


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (reply(b"abc"), b"abc"),
        (CHUNKED_HEAD + chunked(b"ab", b"c"), b"abc"),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc", b"abc"),
        (b"HTTP/1.0 200 OK\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + reply(b"abc"), b"abc"),
    ],
    ids=["content-length", "chunked", "until-close", "http-1.0", "204", "after-103"],
)
def test_framings(transport: Face, wire: bytes, body: bytes) -> None:
    """Every framing of HTTP/1.1 gives the body, and nothing of the framing."""
    with serving(Answer((wire,), close=b"content-length" not in wire)) as server:
        assert whole(transport.open(ask(server), quick())).body == body


def test_head_has_no_body(transport: Face) -> None:
    """The reply to HEAD ends with its headers, whatever length they announce."""
    with serving(Answer((b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",))) as server:
        got = whole(transport.open(ask(server, method="HEAD", body=b""), quick()))
    assert (got.body, header(got.headers, "content-length")) == (b"", "5")


def test_connections_are_kept(transport: Face) -> None:
    """Replies read to their end leave their connection to the next request."""
    with serving(Answer((reply(b"ok"),))) as server:
        for _ in range(5):
            assert whole(transport.open(ask(server), quick())).body == b"ok"
    assert server.connections == 1


def test_connection_close_is_obeyed(transport: Face) -> None:
    """A connection that the server wants closed carries no second request."""
    with serving(Answer((reply(b"ok", headers="connection: close\r\n"),))) as server:
        for _ in range(2):
            whole(transport.open(ask(server), quick()))
    assert server.connections == 2


@pytest.mark.parametrize(
    ("coding", "wire"),
    [
        ("gzip", gzip.compress(b"hello" * 100)),
        ("x-gzip", gzip.compress(b"hello" * 50) + gzip.compress(b"hello" * 50)),
        ("deflate", zlib.compress(b"hello" * 100)),
        ("deflate", zlib.compress(b"hello" * 100, wbits=-15)),
    ],
    ids=["gzip", "gzip-members", "zlib", "raw-deflate"],
)
def test_use_19_headers_describe_the_inflated_body(transport: Face, coding: str, wire: bytes) -> None:
    """A compressed body is inflated, and the headers that described the compressed one are gone."""
    with serving(Answer((reply(wire, headers=f"content-encoding: {coding}\r\nx-kept: 1\r\n"),))) as server:
        got = whole(transport.open(ask(server), quick()))
    assert got.body == b"hello" * 100
    assert got.headers == (("x-kept", "1"),)


def test_sec_07_a_bomb_is_stopped_while_inflating(kind: str) -> None:
    """A small body that inflates beyond the bound is an error, and no single read is large."""
    bomb = gzip.compress(bytes(20_000_000))
    options = HttpOptions(max_body_bytes=1_000_000)
    answer = Answer((reply(bomb, headers="content-encoding: gzip\r\n"),))
    with face(kind, options) as transport, serving(answer) as server:
        opened = transport.open(ask(server), quick())
        assert [len(opened.read()) for _ in range(3)] == [MAX_READ_BYTES] * 3
        with pytest.raises(LimitExceededError, match="beyond 1000000 bytes"):
            opened.read()
        opened.close()


def test_announced_and_real_lengths_are_bounded(kind: str) -> None:
    """A body beyond the bound is refused when announced and when it comes unannounced; at the bound it passes."""
    with face(kind, HttpOptions(max_body_bytes=1_000)) as transport:
        with serving(Answer((reply(bytes(1_001)),))) as server, pytest.raises(LimitExceededError):
            transport.open(ask(server), quick())
        big = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        with serving(Answer((big + chunked(bytes(600), bytes(401)),))) as server, pytest.raises(LimitExceededError):
            whole(transport.open(ask(server), quick()))
        with serving(Answer((big + chunked(bytes(600), bytes(400)),))) as server:
            assert len(whole(transport.open(ask(server), quick())).body) == 1_000


def test_streams_have_no_bound_in_total(kind: str) -> None:
    """An event stream may be longer than the bound of a whole body."""
    answer = Answer((CHUNKED_HEAD + chunked(*[bytes(600)] * 10),))
    with face(kind, HttpOptions(max_body_bytes=1_000)) as transport, serving(answer) as server:
        assert len(whole(transport.open(ask(server), quick())).body) == 6_000


def test_refused_connection_says_so(transport: Face) -> None:
    """Nobody listening is one sentence that names the place and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(APIConnectionError) as caught:
        transport.open(HttpRequest(url=f"http://127.0.0.1:{port}/v1?key=sk-secret-1234567890"), quick())
    assert str(caught.value) == f"cannot connect to 127.0.0.1:{port}: connection refused; is the server running?"
    assert caught.value.retryable


@pytest.mark.parametrize(
    "wire",
    [b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", CHUNKED_HEAD + chunked(b"abc", end=False)],
    ids=["content-length", "chunked"],
)
@pytest.mark.parametrize("ending", [(), (Pause(0.05), Reset())], ids=["eof", "reset"])
def test_a_body_cut_short_is_an_error_after_what_came(
    transport: Face, wire: bytes, ending: tuple[Pause | Reset, ...]
) -> None:
    """What came before the cut is read; then the cut is an APIConnectionError, never a clean end."""
    with serving(Answer((wire, *ending), close=True)) as server:
        opened = transport.open(ask(server), quick())
        assert opened.read() == b"abc"
        with pytest.raises(APIConnectionError):
            opened.read()
        opened.close()


@pytest.mark.parametrize("steps", [(), (Reset(),), (b"HTTP/1.1 200",), (b"nonsense\r\n\r\n",)])
def test_no_answer_is_an_error(transport: Face, steps: tuple[bytes | Reset, ...]) -> None:
    """A connection closed without a head, or with something that is not HTTP, is an APIConnectionError."""
    with serving(Answer(steps, close=True)) as server, pytest.raises(APIConnectionError) as caught:
        transport.open(ask(server), quick())
    assert f"127.0.0.1:{server.port}" in str(caught.value)


def test_first_byte_timeout(transport: Face) -> None:
    """A server that does not begin to answer in time is an APITimeoutError of that phase, and its socket is closed."""
    with serving(Answer((Hold(),))) as server:
        with pytest.raises(APITimeoutError) as caught:
            transport.open(ask(server), quick(first_byte_s=0.1, idle_s=0.1))
        assert caught.value.phase == "first_byte"
        assert server.hung_up.wait(60)


def test_sse_23_a_silent_stream_times_out(transport: Face) -> None:
    """Silence between two pieces has its own deadline, and the socket is closed."""
    with serving(Answer((CHUNKED_HEAD + chunked(b"data: 1\n\n", end=False), Hold()))) as server:
        opened = transport.open(ask(server), quick(idle_s=0.1))
        assert opened.read() == b"data: 1\n\n"
        with pytest.raises(APITimeoutError) as caught:
            opened.read()
        assert caught.value.phase == "idle"
        assert server.hung_up.wait(60)


def test_total_timeout_bounds_a_drip(transport: Face) -> None:
    """A stream that never falls silent for long ends at the deadline of the whole."""
    drip = [step for _ in range(10_000) for step in (chunked(b"x", end=False), Pause(0.03))]  # five minutes
    with serving(Answer((CHUNKED_HEAD, *drip))) as server:
        with pytest.raises(APITimeoutError) as caught:
            whole(transport.open(ask(server), quick(total_s=0.2)))
        assert caught.value.phase == "total"


@pytest.mark.parametrize("compressed", [False, True])
def test_sse_24_pieces_are_not_held_back(transport: Face, compressed: bool) -> None:
    """Each piece can be read before the next one is sent, also from a compressed stream that is flushed."""
    packer = zlib.compressobj(wbits=31)
    head = CHUNKED_HEAD[:-2] + (b"content-encoding: gzip\r\n\r\n" if compressed else b"\r\n")

    def pack(text: bytes) -> bytes:
        return chunked(packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH) if compressed else text, end=False)

    steps = [head, pack(b"data: 1\n\n"), Hold()]
    with serving(Answer(tuple(steps))) as server:
        opened = transport.open(ask(server), quick())
        assert opened.read() == b"data: 1\n\n"
        opened.close()


def test_rtr_08_closing_an_unfinished_reply_closes_the_socket(transport: Face) -> None:
    """Before the first byte of the body and in mid-stream, closing the reply hangs up at once."""
    for head in (CHUNKED_HEAD, CHUNKED_HEAD + chunked(b"data: 1\n\n", end=False)):
        with serving(Answer((head, Hold()))) as server:
            opened = transport.open(ask(server), quick())
            if head is not CHUNKED_HEAD:
                assert opened.read() == b"data: 1\n\n"
            opened.close()
            opened.close()
            assert server.hung_up.wait(60)
            with pytest.raises(APIConnectionError):
                opened.read()


def test_sse_09_sse_16_a_stream_left_open_after_its_end_can_be_closed(transport: Face) -> None:
    """When the stream has said its last word and the socket stays open, closing does not wait."""

    def closing_s() -> float:
        with serving(Answer((CHUNKED_HEAD + chunked(b"data: [DONE]\n\n", end=False), Hold()))) as server:
            opened = transport.open(ask(server), quick())
            assert opened.read() == b"data: [DONE]\n\n"
            began = time.monotonic()
            opened.close()
            took_s = time.monotonic() - began
            assert server.hung_up.wait(60)
        return took_s

    assert at_best(lambda: closing_s() < 0.5)


@pytest.mark.parametrize("status", [307, 308])
def test_redirects_within_the_origin_are_followed(transport: Face, status: int) -> None:
    """A 307 or 308 to another path keeps method, body and credential."""
    answers = [
        Answer((reply(status=f"{status} Moved", headers="location: /v2/chat\r\n"),)),
        Answer((reply(b"here"),)),
    ]
    with serving(answers) as server:
        assert whole(transport.open(ask(server), quick())).body == b"here"
    assert server.seen[1].line == "POST /v2/chat HTTP/1.1"
    assert (server.seen[1].header("x-api-key"), server.seen[1].body) == ("k", BODY)


def test_redirects_end_after_three(transport: Face) -> None:
    """A redirect loop ends with the redirect itself."""
    with serving(Answer((reply(status="307 Moved", headers="location: /again\r\n"),))) as server:
        assert transport.open(ask(server), quick()).status == 307
    assert len(server.seen) == 4


@pytest.mark.parametrize("status", ["307 Moved", "302 Found"])
def test_redirects_never_carry_a_credential_elsewhere(transport: Face, status: str) -> None:
    """A redirect to another origin is given back as it is, and the other origin is not contacted."""
    with serving(Answer((reply(b"stolen"),))) as thief:
        there = reply(status=status, headers=f"location: http://localhost:{thief.port}/\r\n")
        with serving(Answer((there,))) as server:
            got = whole(transport.open(ask(server), quick()))
    assert got.status == int(status[:3])
    assert header(got.headers, "location") == f"http://localhost:{thief.port}/"
    assert thief.connections == 0


@pytest.mark.parametrize(
    "headers",
    [
        (("x-a", "1\r\nx-b: 2"),),
        (("x-a", "1\n"),),
        (("x-a", "\0"),),
        (("x a", "1"),),
        (("x\r\n", "1"),),
        (("content-length", "0"),),
        (("x-a", "✓"),),
    ],
)
def test_headers_that_break_the_head_are_refused(transport: Face, headers: tuple[tuple[str, str], ...]) -> None:
    """A line break, a NUL, a bad name, a framing header or a sign beyond latin-1 is a ConfigError; nothing is sent."""
    with serving(Answer((reply(),))) as server:
        with pytest.raises(ConfigError):
            transport.open(ask(server, headers=headers), quick())
        assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "/path",
        "http://user:pw@127.0.0.1/",
        "http://127.0.0.1/\r\nx",
        "http:///x",
        "http://h:99999/",
    ],
)
def test_urls_that_cannot_be_asked_are_refused(transport: Face, url: str) -> None:
    """Anything but a plain absolute http or https URL is a ConfigError that does not repeat a credential."""
    with pytest.raises(ConfigError) as caught:
        transport.open(HttpRequest(url=url), quick())
    assert "pw" not in str(caught.value)


def test_large_bodies_go_both_ways(transport: Face) -> None:
    """Megabytes up and down arrive whole."""
    body = os.urandom(3_000_000)
    with serving(lambda seen: Answer((reply(seen.body),))) as server:
        assert whole(transport.open(ask(server, body=body), quick())).body == body


DESCRIPTORS = Path("/proc/self/fd")


def held() -> tuple[int, int]:
    """Open descriptors and threads of this process."""
    return len(list(DESCRIPTORS.iterdir())), threading.active_count()


STORM: list[Answer] = [
    Answer((Reset(),)),
    Answer((b"HTTP/1.1 200",), close=True),
    Answer((CHUNKED_HEAD + chunked(b"abc", end=False),), close=True),
    Answer((CHUNKED_HEAD + b"zz\r\n",)),
    Answer((reply(b"x", headers="content-encoding: gzip\r\n"),)),
    Answer((reply(b"{}", status="429 Too Many"),)),
    Answer((CHUNKED_HEAD + chunked(b"abc", end=False), Hold())),
    Answer((reply(b"ok") + b"trailing",)),
]


def suffer(transport: Face, server: Server, place: int) -> None:
    """One request of the storm: read once, twice or not at all, always closed."""
    kind_of_fault = place % len(STORM)
    with suppress(APIConnectionError):
        opened = transport.open(ask(server, f"/{kind_of_fault}"), quick())
        try:
            for _ in range(1 if kind_of_fault == 6 else place % 3):
                opened.read()
        finally:
            opened.close()


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="counts descriptors by /proc")
def test_rtr_09_nothing_leaks_in_a_storm_of_faults(kind: str) -> None:
    """After hundreds of faults of every kind no descriptor, thread or task is left, and the pool still serves."""
    options = HttpOptions(max_connections=4)
    with face(kind, options) as transport, serving(lambda seen: STORM[int(seen.line[6])]) as server:
        for place in range(24):
            suffer(transport, server, place)
        time.sleep(0.1)
        before = held()
        for place in range(401 if kind in OWN else 97):
            suffer(transport, server, place)
        gc.collect()
        assert until(lambda: all(now <= then + 3 for now, then in zip(held(), before, strict=True))), (before, held())
        assert transport.tasks() == 0
        assert whole(transport.open(ask(server, "/5"), quick())).status == 429
