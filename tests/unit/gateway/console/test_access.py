"""Who may see and change what."""

from __future__ import annotations

import pytest

from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.routes import ROUTES
from interlingua.gateway.settings import GatewayKey
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask, told
from tests.unit.gateway.console.looking import KEYS, looked, with_keys

PATHS = [(route.method, route.pattern) for route in ROUTES if route.pattern.startswith("/console/")]
DATA = [(method, path) for method, path in PATHS if "{" not in path]


@pytest.mark.parametrize(("method", "path"), DATA)
@pytest.mark.parametrize("key", ["", "wrong"])
def test_no_data_without_a_key(method: str, path: str, key: str) -> None:
    """Every route that tells or changes something wants the key that everything else wants."""
    headers = (("x-api-key", key), ("x-interlingua-console", "1"))
    assert ask(with_keys(), path, {} if method == "POST" else None, headers, method=method).status == 401


def test_without_keys_only_this_machine_looks() -> None:
    """And only under its own names, from its own pages."""
    made = gateway()
    assert made.screen(looked("/console/targets")) is None
    distant = made.screen(looked("/console/targets", peer="192.0.2.7"))
    foreign = made.screen(looked("/console/targets", headers=(("origin", "https://evil.example"),)))
    assert distant is not None
    assert foreign is not None
    assert (distant.status, foreign.status) == (403, 403)


def test_who_sees_what_others_do() -> None:
    """Without keys whoever is served; with keys those that are named, or the only one."""
    assert gateway().access.viewer_of(looked("/")) == ("", True)
    assert with_keys().access.viewer_of(looked("/", "boss-key")) == ("boss", True)
    assert with_keys().access.viewer_of(looked("/", "a-key")) == ("team-a", False)
    one = GatewayKey(name="one", hash=hash_key("one-key"))
    assert gateway(keys=(one,)).access.viewer_of(looked("/", "one-key")) == ("one", True)
    assert gateway(keys=KEYS).access.viewer_of(looked("/", "boss-key")) == ("boss", False)


@pytest.mark.parametrize("path", ["/console/targets/suspend", "/console/targets/resume"])
def test_only_an_operator_changes_something_and_only_from_the_page(path: str) -> None:
    """A page of another site can send no header of ours; a key that is no operator's changes nothing for others."""
    made, body = with_keys(), {"target": "fake/model"}
    own = ("x-interlingua-console", "1")
    other = told(ask(made, path, body, (("x-api-key", "a-key"), own)), 403)
    foreign = told(ask(made, path, body, (("x-api-key", "boss-key"),)), 403)
    assert other["error"]["message"].startswith("this key is no operator's")
    assert "x-interlingua-console" in foreign["error"]["message"]
