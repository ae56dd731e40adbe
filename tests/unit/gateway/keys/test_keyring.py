"""Keys of several places while they change: whoever needs no key needs none by what is known now."""

from __future__ import annotations

from typing import Any, cast

import pytest

from interlingua.errors import AuthenticationError
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import Guard, hash_key
from interlingua.gateway.keys.database import KeptKey
from interlingua.gateway.keys.keyring import KeyRing
from interlingua.gateway.keys.shared_keys import SharedKeys
from interlingua.gateway.settings import GatewayKey, GatewaySettings

KEY = GatewayKey(name="team-a", hash=hash_key("sesame"))
HELD = SharedKeys(1, [KeptKey(key=KEY, created_s=0.0)])


class _Watch:
    """Has keys from its nth look on, as one whose thread finds them in the middle of a request."""

    def __init__(self, before: SharedKeys | None, looks: int) -> None:
        self._before = before
        self._looks = looks

    @property
    def latest(self) -> SharedKeys | None:
        self._looks -= 1
        return self._before if self._looks >= 0 else HELD


def _ring(before: SharedKeys | None, looks: int) -> KeyRing:
    return KeyRing((), None, cast("Any", _Watch(before, looks)), clock=lambda: 0.0)


@pytest.mark.parametrize("looks", range(6))
def test_keys_that_become_known_are_wanted_all_along(looks: int) -> None:
    """Before it is known whether there are any, one is wanted; then there is one."""
    assert bool(_ring(None, looks))


@pytest.mark.parametrize("looks", range(12))
def test_who_needed_no_key_needs_one_as_soon_as_there_is_one(looks: int) -> None:
    """Whenever the first key comes: a client that was let in without one is asked for it the next time."""
    guard = Guard(GatewaySettings(), _ring(SharedKeys(0, []), looks))
    request = GatewayRequest(method="GET", path="/v1/models", headers=(("host", "localhost"),), peer="127.0.0.1")
    for _ in range(12):
        try:
            guard.check(request)
        except AuthenticationError:
            break
    with pytest.raises(AuthenticationError, match="this gateway needs a key"):
        guard.check(request)
