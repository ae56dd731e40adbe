"""What the gateway costs beside nginx as a plain proxy: both in turn, under the same load, on one core.

Pass-through is a Chat client in front of a Chat server, translated is a Chat client in front of Claude, with ten tools,
ten messages and two calls. Streams have 225 pieces of text, 64 at once.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from bench.rows import Row
from bench.stage import Load, Server, Used, full_gateway, gateway, load, nginx

TURNS = 5
PASS = Load("chat/gpt-test")
TRANSLATED = Load("claude/claude-test")
_STREAMS = {"stream": True, "connections": 64}
BURST_PASS = Load("chat/gpt-test", requests=640, **_STREAMS)
BURST = Load("claude/claude-test", requests=640, **_STREAMS)
PACED = Load("claude/claude-test", requests=128, **_STREAMS)
PACE_MS = 10


def _turns(server: Callable[[], Server], asked: Load, turns: int = TURNS) -> list[Used]:
    return [load(server(), asked) for _ in range(turns + 1)][1:]  # the first turn warms up


def _us(asked: Load) -> float:
    return statistics.median(used.cpu_us for used in _turns(gateway, asked))


def _beside_nginx(
    asked: Load,
    *,
    pace_ms: int = 0,
    turns: int = TURNS,
    first: bool = False,
    ours: Callable[[int], Server] = gateway,
) -> float:
    """How many times what nginx takes: processor time, or the time to the first piece."""
    pairs = [(load(ours(pace_ms), asked), load(nginx(pace_ms), asked)) for _ in range(turns + 1)][1:]
    told = [(one.first_ms, other.first_ms) if first else (one.cpu_us, other.cpu_us) for one, other in pairs]
    return statistics.median(one / other for one, other in told)


def _resident_mb() -> float:
    load(gateway(), Load("chat/gpt-test", requests=16))
    return gateway().resident_mb()


ROWS = (
    Row("gateway/start", "seconds until it takes connections", 1.0, "s", lambda: gateway().started_s),
    Row("gateway/memory", "resident after its first answers", 60.0, "MB", _resident_mb),
    Row("gateway/pass", "a request passed through / nginx", 5.0, "x", lambda: _beside_nginx(PASS)),
    Row(
        "gateway/pass-full", "a request passed through with everything on / nginx", 5.0, "x",
        lambda: _beside_nginx(PASS, ours=full_gateway),
    ),
    Row(
        "gateway/translated-full", "Chat to Claude with everything on / nginx", 7.0, "x",
        lambda: _beside_nginx(TRANSLATED, ours=full_gateway),
    ),
    Row("gateway/pass-us", "the same, 16 connections", None, "µs", lambda: _us(PASS)),
    Row("gateway/translated", "Chat to Claude with tools / nginx", 7.0, "x", lambda: _beside_nginx(TRANSLATED)),
    Row("gateway/translated-us", "the same, 16 connections", None, "µs", lambda: _us(TRANSLATED)),
    Row("gateway/burst", "one event of 64 translated streams at once", 10.0, "µs", lambda: _us(BURST)),
    Row("gateway/burst-pass", "the same, passed through", None, "µs", lambda: _us(BURST_PASS)),
    Row(
        "gateway/paced", "an event, 64 paced translated streams / nginx", 2.0, "x",
        lambda: _beside_nginx(PACED, pace_ms=PACE_MS, turns=2),
    ),
    Row(
        "gateway/first", "time to the first piece, 64 paced streams / nginx", 2.0, "x",
        lambda: _beside_nginx(PACED, pace_ms=PACE_MS, turns=2, first=True),
    ),
)  # fmt: skip
