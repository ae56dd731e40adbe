"""TLS that fails: certificates that are none for us, handshakes and bodies that end anywhere, bits that turn over."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError, Error
from interlingua.transport.options import HttpOptions
from interlingua.wire.http import HttpRequest
from tests.support.faces import OWN, face, quick, whole
from tests.support.server import Answer, Farewell, Tunnel, chunked, reply, serving
from tests.support.tls import Authority, Relay, relay

SECRET = "sk-test-0123456789"
BODY = b'{"text": "' + b"word " * 40 + b'"}'
UNFRAMED = (b"HTTP/1.1 200 OK\r\n\r\n", BODY)
"""A reply without a length: the end of the connection is its end."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One authority for the tests of this file."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=(*OWN, "uvloop"))
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a transport."""
    return request.param


def ask(port: int, host: str = "localhost") -> HttpRequest:
    """A small request with a credential."""
    return HttpRequest(url=f"https://{host}:{port}/v1?key={SECRET}", headers=(("authorization", SECRET),), body=b"{}")


def refused(kind: str, options: HttpOptions, port: int, host: str = "localhost") -> APIConnectionError:
    """The error of one request, which tells no secret."""
    with face(kind, options) as transport, pytest.raises(APIConnectionError) as caught:
        whole(transport.open(ask(port, host), quick()))
    assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"
    return caught.value


@contextmanager
def serving_raw(said: bytes) -> Generator[int]:
    """The port of a server that answers whatever comes first with these bytes, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                link, _ = listener.accept()
                with link:
                    link.recv(65_536)
                    link.sendall(said)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)


CERTIFICATES: dict[str, tuple[Callable[[Authority], ssl.SSLContext], str]] = {
    "expired": (lambda made: made.context(days=(-30, -1)), "certificate has expired"),
    "of tomorrow": (lambda made: made.context(days=(1, 30)), "certificate is not yet valid"),
    "of another host": (lambda made: made.context("other.test"), "Hostname mismatch"),
    "self-signed": (lambda made: made.self_signed(), "self-signed certificate"),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_that_is_none_for_this_host(kind: str, authority: Authority, name: str) -> None:
    """The error names the host and the reason, cannot be retried, and the request never left."""
    make, why = CERTIFICATES[name]
    with serving(Answer((reply(b"ok"),)), context=make(authority)) as server:
        error = refused(kind, HttpOptions(ca_file=authority.file), server.port)
    assert str(error).startswith(f"the certificate of localhost:{server.port} is not trusted ({why}")
    assert (error.retryable, error.reached, server.seen) == (False, False, [])


ALERTS = {
    40: "handshake failure",
    42: "bad certificate",
    70: "protocol version",
    80: "internal error",
    112: "unrecognized name",
}


@pytest.mark.parametrize("code", ALERTS)
def test_an_alert_in_the_place_of_a_handshake(kind: str, code: int) -> None:
    """A server that speaks no version or cipher of ours says so in an alert: the error repeats which."""
    with serving_raw(bytes([21, 3, 3, 0, 2, 2, code])) as port:
        error = refused(kind, HttpOptions(), port)
    told = str(error).lower().replace("_", " ")
    assert told.startswith(f"tls with localhost:{port} failed:")
    assert ALERTS[code] in told


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail\r\n", b"\x00" * 64, b"\x16\x03\x03"])
def test_what_is_no_tls(kind: str, said: bytes) -> None:
    """Bytes that are no record of TLS, or only the beginning of one, are a connection that failed."""
    with serving_raw(said) as port:
        error = refused(kind, HttpOptions(), port)
    assert f"localhost:{port}" in str(error)
    assert error.reached is False


def test_a_server_that_wants_a_certificate_of_ours(kind: str, authority: Authority) -> None:
    """In TLS 1.3 its alert comes when the handshake is over on our side: with the answer to the request."""
    context = authority.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    with serving(Answer((reply(b"ok"),)), context=context) as server:
        error = refused(kind, HttpOptions(ca_file=authority.file), server.port)
    assert f"localhost:{server.port}" in str(error)
    assert server.seen == []


@contextmanager
def _relayed(authority: Authority, answer: Answer) -> Generator[tuple[Relay, HttpOptions]]:
    with serving(answer, context=authority.context()) as server, relay(server.port) as between:
        yield between, HttpOptions(ca_file=authority.file)


def _outcome(kind: str, options: HttpOptions, between: Relay) -> bytes | Error:
    """The whole body of one request, or its error."""
    with face(kind, options) as transport:
        try:
            return whole(transport.open(ask(between.port), quick())).body
        except Error as error:
            return error


ANSWERS = {
    "length": Answer((reply(BODY), Farewell()), close=True),
    "chunks": Answer((b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunked(BODY[:50], BODY[50:]))),
    "end": Answer((*UNFRAMED, Farewell()), close=True),
}


@pytest.mark.parametrize("framing", ANSWERS)
@pytest.mark.parametrize("resets", [False, True])
def test_a_connection_that_is_cut_anywhere(kind: str, authority: Authority, framing: str, *, resets: bool) -> None:
    """From the first byte of the handshake to the last of the body: an error or the whole body, never a part of it."""
    with _relayed(authority, ANSWERS[framing]) as (between, options):
        assert _outcome(kind, options, between) == BODY
        size = between.count
        between.resets = resets
        for place in [*range(0, size, size // 23), size - 30, size - 24, size - 1]:
            between.cut_at = place
            outcome = _outcome(kind, options, between)
            if outcome != BODY:
                assert type(outcome) is APIConnectionError, (place, outcome)
                assert outcome.retryable, (place, outcome)
                assert SECRET not in f"{outcome} {outcome!r} {outcome.__cause__!r}"
            else:
                assert place >= size - 60, "what ends the body had come, and only the farewell was missing"


def test_a_bit_that_turns_over(kind: str, authority: Authority) -> None:
    """Anywhere on the way: an error, or the body as it was said."""
    with _relayed(authority, ANSWERS["length"]) as (between, options):
        assert _outcome(kind, options, between) == BODY
        size = between.count
        for place in range(0, size, size // 29):
            between.flip_at = place
            between.cut_at = size  # a record that claims to be longer would wait for the rest
            outcome = _outcome(kind, options, between)
            assert outcome == BODY or type(outcome) is APIConnectionError, (place, outcome)


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_body_without_a_length_ends_with_tls_or_is_cut_off(
    kind: str, authority: Authority, *, is_whole: bool
) -> None:
    """Whoever sits in between can end a connection, but not TLS: without its end nothing says the body is whole."""
    answer = Answer((*UNFRAMED, *([Farewell()] if is_whole else [])), close=True)
    with serving(answer, context=authority.context()) as server, face(kind, HttpOptions(ca_file=authority.file)) as own:
        opened = own.open(ask(server.port), quick())
        if is_whole:
            assert whole(opened).body == BODY
            return
        with pytest.raises(APIConnectionError) as caught:
            whole(opened)
    assert str(caught.value) == (
        f"localhost:{server.port} closed the connection without ending TLS, and its reply names no length: it may be "
        "cut off"
    )
    assert caught.value.retryable


@pytest.mark.parametrize("is_whole", [True, False])
def test_through_a_tunnel_a_body_is_cut_off_as_well(kind: str, authority: Authority, *, is_whole: bool) -> None:
    """TLS that begins in the middle of a connection, behind a proxy, is told apart in the same way."""
    answer = Answer((*UNFRAMED, *([Farewell()] if is_whole else [])), close=True)
    with serving(answer, context=authority.context("upstream.test")) as server:
        through = Answer((b"HTTP/1.1 200 Connection established\r\n\r\n", Tunnel(server.port)))
        with serving(through) as proxy:
            environment = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
            with face(kind, HttpOptions(ca_file=authority.file), environment) as transport:
                opened = transport.open(ask(server.port, "upstream.test"), quick())
                if is_whole:
                    assert whole(opened).body == BODY
                else:
                    with pytest.raises(APIConnectionError, match="without ending TLS"):
                        whole(opened)
            assert proxy.connections == 1


def test_a_body_with_a_length_needs_no_farewell(kind: str, authority: Authority) -> None:
    """Many servers just close: what is framed is whole when it is there, and the next request has a new connection."""
    with serving(Answer((reply(BODY),), close=True), context=authority.context()) as server:
        with face(kind, HttpOptions(ca_file=authority.file)) as transport:
            for _ in range(3):
                assert whole(transport.open(ask(server.port), quick())).body == BODY
        assert server.connections == 3


@pytest.mark.parametrize("place", [0, 100, -100])
def test_silence_in_the_middle_is_a_deadline(kind: str, authority: Authority, place: int) -> None:
    """A handshake that stands still is over after `connect_s`, a body after `idle_s`; nothing hangs."""
    with _relayed(authority, ANSWERS["chunks"]) as (between, options):
        assert _outcome(kind, options, between) == BODY
        between.cut_at, between.is_silent = place if place >= 0 else between.count + place, True
        began_s = time.monotonic()
        with face(kind, options) as transport, pytest.raises(APITimeoutError) as caught:
            whole(transport.open(ask(between.port), quick(connect_s=0.5, first_byte_s=0.5, idle_s=0.5)))
    assert caught.value.phase == ("connect" if place >= 0 else "idle")
    assert time.monotonic() - began_s < 20
