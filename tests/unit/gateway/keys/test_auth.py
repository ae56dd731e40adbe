"""That requests with the same head may ask is found once, and never held against a change of keys, time or place."""

from pathlib import Path

import pytest

from interlingua.errors import AuthenticationError, PermissionDeniedError
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest, Head
from interlingua.gateway.keys.auth import Guard, hash_key
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.keyring import LOOK_S, KeyRing
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry

KEY = GatewayKey(name="a", hash=hash_key("a-key"))
HEAD = (("host", "localhost"), ("x-api-key", "a-key"))


class _Clock:
    """Shows what it is told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def asked(head: Head, peer: str = "127.0.0.1") -> GatewayRequest:
    """A request with that head."""
    return head.request(peer)


def test_a_head_is_looked_at_once() -> None:
    """The second request with it is known, its key as well."""
    guard = Guard(GatewaySettings(keys=(KEY,)))
    head = Head(method="GET", path="/", headers=HEAD)
    guard.check(asked(head))
    welcome = head.facts.welcome
    guard.check(asked(head))
    assert welcome is not None
    assert head.facts.welcome is welcome
    assert guard.key(asked(head)) is KEY


def test_what_is_refused_is_looked_at_anew() -> None:
    """Nothing good is remembered of it."""
    head = Head(method="GET", path="/", headers=(("x-api-key", "other"),))
    for _ in range(2):
        with pytest.raises(AuthenticationError):
            Guard(GatewaySettings(keys=(KEY,))).check(asked(head))
    assert head.facts.welcome is None


def test_another_guard_begins_anew() -> None:
    """Other settings may have taken the key away."""
    head = Head(method="GET", path="/", headers=HEAD)
    Guard(GatewaySettings(keys=(KEY,))).check(asked(head))
    after = Guard(GatewaySettings(keys=(GatewayKey(name="b", hash=hash_key("b-key")),)))
    with pytest.raises(AuthenticationError):
        after.check(asked(head))
    assert after.key(asked(head)) is None


def test_a_key_expires_under_a_known_head() -> None:
    """At its very second."""
    clock = _Clock()
    key = GatewayKey(name="a", hash=hash_key("a-key"), expires_s=10.0)
    guard = Guard(GatewaySettings(keys=(key,)), now=clock)
    head = Head(method="GET", path="/", headers=HEAD)
    guard.check(asked(head))
    clock.now_s = 9.9
    guard.check(asked(head))
    clock.now_s = 10.0
    with pytest.raises(AuthenticationError):
        guard.check(asked(head))


def test_a_key_is_revoked_under_a_known_head(tmp_path: Path) -> None:
    """As soon as the file of keys is looked at again."""
    clock = _Clock()
    database = KeyDatabase(tmp_path / "keys.sqlite", now=clock)
    database.create(KEY)
    guard = Guard(GatewaySettings(), KeyRing((), database, clock=clock), now=clock)
    head = Head(method="GET", path="/", headers=HEAD)
    guard.check(asked(head))
    database.revoke("a")
    clock.now_s += LOOK_S
    with pytest.raises(AuthenticationError):
        guard.check(asked(head))
    database.close()


@pytest.mark.parametrize(
    ("pattern", "model", "is_let"),
    [
        ("google/*", "gemini/x", True),
        ("gemini/*", "google/x", True),
        ("gemini/x", "google/x", True),
        ("google/*", "gemini/x,google/y", True),
        ("google/*", "gemini/x,openai/y", False),
        ("google/x", "gemini/xy", False),
        ("google/*", "gemini", False),
    ],
)
def test_a_list_of_models_knows_other_spellings_of_a_provider(pattern: str, model: str, is_let: bool) -> None:
    """As limits do; and not where somebody has a provider of his own under one of them."""
    key = GatewayKey(name="a", hash=hash_key("a-key"), models=(pattern,))
    request = asked(Head(method="GET", path="/", headers=HEAD))
    keys = (key,)
    for environ, expected in (({}, is_let), ({"LLM_GEMINI": "openai://k@example.org"}, False)):
        made = Gateway(GatewaySettings(keys=keys), registry=Registry(environ))
        assert made.guard.may_use(request, model) == expected
        if expected:
            assert made.guard.key_for(request, model) == key
        else:
            with pytest.raises(PermissionDeniedError):
                made.guard.key_for(request, model)


def test_a_distant_client_is_no_near_one() -> None:
    """Without keys the same head is served from this machine alone."""
    guard = Guard(GatewaySettings())
    head = Head(method="GET", path="/", headers=(("host", "localhost"),))
    guard.check(asked(head))
    with pytest.raises(PermissionDeniedError) as caught:
        guard.check(asked(head, "192.0.2.7"))
    assert str(caught.value) == (
        "this gateway has no keys, so it serves its own machine only; give it keys (il serve --key, or [keys] of its "
        "file), or set is_open where the application around it checks who asks"
    )
    assert guard.key(asked(head)) is None
