"""`il keys`: one line makes a key, and everything that was done and used can be looked at."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from interlingua.cli.main import main
from interlingua.gateway.config import read_server_config
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import KeyDatabase

CREATE = (
    "keys", "create", "team-a", "--models", "smart, claude-*", "--rpm", "60", "--tpm", "200k", "--concurrency", "4",
    "--budget", "50 USD/month", "--budget", "2M tokens/day", "--expires", "2999-01-31", "--team", "research",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))


def _told(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    told = capsys.readouterr()
    return told.out, told.err


def test_a_key_is_made_shown_once_and_listed_without_its_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stdout is the key alone, so that a script can take it; no list and no file has it."""
    assert main(CREATE) == 0
    out, err = _told(capsys)
    key = out.strip()
    assert key.startswith("sk-il-")
    assert len(key) == 54
    assert key not in err
    assert f'hash = "{hash_key(key)}"' in err
    assert main(["keys", "list"]) == 0
    assert main(["keys", "list", "--json"]) == 0
    out, err = _told(capsys)
    assert key not in out + err
    table, _, told = out.partition("[\n")
    assert table.splitlines()[1].split("  ") == [
        "team-a",
        "database",
        "works",
        "smart, claude-*",
        "60 requests/min, 200,000 tokens/min, 4 at a time, 50.00 USD/month, 2,000,000 tokens/day",
        "research",
        "2999-02-01T00:00:00Z",
    ]
    (listed,) = json.loads("[" + told)
    assert (listed["name"], listed["models"], listed["rpm"], listed["state"], listed["source"]) == (
        "team-a",
        ["smart", "claude-*"],
        60,
        "works",
        "database",
    )
    for path in (tmp_path / "state").iterdir():
        assert key.encode() not in path.read_bytes()


def test_what_is_shown_for_a_file_is_the_whole_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Copied into the file, the lines are the key that was made: limits, end and team, not the digest alone."""
    assert main(CREATE) == 0
    _, err = _told(capsys)
    lines = [line.removeprefix("      ") for line in err.splitlines() if line.startswith("      ")]
    assert lines[0] == "[keys.team-a]"
    path = tmp_path / "gateway.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    (of_file,) = read_server_config(path).settings.keys
    with closing(KeyDatabase(tmp_path / "state" / "keys.sqlite", now=lambda: 0.0)) as database:
        (kept,) = database.all_keys()
    assert of_file == kept.key
    assert "the team research has no limits but those that [teams.research] of the file that" in err


def test_a_key_with_a_bound_on_bodies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told, listed, and in the lines for the file."""
    assert main(["keys", "create", "ci", "--max-body", "1M"]) == 0
    assert main(["keys", "list", "--json"]) == 0
    out, err = _told(capsys)
    assert "1,000,000 bytes a body" in err
    assert "max_body_bytes = 1000000\n" in err
    assert json.loads(out[out.index("[\n") :])[0]["max_body_bytes"] == 1_000_000
    with closing(KeyDatabase(tmp_path / "state" / "keys.sqlite", now=lambda: 0.0)) as database:
        (kept,) = database.all_keys()
    assert kept.key.terms.max_body_bytes == 1_000_000
    assert main(["keys", "list", "--max-body", "1M"]) == 2
    assert "keys list: --max-body belongs to create" in _told(capsys)[1]


def test_a_key_that_would_never_work_is_not_made(capsys: pytest.CaptureFixture[str]) -> None:
    """An end in the past is a mistake."""
    assert main(["keys", "create", "ci", "--expires", "2020-01-01"]) == 2
    assert main(["keys", "list"]) == 0
    out, err = _told(capsys)
    assert out == ""
    assert "--expires 2020-01-01 has passed; such a key would never work" in err


def test_the_first_key_says_that_gateways_begin_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that run began without the database, so that they serve without a key; the next one says nothing."""
    path = tmp_path / "state" / "keys.sqlite"
    assert main(["keys", "revoke", "ci"]) == 2
    assert main(["keys", "create", "ci"]) == 0
    _, err = _told(capsys)
    assert f"there is no database of keys at {path}" in err
    assert f"{path} is new: a gateway that runs began without it, and has to be started again" in err
    assert main(["keys", "create", "other"]) == 0
    assert "is new" not in _told(capsys)[1]


def test_one_key_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """By its name; a name that nobody has is a mistake."""
    for name in ("ci", "other"):
        assert main(["keys", "create", name]) == 0
    _told(capsys)
    assert main(["keys", "list", "ci"]) == 0
    assert main(["keys", "list", "nobody"]) == 2
    out, err = _told(capsys)
    assert [line.split()[0] for line in out.splitlines()] == ["key", "ci"]
    assert "there is no key nobody" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("list", "--since", "2026-11-01"), "keys list: --since belongs to usage"),
        (("usage", "--rpm", "5"), "keys usage: --rpm belongs to create"),
        (
            ("list", "--state", "memory"),
            "keys are shared by --state redis://… or postgresql://…; a file of keys is named by --keys",
        ),
    ],
)
def test_what_means_nothing_is_refused(words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In one sentence, before anything is opened."""
    assert main(["keys", *words]) == 2
    assert told in _told(capsys)[1]


def test_json_has_the_key_and_what_it_may(capsys: pytest.CaptureFixture[str]) -> None:
    """A script gets one object."""
    assert main(["keys", "create", "ci", "--json", "--expires", "90d"]) == 0
    told = json.loads(_told(capsys)[0])
    assert (told["name"], told["models"], told["rpm"], told["key"][:6]) == ("ci", ["*"], None, "sk-il-")


def test_a_revoked_key_stays_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """What was done can be seen; a second revocation is a mistake."""
    assert main(["keys", "create", "ci"]) == 0
    assert main(["keys", "revoke", "ci"]) == 0
    assert main(["keys", "revoke", "ci"]) == 2
    assert main(["keys", "list"]) == 0
    out, err = _told(capsys)
    assert "ci   database  revoked  *" in out
    assert "the key ci is revoked; a gateway that runs knows it within a second" in err
    assert "there is no key 'ci' that works" in err


def test_the_file_wins_and_the_list_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both keys are shown, and which of them is taken."""
    path = tmp_path / "gateway.toml"
    path.write_text(f'[keys.ci]\nhash = "{hash_key("x")}"\nrpm = 5\n', encoding="utf-8")
    assert main(["keys", "create", "ci", "--config", str(path)]) == 0
    assert main(["keys", "list", "--config", str(path)]) == 0
    out, err = _told(capsys)
    assert "has a key ci, which wins: this one will not be taken" in err
    assert "the file wins, and this one is not taken" in err
    assert "ci   file      works                        *       5 requests/min" in out
    assert "ci   database  not taken: the file has one" in out


def test_usage_shows_days_and_budgets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tokens and money of each day, and what is left of every budget of a key and its team."""
    path = tmp_path / "gateway.toml"
    path.write_text('[teams.research]\nbudget = "500 USD/month"\n', encoding="utf-8")
    assert main(CREATE) == 0
    with closing(sqlite3.connect(tmp_path / "state" / "keys.sqlite")) as database, database:
        database.execute(
            "INSERT INTO usage VALUES ('team-a', '2026-11-22', 'openai/m', 3, 1, 1200, 340, 0, 1500000, 1)"
        )
    _told(capsys)
    assert main(["keys", "usage", "team-a", "--config", str(path)]) == 0
    out, _ = _told(capsys)
    assert out.splitlines()[1] == "team-a  2026-11-22  openai/m  3         1       1,200  340     0.001500 USD +"
    assert "key team-a     50.00 USD/month       0.00 USD  0.00 USD  50.00 USD" in out
    assert "team research  500.00 USD/month      0.00 USD  0.00 USD  500.00 USD" in out
    assert main(["keys", "usage", "--json", "--since", "2026-11-22"]) == 0
    told = json.loads(_told(capsys)[0])
    assert told["usage"] == [
        {
            "key": "team-a",
            "day": "2026-11-22",
            "model": "openai/m",
            "requests": 3,
            "failed": 1,
            "input_tokens": 1200,
            "output_tokens": 340,
            "estimated": 0,
            "unpriced": 1,
            "cost_usd": 0.0015,
        }
    ]
    assert [(budget["of"], budget["used"], budget["left"]) for budget in told["budgets"]] == [
        ("key:team-a", 0.0, 50.0),
        ("key:team-a", 0, 2_000_000),
    ]
    assert main(["keys", "usage", "team-a", "--since", "2026-11-23"]) == 0
    assert "nothing was used" in _told(capsys)[1]


def test_looking_makes_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are no keys, the commands that look say so."""
    assert main(["keys", "list"]) == 0
    assert main(["keys", "usage", "--json"]) == 0
    out, err = _told(capsys)
    assert out == "[]\n"
    assert "yet; il keys create NAME makes one" in err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["create"], "keys create: which key? il keys create NAME"),
        (["revoke"], "keys revoke: which key?"),
        (["list", "--rpm", "5"], "keys list: --rpm belongs to create"),
        (["create", "a b"], "a key is named by up to 64 letters"),
        (["create", "a", "--rpm", "0"], "--rpm is a whole number from 1 on"),
        (["create", "a", "--budget", "5 EUR"], "a budget is `50 USD/month`"),
        (["create", "a", "--expires", "soon"], "an end is 90d, 12h or 2027-01-31, not 'soon'"),
        (["usage", "--since", "today", "--config", "/dev/null"], "--since takes a day, as 2026-11-01, not today"),
        (["usage", "nobody", "--config", "/dev/null"], "there is no key nobody, and nothing was used under that name"),
        (["destroy"], "invalid choice"),
    ],
)
def test_what_makes_no_sense_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and the way out."""
    assert main(["keys", *words]) == 2
    assert told in _told(capsys)[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a/b"], "a key is named by up to 64 letters, digits and . _ @ -, as team-a, not 'a/b'"),
        (["a", "--models", " , "], "--models names none; a key without it may ask for any"),
        (["a", "--rpm", "0"], "--rpm is a whole number from 1 on, as 60, 200k or 1.5M, not '0'"),
        (["a", "--expires", "2020-01-01"], "--expires 2020-01-01 has passed; such a key would never work"),
    ],
)
def test_what_describes_no_key_makes_neither_key_nor_database(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty variable in a script gives no key for every model, and nothing is written before all is checked."""
    assert main(["keys", "create", *words]) == 2
    assert _told(capsys) == ("", f"il: {told}\n")
    assert list(tmp_path.iterdir()) == []
