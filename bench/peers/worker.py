"""`python -m bench.peers.worker LIBRARY PORT`: one library in a process of its own, in its own environment.

Reads a line `KIND TIMES` and answers with a line of JSON: processor microseconds of one call. The first line tells what
importing it took. Only the standard library and the library itself are needed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.canned import CALLS, EVENTS, PIECES
from bench.peers.libraries import Calls

__all__ = ["AT_ONCE", "main", "measured"]

AT_ONCE = 64
_RUNNER: list[asyncio.Runner] = []


def _timed(run: Callable[[], Any], calls: int) -> float:
    gc.collect()
    begin_s = time.process_time()
    run()
    return (time.process_time() - begin_s) / calls * 1e6


def _repeated(call: Callable[[], object], times: int) -> float:
    def run() -> None:
        for _ in range(times):
            call()

    return _timed(run, times)


def _awaited(calls: Calls, at_once: int, times: int) -> float:
    """So many at once, each so many times; one event loop for all measurements, as in a server."""
    if calls.awaited is None:
        raise LookupError("it has no asyncio")
    call = calls.awaited

    async def one() -> None:
        for _ in range(times):
            if await call() != CALLS:
                raise ValueError("an answer without its calls")

    async def together() -> None:
        await asyncio.gather(*[one() for _ in range(at_once)])

    if not _RUNNER:
        _RUNNER.append(asyncio.Runner())
        _RUNNER[0].run(one())  # what is made for the first call alone
    return _timed(lambda: _RUNNER[0].run(together()), at_once * times)


def _checked(call: Callable[[], int] | None, expected: int) -> Callable[[], int]:
    """The call, once it has shown that it reads the whole answer."""
    if call is None:
        raise LookupError("it has no such call")
    found = call()
    if found != expected:
        raise ValueError(f"{found} of {expected} of the answer")
    return call


def _translated(call: Callable[[], bytes] | None) -> Callable[[], bytes]:
    if call is None:
        raise LookupError("it does not translate by itself")
    if b"get_weather_1" not in call():
        raise ValueError("a translation without its tools")
    return call


def measured(calls: Calls, kind: str, times: int) -> float:
    """Processor microseconds of one call, or of one event of a stream."""
    match kind:
        case "sync":
            return _repeated(_checked(calls.whole, CALLS), times)
        case "stream":
            return _repeated(_checked(calls.streamed, EVENTS * len(PIECES[0])), times) / EVENTS
        case "aio-1":
            return _awaited(calls, 1, times)
        case "aio-64":
            return _awaited(calls, AT_ONCE, times)
        case "request":
            return _repeated(_translated(calls.request), times)
        case "reply":
            return _repeated(_translated(calls.reply), times)
        case _:
            raise LookupError(f"no kind {kind!r}")


def _resident_mb() -> float:
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * 4096 / 1e6 if told.exists() else 0.0


def main() -> None:
    """Serve measurements on stdin and stdout until stdin ends; whatever the library prints goes elsewhere."""
    name, port = sys.argv[1], int(sys.argv[2])
    told, sys.stdout = sys.stdout, sys.stderr

    def tell(**facts: object) -> None:
        print(json.dumps(facts), file=told, flush=True)

    before_s, before_mb = time.process_time(), _resident_mb()
    module, _, dialect = name.partition("/")
    library = import_module(f"bench.peers.libraries.{module.replace('-', '_')}")
    calls = library.calls(port, dialect) if dialect else library.calls(port)
    tell(import_ms=(time.process_time() - before_s) * 1e3, import_mb=_resident_mb() - before_mb)
    for line in sys.stdin:
        kind, times = line.split()
        try:
            tell(cpu_us=measured(calls, kind, int(times)))
        except Exception as error:  # noqa: BLE001 - a peer may raise anything, and its row says what
            tell(error=f"{type(error).__name__}: {error}".splitlines()[0][:160])


if __name__ == "__main__":
    main()
