"""Messages between the workers of one gateway, so that metrics and console are those of all of them.

Rules
- Keys are the same for all workers, so who asks has been checked by the worker that was asked.
- A worker that does not answer is told of as far as it has written down what it counted.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from interlingua.client.state import health_store, shared_link
from interlingua.gateway.console.access import Viewer
from interlingua.gateway.console.feed import Glance
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.records.record import Record
from interlingua.gateway.records.summing import lasting, summed
from interlingua.gateway.serving.peers import Peers
from interlingua.routing.health import Resume, Suspend, TargetHealth

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from interlingua.gateway.console.feed import Feed
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.keys.accounts import Accounts
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.records.metrics import Metrics

__all__ = [
    "Change",
    "found_by_all",
    "glances_of_all",
    "health_of_all",
    "join",
    "page_of_all",
    "tell_all",
    "used_of_all",
]

T = TypeVar("T")
_RANKS = ("open", "probe", "half_open", "benched", "suspended")
"""How a target stands, from well to unwell."""


class _Look(msgspec.Struct, frozen=True):
    """A viewer of the requests of all workers, and up to which request of each it knows."""

    viewer: Viewer
    """The viewer."""
    last: dict[int, int]
    """The last request that is known of each worker."""


class _Wanted(msgspec.Struct, frozen=True):
    """One request that somebody wants to see."""

    viewer: Viewer
    """The viewer."""
    id: str
    """Its id."""


class Change(msgspec.Struct, frozen=True):
    """Targets that an operator takes out, or puts back."""

    targets: list[str]
    """The targets."""
    resumed: bool = False
    """Whether they are put back."""
    for_s: float | None = None
    """How long they are taken out; None for until they are put back."""


@contextmanager
def join(gateway: Gateway, room: Path) -> Generator[None]:
    """Have a gateway be one of the workers that meet in a directory, as long as the block lasts.

    Raises: ConfigError for a directory in which they cannot meet.
    """
    peers = Peers(room)
    peers.answers |= {
        "live": partial(_live, gateway.feed, peers),
        "one": partial(_one, gateway.feed),
        "health": _health,
        "change": _change,
        "used": partial(_used, gateway.admission),
    }
    if gateway.metrics is not None:
        peers.keep = partial(_lasting, gateway.metrics, peers)
        peers.answers["metrics"] = partial(_page, gateway.metrics, peers)
    gateway.peers = peers
    gateway.compose()
    peers.start()
    try:
        yield
    finally:
        gateway.peers = None
        gateway.compose()
        peers.close()


# What the others are told


def _lasting(metrics: Metrics, peers: Peers) -> str:
    return lasting(summed([peers.before, metrics.text()]))


def _page(metrics: Metrics, peers: Peers, about: str) -> bytes:  # noqa: ARG001 - the form of an answer
    peers.write()  # what was told once is never told smaller
    return summed([peers.before, metrics.text(), metrics.health(health_store().snapshot())]).encode()


def _live(feed: Feed, peers: Peers, about: str) -> bytes:
    look = msgspec.json.decode(about, type=_Look)
    return msgspec.json.encode(feed.glance(look.last.get(peers.number, 0), look.viewer))


def _one(feed: Feed, about: str) -> bytes:
    query = msgspec.json.decode(about, type=_Wanted)
    record = feed.find(query.id, query.viewer)
    if record is None or record.content is None:
        return b""
    content = msgspec.structs.replace(record.content, passages=())  # they may be long, and are not shown
    return msgspec.json.encode(msgspec.structs.replace(record, content=content))


def _health(about: str) -> bytes:  # noqa: ARG001 - the form of an answer
    return msgspec.json.encode(health_store().snapshot())


def _change(about: str) -> bytes:
    change = msgspec.json.decode(about, type=Change)
    operation = Resume() if change.resumed else Suspend(change.for_s)
    health_store().apply([(target, operation) for target in change.targets])
    return b"done"


def _used(admission: Admission, about: str) -> bytes:  # noqa: ARG001 - the form of an answer
    return msgspec.json.encode(_rows(admission.accounts))


def _rows(accounts: Accounts) -> list[Row]:
    in_memory: list[Row] = getattr(accounts, "rows", [])
    return in_memory


# What this one asks


async def page_of_all(peers: Peers, own: str) -> str:
    """The metrics of all workers as one page."""
    peers.write()
    answers = await peers.ask("metrics")
    others = {**peers.stored_texts(), **{number: answer.decode() for number, answer in answers.items()}}
    largest = {"interlingua_target_unwell"}
    if shared_link() is not None:  # each of them tells what all of them have let through
        largest.add("interlingua_limit_running")
    return summed([peers.before, own, *others.values()], frozenset(largest))


async def glances_of_all(feed: Feed, peers: Peers | None, viewer: Viewer, last: dict[int, int]) -> dict[int, Glance]:
    """Each worker's requests that a viewer may see, by its number; `last` is the last number of each that is known."""
    if peers is None:
        return {0: feed.glance(last.get(0, 0), viewer)}
    own = feed.glance(last.get(peers.number, 0), viewer)
    return {peers.number: own, **await _ask_workers(peers, "live", _Look(viewer, last), Glance)}


async def found_by_all(feed: Feed, peers: Peers | None, name: str, viewer: Viewer) -> Record | None:
    """The request of an id, with its content, from whichever worker has it; None where a viewer may not see one."""
    record = feed.find(name, viewer)
    if record is not None or peers is None:
        return record
    answers = await _ask_workers(peers, "one", _Wanted(viewer, name), Record)
    return next(iter(answers.values()), None)


async def health_of_all(peers: Peers | None) -> dict[str, TargetHealth]:
    """How targets stand; where workers know different things, what the worst of them is."""
    healths = await health_store().snapshot_async()
    if peers is None:
        return healths
    for others in (await _ask_workers(peers, "health", None, dict[str, TargetHealth])).values():
        for target, health in others.items():
            if target not in healths or _RANKS.index(health.state) > _RANKS.index(healths[target].state):
                healths[target] = health
    return healths


async def tell_all(peers: Peers | None, change: Change) -> None:
    """Have the other workers do what an operator has done here."""
    if peers is not None:
        await peers.ask("change", msgspec.json.encode(change).decode())


async def used_of_all(accounts: Accounts, peers: Peers | None) -> list[Row]:
    """The use of keys that is in no database, of all workers."""
    rows = _rows(accounts)
    if peers is None:
        return rows
    others = await _ask_workers(peers, "used", None, list[Row])
    return [*rows, *[row for rows_of_one in others.values() for row in rows_of_one]]


async def _ask_workers(peers: Peers, question: str, about: Any, kind: type[T]) -> dict[int, T]:
    answers = await peers.ask(question, msgspec.json.encode(about).decode())
    return {number: msgspec.json.decode(answer, type=kind) for number, answer in answers.items()}
