"""Faults on purpose: a transport that spoils what another transport does, for drills and tests.

Shape of a fault text: a status (`429`, `500`, `529`; `429:2.5` asks to come back after 2.5 s), or one of `refuse` (no
connection), `reset` (closed without an answer), `stall` (no answer in time), `stall:N` (silence after N bytes of the
body), `cut:N` (connection lost after N bytes), `truncate:N` (a clean end after N bytes), `drip` or `drip:N` (N bytes at
a time), `garbage` or `garbage:N` (nonsense after N bytes), `ok` (no fault). A body shorter than N is spoilt at its end.
Behind any of them `*T` means T calls: `429*3`. Options of a command line are `PATTERN=TEXT,TEXT,…`.

Rules
- Faults are chosen by target: each pattern (fnmatch on `HttpRequest.target`, else on the URL's host) has a text or a
  list of texts; a list is used up call by call, then calls go through. A single text without `*T` holds for every call.
- A stall does not wait: it raises the APITimeoutError that waiting would end in, so drills are fast. `pace_s` of a drip
  is real time.
- A spoilt reply closes the reply it spoils.
"""

from __future__ import annotations

import asyncio
import time
from _thread import allocate_lock
from collections import deque
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from interlingua.errors import APIConnectionError, APITimeoutError, ConfigError, kind_of
from interlingua.transport.replay import AsyncReplayTransport, ReplayTransport
from interlingua.transport.url import parse_url
from interlingua.wire.http import HttpReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.transport.base import AsyncReply, AsyncTransport, Reply, Timeouts, Transport
    from interlingua.wire.http import Headers, HttpRequest

__all__ = [
    "GARBAGE",
    "STALL_AT_ONCE",
    "AsyncFaultTransport",
    "Fault",
    "FaultPlan",
    "FaultTransport",
    "Plan",
    "neutral_error_body",
    "parse_fault",
    "parse_options",
]

Kind: TypeAlias = Literal["ok", "status", "refuse", "reset", "stall", "cut", "truncate", "drip", "garbage"]

_KINDS: dict[str, tuple[Kind, int | None]] = {
    "ok": ("ok", None),
    "refuse": ("refuse", None),
    "reset": ("reset", None),
    "stall": ("stall", None),
    "cut": ("cut", 0),
    "truncate": ("truncate", 0),
    "drip": ("drip", 1),
    "garbage": ("garbage", 0),
}
GARBAGE = b'\x00\xff{"half": \xc3\r\ndata: {{{\n\n'
STALL_AT_ONCE = -1
_MAX_TIMES = 100_000


class Fault(msgspec.Struct, frozen=True):
    """One fault."""

    kind: Kind
    """The kind of fault."""
    amount: int = 0
    """HTTP status, or bytes of the body before the fault, or bytes of one drip; -1 stalls before the headers."""
    retry_after_s: float | None = None
    """The seconds in the `retry-after` of a status; None leaves it to the plan."""

    def __str__(self) -> str:
        """The text that names it."""
        if self.kind == "status":
            return str(self.amount) if self.retry_after_s is None else f"{self.amount}:{self.retry_after_s:g}"
        is_default = self.amount == (STALL_AT_ONCE if self.kind == "stall" else _KINDS[self.kind][1] or 0)
        return self.kind if is_default else f"{self.kind}:{self.amount}"


def parse_fault(text: str) -> Fault:
    """The fault that a text names.

    Raises: ConfigError for a text that names none.
    """
    word, colon, number = text.strip().lower().partition(":")
    if word.isdecimal() and word.isascii() and 100 <= int(word) <= 599:
        wait_s = _seconds(number) if colon else None
        if not colon or wait_s is not None:
            return Fault("status", int(word), wait_s)
    entry = _KINDS.get(word)
    if entry is None or (colon and not (number.isdecimal() and number.isascii())):
        names = ", ".join(_KINDS)
        raise ConfigError(
            f"no such fault: {text!r} (expected a status such as 429 or 429:2.5, with the seconds of its Retry-After, "
            f"or {names}, with :N for bytes)"
        )
    kind, amount = entry
    if colon:
        return Fault(kind, int(number))
    return Fault(kind, STALL_AT_ONCE if kind == "stall" else amount or 0)


def _seconds(text: str) -> float | None:
    whole, _, part = text.partition(".")
    is_number = text.isascii() and whole.isdecimal() and (part.isdecimal() or not part) and not text.endswith(".")
    return float(text) if is_number else None


Plan: TypeAlias = "Mapping[str, str | list[str]]"
"""Pattern of targets -> a fault text, or several, one after the other."""


def parse_options(options: Iterable[str]) -> dict[str, str | list[str]]:
    """The plan that options of a command line name: `anthropic/*=429`, `openai/*=stall*2,ok,500`.

    Raises: ConfigError for what is no `PATTERN=FAULT`, and for a text that names no fault.
    """
    plan: dict[str, str | list[str]] = {}
    for option in options:
        pattern, equals, listing = option.rpartition("=")
        pattern = pattern.strip()
        if not equals or not pattern:
            raise ConfigError(f"no such fault: {option!r} (write PATTERN=FAULT, as in 'anthropic/*=429')")
        texts = [text.strip() for text in listing.split(",")]
        plan[pattern] = texts[0] if len(texts) == 1 else texts
        _parse_texts(plan[pattern])
    return plan


def _parse_texts(texts: str | list[str]) -> Fault | list[Fault]:
    """One fault for every call, or one for each call in turn."""
    if isinstance(texts, str) and "*" not in texts:
        return parse_fault(texts)
    faults: list[Fault] = []
    for text in [texts] if isinstance(texts, str) else texts:
        what, star, times = text.partition("*")
        if star and not (times.isdecimal() and times.isascii() and 0 < int(times) <= _MAX_TIMES):
            raise ConfigError(f"no such fault: {text!r} (expected *T with T calls, from 1 to {_MAX_TIMES})")
        faults += [parse_fault(what)] * (int(times) if star else 1)
    return faults


ErrorBody: TypeAlias = "Callable[[HttpRequest, int], bytes]"


def neutral_error_body(request: HttpRequest, status: int) -> bytes:  # noqa: ARG001 - other shapes look at the request
    """An error body in the shape of OpenAI Chat, which most clients can read."""
    return b'{"error":{"message":"injected fault: status %d","type":"injected_fault","code":"%d"}}' % (status, status)


class FaultPlan:
    """Which fault the next call gets, by target."""

    def __init__(
        self,
        faults: Plan,
        *,
        targets_of: Callable[[str], str] = str,
        error_body: ErrorBody = neutral_error_body,
        retry_after_s: float | None = None,
        pace_s: float = 0.0,
    ) -> None:
        """A plan of pattern to fault text, or to a list of texts for one call each.

        `targets_of` makes the pattern that targets bear of one in another spelling, of which the first counts;
        `error_body` makes the body of an injected status; `retry_after_s` goes out with 429 and 503 that name none;
        `pace_s` is the pause before each drip.

        Raises: ConfigError for a text that names no fault, and for what is no plan.
        """
        if not isinstance(faults, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise ConfigError(f"faults are a dict such as {{'anthropic/*': '429'}}, not {kind_of(faults)}")
        self._faults: dict[str, Fault | list[Fault]] = {}
        for pattern, texts in faults.items():
            self._faults.setdefault(targets_of(pattern), _parse_texts(texts))
        self._lock = allocate_lock()
        self.error_body = error_body
        self.retry_after_s = retry_after_s
        self.pace_s = pace_s
        self.injected: list[tuple[str, Fault]] = []
        """Every fault that was injected: (target, fault)."""

    def next(self, request: HttpRequest) -> Fault:
        """The fault for `request`; the first pattern that matches decides."""
        target, fault = _peer_of(request), Fault("ok")
        with self._lock:
            for pattern, faults in self._faults.items():
                if faults and fnmatchcase(target, pattern):
                    fault = faults.pop(0) if isinstance(faults, list) else faults
                    break
            if fault.kind != "ok":
                self.injected.append((target, fault))
        return fault

    def pace_of(self, fault: Fault) -> float:
        """Seconds before each piece of a reply with `fault`."""
        return self.pace_s if fault.kind == "drip" else 0.0

    def before(self, fault: Fault, request: HttpRequest, timeouts: Timeouts) -> HttpReply | None:
        """The reply that takes the place of an exchange, or None: go on and spoil it on the way.

        Raises: APIConnectionError, APITimeoutError for faults before the headers.
        """
        peer = _peer_of(request)
        match fault:
            case Fault(kind="refuse"):
                refused = APIConnectionError(f"cannot connect to {peer}: connection refused (injected fault)")
                refused.reached = False
                raise refused
            case Fault(kind="reset"):
                raise APIConnectionError(f"{peer} closed the connection without an answer (injected fault)")
            case Fault(kind="stall", amount=amount) if amount == STALL_AT_ONCE:
                raise _stalled(peer, timeouts, "first_byte")
            case Fault(kind="status", amount=status):
                return HttpReply(status=status, headers=self.headers(fault), body=self.error_body(request, status))
            case _:
                return None

    def headers(self, fault: Fault) -> Headers:
        """The headers of an injected status."""
        wait_s = fault.retry_after_s
        if wait_s is None and fault.amount in (429, 503):
            wait_s = self.retry_after_s
        headers: Headers = (("content-type", "application/json"),)
        return headers if wait_s is None else (*headers, ("retry-after", f"{wait_s:g}"))


def _peer_of(request: HttpRequest) -> str:
    """The peer by which faults are chosen and that errors name: the target, else the host."""
    if request.target is not None:
        return request.target
    try:
        return parse_url(request.url).origin.host
    except ConfigError:
        return request.url.partition("://")[0]


def _stalled(peer: str, timeouts: Timeouts, phase: Literal["first_byte", "idle"]) -> APITimeoutError:
    seconds = timeouts.first_byte_s if phase == "first_byte" else timeouts.idle_s
    if timeouts.total_s is not None and (seconds is None or timeouts.total_s < seconds):
        return APITimeoutError(f"{peer} was not done within {timeouts.total_s:g} s (injected fault)", phase="total")
    return APITimeoutError(f"{peer} was silent for {seconds or 0:g} s (injected fault)", phase=phase)


class _Spoiler:
    """Body pieces on their way through a fault."""

    def __init__(self, fault: Fault, peer: str, timeouts: Timeouts) -> None:
        self._fault = fault
        self._peer = peer
        self._timeouts = timeouts
        self._left = fault.amount
        self._pending = fault.kind not in ("ok", "drip", "status")
        self._ended = False
        self._pieces: deque[bytes | Exception] = deque()

    def feed(self, piece: bytes) -> None:
        """Take what the other transport read; `b""` is its end."""
        if self._pending and (not piece or len(piece) > self._left):
            self._pending = False
            self._pieces.append(piece[: self._left])
            match self._fault.kind:
                case "cut":
                    sentence = f"{self._peer} cut the connection in the middle of the body (injected fault)"
                    self._pieces.append(APIConnectionError(sentence))
                case "stall":
                    self._pieces.append(_stalled(self._peer, self._timeouts, "idle"))
                case "garbage":
                    self._pieces.extend((GARBAGE, piece[self._left :]))
                case _:
                    self._ended = True
        elif self._fault.kind == "drip":
            size = max(1, self._fault.amount)
            self._pieces.extend(piece[start : start + size] for start in range(0, len(piece), size))
        else:
            self._left -= len(piece)
            self._pieces.append(piece)
        self._ended = self._ended or not piece

    def take(self) -> bytes | None:
        """The next piece, `b""` for the end, None for more input, please.

        Raises: APIConnectionError, APITimeoutError where the fault is.
        """
        while self._pieces:
            piece = self._pieces.popleft()
            if isinstance(piece, Exception):
                raise piece
            if piece:
                return piece
        return b"" if self._ended else None


class _Reply:
    def __init__(self, source: Reply, spoiler: _Spoiler, pace_s: float) -> None:
        self._source = source
        self._spoiler = spoiler
        self._pace_s = pace_s
        self.status: int = source.status
        self.headers: Headers = source.headers

    def read(self) -> bytes:
        try:
            while (piece := self._spoiler.take()) is None:
                self._spoiler.feed(self._source.read())
        except BaseException:
            self.close()
            raise
        if piece and self._pace_s:
            time.sleep(self._pace_s)
        return piece

    def close(self) -> None:
        self._source.close()


class _AsyncReply:
    def __init__(self, source: AsyncReply, spoiler: _Spoiler, pace_s: float) -> None:
        self._source = source
        self._spoiler = spoiler
        self._pace_s = pace_s
        self.status: int = source.status
        self.headers: Headers = source.headers

    async def read(self) -> bytes:
        try:
            while (piece := self._spoiler.take()) is None:
                self._spoiler.feed(await self._source.read())
        except BaseException:
            await self.close()
            raise
        if piece and self._pace_s:
            await asyncio.sleep(self._pace_s)
        return piece

    async def close(self) -> None:
        await self._source.close()


class FaultTransport:
    """Spoils what another transport does, blocking."""

    def __init__(self, inner: Transport, plan: FaultPlan) -> None:
        """A transport that passes calls on to `inner`, with the faults of `plan`."""
        self._inner = inner
        self.plan = plan
        """The planned faults, and those that happened."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply of the other transport, spoilt as the plan says.

        Raises: whatever the other transport raises, and APIConnectionError or APITimeoutError for a fault.
        """
        fault = self.plan.next(request)
        instead = self.plan.before(fault, request, timeouts)
        if instead is not None:
            return ReplayTransport(instead).open(request, timeouts)
        reply = self._inner.open(request, timeouts)
        if fault.kind == "ok":
            return reply
        return _Reply(reply, _Spoiler(fault, _peer_of(request), timeouts), self.plan.pace_of(fault))

    def close(self) -> None:
        """Close the other transport."""
        self._inner.close()


class AsyncFaultTransport:
    """Spoils what another transport does, awaited."""

    def __init__(self, inner: AsyncTransport, plan: FaultPlan) -> None:
        """A transport that passes calls on to `inner`, with the faults of `plan`."""
        self._inner = inner
        self.plan = plan
        """The planned faults, and those that happened."""

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply of the other transport, spoilt as the plan says.

        Raises: whatever the other transport raises, and APIConnectionError or APITimeoutError for a fault.
        """
        fault = self.plan.next(request)
        instead = self.plan.before(fault, request, timeouts)
        if instead is not None:
            return await AsyncReplayTransport(instead).open(request, timeouts)
        reply = await self._inner.open(request, timeouts)
        if fault.kind == "ok":
            return reply
        return _AsyncReply(reply, _Spoiler(fault, _peer_of(request), timeouts), self.plan.pace_of(fault))

    async def close(self) -> None:
        """Close the other transport."""
        await self._inner.close()
