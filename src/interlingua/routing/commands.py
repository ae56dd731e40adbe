"""The commands of a store that processes share: Redis or Postgres.

Rules
- Each command is atomic: one command of Redis or one of its scripts, one statement of Postgres.
- Keys are whole names, with the prefix of their link.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

__all__ = [
    "Add",
    "Beat",
    "Command",
    "Count",
    "Counts",
    "CreateKey",
    "Days",
    "Drop",
    "LinkGone",
    "Listed",
    "Put",
    "Read",
    "RestoreKeys",
    "RevokeKey",
    "Steps",
    "Swap",
    "Values",
    "is_address",
]

R = TypeVar("R")
SCHEMES = ("redis", "rediss", "unix", "postgres", "postgresql")
"""Schemes of addresses."""


class Read(NamedTuple):
    """Replied with the value of each key, None where there is none."""

    keys: tuple[str, ...]
    """The keys."""


class Put(NamedTuple):
    """Keep a value for a while."""

    key: str
    """The key."""
    value: bytes
    """The value."""
    keep_ms: int
    """How long it is kept."""


class Add(NamedTuple):
    """Keep a value under keys of which none has one; replied with whether none had."""

    keys: tuple[str, ...]
    """The keys."""
    value: bytes
    """The value."""
    keep_ms: int = 0
    """How long it is kept; 0 is for ever."""


class Drop(NamedTuple):
    """Forget values."""

    keys: tuple[str, ...]
    """The keys."""


class Count(NamedTuple):
    """Add to the counts of a day."""

    room: str
    """The table of counts."""
    day: str
    """The day."""
    keep_s: int
    """How long the day is kept after its last count."""
    counts: tuple[tuple[bytes, int], ...]
    """Names of counts, and how much each grows."""


class Swap(NamedTuple):
    """Write values if all of them are those that were read; replied with 1, else with the values that are there."""

    keys: tuple[str, ...]
    """The keys."""
    before: tuple[bytes, ...]
    """The values as they were read; empty for none."""
    after: tuple[bytes, ...]
    """The values to write; an empty one is dropped."""
    end_ms: int = 0
    """Until which millisecond of Unix time they are kept; 0 is for ever."""
    listing: str = ""
    """The list of names in which a value has its name; empty for none. Only for a single key."""
    name: str = ""
    """The name of the value there."""
    tally: Count | None = None
    """Counts that grow with it, whether the values are written or not; only without a listing."""


class Listed(NamedTuple):
    """Replied with the names in a list of names."""

    listing: str
    """The list of names."""
    now_ms: int
    """The time now, in milliseconds of Unix time."""


class Days(NamedTuple):
    """Replied with the days of a table of counts."""

    room: str
    """The table of counts."""


class Counts(NamedTuple):
    """Replied with the counts of a day by name."""

    room: str
    """The table of counts."""
    day: str
    """The day."""


class CreateKey(NamedTuple):
    """Keep a key of the gateway whose name no other one has; replied with whether it was kept."""

    rooms: tuple[str, ...]
    """Where keys lie, the names of those that work, and their version."""
    name: str
    """The name of the key."""
    digest: str
    """The digest of the key."""
    entry: bytes
    """The key."""


class RevokeKey(NamedTuple):
    """Replace a key that works by its revoked form; replied with whether it worked until now."""

    rooms: tuple[str, ...]
    """Where keys lie, the names of those that work, and their version."""
    name: str
    """The name of the key."""
    digest: str
    """The digest of the key."""
    entry: bytes
    """The key, revoked."""


class RestoreKeys(NamedTuple):
    """Keep keys in a store that has none and no version of them; replied with whether they were kept."""

    rooms: tuple[str, ...]
    """Where keys lie, the names of those that work, and their version."""
    version: int
    """The version that they had."""
    keys: tuple[tuple[str, bytes, str], ...]
    """Digest, entry and name of each; no name where it is revoked."""


class Values(NamedTuple):
    """Replied with the entry of every key."""

    room: str
    """Where keys lie."""


class Beat(NamedTuple):
    """Note that a process lives; replied with the names of those that have been silent."""

    room: str
    """The table of processes."""
    holder: str
    """The name of the process."""
    gone_s: int
    """After so many seconds a process is silent."""
    remembered_s: int
    """After so many it is forgotten."""


Command: TypeAlias = (
    Read
    | Put
    | Add
    | Drop
    | Swap
    | Listed
    | Count
    | Days
    | Counts
    | CreateKey
    | RevokeKey
    | RestoreKeys
    | Values
    | Beat
)
"""One command with its arguments."""
Steps: TypeAlias = Generator[list[Command], list[Any], R]
"""Commands that are sent together, and their replies."""


class LinkGone(Exception):  # noqa: N818 - a state that its caller handles, no error that anybody sees
    """The store does not answer, or did not a moment ago."""


def is_address(place: str) -> bool:
    """Whether a place for state is the address of a store that processes share."""
    return place.partition(":")[0] in SCHEMES
