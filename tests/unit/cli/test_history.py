from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import sys
from pathlib import Path

import msgspec
import pytest

import interlingua as il
from interlingua.cli.checkup import Finding, weights
from interlingua.cli.commands.serve import _with_database
from interlingua.cli.history import Conversation, read_turns, recent_turns
from interlingua.cli.main import main
from interlingua.gateway.settings import GatewaySettings
from interlingua.registry.home import state_directory
from interlingua.testing import use

Capture = pytest.CaptureFixture[str]

REPLY: il.Response[None] = il.Response(
    parts=(il.TextPart("Hi."),), finish_reason="stop", request=il.Request(messages=(il.user("Hey"),))
)


def kept(reply: il.Response[None] = REPLY, name: str | None = None) -> Conversation:
    """A conversation of one turn, kept."""
    conversation = Conversation(name)
    conversation.add(["Hey"], reply)
    return conversation


def test_what_is_kept_comes_back(home: Path) -> None:
    """A reply with its conversation, and no other file beside it."""
    kept()
    last = Conversation.last().reply
    assert last is not None
    assert [message.text for message in last.messages] == ["Hey", "Hi."]
    assert [path.name for path in (home / "state").iterdir()] == ["history.db"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_only_its_owner_may_read(home: Path) -> None:
    """The file is 0600 and its directory 0700, also when it is written again."""
    for _ in range(2):
        kept()
        assert stat.S_IMODE((home / "state" / "history.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "state").stat().st_mode) == 0o700


def test_a_broken_file_is_said(home: Path) -> None:
    """What cannot be read names the file and the way out."""
    kept()
    (home / "state" / "history.db").write_text("{" * 100, encoding="utf-8")
    with pytest.raises(il.ConfigError, match=r"history\.db cannot be used: .*; `il history --clear` deletes it"):
        Conversation.last()
    assert main(["history", "--clear"]) == 0
    kept()
    assert [turn.prompt for turn in recent_turns()] == ["Hey"]


def test_a_broken_conversation_is_said(home: Path) -> None:
    """One row that nobody can read names the conversation."""
    kept()
    with sqlite3.connect(home / "state" / "history.db") as database:
        database.execute("UPDATE conversations SET reply = '{'")
    database.close()
    with pytest.raises(il.ConfigError, match=r"conversation 1 cannot be read .* to begin anew"):
        Conversation.last()


def test_a_file_of_a_newer_version_is_left_alone(home: Path, capsys: Capture) -> None:
    """Nothing is written to it, and nothing is read from it."""
    kept()
    with sqlite3.connect(home / "state" / "history.db") as database:
        database.execute("PRAGMA user_version = 2")
    database.close()
    kept()
    path = home / "state" / "history.db"
    reason = f"{path} was written by a newer interlingua; INTERLINGUA_HISTORY=0 goes without it"
    assert capsys.readouterr().err == f"il: the conversation is not stored: {reason}\n"
    with pytest.raises(il.ConfigError, match="newer interlingua"):
        recent_turns()


def test_a_place_that_cannot_be_written(home: Path, capsys: Capture) -> None:
    """A file where the directory should be is one sentence, and no failure: the answer was given."""
    home.write_text("in the way", encoding="utf-8")
    kept()
    path = home / "state" / "history.db"
    assert capsys.readouterr().err == f"il: the conversation is not stored: {path} cannot be written: Not a directory\n"


def test_a_turn_that_cannot_be_kept_leaves_the_one_before(home: Path, capsys: Capture) -> None:
    """Another command that holds the file for longer than is waited for is one sentence."""
    kept()
    holder = sqlite3.connect(home / "state" / "history.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("interlingua.cli.history.LOCK_S", 0.01)
            kept()
    finally:
        holder.close()
    assert "the conversation is not stored: " in (err := capsys.readouterr().err)
    assert "database is locked" in err
    assert len(recent_turns()) == 1


def test_history_can_be_switched_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`INTERLINGUA_HISTORY=0` writes no file, and says why nothing can be continued."""
    monkeypatch.setenv("INTERLINGUA_HISTORY", "0")
    kept()
    assert not home.exists()
    for begin in (Conversation.last, lambda: Conversation.named("work")):
        with pytest.raises(il.UsageError, match=r"^INTERLINGUA_HISTORY=0: no conversation is stored"):
            begin()


def test_conversations_have_names() -> None:
    """A name goes on with its own conversation, whatever came last."""
    assert Conversation.named("work").reply is None
    kept(name="work")
    kept(msgspec.structs.replace(REPLY, parts=(il.TextPart("Other."),)))
    named = Conversation.named("work")
    assert named.reply is not None
    assert named.reply.text == "Hi."
    named.add(["More"], msgspec.structs.replace(REPLY, parts=(il.TextPart("Sure."),)))
    assert [turn.answer for turn in read_turns("work")] == ["Hi.", "Sure."]
    assert [turn.answer for turn in read_turns("2")] == ["Other."]
    assert [(turn.conversation, turn.name) for turn in recent_turns()] == [(1, "work"), (2, None), (1, "work")]


def test_a_turn_can_be_taken_back() -> None:
    """The answer before it is the last one again; without one there is no conversation."""
    conversation = kept(name="work")
    first = conversation.reply
    conversation.add(["More"], msgspec.structs.replace(REPLY, parts=(il.TextPart("Sure."),)))
    conversation.take_back(first)
    assert [turn.answer for turn in read_turns("work")] == ["Hi."]
    conversation.take_back(None)
    assert recent_turns() == []
    conversation.add(["Anew"], REPLY)
    assert [turn.prompt for turn in read_turns("work")] == ["Anew"]


def test_all_words_are_searched_for_as_they_stand() -> None:
    """In prompts and answers, whatever their case; `%` and `_` are characters."""
    for prompt, answer in (("Oslo?", "Rainy, 100%"), ("Bergen?", "Rainy, 100_"), ("oslo again", "sunny")):
        Conversation().add([prompt], msgspec.structs.replace(REPLY, parts=(il.TextPart(answer),)))
    assert [turn.prompt for turn in recent_turns(["OSLO"])] == ["Oslo?", "oslo again"]
    assert [turn.prompt for turn in recent_turns(["rainy", "oslo"])] == ["Oslo?"]
    assert [turn.prompt for turn in recent_turns(["0%"])] == ["Oslo?"]
    assert [turn.prompt for turn in recent_turns(["0_"])] == ["Bergen?"]
    assert [turn.prompt for turn in recent_turns(limit=1)] == ["oslo again"]


def test_the_command_lists_shows_and_deletes(capsys: Capture) -> None:
    """What was asked on the command line, with its model."""
    with use(["It rains.", "A lot."]):
        assert main(["ask", "-m", "fake/x", "--name", "trip", "Weather in Oslo?"]) == 0
        assert main(["ask", "-m", "fake/x", "--name", "trip", "How much?"]) == 0
    capsys.readouterr()
    assert main(["history", "rains"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"1 trip  \d{4}-\d\d-\d\d \d\d:\d\d  fake/x", head)
    assert lines == ["  Weather in Oslo?", "  It rains."]
    assert main(["history", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["name"], row["prompt"], row["answer"]) for row in rows] == [
        ("trip", "Weather in Oslo?", "It rains."),
        ("trip", "How much?", "A lot."),
    ]
    assert main(["history", "--show", "trip"]) == 0
    assert "Weather in Oslo?\n\nIt rains.\n" in capsys.readouterr().out
    assert main(["history", "--delete", "trip"]) == 0
    assert main(["history", "--delete", "trip"]) == 2
    assert main(["history"]) == 0
    assert capsys.readouterr() == (
        "",
        "il: there is no conversation trip; `il history` lists the last turns\nil: no prompts yet\n",
    )


def _no_home(place: str) -> str:
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="its state lies under LOCALAPPDATA")
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A user whom the machine does not know gets the answer and a sentence; what needs a place names the way out."""
    for name in ("INTERLINGUA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", _no_home)
    said = "this user has no home directory; INTERLINGUA_HOME names a place for our files"
    kept()
    assert capsys.readouterr().err == f"il: the conversation is not stored: {said}\n"
    assert main(["models", "list"]) == 2
    assert capsys.readouterr().err == f"il: {said}\n"
    assert list(weights()) == [Finding(None, said)]
    assert _with_database(GatewaySettings()) == GatewaySettings()


def test_a_place_in_the_home_of_nobody(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A place that begins with the home of a user who has none is named, with the way out."""
    monkeypatch.setenv("INTERLINGUA_HOME", "~nobody-of-this-name/x")
    kept()
    said = "INTERLINGUA_HOME=~nobody-of-this-name/x: that user has no home directory; name a place without ~"
    assert capsys.readouterr().err == f"il: the conversation is not stored: {said}\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the places of Linux")
def test_the_place_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without INTERLINGUA_HOME it is the state directory of the user."""
    monkeypatch.delenv("INTERLINGUA_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory() == tmp_path / "interlingua"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_directory() == Path.home() / ".local" / "state" / "interlingua"


def test_bytes_that_are_no_text_are_replaced(home: Path, capsys: Capture) -> None:
    """In names, words and templates; no JSON and no database could hold them."""
    odd = b"trip\xe9".decode(errors="surrogateescape")
    with use("Hi."):
        assert main(["ask", "-m", "fake/x", "--name", odd, odd]) == 0
    assert main(["history", odd]) == 0
    assert main(["history", "--show", odd]) == 0
    assert main(["history", "--delete", odd]) == 0
    assert main(["ask", "--save", "odd", "-s", odd, odd]) == 0
    text = (home / "state" / "templates" / "odd.toml").read_text(encoding="utf-8")
    assert text == 'system = "trip\ufffd"\nprompt = "trip\ufffd"\n'
    assert "internal error" not in capsys.readouterr().err
