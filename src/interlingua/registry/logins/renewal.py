"""A credential with an end, renewed before it: one renewal at a time, for every thread and event loop of the process.

Rules
- A credential is renewed `EARLY_S` before its end, at most once in `PAUSE_S`; while it is still valid, requests go out
  with it when the renewal fails, and when another request has begun one.
- A renewal runs in a thread of its own that ends with it: vendors' libraries block, and an event loop must not. The
  thread is a daemon, so that a library that hangs keeps no process from its end.
- A renewal that hangs is given up after `STUCK_S`, and the next request begins another one; at most `MOST_THREADS` of
  one credential run at a time. One that was given up and ends after all counts where nothing newer holds.
- A renewal that was begun in a parent process does not count in its fork.
- What a vendor's library raises becomes one sentence of ours; its own text is cleaned and cut.
"""

from __future__ import annotations

import os
import re
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from interlingua.errors import AuthenticationError, ConfigError, Error, UsageError, kind_of, redact

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EARLY_S", "Issued", "Renewal", "carried", "expires_at"]

EARLY_S = 300.0
"""How long before its end a credential is renewed."""
MARGIN_S = 10.0
"""How long a credential must hold at least to go out with a request."""
PAUSE_S = 30.0
"""How long passes at least between two renewals, as long as the credential holds."""
STUCK_S = 120.0
"""After how long a renewal under way no longer keeps another one from beginning."""
MOST_THREADS = 4
"""How many renewals of one credential run at most, those that were given up among them."""
LONGEST_REASON = 300
LONGEST_TEXT = 10_000
MOST_RECENT = 8
"""Credentials that may still be on their way: what a server repeats of any of them is cut out."""
_CARRIED = r"[!-~]{1,65536}"
T = TypeVar("T")


class Issued(NamedTuple, Generic[T]):
    """A credential that was issued."""

    value: T
    """The credential."""
    holds: Callable[[float], bool]
    """Whether it will still hold in so many seconds."""


class _Failure(NamedTuple):
    """Why a renewal gave nothing."""

    kind: type[Error]
    sentence: str

    def error(self) -> Error:
        """An error of its own for each request that waited."""
        return self.kind(self.sentence)


def expires_at(at_s: float | None) -> Callable[[float], bool]:
    """The test of a credential that ends at a time of the wall clock; None for one without an end."""
    return lambda within_s: at_s is None or time.time() + within_s < at_s


def carried(value: object, name: str) -> str:
    """A part of a credential that a header can carry; `name` says which one.

    Raises: UsageError, which does not show it, for anything else.
    """
    if not isinstance(value, str):
        raise UsageError(f"it gave {kind_of(value)} as {name}")
    if not re.fullmatch(_CARRIED, value):
        raise UsageError(f"it gave {name} that {'a header cannot carry' if value else 'is empty'}")
    return value


class Renewal(Generic[T]):
    """The credential that holds now."""

    def __init__(self, source: str, way_out: str, fetch: Callable[[], Issued[T]]) -> None:
        """A credential that nobody has asked for; `fetch` blocks, `way_out` says what to do when it fails."""
        self._source = source
        self._way_out = way_out
        self._fetch = fetch
        self._lock = threading.Lock()
        self._issued: Issued[T] | None = None
        self._recent: tuple[T, ...] = ()
        self._under_way: Future[Issued[T] | _Failure] | None = None
        self._process = os.getpid()
        self._begun_at_s = 0.0
        self._threads = 0
        self._again_at_s = 0.0

    def recent(self) -> tuple[T, ...]:
        """The credentials that were issued last, the newest first, whether they hold or not."""
        return self._recent

    def wait(self, within_s: float | None) -> T:
        """The credential that holds now, after its renewal where that is due.

        Raises: AuthenticationError where there is none; ConfigError; TimeoutError.
        """
        issued = self._usable()
        if issued is not None:
            return issued.value
        return self._settled(self._begin().result(within_s))

    async def awaited(self, within_s: float | None) -> T:
        """The credential that holds now, awaited.

        Raises: as `wait`.
        """
        issued = self._usable()
        if issued is not None:
            return issued.value
        import asyncio  # who has no event loop needs none

        return self._settled(await asyncio.wait_for(asyncio.wrap_future(self._begin()), within_s))

    def _usable(self) -> Issued[T] | None:
        """The credential, where no request has to wait for another one."""
        issued = self._issued
        if issued is None or issued.holds(EARLY_S):
            return issued
        renewal = self._under_way
        is_under_way = renewal is not None and not self._is_over(renewal) and self._process == os.getpid()
        is_pausing = is_under_way or time.monotonic() < self._again_at_s
        return issued if is_pausing and issued.holds(MARGIN_S) else None

    def _is_over(self, renewal: Future[Issued[T] | _Failure]) -> bool:
        """Whether a renewal has ended, or hangs and makes room for another one."""
        is_stuck = time.monotonic() - self._begun_at_s > STUCK_S and self._threads < MOST_THREADS
        return renewal.done() or is_stuck

    def _begin(self) -> Future[Issued[T] | _Failure]:
        """The renewal under way, begun where there is none."""
        if self._process != os.getpid():  # the lock may be held by a thread that is not in this fork
            self._lock, self._under_way, self._process = threading.Lock(), None, os.getpid()
            self._threads = 0
        with self._lock:
            result = self._under_way
            if result is not None and result.done() and self._usable() is not None:
                return result  # it ended while this request waited for the lock
            if result is None or self._is_over(result):
                result = self._under_way = Future[Issued[T] | _Failure]()
                self._begun_at_s = time.monotonic()
                self._threads += 1
                result.set_running_or_notify_cancel()  # a request that stops waiting does not end it for the others
                thread = threading.Thread(target=self._renew, args=(result,), name="interlingua-login", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # the system has no more threads, or the process ends
                    self._threads -= 1
                    result.set_result(self._failure(error))
            return result

    def _renew(self, result: Future[Issued[T] | _Failure]) -> None:
        try:
            issued = self._fetch()
        except ConfigError as error:
            outcome: Issued[T] | _Failure = _Failure(ConfigError, f"{self._source}: {error.message}")
        except BaseException as error:  # noqa: BLE001 - whatever a library raises: the requests wait for an answer
            outcome = self._failure(error)
        else:
            outcome = issued
        with self._lock:
            self._threads -= 1
            if isinstance(outcome, Issued):
                self._take(outcome, is_latest=result is self._under_way)
            self._again_at_s = time.monotonic() + PAUSE_S
        result.set_result(outcome)

    def _take(self, issued: Issued[T], *, is_latest: bool) -> None:
        """Note a credential as the one that holds now, unless it is of a renewal given up and a newer one holds."""
        before = [value for value in self._recent if value != issued.value]
        self._recent = (issued.value, *before[: MOST_RECENT - 1])
        if is_latest or self._issued is None or not self._issued.holds(MARGIN_S):
            self._issued = issued

    def _failure(self, error: BaseException) -> _Failure:
        # The first line of what a library says, without credentials and not too long.
        try:
            lines = str(error).strip()[:LONGEST_TEXT].splitlines()
        except Exception:  # noqa: BLE001 - an error of another's code, which may not even be shown
            lines = []
        text = redact(lines[0].strip().rstrip(".;") if lines else type(error).__name__)
        reason = text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
        sentence = f"{self._source} gives no credential: {reason}; {self._way_out}"
        return _Failure(AuthenticationError, sentence)

    def _settled(self, outcome: Issued[T] | _Failure) -> T:
        if isinstance(outcome, Issued):
            return outcome.value
        issued = self._issued
        if issued is not None and issued.holds(MARGIN_S):
            return issued.value
        raise outcome.error()
