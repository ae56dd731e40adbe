"""What several workers may limit without a place that they share, and what is refused instead of multiplied."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from interlingua.cli.main import main
from interlingua.errors import ConfigError
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewaySettings
from interlingua.gateway.state.sharing import check_workers
from interlingua.registry.resolve import Registry

LIMITED = '[limits."fake/*"]\nrpm = 7\n'


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))


def test_limits_towards_targets_are_refused_to_workers_that_share_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it listens, in one sentence that says what helps; a file of health is no such place."""
    path = tmp_path / "gateway.toml"
    path.write_text(LIMITED)
    for place in ("memory", f"file:{tmp_path / 'state'}"):
        assert main(["serve", "--port", "0", "--workers", "2", "--state", place, "--config", str(path)]) == 2
        assert capsys.readouterr().err.strip() == (
            "il: [limits] of fake/* would hold for each worker by itself, so that several let several times as much "
            "through; share them with --state redis://… or postgresql://…, or serve with one worker"
        )


async def test_what_a_reload_brings_is_refused_to_workers_likewise(tmp_path: Path) -> None:
    """Limits of targets, and keys with limits where there was no database from the start; all else may come."""
    without = Gateway(registry=Registry({}))
    path = str(tmp_path / "keys.sqlite")
    check_workers(without, GatewaySettings(), ())
    with pytest.raises(ConfigError, match=r"^\[limits\] of a/\*, b/m would hold for each worker by itself"):
        check_workers(without, GatewaySettings(), ("b/m", "a/*"))
    with pytest.raises(ConfigError, match="keys with limits need a database from the start"):
        check_workers(without, GatewaySettings(key_file=path), ())
    kept = Gateway(GatewaySettings(key_file=path), registry=Registry({}))
    check_workers(kept, GatewaySettings(key_file=path), ())
    await kept.close()


def test_in_redis_workers_may_limit_what_they_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is connected to find that out."""
    pytest.importorskip("redis", reason="the `redis` package, of the [redis] extra, is not installed")
    monkeypatch.setenv("INTERLINGUA_STATE", "redis://127.0.0.1:1/0")
    check_workers(Gateway(registry=Registry({})), GatewaySettings(key_file=str(tmp_path / "keys")), ("fake/*",))


def test_a_key_with_limits_gives_workers_a_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit of a key is no obstacle: the database of keys, which it brings along, is what workers share."""
    path = tmp_path / "gateway.toml"
    path.write_text(f'[keys.a]\nhash = "{hash_key("k")}"\nrpm = 7\n[server]\nworkers = 2\n')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--config", str(path), "--port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err
    assert (tmp_path / "state" / "keys.sqlite").exists()
