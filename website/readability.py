"""How easily the pages of the site read: the Flesch-Kincaid grade of their prose, measured by textstat.

- `.venv-docs/bin/python -m website.readability` writes the table `website/readability.md`.
- With `--check` nothing is written; pages above their bar are printed, and the status is 1. `make docs` does so.
- The grade is a year of school: 0.39 times the words of a sentence and 11.8 times the syllables of a word, less 15.59.
- Measured are sentences alone. Blocks of code, tables, headings and comments are left out, a word of code counts as one
  short word, and an item of a list is a sentence. A page of few words is left out: one sentence would decide.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

__all__ = ["BARS", "TABLE", "bar_of", "grades", "main", "prose"]

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "website" / "readability.md"
BARS = {"docs/guides/": 10.0, "docs/decisions/": None, "docs/dialects/": None, "docs/reference/": None, "": 8.0}
"""The highest grade of a page by the beginning of its path, the first that fits; None where pages are not measured:
records, maps of fields and texts made from the code."""
FEWEST_WORDS = 60
CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(
    r"\A---\n.*?^---$|<!--.*?-->|<[^>\n]+>|!\[[^\]]*\]\([^)]*\)|\{ ?[.#:][^}\n]*\}", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
WORD_OF_CODE = re.compile(r"`[^`\n]*(?:\n[^`\n]+)?`")
NO_SENTENCE = re.compile(r" *(?:\||#|===|!!!|\?\?\?)")
ITEM = re.compile(r" *(?:[-*]|\d+\.) +")


def prose(text: str) -> str:
    """The sentences of a page, a paragraph or an item of a list on each line."""
    text = WORD_OF_CODE.sub("it", CODE.sub("", text))
    text = re.sub(r"[*_]", "", LINK.sub(r"\1", LEFT_OUT.sub("", text)))
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if NO_SENTENCE.match(line) or not line.strip() or ITEM.match(line):
            paragraphs.append([])
        if not NO_SENTENCE.match(line):
            paragraphs[-1].append(ITEM.sub("", line, count=1).strip())
    lines = [" ".join(paragraph).strip().rstrip(":;,") for paragraph in paragraphs]
    return "\n".join([line if line[-1] in ".!?" else f"{line}." for line in lines if line])


def bar_of(name: str) -> float | None:
    """The highest grade that a page may have."""
    return next(bar for beginning, bar in BARS.items() if name.startswith(beginning))


def grades() -> dict[str, float]:
    """The grade of each page that is measured, by path."""
    measure = import_module("textstat").textstat.flesch_kincaid_grade
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [name for path in paths if bar_of(name := path.relative_to(ROOT).as_posix()) is not None]
    texts = {name: prose((ROOT / name).read_text(encoding="utf-8")) for name in names}
    return {name: round(measure(text), 1) for name, text in texts.items() if len(text.split()) >= FEWEST_WORDS}


def table(measured: dict[str, float], day: str) -> str:
    """The document with the grades, the hardest page first."""
    rows = [f"| `{name}` | {grade} | {bar_of(name)} |" for name, grade in sorted(measured.items(), key=_hardest_first)]
    head = (
        "# Readability\n\n"
        "Flesch-Kincaid grades (years of school) of the prose of each page, written by\n"
        f"`.venv-docs/bin/python -m website.readability` on {day}. `make docs` fails where a page is above its bar.\n\n"
        "| page | grade | bar |\n|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def _hardest_first(row: tuple[str, float]) -> tuple[float, str]:
    return -row[1], row[0]


def main(arguments: list[str]) -> int:
    """Write the table; 1 where a page is above its bar."""
    measured = grades()
    above = {name: grade for name, grade in measured.items() if grade > (bar_of(name) or 0)}
    for name, grade in above.items():
        print(f"{name}: grade {grade}, above its bar of {bar_of(name)}: shorter sentences, shorter words")
    if "--check" not in arguments:
        TABLE.write_text(table(measured, f"{datetime.now(UTC):%d %B %Y}"), encoding="utf-8")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
