"""What a dialect says of its vendor's batches: limits, paths, bodies, states and results, as pure functions.

A batch is many requests that are handed over at once, answered within a day, and paid at half the price.

Rules
- Nothing here sends anything: a function gives the call to be made, another one reads its reply. Handing a batch over
  may take several calls; that is a generator, which yields each call and is sent its reply.
- Only replies that succeeded are sent in and read; whoever makes the calls turns the others into errors.
- The result of a request is a reply as a live call would have had it, so that one decoder reads both.

Not responsible for: which requests go together, waiting, asking again (`client.batch`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import msgspec

from interlingua.errors import DecodeError
from interlingua.wire.http import Headers, HttpReply

if TYPE_CHECKING:
    from interlingua.dialects._contract import Encoded, Quirks
    from interlingua.dialects._service import Service

__all__ = [
    "BatchCall",
    "BatchInfo",
    "BatchOrder",
    "BatchPage",
    "BatchResult",
    "BatchState",
    "Batches",
    "Submission",
    "batches_of",
    "counts_at",
    "list_at",
    "member",
    "object_at",
    "text_at",
    "unix_time",
    "whole_number",
]

BatchState: TypeAlias = Literal["running", "ended", "failed"]
"""`ended` has results, for some requests at least; `failed` has none, and ran nothing."""


class BatchCall(NamedTuple):
    """A call to be made about batches."""

    path: str
    """What follows the provider's base URL."""
    method: str = "GET"
    """GET, POST, …"""
    body: bytes = b""
    """The whole body."""
    headers: Headers = ()
    """Headers that the call needs beside its credential."""


class BatchOrder(NamedTuple):
    """Requests that are to be handed over as one batch."""

    mark: str
    """Our own word for it, by which it is found again where the service keeps such a word."""
    lines: list[bytes]
    """Each request, as `Batches.line` writes it."""
    path: str
    """What follows the base URL in a live call; all requests have the same."""
    model: str
    """The model, which is the same for all."""
    headers: Headers = ()
    """Headers that the dialect demands for these requests."""


class BatchInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A batch, as its service shows it."""

    id: str
    """Its id at the service."""
    state: BatchState
    """How far it is."""
    status: str
    """The service's own word for that."""
    mark: str | None = None
    """Our own word for it; None where the service keeps none."""
    created_at: float | None = None
    """When it was handed over, in Unix seconds; None where nobody says."""
    total: int | None = None
    """How many requests it has; None where nobody says."""
    done: int | None = None
    """How many of them were answered; None where nobody says."""
    message: str = ""
    """Why it failed."""
    is_over_quota: bool = False
    """Whether it failed since too much of this account is being worked on: later it may be taken."""
    results: tuple[BatchCall, ...] = ()
    """The calls that fetch its results."""


class BatchPage(NamedTuple):
    """A page of the list of batches, the newest first."""

    batches: list[BatchInfo]
    """The batches."""
    next: str = ""
    """Where the next page begins; empty at the end."""


class BatchResult(NamedTuple):
    """What became of one request of a batch."""

    custom_id: str
    """The id that it was given when it was handed over."""
    reply: HttpReply | None
    """The reply, as a live call would have had it; None for a request that was never run: expired or cancelled."""


Submission: TypeAlias = Generator[BatchCall, HttpReply, BatchInfo]
"""The calls that hand a batch over, to the batch."""


class Batches(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The batches of one service."""

    max_requests: int
    """The most requests of one batch."""
    max_bytes: int
    """The most bytes of its lines, each with a line end."""
    line: Callable[[str, Encoded], bytes]
    """A request with its id, as it stands among the others."""
    submit: Callable[[BatchOrder], Submission]
    """Hand a batch over."""
    show: Callable[[str], BatchCall]
    """The call that shows the batch of that id."""
    read: Callable[[HttpReply], BatchInfo]
    """The batch that a reply shows."""
    list: Callable[[str], BatchCall]
    """The call for a page of the list, by where it begins."""
    read_list: Callable[[HttpReply], BatchPage]
    """The page that a reply holds."""
    cancel: Callable[[str], BatchCall]
    """The call that cancels the batch of that id."""
    results: Callable[[HttpReply], Iterator[BatchResult]]
    """What became of each request, as a reply to one of `BatchInfo.results` tells it. Raises DecodeError."""


def batches_of(service: Service, quirks: Quirks) -> Batches | None:
    """The batches of a server that speaks a dialect, loaded with the first question; None where it has none."""
    module = service.batches.get(quirks.batches)
    return None if module is None else cast("Batches", import_module(module).BATCHES)


def member(parent: Any, *names: str) -> Any:
    """What stands below these members; None where one is missing or no object."""
    value: object = parent
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def object_at(parent: Any, *names: str) -> dict[str, Any]:
    """The object that stands below these members; an empty one for anything else."""
    value: object = member(parent, *names)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def list_at(parent: Any, *names: str) -> list[Any]:
    """The list that stands below these members; an empty one for anything else."""
    value: object = member(parent, *names)
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_at(parent: Any, *names: str) -> str:
    """The text that stands below these members.

    Raises: DecodeError, with the place, where there is none.
    """
    value = member(parent, *names)
    if not isinstance(value, str):
        raise DecodeError("a text is missing", path="/" + "/".join(names))
    return value


def counts_at(parent: Any, *names: str) -> dict[str, int]:
    """The counts that stand below these members, by their names."""
    return {name: whole_number(count) or 0 for name, count in object_at(parent, *names).items()}


def whole_number(value: object) -> int | None:
    """A count, also one that was written as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if type(value) is int else None


def unix_time(text: object) -> float | None:
    """The moment of a date as RFC 3339 writes it, in Unix seconds; None for anything else."""
    from datetime import datetime  # only who looks for a batch by its time needs it

    try:
        return datetime.fromisoformat(str(text)).timestamp() if text else None
    except ValueError:
        return None
