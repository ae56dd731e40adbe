"""The use of keys, in Redis or Postgres: one table for all gateways, by day.

Shape: a hash for each day, in which a field is a JSON list of key, model and the name of a count; a set of the days.

Rules
- Counts are only added to, by one script for each day, so that no two gateways write over one another.
- A day is kept for 400 days after it was counted in last.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.gateway.keys.accounts import COUNTS, Row, chosen
from interlingua.routing.commands import Count, Counts, Days
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.routing.commands import Steps
    from interlingua.routing.link import Link

__all__ = ["KEEP_DAYS", "count_commands", "usage_steps"]

KEEP_DAYS = 400
"""How long a day is kept."""


def _room(link: Link) -> str:
    return f"{link.prefix}{{accounts}}:used"


def count_commands(link: Link, rows: Iterable[Row]) -> list[Count]:
    """Commands that add rows to those that are there."""
    days: dict[str, list[tuple[bytes, int]]] = defaultdict(list)
    for row in rows:
        for name in COUNTS:
            count: int = getattr(row, name)
            if count:
                days[row.day].append((encode([row.key, row.model, name]), count))
    room = _room(link)
    return [Count(room, day, KEEP_DAYS * 86_400, tuple(counts)) for day, counts in days.items()]


def usage_steps(link: Link, key: str = "", since: str = "") -> Steps[list[Row]]:
    """Rows of use by key, day and model; of one key where it is named, from a day on."""
    room = _room(link)
    (named,) = yield [Days(room)]
    days = sorted(day for day in [name.decode() for name in named] if day >= since)
    if not days:
        return []
    hashes = yield [Counts(room, day) for day in days]
    rows: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for day, counts in zip(days, hashes, strict=True):
        for field, count in counts.items():
            name = _read(field)
            if name is not None:
                rows[name[0], day, name[1]][name[2]] = int(count)
    return chosen([Row(key=name, day=day, model=model, **counts) for (name, day, model), counts in rows.items()], key)


def _read(field: bytes) -> tuple[str, str, str] | None:
    """Key, model and the name of a count; None for what another version wrote."""
    try:
        name = decode(field, tuple[str, str, str])
    except (DecodeError, LimitExceededError):
        return None
    return name if name[2] in COUNTS else None
