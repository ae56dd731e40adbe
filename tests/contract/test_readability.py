"""The prose of a page is found, and every measured page is below its bar; `make docs` measures the pages anew."""

from __future__ import annotations

import re

import pytest

from tests.contract.source import ROOT
from website.readability import BARS, TABLE, bar_of, prose

PAGE = """\
---
hide: [toc]
---

# A heading

A [chain](chains.md) is tried
in order; `il ask` shows it.

```sh
il ask "Hello"
```

| a | table |
|---|---|

- one item
- another item:

<!-- a comment -->
![A picture](a.svg){ .picture }
"""


def test_sentences_alone_are_measured() -> None:
    """Code, tables, headings, pictures and comments are left out; an item is a sentence; a word of code is short."""
    assert prose(PAGE) == "A chain is tried in order; it shows it.\none item.\nanother item."


def test_each_page_of_the_table_is_below_its_bar() -> None:
    """The committed table has the pages that teach, each with its grade and the bar of its folder."""
    rows = re.findall(r"^\| `(.+)` \| ([\d.]+) \| ([\d.]+) \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, _, _ in rows} >= {"README.md", "docs/index.md", "docs/guides/keys.md", "docs/learn/tools.md"}
    assert [name for name, _, bar in rows if float(bar) != bar_of(name)] == []
    assert [name for name, grade, bar in rows if float(grade) > float(bar)] == []
    assert [name for name, _, _ in rows if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(("name", "bar"), [("docs/guides/a.md", 10.0), ("docs/how-to/a.md", 8.0), ("README.md", 8.0)])
def test_the_bar_is_that_of_the_folder(name: str, bar: float) -> None:
    """Lessons and tasks have a lower bar than guides; records have none."""
    assert bar_of(name) == bar
    assert BARS["docs/decisions/"] is None
