from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlingua.cli.main import main
from interlingua.registry.resolve import default_registry

Capture = pytest.CaptureFixture[str]
Pipe = Callable[[bytes], None]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No key of this machine; the registry reads the environment alone again afterwards."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    yield
    default_registry().use_environment(os.environ)


def test_a_key_that_is_kept_is_used(home: Path, capsys: Capture, pipe: Pipe) -> None:
    """It stands in the file alone, which its owner alone reads, and a command finds it there."""
    pipe(b"sk-of-the-ring\n")
    assert main(["auth", "set", "openai"]) == 0
    path = home / "state" / "keys.json"
    assert json.loads(path.read_bytes()) == {"OPENAI_API_KEY": "sk-of-the-ring"}
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert main(["auth"]) == 0
    assert main(["auth", "path"]) == 0
    assert main(["explain", "-m", "openai/gpt-5.6", "Hello"]) == 0
    out, err = capsys.readouterr()
    assert err == f"il: openai: stored as OPENAI_API_KEY in {path}\n"
    assert "no key" not in out
    assert "sk-of-the-ring" not in out
    assert default_registry().resolve("openai/gpt-5.6")[0].credential.reveal() == "sk-of-the-ring"


def test_the_environment_goes_before_the_file(monkeypatch: pytest.MonkeyPatch, capsys: Capture, pipe: Pipe) -> None:
    """Said when a key is kept and when keys are listed."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    pipe(b"sk-of-the-ring\n")
    assert main(["auth", "set", "openai"]) == 0
    assert main(["auth", "list"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines()[1] == "il: OPENAI_API_KEY is set in the environment, too, and goes before it"
    assert "the environment's" in out
    assert main(["explain", "-m", "openai/gpt-5.6", "Hello"]) == 0
    assert default_registry().resolve("openai/gpt-5.6")[0].credential.reveal() == "sk-of-the-environment"


def test_a_key_can_be_removed(capsys: Capture, pipe: Pipe) -> None:
    """After that it is not there, which is said."""
    pipe(b"sk-of-the-ring\n")
    assert main(["auth", "set", "openai"]) == 0
    assert main(["auth", "remove", "openai"]) == 0
    assert main(["auth", "remove", "openai"]) == 2
    assert main(["auth", "list"]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [
        "il: auth remove openai: it has no key here; `il auth list` lists the keys",
        "il: no keys are stored; `il auth set PROVIDER` stores one",
    ]


@pytest.mark.parametrize("key", [b"", b"two words", "ключ".encode(), b"sk-\x1b[2J", b"\xff"])
def test_what_is_no_key_changes_nothing(home: Path, key: bytes, capsys: Capture, pipe: Pipe) -> None:
    """It is not shown either."""
    pipe(key)
    assert main(["auth", "set", "openai"]) == 2
    assert capsys.readouterr().err == "il: auth set openai: a key is one word of ASCII; nothing was changed\n"
    assert not (home / "state" / "keys.json").exists()


def test_mistakes_are_told(home: Path, capsys: Capture, pipe: Pipe) -> None:
    """A provider that nobody knows, one without a key, none at all, and a file that holds something else."""
    pipe(b"sk-x")
    assert main(["auth", "set", "opnai"]) == 2
    assert main(["auth", "set", "local"]) == 2
    assert main(["auth", "set"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "il: no provider 'opnai'; did you mean openai or openai-chat?",
        "il: local takes no key from a variable",
        "il: auth set: of which provider? `il providers` lists them",
    ]
    path = home / "state" / "keys.json"
    path.parent.mkdir(parents=True)
    path.write_text("[1]", encoding="utf-8")
    said = f"il: {path} is no object of variables and keys; mend it, or delete it and use `il auth set`\n"
    assert main(["auth"]) == 2
    assert capsys.readouterr().err == said
    assert main(["explain", "-m", "openai/gpt-5.6", "Hello"]) == 0
    assert capsys.readouterr().err == said


def test_a_key_that_cannot_be_kept_leaves_no_file(
    home: Path, capsys: Capture, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full is one line, and no second file holds the key."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    pipe(b"sk-of-the-ring\n")
    assert main(["auth", "set", "openai"]) == 2
    path = home / "state" / "keys.json"
    assert capsys.readouterr().err == f"il: {path} cannot be written: No space left on device\n"
    assert list(path.parent.iterdir()) == []
