"""The source of the site is whole: texts made from the code cover it, and blocks name nothing that a reader lacks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import interlingua as il
import interlingua.errors
from interlingua.cli.main import COMMANDS
from interlingua.registry.resolve import Registry
from interlingua.types.change import CODES
from tests.contract.blocks import FENCE, blocks
from tests.contract.source import ROOT
from tests.contract.test_code_blocks import DOCUMENTS
from tests.support.cells import cells
from website import api
from website.assemble import assemble
from website.generated import REMEDIES
from website.picture import PICTURE, picture

DOCS = ROOT / "docs"
NEW_PAGES = [path for path in DOCUMENTS if path.parent.name in ("learn", "how-to", "explain", "compare")]
REAL = re.compile(r"[\"'](?:openai|openai-chat|anthropic|google|groq|mistral|cohere|bedrock)/[\w.-]+")
"""A model of a provider that wants a key."""
WORDS_BEFORE_CODE = 160
"""At most so many words come before the first block: less than two screens."""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The assembled pages."""
    return {name: data.decode() for name, data in assemble().items() if name.endswith((".md", ".txt"))}


def test_the_reference_has_every_public_name(pages: dict[str, str]) -> None:
    """Each name of `interlingua.__all__` has one section, in one of the four pages."""
    text = "".join([pages[f"reference/{name}.md"] for name in api.CHAPTERS])
    sections = re.findall(r"^## `\w+` \{ #(\w+) \}$", text, re.MULTILINE)
    assert sorted(sections) == sorted(set(il.__all__) - {"aio"})
    assert "Defined in `" not in text


def test_every_error_has_a_cause_and_a_remedy(pages: dict[str, str]) -> None:
    """Each class of error stands in the reference, and no other one does."""
    kinds = {name for name in interlingua.errors.__all__ if isinstance(getattr(interlingua.errors, name), type)}
    assert REMEDIES.keys() == kinds
    assert set(re.findall(r"^## `(\w+)`", pages["reference/errors.md"], re.MULTILINE)) == kinds


def test_every_command_and_code_is_listed(pages: dict[str, str]) -> None:
    """The commands of `il` with their help, and the codes of changes."""
    assert set(re.findall(r"^### `il (\w+)`", pages["reference/commands.md"], re.MULTILINE)) == COMMANDS.keys()
    assert pages["reference/commands.md"].count("usage: il ") >= len(COMMANDS)
    assert set(re.findall(r"^\| `(\w+)` \|", pages["reference/changes.md"], re.MULTILINE)) == CODES.keys()


def test_links_to_files_outside_lead_to_copies(pages: dict[str, str]) -> None:
    """No relative link of an assembled page leaves the site."""
    assert "project/SECURITY.md" in pages["faq.md"]
    assert "# `switch.py`" in pages["project/examples/switch.py.md"]
    away = [name for name, text in pages.items() if re.search(r"\]\((?:\.\./)+(?:src|examples|bench)/", text)]
    assert [name for name in away if not name.startswith("project/")] == []


def test_language_models_get_a_list_and_a_text(pages: dict[str, str]) -> None:
    """`llms.txt` has a line for each page that teaches, `llms-full.txt` its text."""
    for path in NEW_PAGES:
        name = path.relative_to(DOCS).as_posix()
        address = name.removesuffix("index.md") if name.endswith("index.md") else f"{name.removesuffix('.md')}.html"
        assert f"]({address}): " in pages["llms.txt"], name
        assert f"<!-- {name} -->" in pages["llms-full.txt"]


def test_the_picture_is_drawn_from_its_texts() -> None:
    """`python -m website.picture` writes it anew."""
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_each_figure_of_the_landing_page_is_in_its_evidence() -> None:
    """Ours and those of others stand in the document that their sentence links to."""
    landing = (DOCS / "index.md").read_text(encoding="utf-8")
    sentences = re.findall(r"^(\*\*[^(]+)\(\[.+?\]\((.+?\.md)\)", landing, re.MULTILINE)
    assert len(sentences) == landing.partition('class="figures"')[2].count("\n**")
    for sentence, link in sentences:
        evidence = (DOCS / link).read_text(encoding="utf-8")
        figures = re.findall(r"\d[\d.]*(?: of \d+)?", sentence)
        assert [figure for figure in figures if figure not in evidence] == [], link


@cells("document", NEW_PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_page_begins_with_something_to_run(document: Path) -> None:
    """Few words come before its first block; lists of links have none."""
    text = document.read_text(encoding="utf-8")
    if document.name == "index.md" and document.parent.name in ("how-to", "explain"):
        return
    before = text[: text.index("```")]
    assert len(before.split()) <= WORDS_BEFORE_CODE


@cells("document", NEW_PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_block_says_at_its_top_what_it_needs(document: Path) -> None:
    """A block that names a model of a provider says so in its first line, or a script answers in its place."""
    bare = [
        block.line
        for block in blocks(document)
        if REAL.search(re.sub(r"#.*", "", block.code)) and "use(" not in block.code and "Registry(" not in block.code
        if not re.match(r"# (needs|runs without|was)", block.code) and "register_alias(" not in block.code
    ]
    assert bare == []


@cells("document", DOCUMENTS)
def test_blocks_name_nothing_undefined(document: Path) -> None:
    """Whoever copies the blocks of a page in their order has every name that they use."""
    lines: list[str] = []
    for block in blocks(document):
        lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
    ruff = Path(sys.executable).with_name("ruff")
    command = [
        ruff,
        "check",
        "--isolated",
        "--select",
        "F821",
        "--output-format",
        "concise",
        "--stdin-filename",
        "a.py",
        "-",
    ]
    checked = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    assert [line for line in checked.stdout.splitlines() if "F821" in line] == []


def test_addresses_of_providers_are_read() -> None:
    """Each `LLM_NAME='…'` of the documents is an address without a problem; so are options on pages of tasks."""
    variables: list[tuple[str, str]] = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        variables += re.findall(r"\b(LLM_[A-Z0-9_]+)='([^'…]+)'", text)
        if document.parent.name == "how-to":
            options = re.findall(r"`\?([a-z_]+=[^`…]+)`", text)
            variables += [("LLM_WORK", f"openai://token@llm.example/v1?{words}") for words in options]
    assert len(variables) > 10
    for name, address in variables:
        keys = dict.fromkeys(re.findall(r"key_env=(\w+)", address), "a-key")
        assert Registry({name: address, **keys}).load_env().problems == (), address


def test_no_block_is_left_out_by_its_indent() -> None:
    """Blocks inside of tabs and lists are found, too."""
    assert FENCE.search("- a\n\n    ```python\n    one\n    ```\n") is not None
