"""What the gateway costs beside nginx as a plain proxy: both in turn, under the same load, on one core.

Pass-through is a Chat client in front of a Chat server, translated is a Chat client in front of Claude, with ten tools,
ten messages and two calls. Streams have 225 pieces of text, 64 at once. *Full* is with everything on: a key with limits
and a budget, a request log, metrics. *Grown*, *new-text* and *new* are requests as users send them (`bench.traffic`),
with everything on: no two are alike, and neither are the answers. All other rows send one request again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from bench import canned, soak, traffic
from bench.measure import Measured, NotRun, beside, once
from bench.rows import Row
from bench.stage import Load, Server, Used, full_gateway, gateway, load, nginx, stop

TURNS = 5
WAYS = {"pass": "passed through", "translated": "Chat to Claude"}
MODELS = {"pass": "chat/gpt-test", "translated": "claude/claude-test"}
PASS, TRANSLATED = (Load(model) for model in MODELS.values())
_STREAMS = {"stream": True, "connections": 64}
BURST_PASS, BURST = (Load(model, requests=640, **_STREAMS) for model in MODELS.values())
PACED_PASS, PACED = (Load(model, requests=64, **_STREAMS) for model in MODELS.values())
PACE_MS = 10
PACED_TURNS = 7
"""Each event is a wake-up of its own, and what that costs wavers more than anything else here."""
FIRST_EVENTS, FIRST_TURNS = 10, 31
"""Short streams and many turns: a turn has one beginning, and what comes after it says nothing of that."""
CONNECTIONS = (1, 16, 128)
REQUESTS = {1: 1_000, 16: 3_000, 128: 3_000}
STREAMS = {1: 60, 16: 192, 128: 256}
OF_A_KIND = 1_920
"""Requests in a turn of grown or new ones: five times 64 conversations, from their first request to their last."""
BARS = {("grown", "pass"): 8.0, ("grown", "translated"): 16.0}
FLAT = soak.Sizes(100_000, 1_000, 1_000)


def _us(asked: Load, ours: Callable[[], Server] = gateway, turns: int = TURNS) -> Measured:
    return Measured.of([load(ours(), asked).cpu_us for _ in range(turns + 1)][1:])  # the first turn warms up


def _of_kind(kind: str, model: str) -> Measured:
    """How many times what nginx takes of the processor, for requests of which no two are alike."""
    ours, theirs = full_gateway(), nginx()
    turns: list[tuple[float, float]] = []
    for _ in range(TURNS + 1):
        asked = Load(model, requests=OF_A_KIND, bodies=tuple(traffic.requests(kind, model, OF_A_KIND)))
        turns.append((load(ours, asked).cpu_us, load(theirs, asked).cpu_us))
    return beside(turns[1:])


@once
def _pairs(
    asked: Load, ours: Callable[[int, int], Server], pace_ms: int, turns: int, events: int = canned.EVENTS
) -> list[tuple[Used, Used]]:
    servers = ours(pace_ms, events), nginx(pace_ms, events)
    return [(load(servers[0], asked), load(servers[1], asked)) for _ in range(turns + 1)][1:]


def _beside_nginx(
    asked: Load, *, ours: Callable[[int, int], Server] = gateway, pace_ms: int = 0, turns: int = TURNS
) -> Measured:
    """How many times what nginx takes of the processor."""
    return beside([(one.cpu_us, other.cpu_us) for one, other in _pairs(asked, ours, pace_ms, turns)])


def _first(asked: Load, *, ours: Callable[[int, int], Server] = gateway) -> Measured:
    """How many times as long as behind nginx the first token of a stream takes."""
    pairs = _pairs(asked, ours, PACE_MS, FIRST_TURNS, FIRST_EVENTS)
    return beside([(one.first_ms, other.first_ms) for one, other in pairs], "ms")


def _first_spread(asked: Load) -> Measured:
    """The same of streams that begin while others go on."""
    pairs = _pairs(asked._replace(spread_ms=2_000), gateway, PACE_MS, PACED_TURNS)
    return beside([(one.first_ms, other.first_ms) for one, other in pairs], "ms")


def _by_connections(model: str, *, stream: bool) -> dict[str, float]:
    """The ratio at each number of connections."""
    counts = STREAMS if stream else REQUESTS
    loads = {count: Load(model, stream, count, counts[count]) for count in CONNECTIONS}
    return {f"{count} connections": _beside_nginx(asked, turns=3) for count, asked in loads.items()}


def _paced_by_connections(model: str) -> dict[str, float]:
    loads = {count: Load(model, stream=True, connections=count, requests=count) for count in CONNECTIONS}
    return {f"{count} streams": _beside_nginx(asked, pace_ms=PACE_MS, turns=1) for count, asked in loads.items()}


def _start_s() -> Measured:
    """From the command until the first answer has come, of three starts."""
    load(gateway(), Load(MODELS["pass"], connections=1, requests=1))  # mock and load generator are there
    return Measured.of([_first_answer_s() for _ in range(3)])


def _first_answer_s() -> float:
    began_s = time.perf_counter()
    server = gateway.__wrapped__()
    load(server, Load(MODELS["pass"], connections=1, requests=1))
    took_s = time.perf_counter() - began_s
    stop(server.process)
    return took_s


def _resident_mb(ours: Callable[[], Server]) -> float:
    load(ours(), Load(MODELS["pass"], requests=16))
    return ours().resident_mb()


def _flat() -> float:
    """Whether memory is flat; what else is left over is a fault."""
    samples = soak.soak(FLAT)
    left = [sentence for sentence in soak.verdict(samples) if not sentence.startswith("memory")]
    if left:
        raise NotRun("; ".join(left))
    return soak.growth(samples)


ROWS = (
    Row("gateway/start", "seconds from the command to the first answer", 1.0, "s", _start_s),
    Row("gateway/memory", "resident after its first answers", 60.0, "MB", partial(_resident_mb, gateway)),
    Row("gateway/memory-full", "the same with everything on", 60.0, "MB", partial(_resident_mb, full_gateway)),
    Row("gateway/pass", "a request passed through / nginx", None, "x", partial(_beside_nginx, PASS)),
    Row(
        "gateway/pass-full", "a request passed through with everything on / nginx", None, "x",
        partial(_beside_nginx, PASS, ours=full_gateway),
    ),
    Row("gateway/pass-us", "a request passed through, 16 connections", None, "µs", partial(_us, PASS)),
    Row("gateway/translated", "Chat to Claude with tools / nginx", None, "x", partial(_beside_nginx, TRANSLATED)),
    Row(
        "gateway/translated-full", "Chat to Claude with tools with everything on / nginx", None, "x",
        partial(_beside_nginx, TRANSLATED, ours=full_gateway),
    ),
    Row("gateway/translated-us", "Chat to Claude with tools, 16 connections", None, "µs", partial(_us, TRANSLATED)),
    *[
        Row(
            f"gateway/{kind}-{way}", f"{WAYS[way]}, {kind} requests, everything on / nginx", BARS.get((kind, way)), "x",
            partial(_of_kind, kind, model),
        )
        for way, model in MODELS.items()
        for kind in traffic.KINDS
    ],
    Row("gateway/burst", "one event of 64 translated streams at once", 10.0, "µs", partial(_us, BURST)),
    Row("gateway/burst-pass", "one event of 64 streams passed through at once", None, "µs", partial(_us, BURST_PASS)),
    Row(
        "gateway/burst-full", "one event of 64 translated streams at once with everything on", 10.0, "µs",
        partial(_us, BURST, full_gateway),
    ),
    Row(
        "gateway/paced", "an event, 64 paced translated streams / nginx", 2.5, "x",
        partial(_beside_nginx, PACED, pace_ms=PACE_MS, turns=PACED_TURNS),
    ),
    Row(
        "gateway/paced-pass", "an event, 64 paced streams passed through / nginx", None, "x",
        partial(_beside_nginx, PACED_PASS, pace_ms=PACE_MS, turns=PACED_TURNS),
    ),
    Row(
        "gateway/first", "time to the first token, 64 paced translated streams / nginx", 3.0, "x",
        partial(_first, PACED),
    ),
    Row(
        "gateway/first-spread", "the same, the 64 streams beginning one after the other / nginx", None, "x",
        partial(_first_spread, PACED),
    ),
    Row(
        "gateway/paced-full", "an event, 64 paced translated streams with everything on / nginx", 2.5, "x",
        partial(_beside_nginx, PACED, pace_ms=PACE_MS, turns=PACED_TURNS, ours=full_gateway),
    ),
    Row(
        "gateway/first-full", "time to the first token, the same with everything on / nginx", 3.0, "x",
        partial(_first, PACED, ours=full_gateway),
    ),
    *[
        Row(
            f"gateway/{kind}-at", f"{kind}, whole answers by connections / nginx", None, "x",
            partial(_by_connections, model, stream=False),
        )
        for kind, model in MODELS.items()
    ],
    *[
        Row(
            f"gateway/burst-{kind}-at", f"{kind}, an event of burst streams by connections / nginx", None, "x",
            partial(_by_connections, model, stream=True),
        )
        for kind, model in MODELS.items()
    ],
    *[
        Row(
            f"gateway/paced-{kind}-at", f"{kind}, an event of paced streams by how many at once / nginx", None, "x",
            partial(_paced_by_connections, model), only_full=True,
        )
        for kind, model in MODELS.items()
    ],
    Row(
        "gateway/flat", "memory after 100,000 requests, 1,000 left streams / after 7 of 10 rounds",
        soak.GROWTH, "x", _flat, only_full=True,
    ),
)  # fmt: skip
