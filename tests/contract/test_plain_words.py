"""The words of the documents: standard words, in sentences that a newcomer reads once.

A reader decides on plain sentences. This check finds the kinds that were rewritten, so that none comes back: words that
only this project used for a known thing, programs that speak, and clauses that make the reader guess the noun. Records,
maps of fields and texts made from the code are left out.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.contract.source import ROOT
from website.readability import CODE, WORD_OF_CODE

OUTSIDE = ("decisions", "dialects", "reference", "support.md", "scoreboard.md", "clients.md")
PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not set(path.relative_to(ROOT / "docs").parts) & set(OUTSIDE)
]
"""Pages that are written by hand."""
GENERATED = re.compile(r"<!-- (?:table|generated): ?.*?<!-- /[a-z]+ -->", re.DOTALL)
TARGET = re.compile(r"\]\([^)]*\)|^#+ .*$", re.MULTILINE)
"""Where a link leads, and headings: other pages link to them."""
WORDS = {
    r"bench(?:ed|es)\b": "the circuit breaker is open",
    r"asked all the same|is asked again|(?:target|model)s? (?:is|are) asked": "called, tried, retried",
    r"mend(?:s|ed)\b": "repaired",
    r"passed over\b": "skipped",
    r"\bknobs?\b": "a setting",
    r"(?:is|are|was|were) told\b|\btold (?:as|so|of|in|by|to)\b": "sent, reported",
    r"\bwhoever\b|\bsomebody\b": "the noun: the client, the operator",
    r"nobody (?:is|has|knows|says|looks|counts|takes|answers|listens|asks)\b": "the noun, or a passive",
    r"held against\b": "counts as a failure of",
    r"(?:carries|carried) on\b|gone on with\b": "continues",
    r"what (?:came|was asked|is asked|has come|had come|somebody|it is told)\b": "the noun: the content, the request",
    r"(?:the|both) (?:blocking|awaited) face\b|both faces\b": "the blocking functions",
    r"comes? to nothing\b|come of it\b|came of (?:it|them)\b": "the result",
    r"says nothing of\b|nothing is said\b": "does not mention, has no",
    r"\bthe (?:usual|general) road\b|\bhas no word for\b|\bhas a word for\b": "the fast path; has no field for",
}
"""A pattern for each kind of sentence, and the plain words for it."""


def _prose(text: str) -> str:
    """Sentences and cells of tables, without code, places of links and generated parts."""
    return re.sub(r"\s+", " ", WORD_OF_CODE.sub("it", TARGET.sub("]", GENERATED.sub("", CODE.sub("", text)))))


@cache
def _pages() -> tuple[tuple[Path, str], ...]:
    """Each page with its prose."""
    return tuple((path, _prose(path.read_text(encoding="utf-8"))) for path in PAGES)


def test_the_prose_of_a_page_is_its_sentences_and_cells() -> None:
    """Code, links' places and generated tables are left out; the text of a cell counts."""
    page = "# Benched\n\nA [target](a.md#benched) is\nskipped.\n\n| `told` |\n|---|\n\n```sh\nil mended\n```\n"
    generated = "<!-- table:x -->\nknobs\n<!-- /table -->\n"
    assert _prose(page + generated).strip() == "] A [target] is skipped. | it | |---|"


@pytest.mark.parametrize("pattern", WORDS)
def test_pages_use_plain_words(pattern: str) -> None:
    """No page has a sentence of this kind; the table beside the pattern names the words to use."""
    word, sentence = (
        re.compile(expression, re.IGNORECASE) for expression in (pattern, rf"[^.|]{{0,60}}(?:{pattern})[^.|]{{0,40}}")
    )
    sentences = [
        f"{path.relative_to(ROOT)}: {match[0].strip()}"
        for path, prose in _pages()
        if word.search(prose)
        for match in sentence.finditer(prose)
    ]
    assert sentences == [], f"say it as: {WORDS[pattern]}"
