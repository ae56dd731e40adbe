"""The requests that a console shows: a few hundred of the last ones, kept only while somebody looks.

Strategy: while nobody looks, nothing is registered and no request costs anything. The first who looks makes the feed a
sink of the gateway; a request then costs one entry, which the feed appends and forgets again. Who looks asks for what
came since the last time, twice a second, so that a busy gateway is not told of every request by itself.

Rules
- Bounded: so many records, so many of them with content, so many who look at a time, so many in one batch. Who is too
  slow is told how many were missed.
- For a while after the last one has left the feed goes on, so that a page that is loaded again shows what was.
- What the console itself asks, signs of life and explanations, which reach no model, are not shown.
- Other workers of the same gateway look, too (`registration`), from a thread of their own: it reads copies alone.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.gateway.calls.replies import in_brief
from interlingua.gateway.records.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.console.access import Viewer
    from interlingua.gateway.records.recorder import Recorder

__all__ = ["KEPT", "KEPT_CONTENTS", "LINGER_S", "MAX_BATCH", "MAX_WATCHERS", "Batch", "Feed", "Glance"]

KEPT = 300
"""How many requests are kept."""
KEPT_CONTENTS = 20
"""Of how many of them, the last ones, the content is kept where it is captured."""
MAX_WATCHERS = 16
"""How many may look at a time."""
MAX_BATCH = 100
"""How many requests are told at once."""
LINGER_S = 600.0
"""How long the feed goes on after the last one has left."""
_NOT_SHOWN = ("/console", "/explain", "/health", "/metrics")


class Batch(NamedTuple):
    """The records since the last time."""

    records: list[Record]
    """The requests that are over, without content, the oldest first."""
    last: int
    """The number to ask with the next time."""
    missed: int
    """How many are no longer known, for who sees all of them."""


class Glance(NamedTuple):
    """The summary of one worker's requests since the last time."""

    batch: Batch
    """Those that are over."""
    now: list[Record]
    """Those that are under way, the newest first."""


class Feed:
    """The last requests of one gateway."""

    def __init__(self, recorder: Recorder, now: Callable[[], float], *, has_content: bool) -> None:
        """A feed of the requests that `recorder` tells of, at which nobody looks; `now` gives Unix seconds."""
        self._recorder = recorder
        self.has_content: bool = has_content
        """Whether what is asked and answered is kept."""
        self._records: deque[tuple[int, Record]] = deque(maxlen=KEPT)
        self._count = 0
        self._watchers = 0
        self._left_s = 0.0
        self._listens = False
        self._switching = threading.Lock()
        self.began_s: float = now()
        """When the gateway began, in Unix seconds."""

    def enter(self) -> bool:
        """Whether there was room for one more who looks; who entered leaves."""
        if self._watchers >= MAX_WATCHERS:
            return False
        self._watchers += 1
        self._listen()
        return True

    def leave(self) -> None:
        """One who looked has gone."""
        self._watchers -= 1
        self._left_s = self._recorder.clock()

    def take(self, record: Record) -> None:
        """Keep a request that is over."""
        if not self._watchers and self._recorder.clock() - self._left_s > LINGER_S:
            with self._switching:
                recorder = self._recorder
                recorder.sinks = tuple([sink for sink in recorder.sinks if sink != self.take])
                recorder.content_sinks = tuple([sink for sink in recorder.content_sinks if sink != self.take])
                self._records.clear()
                self._listens = False
            return
        if record.path == "/" or record.path.startswith(_NOT_SHOWN):
            return
        self._count += 1
        self._records.append((self._count, record))
        if record.content is not None and len(self._records) > KEPT_CONTENTS:
            number, old = self._records[-1 - KEPT_CONTENTS]
            self._records[-1 - KEPT_CONTENTS] = number, msgspec.structs.replace(old, content=None)

    def since(self, last: int, viewer: Viewer) -> Batch:
        """The records after the number `last` that a viewer may see."""
        if last > self._count:  # of a worker that had this place before
            last = 0
        newer = [pair for pair in self._records.copy() if pair[0] > last]
        batch = newer[:MAX_BATCH]
        shown = [self._shown(record) for _, record in batch if viewer.sees(record)]
        missed = newer[0][0] - last - 1 if newer and last and viewer.sees_all else 0
        return Batch(shown, batch[-1][0] if batch else last, missed)

    def glance(self, last: int, viewer: Viewer) -> Glance:
        """Both for who looks from another worker, or has entered here."""
        self._left_s = self._recorder.clock()
        self._listen()
        return Glance(self.since(last, viewer), self.under_way(viewer))

    def under_way(self, viewer: Viewer) -> list[Record]:
        """The requests under way that a viewer may see, the newest of many; without content."""
        entries = [entry for entry in reversed(tuple(self._recorder.under_way)) if viewer.sees(entry)]
        shown = [entry for entry in entries if not entry.origin.path.startswith(_NOT_SHOWN)]
        return [
            msgspec.structs.replace(self._shown(entry.record()), status=entry.status, aborted=False)
            for entry in islice(shown, MAX_BATCH)
        ]

    def find(self, name: str, viewer: Viewer) -> Record | None:
        """The request of that id, with its content where that is kept; None where a viewer may not see one."""
        return next((one for _, one in reversed(self._records.copy()) if one.id == name and viewer.sees(one)), None)

    def _shown(self, record: Record) -> Record:
        """A record without content; sentences of errors may repeat what a client or an upstream said."""
        if self.has_content:
            return msgspec.structs.replace(record, content=None)
        attempts = [
            msgspec.structs.replace(attempt, error=in_brief(attempt)) if attempt.error else attempt
            for attempt in record.attempts
        ]
        return msgspec.structs.replace(record, message="", attempts=tuple(attempts), content=None)

    def _listen(self) -> None:
        with self._switching:
            if self._listens:
                return
            recorder = self._recorder
            if self.has_content:
                recorder.content_sinks = (*recorder.content_sinks, self.take)
            else:
                recorder.sinks = (*recorder.sinks, self.take)
            self._listens = True
