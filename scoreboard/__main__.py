"""`python -m scoreboard [name…]`: install what is missing, judge, write the page; all of them without a name.

Rules
- One contestant at a time; it ends before the next one starts, whatever happens.
- Each has at most `CONTESTANT_S`; what is not judged by then is said.
- Only a run over all contestants writes `docs/scoreboard.md`; others print.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import NotRun
from bench.peers import PEERS, install, version
from scoreboard.judges import Place, Score, comply, conform, refusal, streams
from scoreboard.page import Cell, Result, page
from scoreboard.stage import CONTESTANTS, Contestant, Running, headers_for, running

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scoreboard.md"
CONTESTANT_S = 240.0
MAX_STARTS = 4
"""How often a contestant whose process ends is started, first start included."""


def main() -> int:
    """Judge and write; status 0 even where a contestant cannot be had, because the page says so."""
    names = sys.argv[1:] or list(CONTESTANTS)
    began_s = time.monotonic()
    results = [result_of(CONTESTANTS[name]) for name in names]
    text = page(results, time.monotonic() - began_s)
    if sys.argv[1:]:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        print(f"docs/scoreboard.md is written; {time.monotonic() - began_s:.0f} s")
    return 0


def result_of(contestant: Contestant) -> Result:
    """What the judges say of one contestant."""
    print(f"{contestant.name}: ", end="", flush=True)
    if contestant.name in PEERS and (failed := install(contestant.name)) is not None:
        return _absent(contestant, failed)
    until_s, cells, starts = time.monotonic() + CONTESTANT_S, list[Cell](), 0
    waiting = [(upstream, client) for upstream in contestant.models for client in contestant.clients]
    try:
        while waiting and starts < MAX_STARTS:
            starts += 1
            with running(contestant) as one:
                while waiting and one.process.poll() is None:
                    upstream, client = waiting[0]
                    if time.monotonic() > until_s:
                        cells.append(Cell(upstream, client, {}, f"not judged: {CONTESTANT_S:.0f} s are over"))
                        waiting.pop(0)
                        continue
                    cell = _cell(contestant, one, upstream, client)
                    if one.process.poll() is None or starts == MAX_STARTS:
                        cells.append(cell)
                        waiting.pop(0)
    except NotRun as reason:
        return _absent(contestant, str(reason))
    print(f"{len(cells)} pairs", flush=True)
    ended = f"Its process ended by itself {starts - 1} times, and was started again." if starts > 1 else ""
    notes = " ".join(filter(None, (contestant.note, ended)))
    return Result(contestant.name, _version(contestant.name), contestant.settings, cells, notes)


def _cell(contestant: Contestant, one: Running, upstream: str, client: str) -> Cell:
    """What the judges say of one pair."""
    model = contestant.models[upstream]
    headers = headers_for(contestant, one.mock, model)
    place = Place(one.port, client, contestant.clients[client], model, contestant.key, headers)
    refused = refusal(place)
    if refused:
        return Cell(upstream, client, {}, f"not offered: {refused}")
    return Cell(upstream, client, dict(_scores(place, one, upstream)))


def _scores(place: Place, one: Running, upstream: str) -> Iterator[tuple[str, Score]]:
    yield "conformance", conform(place)
    score = comply(place)
    if score is not None:
        yield "llm-comply", score
    if upstream != "itself":
        yield "streams", streams(place, one.stage)


def _absent(contestant: Contestant, reason: str) -> Result:
    print(f"not judged ({reason})", flush=True)
    return Result(contestant.name, _version(contestant.name), contestant.settings, [], f"Not judged: {reason}.")


def _version(name: str) -> str:
    if name in PEERS:
        return version(name)
    import importlib.metadata

    return importlib.metadata.version({"llama.cpp": "xllamacpp"}.get(name, name))


if __name__ == "__main__":
    sys.exit(main())
