"""The page of the scoreboard: what a run came to, with a line of evidence for each failure."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from scoreboard.judges import JUDGES, Score

__all__ = ["Cell", "Result", "page"]


class Cell(NamedTuple):
    """One client dialect in front of one upstream."""

    upstream: str
    """The provider's dialect, or `itself`."""
    client: str
    """The client's dialect."""
    scores: dict[str, Score]
    """What each judge says."""
    note: str = ""
    """Why it was not judged."""


class Result(NamedTuple):
    """What a run says of one contestant."""

    name: str
    """Its name."""
    version: str
    """Its version."""
    settings: str
    """With which settings."""
    cells: list[Cell]
    """Its pairs."""
    note: str = ""
    """What else is to be known."""


_HEAD = """# Scoreboard

Gateways and servers that install on one Linux machine, judged in one run. `make scoreboard` installs what is missing,
runs it and writes this page; nothing here is written by hand. Run on {day}, Python {python}, in {minutes} minutes.

- **conformance**: `python -m interlingua.testing.conformance` of this package, 18 checks: text, calls, results, typed
  output, images, lengths and errors, whole and streamed. It is ours: read its evidence with that in mind.
- **llm-comply** {comply}: other people's checks, against the schemas that vendors publish.
- **streams**: a stream that breaks behind the gateway (an error frame, a frame that is no JSON, an early end, a broken
  connection; at first, after text, inside a call, before the finish; in one write and in many) must make the vendor's
  official SDK raise, and a whole one must not. A contestant through which no whole stream comes has no score for broken
  ones.

Behind each gateway stands the strict upstream of this package, as OpenAI (`gpt-4o`) and as Anthropic
(`claude-sonnet-4-5`); it refuses what the real ones refuse, so that a gateway that sends a bad request fails. What a
contestant says itself that it does not offer is no failure and does not count, nor does a check that cannot be made
there. Settings are those that each one's own guide recommends, without tuning for these judges. A figure is *passed of
made*; it may change by a few checks from run to run where a contestant's answer depends on timing.

## Summary
"""


def page(results: list[Result], seconds: float) -> str:
    """The whole page."""
    head = _HEAD.format(
        day=f"{datetime.now(UTC):%-d %B %Y}",
        python=platform.python_version(),
        minutes=max(1, round(seconds / 60)),
        comply=importlib.metadata.version("llm-comply"),
    )
    parts = [head, *_summary(results), "\n## Pairs\n", *_pairs(results), "\n## Failures\n"]
    for result in results:
        parts += _failures(result)
    return "\n".join(parts).rstrip() + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _row(*head)
    yield _row(*["---"] * len(head))
    for row in rows:
        yield _row(*row)


def _summary(results: list[Result]) -> Iterator[str]:
    rows = [
        (
            result.name, result.version,
            *[_total([cell.scores[judge] for cell in result.cells if judge in cell.scores]) for judge in JUDGES],
            f"{sum(bool(cell.scores) for cell in result.cells)} of {len(result.cells)}", result.settings,
        )
        for result in results
    ]  # fmt: skip
    yield from _table(("", "version", *JUDGES, "pairs offered", "settings"), rows)


def _total(scores: list[Score]) -> str:
    return f"{sum(score.passed for score in scores)} of {sum(score.made for score in scores)}" if scores else "–"


def _pairs(results: list[Result]) -> Iterator[str]:
    rows = [
        (result.name, cell.client, cell.upstream, *[_figure(cell, judge) for judge in JUDGES])
        for result in results
        for cell in result.cells
    ]
    yield from _table(("", "client", "upstream", *JUDGES), rows)


def _figure(cell: Cell, judge: str) -> str:
    if not cell.scores:
        return cell.note.partition(":")[0]
    score = cell.scores.get(judge)
    return "–" if score is None else f"{score.passed} of {score.made}"


def _failures(result: Result) -> Iterator[str]:
    yield f"### {result.name}\n"
    if result.note:
        yield f"{result.note}\n"
    rows = list(_rows(result))
    if rows:
        yield from _table(("client", "upstream", "judge", "check", "evidence"), rows)
    elif result.cells:
        yield "None."
    yield ""


def _rows(result: Result) -> Iterator[tuple[str, str, str, str, str]]:
    for cell in result.cells:
        if cell.note:
            yield cell.client, cell.upstream, "", "", _code(cell.note)
        for judge, score in cell.scores.items():
            if score.note:
                yield cell.client, cell.upstream, judge, "", score.note
            checks: dict[str, list[str]] = {}  # those of one evidence stand in one row
            for check, evidence in score.failures:
                checks.setdefault(evidence, []).append(check)
            for evidence, names in checks.items():
                yield cell.client, cell.upstream, judge, "; ".join(names), _code(evidence)


def _code(evidence: str) -> str:
    """Evidence as it is, in a cell of a table."""
    text = re.sub(r"[`|]", lambda found: {"`": "'", "|": "¦"}[found[0]], evidence)
    return f"`{text}`" if text else "(no words)"
