"""URLs and redirects."""

from __future__ import annotations

import pytest

from interlingua.errors import ConfigError
from interlingua.transport.url import Origin, parse_url, redirected


@pytest.mark.parametrize(
    ("url", "origin", "authority", "path"),
    [
        ("http://H.test", Origin("http", "h.test", 80), "h.test", "/"),
        ("HTTPS://h.test:443/a", Origin("https", "h.test", 443), "h.test", "/a"),
        ("https://h.test:8443/a?b=c#d", Origin("https", "h.test", 8443), "h.test:8443", "/a?b=c"),
        ("http://[::1]:81/", Origin("http", "::1", 81), "[::1]:81", "/"),
        ("http://h.test?x=1", Origin("http", "h.test", 80), "h.test", "/?x=1"),
        ("http://h.test/ü b%20{}", Origin("http", "h.test", 80), "h.test", "/%C3%BC%20b%20%7B%7D"),
        ("http://bücher.test/", Origin("http", "xn--bcher-kva.test", 80), "xn--bcher-kva.test", "/"),
        ("http://h.test/v1/m:generate?alt=sse", Origin("http", "h.test", 80), "h.test", "/v1/m:generate?alt=sse"),
    ],
)
def test_parts(url: str, origin: Origin, authority: str, path: str) -> None:
    """Scheme, host and port, the host header, and the percent-encoded path."""
    assert parse_url(url) == (origin, authority, path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h.test/",
        "ftp://h/",
        "http://",
        "http://u:pw@h/",
        "http://h:0/",
        "http://h:x/",
        "http://h/\n",
        "http://a b/",
        "http://[::g]/",
        "http://\u2025/",
        "http://a..b/",
        f"http://{'a' * 64}.test/",
    ],
)
def test_bad_urls(url: str) -> None:
    """Anything else is a ConfigError without the credential."""
    with pytest.raises(ConfigError) as caught:
        parse_url(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "location", "expected"),
    [
        (307, "/b", "http://h.test/b"),
        (308, "b", "http://h.test/b"),
        (307, "http://h.test:80/b", "http://h.test:80/b"),
        (307, "http://h.test:81/b", None),
        (307, "https://h.test/b", None),
        (307, "//other.test/b", None),
        (307, "http://me@h.test/", None),
        (307, "http://[", None),
        (301, "/b", None),
        (303, "/b", None),
        (307, None, None),
    ],
)
def test_redirects_stay_at_home(status: int, location: str | None, expected: str | None) -> None:
    """Only a 307 or 308 to the same scheme, host and port is followed."""
    assert redirected("http://h.test/a", status, location) == expected
