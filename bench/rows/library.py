"""What one call of the library costs, from Python values to Python values, beside the libraries of others.

The load: ten tools and ten messages up, a text and two tool calls down; streams of 225 pieces. A peer makes the same
call with its own types, in the dialect of the service that it is made for, and is held to ours in that dialect.
"""

from __future__ import annotations

from functools import partial

from bench.libraries import DIALECTS, LIBRARIES, compare, imported_ms, own
from bench.measure import NotRun
from bench.rows import Row

BARS = {"openai", "litellm", "any-llm", "pydantic-ai"}
"""Whom the bars name."""
KINDS = {
    "sync": ("one call, blocking", 1 / 20),
    "aio-1": ("one call, asyncio, one at a time", None),
    "aio-64": ("one call, asyncio, 64 at once", 1 / 25),
    "stream": ("one event of a stream, blocking", None),
}
NO_ASYNCIO = {"aimux", "aisuite"}
TRANSLATIONS = {
    "request": "a Chat request told to Claude, bytes to bytes",
    "reply": "Claude's answer told to a Chat client, bytes to bytes",
}


def _imports() -> dict[str, float]:
    """Of those that are installed."""
    found = {"interlingua": imported_ms("ours/openai-chat")}
    for peer in LIBRARIES:
        try:
            found[peer] = imported_ms(peer)
        except NotRun:
            continue
    return found


def _beside(kind: str) -> list[Row]:
    what, bar = KINDS[kind]
    return [
        Row(
            f"library/{kind}/{peer}", f"{what} / {peer}{_spoken(peer)}", bar if peer in BARS else None, "x",
            partial(compare, peer, kind), only_full=True,
        )
        for peer in LIBRARIES
        if peer != "llm-rosetta" and not (kind.startswith("aio") and peer in NO_ASYNCIO)
    ]  # fmt: skip


def _spoken(peer: str) -> str:
    return f", in the dialect {DIALECTS[peer]}" if peer in DIALECTS else ""


ROWS = (
    Row("library/sync", "one call, blocking, 10 tools and 10 messages", None, "µs", partial(own, "sync")),
    Row("library/aio-1", "one call, asyncio, one at a time", None, "µs", partial(own, "aio-1")),
    Row("library/aio-64", "one call, asyncio, 64 at once", None, "µs", partial(own, "aio-64")),
    Row("library/stream", "one event of a stream, blocking", 10.0, "µs", partial(own, "stream")),
    *[row for kind in KINDS for row in _beside(kind)],
    *[
        Row(f"library/{kind}/llm-rosetta", f"{what} / llm-rosetta", None, "x", partial(compare, "llm-rosetta", kind),
            only_full=True)
        for kind, what in TRANSLATIONS.items()
    ],
    Row("library/import", "importing, and making a client", None, "ms", _imports, only_full=True),
)  # fmt: skip
