"""When a configuration file is taken, and what a key may that was taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.client.state import forget_state
from interlingua.errors import ConfigError
from interlingua.gateway.config import read_server_config
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import Guard, hash_key
from interlingua.gateway.serving.reload import Reload, stamp_of
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.config import Config, read_config
from interlingua.registry.resolve import Registry


def _made(path: Path, told: list[str]) -> tuple[Gateway, Reload]:
    gateway = Gateway(read_server_config(path).settings, registry=Registry({}))
    return gateway, Reload(gateway, path, tell=told.append)


def test_a_file_counts_once_it_was_still(tmp_path: Path) -> None:
    """At the first look after it was saved it may be half written; at the second one it is read, once."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text("[server]\nstrict = false\n")
    gateway, reload = _made(path, told)
    assert not reload.look()
    path.write_text('[server]\nstrict = true\n[aliases]\nm = "fake/a"\n')
    assert not reload.look()
    assert not gateway.settings.strict
    assert reload.look()
    assert (gateway.settings.strict, gateway.registry.aliases()) == (True, {"m": "fake/a"})
    assert not reload.look()
    assert told == ["gateway.toml was read again"]
    forget_state()


def test_asked_for_it_is_read_at_once_and_a_bad_one_stays_out(tmp_path: Path) -> None:
    """Neither half of a file counts where the other one has an error; a file that is gone is told."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text("[server]\nstrict = true\n")
    gateway, reload = _made(path, told)
    for text, words in (
        ('[server]\nstrict = false\n[aliases]\nm = ",,"\n', "gateway.toml line 4: the alias 'm'"),
        ('[aliases]\nm = "fake/a"\n[server]\nworkers = 0\n', "gateway.toml line 4: workers in [server]"),
    ):
        path.write_text(text)
        reload.ask()
        assert not reload.look()
        assert told[-1].startswith(words)
        assert told[-1].endswith("the configuration before it stays")
    path.unlink()
    reload.ask()
    assert not reload.look()
    assert told[-1].startswith(f"{path} cannot be read")
    assert stamp_of(path) is None
    assert (gateway.settings.strict, gateway.registry.aliases()) == (True, {})


def test_hooks_that_cannot_be_made_leave_names_and_limits_as_they_were(tmp_path: Path) -> None:
    """The file is sound, and its hook is not there: nothing of it counts."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text('[aliases]\nm = "fake/a"\n')
    gateway, reload = _made(path, told)
    gateway.registry.take_config(read_config(path))
    path.write_text('[aliases]\nn = "fake/b"\n[limits."fake/*"]\nrpm = 5\n[hooks]\nuse = ["no_such_module:Hook"]\n')
    reload.ask()
    assert not reload.look()
    assert told[-1].endswith("the configuration before it stays")
    assert (gateway.registry.aliases(), gateway.registry.limits) == ({"m": "fake/a"}, {})
    path.write_text('[aliases]\nn = "fake/b"\n[limits."fake/*"]\nrpm = 5\n')
    reload.ask()
    assert reload.look()
    assert (gateway.registry.aliases(), [*gateway.registry.limits]) == ({"n": "fake/b"}, ["fake/*"])
    forget_state()


def test_what_flags_say_goes_before_the_file_and_may_refuse_it(tmp_path: Path) -> None:
    """`merge` is asked with the file's settings."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text("")
    gateway = Gateway(registry=Registry({}))

    def merge(settings: GatewaySettings, config: Config) -> GatewaySettings:
        raise ConfigError("not without a key")

    reload = Reload(gateway, path, merge=merge, tell=told.append)
    reload.ask()
    assert not reload.look()
    assert told == ["not without a key; the configuration before it stays"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[hooks]\nuse = ["no_such_module:Hook"]\n', "[hooks] no_such_module:Hook cannot be used"),
        ('[limits]\n"google/*" = { rpm = 1 }\n"gemini/*" = { rpm = 2 }\n', "[limits] names the same targets twice"),
    ],
)
def test_a_refused_half_keeps_the_other_half_out(tmp_path: Path, more: str, words: str) -> None:
    """Aliases and providers stay, too, where hooks cannot be made or limits contradict each other."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text('[aliases]\nm = "fake/a"\n')
    gateway, reload = _made(path, told)
    gateway.registry.take_config(read_config(path))
    path.write_text(f'[server]\nstrict = true\n[aliases]\nm = "fake/b"\n{more}')
    reload.ask()
    assert not reload.look()
    assert told[-1].startswith(words)
    assert (gateway.settings.strict, gateway.registry.aliases()) == (False, {"m": "fake/a"})
    forget_state()


@pytest.mark.parametrize("text", ["", '[aliases]\nm = "fake/b"\n'])
def test_a_file_without_keys_does_not_open_a_gateway_with_keys(tmp_path: Path, text: str) -> None:
    """An emptied or cut off file is no decision to serve everybody; `open = true` is one."""
    path, told = tmp_path / "gateway.toml", list[str]()
    path.write_text(f'[keys.a]\nhash = "{hash_key("secret")}"\n')
    gateway, reload = _made(path, told)
    path.write_text(text)
    reload.ask()
    assert not reload.look()
    assert told[-1].startswith("gateway.toml has no key any more")
    assert told[-1].endswith("the configuration before it stays")
    assert (bool(gateway.guard.keys), gateway.registry.aliases()) == (True, {})
    path.write_text("[server]\nopen = true\n")
    reload.ask()
    assert reload.look()
    assert gateway.settings.is_open
    forget_state()


@pytest.mark.parametrize(("is_open", "may"), [(False, False), (True, True)])
def test_a_key_that_was_taken_away_may_use_nothing(is_open: bool, may: bool) -> None:
    """A request that was let in by the configuration before finds no model, unless the gateway is open to all."""
    keys = (GatewayKey(name="other", hash=hash_key("other")),)
    guard = Guard(GatewaySettings(keys=keys, is_open=is_open))
    request = GatewayRequest(path="/v1/chat/completions", headers=(("x-api-key", "gone"),))
    assert guard.may_use(request, "m") is may
