"""What the gateway costs beside other gateways, under the same load on one core: ours with everything on.

The bars are of requests of which no two are alike; rows of one request again and again inform.
"""

from __future__ import annotations

from functools import partial

from bench.gateways import GATEWAYS, MIXED_KINDS, PACE_MS, compare, figures
from bench.measure import NotRun
from bench.rows import Row

KINDS = {
    "pass": "a request passed through, 16 connections",
    "translated": "Chat to Claude with tools, 16 connections",
    "burst-pass": "an event of streams passed through at once",
    "burst-translated": "an event of translated streams at once",
}


def _rows(kind: str, what: str) -> list[Row]:
    return [
        Row(
            f"gateway/{kind}/{name}", f"{what} / {name}", None, "x",
            partial(compare, name, kind), only_full=True,
        )
        for name, peer in GATEWAYS.items()
        if peer.translated is not None or not kind.endswith("translated")
    ]  # fmt: skip


WAYS = {"pass": "passed through", "translated": "Chat to Claude"}
_TRANSLATED = {"grown": 0.8, "new-text": 1.0, "new": 1.5}
_PASSED = {"grown": 0.4, "new-text": 0.5, "new": 0.8}
BARS: dict[tuple[str, str], dict[str, float]] = {
    ("pass", "ferrogw"): _PASSED,
    ("pass", "smg"): _PASSED,
    ("translated", "ferrogw"): _TRANSLATED,
    ("translated", "llm-rosetta"): dict.fromkeys(MIXED_KINDS, 1 / 4),
    ("translated", "litellm"): dict.fromkeys(MIXED_KINDS, 1 / 30),
}
"""The bars of requests of which no two are alike, by way and gateway, then by kind."""


def _mixed(way: str, what: str) -> list[Row]:
    return [
        Row(
            f"gateway/{kind}-{way}/{name}", f"{what}, {kind} requests / {name}",
            BARS.get((way, name), {}).get(kind), "x", partial(compare, name, f"{kind}-{way}"),
            only_full=True,
        )
        for name, peer in GATEWAYS.items()
        for kind in MIXED_KINDS
        if peer.translated is not None or way == "pass"
    ]  # fmt: skip


PACED = {
    "paced": "an event of 64 paced streams passed through",
    "first": "time to the first token of 64 paced streams",
}


def _paced(name: str) -> list[Row]:
    measure = partial(compare, name, pace_ms=PACE_MS)
    return [
        Row(f"gateway/{kind}/{name}", f"{what} / {name}", None, "x", partial(measure, kind), only_full=True)
        for kind, what in PACED.items()
    ]


def _all(kind: str) -> dict[str, float]:
    """One figure of every gateway that is there."""
    found: dict[str, float] = {}
    for name in GATEWAYS:
        try:
            figure = figures(name)[kind]
        except NotRun:
            continue
        if not isinstance(figure, str):
            found[name] = figure
    return found


ROWS = (
    *[row for kind, what in KINDS.items() for row in _rows(kind, what)],
    *[row for way, what in WAYS.items() for row in _mixed(way, what)],
    *[row for name, peer in GATEWAYS.items() if peer.is_paced for row in _paced(name)],
    Row("gateways/start", "seconds until the first answer", None, "s", partial(_all, "start"), only_full=True),
    Row("gateways/idle", "resident after the first answer", None, "MB", partial(_all, "idle"), only_full=True),
    Row("gateways/loaded", "resident after all loads", None, "MB", partial(_all, "loaded"), only_full=True),
)
