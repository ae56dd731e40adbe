"""Addresses of shared stores: what belongs to us, what is shown, and what is refused."""

from __future__ import annotations

import pytest

from interlingua.errors import ConfigError
from interlingua.routing.link import open_link, own_members
from tests.support.cells import cells


def _clock() -> float:
    return 0.0


@pytest.mark.parametrize(
    ("url", "left", "shown"),
    [
        ("redis://cache:6379/0", "redis://cache:6379/0", "redis://cache:6379/0"),
        ("redis://:secret@cache/0?prefix=x:&timeout_s=2", "redis://:secret@cache/0", "redis://cache/0"),
        ("rediss://me:s%2Fe%40t@cache/0", "rediss://me:s%2Fe%40t@cache/0", "rediss://cache/0"),
        ("unix:///run/redis.sock?prefix=x:&db=1", "unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("unix://:secret@/run/redis.sock", "unix://:secret@/run/redis.sock", "unix:///run/redis.sock"),
        ("postgresql:///db?host=/run/pg&prefix=x:", "postgresql:///db?host=%2Frun%2Fpg", "postgresql:///db"),
        ("postgresql://me:secret@db/name?sslmode=require", "postgresql://me:secret@db/name?sslmode=require",
         "postgresql://db/name"),
    ],
)  # fmt: skip
def test_an_address_goes_to_its_package_without_our_members_and_is_shown_without_secrets(
    url: str, left: str, shown: str
) -> None:
    """A Unix socket keeps its slashes."""
    assert own_members(url, "a store", 1.0)[0] == left
    link = open_link(url, clock=_clock)
    assert link.address == shown
    assert "secret" not in repr(link)


@cells("scheme", ["redis", "rediss", "unix", "postgresql"])
@cells("sign", ["/", "?", "#"])
@cells("user", ["", "me"])
def test_a_password_that_is_not_encoded_is_refused_unshown(scheme: str, sign: str, user: str) -> None:
    """Such an address would be read as another host, and its password shown with it."""
    with pytest.raises(ConfigError, match="in a password / is written %2F") as caught:
        open_link(f"{scheme}://{user}:abc{sign}Secret9xyz@cache:6379/0", clock=_clock)
    assert "abc" not in str(caught.value)
    assert "Secret9xyz" not in str(caught.value)


@pytest.mark.parametrize("wait", ["soon", "0", "11", "nan"])
def test_a_time_that_is_none_is_refused(wait: str) -> None:
    """The sentence shows nothing of the address."""
    with pytest.raises(ConfigError, match="timeout_s of an address of a store") as caught:
        own_members(f"redis://:secret@cache/0?timeout_s={wait}", "a store", 1.0)
    assert "secret" not in str(caught.value)
