"""TLS and proxies, over real sockets on loopback."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Generator
from pathlib import Path

import pytest

from interlingua.errors import APIConnectionError, ConfigError
from interlingua.transport.options import HttpOptions
from interlingua.wire.http import HttpRequest
from tests.support.faces import OWN, face, quick, whole
from tests.support.server import Answer, Reset, Seen, Server, Tunnel, reply, serving

trustme = pytest.importorskip("trustme", reason="makes certificates for tests")


class Authority:
    """A made-up certificate authority and a server context for two names."""

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.file = str(folder / "authority.pem")
        authority.cert_pem.write_to_path(self.file)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.set_alpn_protocols(["http/1.1"])
        authority.issue_cert("localhost", "upstream.test").configure_cert(self.context)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One authority for the tests of this file."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=OWN)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a transport."""
    return request.param


@pytest.fixture
def secure(authority: Authority) -> Generator[Server]:
    """A TLS server that says ok."""
    with serving(Answer((reply(b"ok"),)), context=authority.context) as server:
        yield server


def ask(url: str) -> HttpRequest:
    """A small request."""
    return HttpRequest(url=url, headers=(("authorization", "Bearer sk-test-0123456789"),), body=b"{}")


def test_a_named_authority_is_trusted(kind: str, secure: Server, authority: Authority) -> None:
    """`ca_file` makes a private authority work, and the connection is kept."""
    with face(kind, HttpOptions(ca_file=authority.file)) as transport:
        for _ in range(3):
            assert whole(transport.open(ask(secure.url(host="localhost")), quick())).body == b"ok"
    assert secure.connections == 1


def test_an_unknown_authority_is_refused(kind: str, secure: Server) -> None:
    """Without it the error names the host and the option, and is not retryable."""
    with face(kind) as transport, pytest.raises(APIConnectionError) as caught:
        transport.open(ask(secure.url(host="localhost")), quick())
    assert str(caught.value).startswith(f"the certificate of localhost:{secure.port} is not trusted")
    assert "SSL_CERT_FILE" in str(caught.value)
    assert not caught.value.retryable
    assert not secure.seen


def test_a_certificate_for_another_name_is_refused(kind: str, secure: Server, authority: Authority) -> None:
    """The name in the certificate has to be the host that was asked for."""
    with face(kind, HttpOptions(ca_file=authority.file)) as transport, pytest.raises(APIConnectionError) as caught:
        transport.open(ask(secure.url(host="127.0.0.1")), quick())
    assert "not trusted" in str(caught.value)


def test_the_variable_of_openssl_works(
    kind: str, secure: Server, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`SSL_CERT_FILE` adds an authority without any option."""
    monkeypatch.setenv("SSL_CERT_FILE", authority.file)
    with face(kind) as transport:
        assert whole(transport.open(ask(secure.url(host="localhost")), quick())).body == b"ok"


def test_verification_can_be_turned_off(kind: str, secure: Server) -> None:
    """`verify=False` takes any certificate."""
    with face(kind, HttpOptions(verify=False)) as transport:
        assert whole(transport.open(ask(secure.url()), quick())).body == b"ok"


def test_a_missing_authority_file_is_a_config_error(kind: str, secure: Server) -> None:
    """A `ca_file` that is not there is named in the error."""
    with face(kind, HttpOptions(ca_file="no/such.pem")) as transport, pytest.raises(ConfigError, match=r"no/such\.pem"):
        transport.open(ask(secure.url()), quick())


def test_https_to_a_plain_server_says_so(kind: str) -> None:
    """Speaking TLS to a plain server is named for what it is."""
    with serving(Answer((reply(),))) as server, face(kind) as transport, pytest.raises(APIConnectionError) as caught:
        transport.open(ask(f"https://127.0.0.1:{server.port}/"), quick(connect_s=1.0))
    assert f"127.0.0.1:{server.port}" in str(caught.value)


def test_plain_http_goes_through_a_proxy_in_absolute_form(kind: str) -> None:
    """The proxy gets the whole URL and its own credential; the origin's header names the origin."""
    with serving(Answer((reply(b"by proxy"),))) as proxy:
        environment = {"HTTP_PROXY": f"http://me:p%40ss@127.0.0.1:{proxy.port}"}
        with face(kind, environment=environment) as transport:
            for _ in range(2):
                assert whole(transport.open(ask("http://upstream.test/v1?a=1"), quick())).body == b"by proxy"
    seen = proxy.seen[0]
    assert seen.line == "POST http://upstream.test/v1?a=1 HTTP/1.1"
    assert seen.header("host") == "upstream.test"
    assert seen.header("proxy-authorization") == f"Basic {base64.b64encode(b'me:p@ss').decode()}"
    assert proxy.connections == 1


def test_https_goes_through_a_tunnel(kind: str, secure: Server, authority: Authority) -> None:
    """CONNECT carries the proxy's credential, the tunnel carries TLS to the origin with the origin's own name."""

    def script(seen: Seen) -> Answer:
        assert seen.line == "CONNECT upstream.test:443 HTTP/1.1"
        return Answer((b"HTTP/1.1 200 Connection established\r\n\r\n", Tunnel(secure.port)))

    with serving(script) as proxy:
        environment = {"https_proxy": f"me:pw@127.0.0.1:{proxy.port}"}
        with face(kind, HttpOptions(ca_file=authority.file), environment) as transport:
            for _ in range(2):
                assert whole(transport.open(ask("https://upstream.test/v1"), quick())).body == b"ok"
    assert proxy.seen[0].header("proxy-authorization") == f"Basic {base64.b64encode(b'me:pw').decode()}"
    assert proxy.seen[0].header("authorization") is None
    assert secure.seen[0].header("proxy-authorization") is None
    assert (proxy.connections, secure.connections) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer((reply(status="407 Proxy Authentication Required"),)), "status 407: check the user and password"),
        (Answer((reply(status="403 Forbidden"),)), "status 403"),
        (Answer((Reset(),)), "127.0.0.1"),
        (Answer((b"HTTP/1.1 200 OK\r\n\r\nhello",), close=True), "refused a tunnel"),
    ],
)
def test_a_refused_tunnel_is_an_error_without_credentials(kind: str, answer: Answer, words: str) -> None:
    """The proxy's refusal names the proxy, never its credential."""
    with serving(answer) as proxy:
        environment = {"HTTPS_PROXY": f"http://me:topsecret@127.0.0.1:{proxy.port}"}
        with face(kind, environment=environment) as transport, pytest.raises(APIConnectionError, match=words) as caught:
            transport.open(ask("https://upstream.test/v1"), quick())
    assert "topsecret" not in str(caught.value)


def test_a_proxy_that_is_down_is_named(kind: str) -> None:
    """A refused connection to the proxy says that the proxy was in between."""
    with serving(Answer((reply(),))) as proxy:
        port = proxy.port
    environment = {"ALL_PROXY": f"http://127.0.0.1:{port}"}
    words = f"through the proxy 127.0.0.1:{port}"
    with face(kind, environment=environment) as transport, pytest.raises(APIConnectionError, match=words):
        transport.open(ask("http://upstream.test/"), quick())
