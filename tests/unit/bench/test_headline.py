"""The numbers of the README, made of canned results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import __main__ as program
from bench.headline import headline, with_numbers


def row(name: str, measured: float | None, *, bar: float | None = None, unit: str = "x", **more: Any) -> dict[str, Any]:
    """A row as a run keeps it."""
    verdict = "-" if bar is None or measured is None else ("met" if measured <= bar else "missed")
    return {"name": name, "measured": measured, "bar": bar, "unit": unit, "verdict": verdict, **more}


IMPORTS = {"interlingua": 37.5, "litellm": 3469.0}
RUN: dict[str, Any] = {
    "measured_at": "2026-11-22T09:30:00+00:00",
    "rows": [
        row("library/sync", 68.27, unit="µs"),
        row("library/sync/openai", 1 / 33.8, bar=1 / 15),
        row("library/sync/litellm", 1 / 317),
        row("library/import", 3469.0, unit="ms", cells={name: {"measured": ms} for name, ms in IMPORTS.items()}),
        row("gateway/pass", 3.01, bar=5),
        row("gateway/pass-full", 6.0, bar=5),
        row("gateway/pass/portkey", None),
    ],
}
TOLD = """\
| library | interlingua | openai | any-llm | litellm | pydantic-ai | langchain-openai |
|---|---|---|---|---|---|---|
| a call | 68 µs | 34× | – | 320× | – | – |
| a call, 64 at once on asyncio | – | – | – | – | – | – |
| an event of a stream | – | – | – | – | – | – |
| import, and a client | 38 ms | – | – | 3,500 ms | – | – |

| gateway | interlingua | nginx | ferrogw | portkey | llm-rosetta | litellm |
|---|---|---|---|---|---|---|
| an event of a stream, translated | – | – | – | – | – | – |
| start, until the first answer | – | – | – | – | – | – |
| memory after the first answer | – | – | – | – | – | – |

Measured on 2026-11-22: 2 of our own 3 bars are met; missed: `gateway/pass-full`."""


def test_a_run_becomes_two_tables_and_its_misses() -> None:
    """Ratios as how many times ours, numbers in two digits, and a dash for what was not measured."""
    assert headline(RUN) == TOLD


def test_a_run_without_misses_names_none() -> None:
    """The sentence ends with what is met."""
    assert headline({**RUN, "rows": [row("a", 1.0, bar=2)]}).endswith("1 of our own 1 bars are met.")


def test_the_numbers_take_the_place_of_the_old_ones(tmp_path: Path) -> None:
    """Nothing else of the document changes, and a run that kept nothing changes nothing."""
    document = "a\n<!-- numbers -->\nold\n<!-- /numbers -->\nb\n"
    assert with_numbers(document, RUN) == f"a\n<!-- numbers -->\n{TOLD}\n<!-- /numbers -->\nb\n"
    readme = tmp_path / "README.md"
    readme.write_text(document, encoding="utf-8")
    program.retell(tmp_path / "latest.json", readme)
    assert readme.read_text(encoding="utf-8") == document
