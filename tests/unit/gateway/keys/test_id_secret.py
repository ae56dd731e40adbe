"""The secret of ids: named in the settings, or made once in a file of its owner's."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.gateway.settings import GatewaySettings
from interlingua.gateway.state.signing import kept_secret, named_secret, place_of, secret_for

SECRET = "a secret of at least 32 characters"


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    """Beside the database of keys, for its owner alone, and the same for who comes later."""
    settings = GatewaySettings(key_file=str(tmp_path / "made" / "keys.sqlite"))
    first = secret_for(settings, {})
    path = tmp_path / "made" / "keys.sqlite.id-secret"
    assert place_of(settings) == path
    assert len(first) == 64
    assert path.read_text() == f"{first}\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret_for(settings, {}) == first
    assert list(path.parent.iterdir()) == [path]


def test_processes_that_begin_at_once_have_the_same_secret(tmp_path: Path) -> None:
    """Whoever is second takes what the first one made."""
    told: list[str] = []
    barrier = threading.Barrier(8)

    def begin() -> None:
        barrier.wait()
        told.append(kept_secret(tmp_path / "id-secret"))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(told) == 8
    assert len(set(told)) == 1


def test_a_secret_that_is_named_is_used_as_it_is(tmp_path: Path) -> None:
    """From a variable or a file; nothing is written then."""
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n")
    settings = GatewaySettings(id_secret_env="IDS", key_file=str(tmp_path / "keys.sqlite"))
    assert secret_for(settings, {"IDS": SECRET}) == SECRET
    assert named_secret(GatewaySettings(id_secret_file=str(path)), {}) == SECRET
    assert named_secret(GatewaySettings(), {"IDS": SECRET}) is None
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (GatewaySettings(id_secret_env="IDS"), "the variable IDS holds no secret of at least 32 characters"),
        (GatewaySettings(id_secret_file="/nowhere/ids"), "the file /nowhere/ids cannot be read: No such file"),
    ],
)
def test_a_named_secret_that_is_none_is_refused(settings: GatewaySettings, told: str) -> None:
    """With its place, and never with what stands there."""
    with pytest.raises(ConfigError, match=told) as caught:
        secret_for(settings, {"IDS": "too-short"})
    assert "too-short" not in str(caught.value)


def test_a_file_that_was_damaged_is_refused(tmp_path: Path) -> None:
    """A secret that changes makes every id unknown: nobody makes another one in silence."""
    path = tmp_path / "id-secret"
    for content in (b"", b"\xff" * 40):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="the secret of ids in id-secret"):
            kept_secret(path)


def test_where_no_secret_can_be_kept_the_process_has_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It says so in the log, once for each gateway."""
    (tmp_path / "file").write_text("")
    settings = GatewaySettings(key_file=str(tmp_path / "file" / "keys.sqlite"))
    first, second = secret_for(settings, {}), secret_for(settings, {})
    assert first != second
    message = (
        "the secret of ids in keys.sqlite.id-secret cannot be made: File exists; "
        "ids of stored responses, files and batches hold for this process alone"
    )
    assert [record.getMessage() for record in caplog.records] == [message, message]
