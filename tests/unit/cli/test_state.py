from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.state import load_last, save_last
from interlingua.client.home import state_directory

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


def test_a_place_that_cannot_be_written(home: Path) -> None:
    """A file where the directory should be is one sentence."""
    home.write_text("in the way", encoding="utf-8")
    with pytest.raises(il.ConfigError, match="the conversation cannot be kept in"):
        save_last(REPLY)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the places of Linux")
def test_the_place_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without INTERLINGUA_HOME it is the state directory of the user."""
    monkeypatch.delenv("INTERLINGUA_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory() == tmp_path / "interlingua"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_directory() == Path.home() / ".local" / "state" / "interlingua"
