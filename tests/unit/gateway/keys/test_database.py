"""The database of keys: made for its owner alone, read by gateways that run, and never holding the text of a key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import KeptKey, KeyDatabase, check_name, default_file, make_key
from interlingua.gateway.keys.keyring import LOOK_S, KeyRing, merged
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey

TEXT = make_key(lambda size: bytes(range(size)))
KEY = GatewayKey(
    name="team-a",
    hash=hash_key(TEXT),
    models=("smart", "claude-*"),
    terms=Terms(rpm=60, tpm=200_000, concurrency=3, budgets=(read_budget("50 USD/month"),)),
    team="research",
    expires_s=2_000.0,
)


def opened(path: Path, now_s: float = 1_000.0) -> KeyDatabase:
    """The database at a time that stands still."""
    return KeyDatabase(path / "keys.sqlite", now=lambda: now_s)


def test_a_key_is_192_random_bits_with_a_beginning_that_tools_know() -> None:
    """The text is long, plain, and another one each time."""
    assert TEXT == "sk-il-000102030405060708090a0b0c0d0e0f1011121314151617"
    assert make_key() != make_key()


def test_what_was_kept_is_read_and_the_text_is_nowhere(tmp_path: Path) -> None:
    """Every member comes back; of the key the digest is all that any file holds, and files are their owner's alone."""
    with closing(opened(tmp_path)) as database:
        database.create(KEY)
        assert database.all_keys() == [KeptKey(key=KEY, created_s=1_000.0)]
        files = sorted(tmp_path.iterdir())
        assert [path.name for path in files] == ["keys.sqlite", "keys.sqlite-shm", "keys.sqlite-wal"]
        for path in files:
            assert path.stat().st_mode & 0o777 == 0o600
            assert TEXT.encode() not in path.read_bytes()
            assert TEXT.removeprefix("sk-il-").encode() not in path.read_bytes()
    assert TEXT not in repr(KEY)


def test_a_name_is_given_once_until_it_is_revoked(tmp_path: Path) -> None:
    """A second key of a name is refused; a revoked one stays in the list."""
    with closing(opened(tmp_path)) as database:
        database.create(KEY)
        other = GatewayKey(name="team-a", hash=hash_key("other"))
        with pytest.raises(UsageError, match="there is a key team-a; revoke it first"):
            database.create(other)
        before = database.version()
        database.revoke("team-a")
        assert database.version() == before + 1
        with pytest.raises(UsageError, match="there is no key 'team-a' that works"):
            database.revoke("team-a")
        database.create(other)
        assert [(kept.key.hash, kept.key.revoked_s) for kept in database.all_keys()] == [
            (KEY.hash, 1_000.0),
            (other.hash, None),
        ]


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "ä", "a" * 65, "a\nb", "key:a"])
def test_sec_11_a_name_cannot_be_taken_for_anything_else(name: str) -> None:
    """No spaces, slashes, colons or line breaks: names stand in logs, headers and accounts."""
    with pytest.raises(UsageError, match="a key is named by"):
        check_name(name)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    """Other files, later versions and folders are told apart from keys."""
    path = tmp_path / "keys.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(ConfigError, match="is no file of keys"):
        opened(tmp_path)
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="was written by a later version"):
        opened(tmp_path)
    with pytest.raises(ConfigError, match=rf"^the keys in {tmp_path.name} cannot be opened: Is a directory$"):
        KeyDatabase(tmp_path, now=lambda: 0.0)


def test_a_full_disk_is_told_and_leaves_what_there_was(tmp_path: Path) -> None:
    """A key that was not kept is none, and the file takes the next one."""
    database = opened(tmp_path)
    connection: sqlite3.Connection = vars(database)["_connection"]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ConfigError) as caught:
        database.create(GatewayKey(name="a", hash=hash_key("a"), models=("m" * 100_000,)))
    assert str(caught.value) == "the keys in keys.sqlite cannot be written: database or disk is full"
    connection.execute("PRAGMA max_page_count = 1000000")
    database.create(GatewayKey(name="b", hash=hash_key("b")))
    assert [kept.key.name for kept in database.all_keys()] == ["b"]
    database.close()


def test_a_file_that_was_replaced_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is open is another file than the one that lies there: its keys go on, and no key of the new one counts."""
    now_s = 0.0
    with closing(opened(tmp_path)) as database:
        database.create(KEY)
        ring = KeyRing((), database, clock=lambda: now_s)
        database.path.rename(tmp_path / "before.sqlite")
        for replace in (lambda: None, lambda: opened(tmp_path).close(), lambda: None):
            replace()
            now_s += LOOK_S
            assert [key.name for key in ring.keys] == ["team-a"]
    told = "keys.sqlite was replaced or taken away; start the gateway again to read what is there"
    assert [record.getMessage() for record in caplog.records] == [f"keys are taken as they were: {told}"]


def test_keys_lie_where_state_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One documented place for each user."""
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))
    assert default_file() == tmp_path / "state" / "keys.sqlite"


# Keys of a file and of a database together


def test_the_file_wins_and_says_so() -> None:
    """A name in the file hides the database's key as a whole; revoked ones are not worth a word."""
    of_file = GatewayKey(name="team-a", hash=hash_key("file"))
    other, revoked = GatewayKey(name="b", hash="b"), GatewayKey(name="team-a", hash="gone", revoked_s=1.0)
    found = merged([of_file], [KEY, other, revoked])
    assert (set(found.keys), found.passed_over) == ({of_file.hash, "b"}, ("team-a",))
    assert merged([], [KEY]) == ({KEY.hash: KEY}, ())


def test_keys_stay_known_where_the_database_cannot_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who has a key is served on, and the log says why nothing new is seen; a gateway that begins does not begin."""
    now_s = 0.0
    database = opened(tmp_path)
    database.create(KEY)
    ring = KeyRing((), database, clock=lambda: now_s)
    database.close()
    now_s = LOOK_S
    assert ring.find(KEY.hash) == KEY
    assert "keys are taken as they were: the keys in keys.sqlite cannot be read" in caplog.text
    with pytest.raises(ConfigError, match="cannot be read"):
        KeyRing((), database, clock=lambda: now_s)


def test_a_gateway_that_runs_sees_what_is_done_within_a_second(tmp_path: Path) -> None:
    """A new key counts, a revoked one does not any more, and revoking the last one does not open the gateway."""
    now_s = 0.0
    with closing(opened(tmp_path)) as database, closing(opened(tmp_path)) as seen:
        ring = KeyRing((), seen, clock=lambda: now_s)
        assert not ring
        database.create(KEY)
        assert ring.find(KEY.hash) is None
        now_s = LOOK_S
        assert ring.find(KEY.hash) == KEY
        database.revoke("team-a")
        now_s = 2 * LOOK_S
        found = ring.find(KEY.hash)
        assert found is not None
        assert found.revoked_s == 1_000.0
        assert ring
        assert ring.passed_over == ()
        assert [key.name for key in ring.keys] == ["team-a"]
