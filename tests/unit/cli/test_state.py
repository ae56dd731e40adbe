from __future__ import annotations

import errno
import stat
import sys
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.checkup import Finding, weights
from interlingua.cli.commands.serve import _with_database
from interlingua.cli.main import main
from interlingua.cli.state import load_last, save_last
from interlingua.client.home import state_directory
from interlingua.gateway.settings import GatewaySettings

REPLY: il.Response[None] = il.Response(
    parts=(il.TextPart("Hi."),), finish_reason="stop", request=il.Request(messages=(il.user("Hey"),))
)


def test_what_is_kept_comes_back(home: Path) -> None:
    """A reply with its conversation, and no scratch file beside it."""
    save_last(REPLY)
    assert [message.text for message in load_last().messages] == ["Hey", "Hi."]
    assert [path.name for path in (home / "state").iterdir()] == ["last-conversation.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_only_its_owner_may_read(home: Path) -> None:
    """The file is 0600 and its directory 0700, also when it is replaced."""
    for _ in range(2):
        save_last(REPLY)
        assert stat.S_IMODE((home / "state" / "last-conversation.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "state").stat().st_mode) == 0o700


def test_a_broken_file_is_said(home: Path) -> None:
    """What cannot be read names the file and the way out."""
    save_last(REPLY)
    (home / "state" / "last-conversation.json").write_text("{", encoding="utf-8")
    with pytest.raises(il.ConfigError, match=r"last-conversation\.json holds no conversation .* to begin anew"):
        load_last()


def test_a_place_that_cannot_be_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file where the directory should be is one sentence, and no failure: the answer was given."""
    home.write_text("in the way", encoding="utf-8")
    save_last(REPLY)
    assert capsys.readouterr().err == f"il: the conversation is not kept in {home / 'state'}: Not a directory\n"


def test_a_disk_that_is_full_keeps_the_one_before(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be written leaves no scratch file, and the conversation before."""
    save_last(REPLY)
    monkeypatch.setattr(Path, "replace", _refuse)
    save_last(REPLY)
    assert [path.name for path in (home / "state").iterdir()] == ["last-conversation.json"]
    assert capsys.readouterr().err == f"il: the conversation is not kept in {home / 'state'}: No space left on device\n"


def _refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.skipif(sys.platform == "win32", reason="its state lies under LOCALAPPDATA")
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A user whom the machine does not know gets the answer and a sentence; what needs a place names the way out."""
    for name in ("INTERLINGUA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", _no_home)
    said = "this user has no home directory; INTERLINGUA_HOME names a place for our files"
    save_last(REPLY)
    assert capsys.readouterr().err == f"il: the conversation is not kept: {said}\n"
    assert main(["models", "list"]) == 2
    assert capsys.readouterr().err == f"il: {said}\n"
    assert list(weights()) == [Finding(None, said)]
    assert _with_database(GatewaySettings()) == GatewaySettings()


def test_a_place_in_the_home_of_nobody(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A place that begins with the home of a user who has none is named, with the way out."""
    monkeypatch.setenv("INTERLINGUA_HOME", "~nobody-of-this-name/x")
    save_last(REPLY)
    said = "INTERLINGUA_HOME=~nobody-of-this-name/x: that user has no home directory; name a place without ~"
    assert capsys.readouterr().err == f"il: the conversation is not kept: {said}\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the places of Linux")
def test_the_place_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without INTERLINGUA_HOME it is the state directory of the user."""
    monkeypatch.delenv("INTERLINGUA_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory() == tmp_path / "interlingua"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_directory() == Path.home() / ".local" / "state" / "interlingua"
