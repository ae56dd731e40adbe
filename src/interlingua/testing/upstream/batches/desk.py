"""The shared half of the batches of all imitated services: requests are taken, run once, and answered one by one.

Rules
- A request is judged and answered like a live one, when its batch ends; `run` counts how often that was, by its id: so
  a test sees what would have been paid.
- Nothing of `dialects/` is imported: the forms are known from the vendors' pages and the official clients.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

import msgspec

from interlingua.errors import APIConnectionError, Error
from interlingua.testing.upstream.batches.plan import BatchPlan
from interlingua.testing.upstream.refusals import error_reply
from interlingua.testing.wirefacts.values import members
from interlingua.transport.replay import Line
from interlingua.wire.http import Headers, HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

__all__ = ["JSON", "Desk", "Refused", "Route", "Run", "StoredBatch", "parsed", "shown"]

JSON: Headers = (("content-type", "application/json"),)
_MANY = 1_000_000

Route: TypeAlias = "tuple[str, str, Callable[[HttpRequest, str], Line]]"
"""Method, regular expression of a path whose first group is an id, and who answers."""
Run: TypeAlias = "Callable[[HttpRequest, BatchPlan], HttpReply]"
"""Judges and answers one request."""


class Refused(Exception):  # noqa: N818 - a refusal is no error of the service
    """A call that the service refuses."""

    def __init__(self, status: int, message: str) -> None:
        """With the status and the words of the service."""
        super().__init__(message)
        self.status: int = status
        """HTTP status."""
        self.message: str = message
        """The words."""


class StoredBatch(msgspec.Struct, kw_only=True):
    """A batch, as the service keeps it."""

    id: str
    """Its id."""
    created: float
    """When it was taken, in Unix seconds."""
    requests: dict[str, HttpRequest]
    """The requests, by their ids."""
    about: dict[str, Any] = {}
    """The client's members beside its requests."""
    looks: int = 0
    """How often it was looked at."""
    ending: str = ""
    """How it has ended; empty while it is running."""
    is_cancelling: bool = False
    """Whether its client has cancelled it."""
    results: dict[str, HttpReply | None] = {}
    """The reply to each request that was run, and None for one that was not."""
    problems: list[dict[str, Any]] = []
    """Why it was never begun."""


class Desk:
    """The batches of one service; each service has a class of its own."""

    def __init__(self, dialect: str, plan: BatchPlan, run: Run) -> None:
        """No batch has been taken."""
        self.dialect: str = dialect
        """The dialect of its service."""
        self.plan: BatchPlan = plan
        """How batches go."""
        self.batches: dict[str, StoredBatch] = {}
        """Every batch, by its id, the oldest first."""
        self.files: dict[str, bytes] = {}
        """Every file that was handed up, by its id."""
        self.deleted: list[str] = []
        """Every batch and every file that was deleted, by its id, in order; tests still find the batches above."""
        self.run: Counter[str] = Counter()
        """How often each request was run, by its id."""
        self._run = run

    def routes(self) -> tuple[Route, ...]:
        """The routes that it answers."""
        raise NotImplementedError

    def answer(self, request: HttpRequest) -> Line | None:
        """The answer to a call about batches; None for any other call."""
        path = urlsplit(request.url).path
        matches = [
            (method, match, who) for method, pattern, who in self.routes() if (match := re.fullmatch(pattern, path))
        ]
        if not matches:
            return None
        for method, match, who in matches:
            if method == request.method:
                try:
                    return who(request, match[1] if match.groups() else "")
                except Refused as refusal:
                    return _line(error_reply(self.dialect, refusal.status, refusal.message))
        return _line(error_reply(self.dialect, 405))

    # What the services do alike

    def take(self, batch: StoredBatch) -> Line:
        """Take a batch; the answer shows it."""
        self.plan.on("before")
        if self.plan.refused:
            self.plan.refused -= 1
            raise Refused(503, "Service Unavailable")
        self.batches[batch.id] = batch
        if self.plan.ending == "failed" and not batch.problems:
            batch.problems = [{"code": self.plan.reason, "line": None, "message": "it failed", "param": None}]
        if batch.problems:
            batch.ending = "failed"
        self.plan.on("submitted")
        if self.plan.lost:
            self.plan.lost -= 1
            return Line(pieces=(b" ",), headers=JSON, ending=APIConnectionError("the reply is lost", retryable=True))
        return shown(self.show(batch))

    def show(self, batch: StoredBatch) -> dict[str, Any]:
        """A batch as the service shows it."""
        raise NotImplementedError

    def stored(self, name: str) -> StoredBatch:
        """The batch of an id.

        Raises: Refused for one that is not there.
        """
        if name not in self.batches or name in self.deleted:
            raise Refused(404, f"No batch found with id '{name}'.")
        return self.batches[name]

    def look(self, _: HttpRequest, name: str) -> Line:
        """Show a batch; so many looks end it."""
        batch = self.stored(name)
        batch.looks += 1
        self.plan.on("shown")
        if not batch.ending and (batch.looks > self.plan.looks or batch.is_cancelling):
            self.end(batch)
        return shown(self.show(batch))

    def cancel(self, _: HttpRequest, name: str) -> Line:
        """Cancel a batch; it ends at the next look."""
        batch = self.stored(name)
        if batch.ending:
            raise Refused(409, f"Cannot cancel a batch that is {batch.ending}.")
        batch.is_cancelling = True
        return shown(self.show(batch))

    def delete(self, name: str) -> None:
        """Delete what has that id.

        Raises: Refused while a test says so.
        """
        self.plan.on("deleted")
        if self.plan.undeletable:
            self.plan.undeletable -= 1
            raise Refused(503, "Service Unavailable")
        self.deleted.append(name)

    def delete_batch(self, _: HttpRequest, name: str) -> Line:
        """Delete a batch that has ended."""
        if not self.stored(name).ending:
            raise Refused(400, "The batch has not ended.")
        self.delete(name)
        return shown({"id": name, "deleted": True})

    def end(self, batch: StoredBatch) -> None:
        """Run what is to be run."""
        plan = self.plan
        batch.ending = "cancelled" if batch.is_cancelling else plan.ending or "completed"
        for name, request in batch.requests.items():
            if batch.is_cancelling or plan.never_run(name):
                batch.results[name] = None
                continue
            status = plan.fails(name)
            self.run[name] += status is None
            batch.results[name] = self._run(request, plan) if status is None else error_reply(self.dialect, status)

    def file(self, lines: list[bytes], kind: str) -> Line:
        """A file of results."""
        self.plan.on("results")
        text = b"".join([line + b"\n" for line in self.plan.spoil(lines)])
        if self.plan.cut and text:
            self.plan.cut -= 1
            text = text[: len(text) // 2]
        return Line(pieces=(text,), headers=(("content-type", kind),))

    @staticmethod
    def body(request: HttpRequest) -> dict[str, Any]:
        """The object in a request.

        Raises: Refused for anything else.
        """
        try:
            body = decode_any(request.body)
        except Error as error:
            raise Refused(400, f"We could not parse the JSON body of your request: {error.message}") from None
        if not isinstance(body, dict):
            raise Refused(400, "The body is no object.")
        return members(body)

    @staticmethod
    def strict(value: Any, needed: tuple[str, ...], optional: tuple[str, ...] = (), where: str = "") -> dict[str, Any]:
        """An object with these members.

        Raises: Refused for anything else.
        """
        if not isinstance(value, dict):
            raise Refused(400, f"{where or 'the body'}: expected an object")
        body = members(value)
        for name in needed:
            if name not in body:
                raise Refused(400, f"{where}{name}: Field required")
        for name in body:
            if name not in needed and name not in optional:
                raise Refused(400, f"{where}{name}: Unknown parameter")
        return body

    def page(self, request: HttpRequest, size: str, after: str, default: int) -> tuple[list[StoredBatch], bool]:
        """The batches for which a query asks, the newest first, and whether there are more.

        Raises: Refused for an unknown place.
        """
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        newest = [batch for batch in self.batches.values() if batch.id not in self.deleted][::-1]
        first = 0
        if query.get(after):
            names = [batch.id for batch in newest]
            if query[after] not in names:
                raise Refused(400, f"{after}: no batch {query[after]}")
            first = names.index(query[after]) + 1
        count = int(query.get(size, default))
        return newest[first : first + count], first + count < len(newest)


def _line(reply: HttpReply) -> Line:
    return Line(pieces=(reply.body,), status=reply.status, headers=reply.headers)


def shown(body: dict[str, Any]) -> Line:
    """An answer that shows an object."""
    return Line(pieces=(encode(body, nulls=_MANY),), headers=JSON)


def parsed(reply: HttpReply) -> Any:
    """The body of a reply as a value."""
    return decode_any(reply.body)
