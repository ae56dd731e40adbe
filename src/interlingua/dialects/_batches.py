"""Batches of a dialect's vendor: limits, paths, bodies, states and results, as pure functions.

A batch is many requests that are handed over at once, answered within a day, and paid at half the price.

Rules
- Nothing here sends anything: a function gives the call to be made, another one reads its reply.
- Only replies that succeeded are sent in and read; whoever makes the calls turns the others into errors.
- The result of a request is a reply as a live call would have had it, so that one decoder reads both.
- Ids of a service become paths, lines of the journal and cells of a table: what is no plain word is a DecodeError.
- Whatever a service says for people is one line with a bound.

Not responsible for: which requests go together, waiting, asking again (`client.batch`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeGuard, cast

import msgspec

from interlingua.errors import DecodeError, WireError, redact
from interlingua.wire.http import Headers, HttpReply
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from interlingua.dialects._contract import Encoded, Quirks
    from interlingua.dialects._service import Service

__all__ = [
    "BatchCall",
    "BatchFiles",
    "BatchInfo",
    "BatchOrder",
    "BatchPage",
    "BatchResult",
    "BatchState",
    "Batches",
    "StrangeEntry",
    "batches_of",
    "counts_at",
    "id_at",
    "is_id",
    "list_at",
    "member",
    "object_at",
    "page_of",
    "plain_line",
    "problems_line",
    "results_of_lines",
    "text_at",
    "unix_time",
    "whole_number",
]

MOST_PROBLEMS = 20
LONGEST_LINE = 500
"""Characters of what a service says for people; a batch that failed says it once for each of its requests."""
_ID = r"[!-~]{1,512}"
_PLACE = r"[!-~]{1,2048}"
_LATEST_S = 253_402_300_800.0
"""The end of the year 9999, behind which no date can be written."""
_LARGEST = 10**18

BatchState: TypeAlias = Literal["running", "ended", "failed"]
"""`ended` has results, for some requests at least; `failed` has none, and ran nothing."""


class BatchCall(NamedTuple):
    """A call to be made about batches."""

    path: str
    """The path behind the provider's base URL."""
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
    """The path behind the base URL in a live call; all requests have the same."""
    model: str
    """The model, which is the same for all."""
    headers: Headers = ()
    """Headers that the dialect demands for these requests."""
    file: str = ""
    """The id of the file that was handed up for it, where its service takes files."""


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
    deletions: tuple[BatchCall, ...] = ()
    """The calls that delete, once it has ended, what the service keeps of it beside the file that was handed up."""


class StrangeEntry(NamedTuple):
    """An entry of the list of batches that shows none."""

    mark: str | None
    """Our own word for it, where one can be read in it."""
    problem: str
    """The reason, as one line."""


class BatchPage(NamedTuple):
    """A page of the list of batches, the newest first."""

    batches: list[BatchInfo]
    """The batches."""
    next: str = ""
    """Where the next page begins; empty at the end."""
    strange: tuple[StrangeEntry, ...] = ()
    """Entries that show no batch."""
    is_cut: bool = False
    """Whether there are further pages, and nobody can tell where."""


class BatchResult(NamedTuple):
    """The result of one request of a batch."""

    custom_id: str
    """The id that it was given when it was handed over."""
    reply: HttpReply | None
    """The reply, as a live call would have had it; None for a request that was never run: expired or cancelled."""


class BatchFiles(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The files of a service whose batches are made of files."""

    upload: Callable[[BatchOrder], BatchCall]
    """The call that hands the lines of a batch up as a file."""
    read: Callable[[HttpReply], str]
    """The id of the file that a reply shows. Raises DecodeError."""
    delete: Callable[[str], BatchCall]
    """The call that deletes the file of that id."""


class Batches(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The batches of one service."""

    max_requests: int
    """The most requests of one batch."""
    max_bytes: int
    """The most bytes of its lines, each with a line end."""
    line: Callable[[str, Encoded], bytes]
    """A request with its id, as it stands among the others."""
    submit: Callable[[BatchOrder], BatchCall]
    """The call that hands a batch over, after its file where there are files."""
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
    """The result of each request, as a reply to one of `BatchInfo.results` tells it. Raises DecodeError."""
    files: BatchFiles | None = None
    """Its files; None where requests stand in the body."""


def batches_of(service: Service, quirks: Quirks) -> Batches | None:
    """The batches of a server that speaks a dialect, loaded with the first question; None where it has none."""
    module = service.batches.get(quirks.batches)
    return None if module is None else cast("Batches", import_module(module).BATCHES)


def member(parent: Any, *names: str) -> Any:
    """The value below these members; None where one is missing or no object."""
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


def is_id(value: object) -> TypeGuard[str]:
    """Whether this can be an id of a batch or a file: printable ASCII, no step up or down in a path."""
    return (
        isinstance(value, str)
        and re.fullmatch(_ID, value) is not None
        and not any(part in ("", ".", "..") for part in value.split("/"))
    )


def id_at(parent: Any, *names: str) -> str:
    """The id that stands below these members.

    Raises: DecodeError, with the place, where there is none.
    """
    value = member(parent, *names)
    if not is_id(value):
        raise DecodeError("an id is missing, or is no plain word", path="/" + "/".join(names))
    return value


def plain_line(value: object) -> str:
    """A text of a service as one line without control characters and credentials, cut; empty for nothing."""
    text = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", str(value or "")[: 4 * LONGEST_LINE]).strip()
    text = redact(text)
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"


def problems_line(problems: list[Any]) -> str:
    """The messages of a service's problems as one line."""
    return plain_line("; ".join([plain_line(member(problem, "message")) for problem in problems[:MOST_PROBLEMS]]))


def page_of(
    entries: object, read: Callable[[Any], BatchInfo], mark: tuple[str, ...], place: object = None
) -> BatchPage:
    """The page that these entries make; our own word stands at `mark` in each, and the next page begins at `place`.

    An entry that shows no batch is noted, so that it does not hide the others; a place that is no short word is not
    asked for.

    Raises: DecodeError for what is no list.
    """
    if not isinstance(entries, list):
        raise DecodeError("the list of batches is missing")
    batches: list[BatchInfo] = []
    strange: list[StrangeEntry] = []
    for number, entry in enumerate(cast("list[Any]", entries)):
        try:
            batches.append(read(entry))
        except DecodeError as error:
            word = plain_line(member(entry, *mark)) if mark else ""
            place_in = f" {error.path}" if error.path else ""
            strange.append(StrangeEntry(word or None, f"entry {number}{place_in}: {error.message}"))
    following = place if isinstance(place, str) and re.fullmatch(_PLACE, place) else ""
    return BatchPage(batches, following, tuple(strange), bool(place) and not following)


def results_of_lines(reply: HttpReply, read: Callable[[Any], BatchResult]) -> Iterator[BatchResult]:
    """The result of each request, as lines of JSON have it; a whole line that tells of none is nobody's.

    Raises: DecodeError for a last line that was cut off, after all others.
    """
    for line in reply.body.splitlines(keepends=True):
        if line.strip():
            try:
                result = read(decode_any(line))
            except WireError:
                if line.endswith(b"\n"):
                    continue
                raise
            yield result


def counts_at(parent: Any, *names: str) -> dict[str, int]:
    """The counts that stand below these members, by their names."""
    return {name: whole_number(count) or 0 for name, count in object_at(parent, *names).items()}


def whole_number(value: object) -> int | None:
    """A count, also one that was written as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if type(value) is int and abs(value) < _LARGEST else None


def unix_time(value: object) -> float | None:
    """The moment of a date as RFC 3339 writes it, or a count of seconds, in Unix seconds; None for anything else."""
    from datetime import datetime  # only who looks for a batch by its time needs it

    seconds: float | None = whole_number(value)
    if seconds is None:
        try:
            seconds = datetime.fromisoformat(str(value)).timestamp() if value else None
        except (ValueError, OverflowError, OSError):  # a time that the system's own functions cannot hold
            return None
    return seconds if seconds is not None and 0 <= seconds < _LATEST_S else None
