"""The tables of shared state in Postgres, and the statement of each command.

Shape: `interlingua_values` holds values by key until their end, `interlingua_counts` counts by table, day and name. One
function, `interlingua_swap`, compares and writes several values; every other command is a single statement.

Rules
- Keys and names are bytes, and those beyond 160 bytes are shortened to a digest: no text of a client is too long or has
  a character that a column refuses.
- Swaps of one key follow one another (advisory locks, taken in the order of the keys), also where the key is not there.
- Times of ends are compared with the clock of Postgres.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

from interlingua.routing.commands import (
    Add,
    Beat,
    Command,
    Count,
    Counts,
    CreateKey,
    Days,
    Drop,
    Listed,
    Put,
    Read,
    RestoreKeys,
    RevokeKey,
    Swap,
    Values,
)

__all__ = ["SETUP", "SWEEPS", "VERSION", "Rows", "Statement", "reply", "statement"]

Rows: TypeAlias = list[tuple[Any, ...]]
Statement: TypeAlias = tuple[str, tuple[Any, ...] | None]
"""A statement and its parameters."""
VERSION = 1
"""The version of the tables."""
_MAX_KEY_BYTES = 160
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_LIVES = f"(ends IS NULL OR ends > {_NOW})"

SETUP = f"""
SELECT pg_advisory_xact_lock(hashtextextended('interlingua setup', 0));
CREATE TABLE IF NOT EXISTS interlingua_version (version integer NOT NULL);
CREATE TABLE IF NOT EXISTS interlingua_values (
  key bytea PRIMARY KEY, value bytea NOT NULL, ends bigint, listing bytea, name bytea
);
CREATE INDEX IF NOT EXISTS interlingua_values_listing ON interlingua_values (listing) WHERE listing IS NOT NULL;
CREATE INDEX IF NOT EXISTS interlingua_values_ends ON interlingua_values (ends) WHERE ends IS NOT NULL;
CREATE TABLE IF NOT EXISTS interlingua_counts (
  room bytea, day text, mark bytea, name bytea NOT NULL, count bigint NOT NULL, ends bigint NOT NULL,
  PRIMARY KEY (room, day, mark)
);
CREATE OR REPLACE FUNCTION interlingua_swap(
  keys bytea[], before bytea[], after bytea[], end_ms bigint, new_listing bytea, new_name bytea
) RETURNS bytea[] LANGUAGE plpgsql AS $body$
DECLARE present bytea[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(encode(one, 'hex'), 0))
    FROM (SELECT one FROM unnest(keys) AS one ORDER BY one) AS ordered;
  SELECT array_agg(coalesce(stored.value, ''::bytea) ORDER BY asked.place) INTO present
    FROM unnest(keys) WITH ORDINALITY AS asked (key, place)
    LEFT JOIN interlingua_values AS stored ON stored.key = asked.key AND {_LIVES};
  IF present <> before THEN RETURN present; END IF;
  DELETE FROM interlingua_values AS stored USING unnest(keys, after) AS written (key, value)
    WHERE stored.key = written.key AND written.value = ''::bytea;
  INSERT INTO interlingua_values AS stored (key, value, ends, listing, name)
    SELECT written.key, written.value, end_ms, new_listing, new_name
    FROM unnest(keys, after) AS written (key, value) WHERE written.value <> ''::bytea
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends,
      listing = excluded.listing, name = excluded.name;
  RETURN NULL;
END
$body$;
INSERT INTO interlingua_version SELECT {VERSION} WHERE NOT EXISTS (SELECT 1 FROM interlingua_version);
"""  # noqa: S608 - our own names
"""Makes the tables that are not there; one transaction, and one process at a time."""
SWEEPS = tuple(
    f"DELETE FROM {table} WHERE ctid IN (SELECT ctid FROM {table} WHERE ends <= {_NOW} LIMIT 10000)"  # noqa: S608 - our own names
    for table in ("interlingua_values", "interlingua_counts")
)
"""Deletes values that have ended."""
_UPSERT = " ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends"
_LIST = "SELECT name FROM interlingua_values WHERE listing = %s AND"
_TURN = (
    " INSERT INTO interlingua_values AS stored (key, value) SELECT %s, '1' FROM {0} ON CONFLICT (key) DO UPDATE"
    " SET value = convert_to((convert_from(stored.value, 'UTF8')::bigint + 1)::text, 'UTF8') RETURNING 1"
)
_READ = f"SELECT key, value FROM interlingua_values WHERE key = ANY(%s::bytea[]) AND {_LIVES}"  # noqa: S608 - our own names
_PUT = f"INSERT INTO interlingua_values (key, value, ends) VALUES (%s, %s, {_NOW} + %s)" + _UPSERT  # noqa: S608 - our own names
_ADD = (
    "SELECT 1 WHERE interlingua_swap("
    f"%s::bytea[], %s::bytea[], %s::bytea[], {_NOW} + %s::bigint, NULL::bytea, NULL::bytea) IS NULL"
)
_DROP = "DELETE FROM interlingua_values WHERE key = ANY(%s::bytea[])"
_SWAP = "SELECT interlingua_swap(%s::bytea[], %s::bytea[], %s::bytea[], %s::bigint, %s::bytea, %s::bytea)"
_LISTED = f"{_LIST} (ends IS NULL OR ends > %s)"
_COUNT = (
    "INSERT INTO interlingua_counts AS stored (room, day, mark, name, count, ends)"  # noqa: S608 - our own names
    f" SELECT %s, %s, one.mark, one.name, one.count, {_NOW} + %s"
    " FROM unnest(%s::bytea[], %s::bytea[], %s::bigint[]) AS one (mark, name, count) ORDER BY one.mark"
    " ON CONFLICT (room, day, mark) DO UPDATE SET count = stored.count + excluded.count, ends = excluded.ends"
)
_DAYS = f"SELECT DISTINCT day FROM interlingua_counts WHERE room = %s AND {_LIVES}"  # noqa: S608 - our own names
_COUNTS = "SELECT name, count FROM interlingua_counts WHERE room = %s AND day = %s"
_CREATE = (
    "WITH named AS (INSERT INTO interlingua_values (key, value) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING 1),"  # noqa: S608 - our own names
    " written AS (INSERT INTO interlingua_values (key, value, listing) SELECT %s, %s, %s FROM named"
    f"{_UPSERT}){_TURN.format('named')}"
)
_REVOKE = (
    "WITH gone AS (DELETE FROM interlingua_values WHERE key = %s AND value = %s RETURNING 1),"  # noqa: S608 - our own names
    f" written AS (INSERT INTO interlingua_values (key, value, listing) SELECT %s, %s, %s FROM gone{_UPSERT})"
    f"{_TURN.format('gone')}"
)
_RESTORE = (
    "WITH first AS (INSERT INTO interlingua_values (key, value) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING 1),"  # noqa: S608 - our own names
    " entries AS (INSERT INTO interlingua_values (key, value, listing) SELECT one.key, one.value, %s"
    f" FROM first, unnest(%s::bytea[], %s::bytea[]) AS one (key, value){_UPSERT}),"
    " named AS (INSERT INTO interlingua_values (key, value) SELECT one.key, one.value"
    f" FROM first, unnest(%s::bytea[], %s::bytea[]) AS one (key, value){_UPSERT}) SELECT 1 FROM first"
)
_VALUES = f"SELECT value FROM interlingua_values WHERE listing = %s AND {_LIVES}"  # noqa: S608 - our own names
_BEAT = (
    "WITH heard AS (INSERT INTO interlingua_values (key, value, ends, listing, name)"  # noqa: S608 - our own names
    f" VALUES (%s, '1', {_NOW} + %s, %s, %s){_UPSERT})"
    f" {_LIST} {_LIVES} AND ends <= {_NOW} + %s AND name <> %s"
)


def _stored(key: str) -> bytes:
    """A key as it lies in a column."""
    raw = key.encode()
    return raw if len(raw) <= _MAX_KEY_BYTES else raw[:64] + sha256(raw).digest()


def _add(add: Add) -> Statement:
    count = len(add.keys)
    return _ADD, ([_stored(key) for key in add.keys], [b""] * count, [add.value] * count, add.keep_ms or None)


def _swap(swap: Swap) -> Statement:
    listing = (swap.listing.encode(), swap.name.encode()) if swap.listing else (None, None)
    keys = [_stored(key) for key in swap.keys]
    parameters = (keys, list(swap.before), list(swap.after), swap.end_ms or None, *listing)
    if swap.tally is None:
        return _SWAP, parameters
    text, counts = _count(swap.tally)  # carried out behind the swap, as all that is beside a SELECT
    return f"WITH counted AS ({text}) {_SWAP}", (*counts, *parameters)


def _count(count: Count) -> tuple[str, tuple[Any, ...]]:
    names = [name for name, _ in count.counts]
    marks = [sha256(name).digest() for name in names]
    amounts = [amount for _, amount in count.counts]
    return _COUNT, (count.room.encode(), count.day, count.keep_s * 1000, marks, names, amounts)


def _create(key: CreateKey) -> Statement:
    entries, names, version = key.rooms
    digest = key.digest.encode()
    entry = (_stored(f"{entries}:{key.digest}"), key.entry, entries.encode())
    return _CREATE, (_stored(f"{names}:{key.name}"), digest, *entry, _stored(version))


def _revoke(key: RevokeKey) -> Statement:
    _, parameters = _create(CreateKey(*key))
    return _REVOKE, parameters


def _restore(restore: RestoreKeys) -> Statement:
    entries, names, version = restore.rooms
    keys = [_stored(f"{entries}:{digest}") for digest, _, _ in restore.keys]
    working = [(name, digest) for digest, _, name in restore.keys if name]
    return _RESTORE, (
        *(_stored(version), str(restore.version).encode(), entries.encode()),
        *(keys, [entry for _, entry, _ in restore.keys]),
        *([_stored(f"{names}:{name}") for name, _ in working], [digest.encode() for _, digest in working]),
    )


def _beat(beat: Beat) -> Statement:
    room, holder = beat.room.encode(), beat.holder.encode()
    remembered_ms = beat.remembered_s * 1000
    silent_ms = remembered_ms - beat.gone_s * 1000
    return _BEAT, (_stored(f"{beat.room}:{beat.holder}"), remembered_ms, room, holder, room, silent_ms, holder)


_STATEMENTS: dict[type, Callable[[Any], Statement]] = {
    Read: lambda read: (_READ, ([_stored(key) for key in read.keys],)),
    Put: lambda put: (_PUT, (_stored(put.key), put.value, put.keep_ms)),
    Add: _add,
    Drop: lambda drop: (_DROP, ([_stored(key) for key in drop.keys],)),
    Swap: _swap,
    Listed: lambda listed: (_LISTED, (listed.listing.encode(), listed.now_ms)),
    Count: _count,
    Days: lambda days: (_DAYS, (days.room.encode(),)),
    Counts: lambda counts: (_COUNTS, (counts.room.encode(), counts.day)),
    CreateKey: _create,
    RevokeKey: _revoke,
    RestoreKeys: _restore,
    Values: lambda values: (_VALUES, (values.room.encode(),)),
    Beat: _beat,
}


def statement(command: Command) -> Statement:
    """The statement of a command, and its parameters."""
    return _STATEMENTS[type(command)](command)


def _read_reply(read: Read, rows: Rows) -> list[bytes | None]:
    by_key = dict(rows)
    return [by_key.get(_stored(key)) for key in read.keys]


def _column(_: Command, rows: Rows) -> list[Any]:
    return [row[0] for row in rows]


_REPLIES: dict[type, Callable[[Any, Rows], Any]] = {
    Read: _read_reply,
    Swap: lambda _, rows: 1 if rows[0][0] is None else rows[0][0],
    Listed: _column,
    Days: lambda _, rows: [row[0].encode() for row in rows],
    Counts: lambda _, rows: dict(rows),
    Values: _column,
    Beat: _column,
}


def reply(command: Command, rows: Rows) -> object:
    """The reply to a command, from the rows of its statement."""
    make = _REPLIES.get(type(command))
    return make(command, rows) if make else bool(rows)
