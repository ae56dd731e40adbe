"""Generated tables of the guides are what the code says today."""

from __future__ import annotations

from pathlib import Path

from tests.support.cells import cells
from tests.support.docs_tables import (
    CLIENTS_PAGE,
    GUIDES,
    README,
    TABLES,
    clients_page,
    pictures,
    readme_text,
    rendered,
)


@cells("path", sorted(GUIDES.glob("*.md")), ids=lambda path: path.name)
def test_tables_are_up_to_date(path: Path) -> None:
    """The committed table equals the one made now; `python -m tests.support.docs_tables` writes it anew."""
    text = path.read_text(encoding="utf-8")
    assert rendered(text) == text


def test_every_table_has_a_place() -> None:
    """No table is made in vain."""
    texts = "".join(path.read_text(encoding="utf-8") for path in GUIDES.glob("*.md"))
    assert [name for name in TABLES if f"<!-- table:{name} -->" not in texts] == []


def test_the_guide_of_clients_is_made_of_the_table_and_the_last_runs() -> None:
    """`docs/guides/clients.md` equals the page of `clients.toml` and of `gallery/results.json`."""
    assert CLIENTS_PAGE.read_text(encoding="utf-8") == clients_page()


def test_the_numbers_of_the_readme_are_those_of_the_last_whole_run() -> None:
    """Speed and missed bars are those of the run that RESULTS.md shows, other gateways those of the scoreboard."""
    text = README.read_text(encoding="utf-8")
    assert all(text.count(f"<!-- {sign}{name} -->") == 1 for name in ("numbers", "scoreboard") for sign in ("", "/"))
    assert readme_text() == text


def test_the_pictures_are_those_of_the_last_whole_run() -> None:
    """Bars beside other libraries and gateways, and lines of how cost grows, are drawn from the numbers alone."""
    assert {path: path.read_text(encoding="utf-8") for path in pictures()} == pictures()
