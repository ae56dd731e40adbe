"""Which proxy leads where."""

from __future__ import annotations

import pytest

from interlingua.errors import ConfigError
from interlingua.transport.proxies import Proxy, is_loopback, proxy_for
from interlingua.transport.url import parse_url

BOTH = {"HTTP_PROXY": "http://plain.test:8080", "HTTPS_PROXY": "http://secure.test:8080"}


def peer(url: str, environment: dict[str, str]) -> str | None:
    """Where the proxy for `url` listens."""
    proxy = proxy_for(parse_url(url).origin, environment)
    return proxy.origin.peer if proxy else None


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        ("http://a.test/", {}, None),
        ("http://a.test/", BOTH, "plain.test:8080"),
        ("https://a.test/", BOTH, "secure.test:8080"),
        ("https://a.test/", {"ALL_PROXY": "all.test:3128"}, "all.test:3128"),
        ("https://a.test/", {"HTTPS_PROXY": "upper.test", "https_proxy": "lower.test"}, "lower.test:80"),
        ("https://a.test/", {"HTTPS_PROXY": "", "ALL_PROXY": "all.test"}, "all.test:80"),
        ("http://localhost:11434/", BOTH, None),
        ("http://127.0.0.2/", BOTH, None),
        ("http://[::1]/", BOTH, None),
        ("http://a.test/", BOTH | {"REQUEST_METHOD": "GET"}, None),
        ("http://a.test/", {"http_proxy": "p.test", "REQUEST_METHOD": "GET"}, "p.test:80"),
    ],
)
def test_variables(url: str, environment: dict[str, str], expected: str | None) -> None:
    """The scheme's own variable, then ALL_PROXY; lower case first; loopback directly; no HTTP_PROXY under CGI."""
    assert peer(url, environment) == expected


@pytest.mark.parametrize(
    ("exceptions", "url", "direct"),
    [
        ("*", "http://a.test/", True),
        ("a.test", "http://a.test/", True),
        ("a.test", "http://b.a.test/", True),
        (".a.test", "http://b.a.test/", True),
        ("*.a.test", "http://b.a.test/", True),
        ("a.test", "http://aa.test/", False),
        ("x.test, a.test", "http://a.test/", True),
        ("a.test:81", "http://a.test/", False),
        ("a.test:80", "http://a.test/", True),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("10.1.2.3", "http://10.1.2.3/", True),
        ("fd00::/8", "http://[fd00::1]/", True),
        ("nonsense/99", "http://10.1.2.3/", False),
        (",", "http://a.test/", False),
    ],
)
def test_no_proxy(exceptions: str, url: str, direct: bool) -> None:
    """Names and what is under them, ports, addresses, networks and the star."""
    assert (peer(url, BOTH | {"NO_PROXY": exceptions}) is None) is direct


@pytest.mark.parametrize("value", ["socks5://p.test:1080", "https://p.test", "http://u:secret@:80", "http://"])
def test_other_proxies_are_refused_with_the_way_out(value: str) -> None:
    """What is not an http proxy is a ConfigError that names the variable, never the credential."""
    with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
        proxy_for(parse_url("https://a.test/").origin, {"HTTPS_PROXY": value})
    assert "secret" not in str(caught.value)


def test_a_proxy_does_not_show_its_credential() -> None:
    """The repr names the place alone."""
    proxy = proxy_for(parse_url("http://a.test/").origin, {"HTTP_PROXY": "http://me:secret@p.test"})
    assert isinstance(proxy, Proxy)
    assert repr(proxy) == "Proxy(p.test:80)"


def test_loopback() -> None:
    """Names and addresses of this machine."""
    assert [is_loopback(host) for host in ("localhost", "x.localhost", "127.9.9.9", "::1", "a.test", "10.0.0.1")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
