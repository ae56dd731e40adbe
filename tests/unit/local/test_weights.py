"""Which weights there are and where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.local import weights
from interlingua.local.weights import MODELS, find, home, path


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))


def test_every_row_is_pinned() -> None:
    """Versions, sizes and whole digests are facts, and the table knows its rows by name."""
    for name, row in MODELS.items():
        assert row.name == name
        assert len(row.sha256) == 64
        assert all("==" in package for package in row.packages)
    assert len(MODELS["coder"].packages) == 22


def test_the_home_is_the_callers_or_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`INTERLINGUA_HOME` wins, then `XDG_CACHE_HOME`, then the platform."""
    assert home() == tmp_path / "models"
    monkeypatch.delenv("INTERLINGUA_HOME")
    monkeypatch.setattr(weights.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert home() == tmp_path / "cache" / "interlingua" / "models"
    monkeypatch.setattr(weights.sys, "platform", "darwin")
    assert home() == Path.home() / "Library" / "Caches" / "interlingua" / "models"
    monkeypatch.setattr(weights.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert home() == tmp_path / "local" / "interlingua" / "models"


def test_missing_weights_say_how_to_get_them() -> None:
    """The error is the command."""
    with pytest.raises(ConfigError, match="local/tiny: the weights are not here yet: il models pull tiny"):
        find("tiny")


def test_unknown_models_name_the_known_ones() -> None:
    """A name that is neither a model nor a path."""
    with pytest.raises(ConfigError, match="local/huge: there is no such model; known are tiny, coder"):
        path("huge")


def test_a_file_of_the_wrong_size_is_not_used() -> None:
    """What was cut or swapped is pulled again."""
    file = path("tiny")
    file.parent.mkdir()
    file.write_bytes(b"GGUF and little more")
    with pytest.raises(ConfigError, match="has 20 bytes instead of 98,362,432: il models pull tiny"):
        find("tiny")


def test_any_gguf_file_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By absolute path, by relative path; it has no row."""
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF...")
    assert find(str(file)) == (None, file)
    monkeypatch.chdir(tmp_path)
    assert find("./mine.gguf") == (None, Path("mine.gguf"))
    assert find("mine.gguf") == (None, Path("mine.gguf"))


def test_a_path_that_is_no_model_is_refused(tmp_path: Path) -> None:
    """A missing file, another format, a directory."""
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match=r"x\.gguf is not a GGUF file"):
        find(str(tmp_path / "x.gguf"))
    with pytest.raises(ConfigError, match="there is no such file"):
        find("/nowhere/model.gguf")
    with pytest.raises(ConfigError, match="cannot be read"):
        find(str(tmp_path) + "/")
