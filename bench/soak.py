"""Traffic through the gateway for as long as one likes: whole answers, streams, streams that are left, many at once.

Everything is on: a key with limits and a budget, the log, metrics.

`make soak` runs it; SOAK_REQUESTS, SOAK_ABORTED and SOAK_STREAMS change its sizes. Memory, sockets and connections are
looked at between rounds, and the run fails where they grow. Kept in bench/results/local: soak.json, soak.txt, and
soak.svg.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from bench.canned import CLIENT_KEY, request
from bench.measure import NotRun
from bench.plot import Chart, Line, lines, text
from bench.stage import Load, Server, full_gateway, load

__all__ = ["Sizes", "charts", "growth", "main", "plotted", "soak", "verdict"]

KEPT = Path(__file__).parent / "results" / "local"
ROUNDS = 10
MODEL = "chat/gpt-4.1"
TRANSLATED = "claude/claude-opus-4-5"
PACE_MS = 2
REST_S = 50
"""How long is waited after the last round: connections to upstreams are kept for 45 seconds."""
SPARE_SOCKETS = 8
"""How many more sockets may be open at rest than before the first request."""
FULL = 50_000
"""After how many requests the gateway's bounded stores are full."""
GROWTH = 1.05
SPARE_MB = 4
"""How much more memory than after the seventh round may be held after the last."""


class Sizes(NamedTuple):
    """How much is asked."""

    requests: int
    """Whole answers and streams, in all."""
    aborted: int
    """Streams that their client leaves in the middle, in all."""
    streams: int
    """Streams at once, at the end of each round."""


class Sample(NamedTuple):
    """How the gateway is between two rounds."""

    at_s: float
    """Since the beginning."""
    requests: int
    """Asked so far."""
    resident_mb: float
    """Memory."""
    sockets: int
    """Sockets that its process holds."""
    tasks: int
    """Requests that it says are under way, and connections of clients."""
    per_second: float
    """Requests a second in this round."""


def soak(sizes: Sizes) -> list[Sample]:
    """The samples of a run.

    Raises: NotRun without a C compiler or a system that tells what processes use; AssertionError for a wrong answer.
    """
    server = full_gateway(PACE_MS)
    began_s = time.perf_counter()
    asked = 0
    samples = [Sample(0.0, 0, *_looked_at(server), 0.0)]
    for _ in range(ROUNDS):
        round_s = time.perf_counter()
        before = asked
        for model, stream in ((MODEL, False), (TRANSLATED, False), (MODEL, True), (TRANSLATED, True)):
            share = 9 * sizes.requests // ROUNDS // 20 if not stream else sizes.requests // ROUNDS // 20
            asked += _asked(server, Load(model, stream, 64, max(64, share)))
        used_s = time.perf_counter() - round_s
        asked += _left(server, max(1, sizes.aborted // ROUNDS))
        asked += _asked(server, Load(TRANSLATED, True, sizes.streams, sizes.streams))
        rate = (asked - before) / used_s
        samples.append(Sample(time.perf_counter() - began_s, asked, *_looked_at(server), rate))
        print(line(samples[-1]), flush=True)
    time.sleep(REST_S)
    samples.append(Sample(time.perf_counter() - began_s, asked, *_looked_at(server), 0.0))
    print(line(samples[-1]), flush=True)
    return samples


def _asked(server: Server, asked: Load) -> int:
    told = load(server, asked).told
    assert told["requests"] >= asked.requests, told
    return asked.requests


def _left(server: Server, count: int) -> int:
    """Begin so many streams, read the first bytes of each, and reset the connection."""
    body = request(TRANSLATED, stream=True)
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
            connection.sendall(body)
            assert connection.recv(64).startswith(b"HTTP/1.1 200")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return count


def _looked_at(server: Server) -> tuple[float, int, int]:
    """Memory, sockets and requests under way, once what ended has had a moment to go."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    sockets = tasks = 0
    for _ in range(100):
        sockets = _sockets(folder)
        tasks = len(_connections(server.port)) + _under_way(server.port)
        if tasks == 0:
            break
        time.sleep(0.1)
    return server.resident_mb(), sockets, tasks


def _under_way(port: int) -> int:
    """What its metrics say is under way, beside the question itself."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics", headers={"x-api-key": CLIENT_KEY, "connection": "close"})
    page = connection.getresponse().read().decode()
    (told,) = [row for row in page.splitlines() if row.startswith("interlingua_under_way ")]
    return int(told.split()[1]) - 1


def _sockets(folder: Path) -> int:
    count = 0
    for file in folder.iterdir():
        with suppress(OSError):  # closed meanwhile
            count += str(file.readlink()).startswith("socket:")
    return count


def _connections(port: int) -> list[str]:
    """The connections of clients to the gateway that are still open."""
    told: list[str] = []
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_ = row.split()
        if int(local.rpartition(":")[2], 16) == port and state == "01":
            told.append("ESTABLISHED")
    return told


def verdict(samples: list[Sample]) -> list[str]:
    """What grew; nothing for a run that is flat.

    Memory is compared over the last three rounds of ten, where enough was asked: until then bounded stores fill, as the
    reasoning store with 48 MB of turns. Connections to upstreams are kept for a while after each round, so sockets are
    compared at rest.
    """
    before, *rounds, rest = samples
    first, last = rounds[max(0, len(rounds) * 7 // 10 - 1)], rounds[-1]
    found = {
        f"memory grew from {first.resident_mb:.0f} to {last.resident_mb:.0f} MB": last.requests >= FULL
        and growth(samples) > GROWTH,
        f"{rest.sockets} sockets at rest, {before.sockets} before": rest.sockets > before.sockets + SPARE_SOCKETS,
        f"{rest.tasks} requests or connections of clients are left": rest.tasks > 0,
    }
    return [sentence for sentence, is_so in found.items() if is_so]


def growth(samples: list[Sample]) -> float:
    """What is held after the last round, but for 4 MB, for each MB after seven of ten."""
    rounds = samples[1:-1]
    return (rounds[-1].resident_mb - SPARE_MB) / rounds[max(0, len(rounds) * 7 // 10 - 1)].resident_mb


def line(sample: Sample) -> str:
    """A sample as a line of a table."""
    return (
        f"{sample.at_s:7.0f} s {sample.requests:9,} requests {sample.resident_mb:8.1f} MB "
        f"{sample.sockets:6} sockets {sample.tasks:4} under way {sample.per_second:8.0f} a second"
    )


def charts(samples: list[Sample]) -> list[Chart]:
    """Memory, sockets and requests under way over the requests asked."""
    columns = {
        "memory, MB": [sample.resident_mb for sample in samples],
        "sockets": [float(sample.sockets) for sample in samples],
        "under way": [float(sample.tasks) for sample in samples],
    }
    asked = [float(sample.requests) for sample in samples]
    return [
        Chart(f"soak: {name}", "requests", name, (Line("gateway", tuple(zip(asked, values, strict=True))),))
        for name, values in columns.items()
    ]


def plotted(samples: list[Sample], width: int = 50) -> str:
    """The same as text."""
    return "\n".join(text(chart, width) for chart in charts(samples))


def _end(number: int, frame: object) -> None:  # noqa: ARG001 - the form of a signal's handler
    sys.exit(1)  # the gateway and its upstream end with it, as at every other end


def main() -> int:
    """Soak, keep the result, and say what grew; status 1 where something did."""
    signal.signal(signal.SIGTERM, _end)
    names = ("SOAK_REQUESTS", "SOAK_ABORTED", "SOAK_STREAMS")
    defaults = (100_000, 1_000, 1_000)
    sizes = Sizes(*[int(os.environ.get(name) or value) for name, value in zip(names, defaults, strict=True)])
    try:
        samples = soak(sizes)
    except NotRun as reason:
        print(f"not run: {reason}")
        return 1
    KEPT.mkdir(parents=True, exist_ok=True)
    told = "\n".join([*map(line, samples), "", plotted(samples), ""])
    (KEPT / "soak.txt").write_text(told, encoding="utf-8")
    rows = [sample._asdict() for sample in samples]
    (KEPT / "soak.json").write_text(json.dumps({"sizes": sizes._asdict(), "samples": rows}, indent=2), encoding="utf-8")
    (KEPT / "soak.svg").write_text(lines(charts(samples)), encoding="utf-8")
    print(plotted(samples))
    grown = verdict(samples)
    print("\n".join(grown) or "flat: memory, sockets and requests under way; kept in bench/results/local/soak.txt")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
