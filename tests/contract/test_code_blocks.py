"""Every Python block of the README and of `docs/` runs as it stands, without a network, and prints what it says.

The blocks of one document share their names and run in order. What a reader has (files, a model that answers) is made
by a prelude, `tests/contract/preludes/<document>.py`, whose `REPLIES` are the script of the fake model, or by an entry
of `preludes/pages.toml`. Output comments (`#> …`) are compared: `tests/contract/blocks.py` has the rules.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import interlingua as il
from tests.contract.blocks import Block, blocks, run, run_and_compare
from tests.contract.source import ROOT, SOURCE

PRELUDES = Path(__file__).parent / "preludes"

PAGES: dict[str, dict[str, Any]] = tomllib.loads((PRELUDES / "pages.toml").read_text(encoding="utf-8"))
"""What pages take for granted: `files` by name, `replies` of the model."""
OUTSIDE = ("decisions", "dialects", "reference")
"""Folders of records, maps and generated texts."""
DOCUMENTS = [
    ROOT / "README.md",
    *[
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT / "docs").parts[0] not in OUTSIDE
    ],
]


def _kit() -> Any:
    """The testing kit, under which documents run."""
    if not all((SOURCE / room / "__init__.py").is_file() for room in ("client", "testing")):
        pytest.skip("the client or the testing kit is not written yet, and blocks must not reach a network")
    return importlib.import_module("interlingua.testing")


def _prelude(document: Path) -> dict[str, Any]:
    """The names that the prelude defines, after it has made its files; `REPLIES` is the script of the model."""
    path = PRELUDES / f"{document.stem.lower().replace('-', '_')}.py"
    if path.is_file() and document.parent.name not in ("how-to", "learn"):
        return runpy.run_path(str(path))
    page = PAGES.get(_name(document), {})
    for name, text in page.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return {"REPLIES": [_reply(entry) for entry in page["replies"]]} if "replies" in page else {}


def _name(document: Path) -> str:
    return document.relative_to(ROOT / "docs" if ROOT / "docs" in document.parents else ROOT).as_posix()


def _reply(entry: Any) -> Any:
    """A text, a text with its finish reason, a tool call (`{tool = "name", city = "Oslo"}`), or several in one turn."""
    kit = _kit()
    match entry:
        case {"text": text, "finish_reason": reason}:
            return il.Response(parts=(il.TextPart(text),), finish_reason=reason)
        case {"tool": name, **arguments}:
            return kit.tool_call(name, **arguments)
        case list():
            return [_reply(one) for one in entry]  # pyright: ignore[reportUnknownVariableType]  # read from TOML
        case _:
            return entry


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of the document runs to its end, in order, in an empty folder, against the fake model."""
    found = blocks(document)
    if not found:
        return
    kit = _kit()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path / "home"))  # no weights: a page that asks a model has replies
    for module in PAGES.get(_name(document), {}).get("modules", ()):
        _make_importable(module, monkeypatch)
    names = {"__name__": "__main__", **_prelude(document)}
    replies = names.pop("REPLIES", None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ))  # a page may set a variable; no other test has it
        stack.enter_context(kit.no_network())
        if replies is not None:
            stack.enter_context(kit.use(kit.FakeModel(replies)))
        for block in found:
            _run_named(block, names)


def _make_importable(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework that a page shows: of this environment, or of the one that builds the site (`make docs`)."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = str(ROOT / ".venv-docs" / "lib" / version / "site-packages")
    monkeypatch.setattr(sys, "path", [*sys.path, packages])
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed; `make docs` installs it")


def _run_named(block: Block, names: dict[str, Any]) -> None:
    try:
        run_and_compare(block, names)
    except BaseException as error:
        error.add_note(f"in the block at {block.path.relative_to(ROOT)}:{block.line}")
        raise


def test_a_block_with_await_runs() -> None:
    """A block may await at its top level, and the names it binds are there for the next."""
    names: dict[str, Any] = {}
    run(Block(Path("sample.md"), 1, "import asyncio\nawait asyncio.sleep(0)\nvalue = 1\n", ""), names)
    run(Block(Path("sample.md"), 5, "assert value == 1\n", ""), names)
    assert names["value"] == 1


def test_a_wrong_block_fails_with_its_line() -> None:
    """A failing block points at the line of the document."""
    with pytest.raises(ZeroDivisionError) as caught:
        run(Block(Path("sample.md"), 7, "x = 1\nx / 0\n", ""), {})
    assert caught.traceback[-1].lineno == 7


def test_blocks_are_found(tmp_path: Path) -> None:
    """Python fences are found with their lines; other languages and `no-run` are left out."""
    path = tmp_path / "a.md"
    path.write_text("# A\n\n```python\none\n```\n\n```sh\ntwo\n```\n\n```python no-run\nthree\n```\n", encoding="utf-8")
    assert [(block.line, block.code) for block in blocks(path)] == [(4, "one\n")]
