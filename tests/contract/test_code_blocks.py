"""Every Python block of README and guides runs as it stands, without a network.

The blocks of one document share their names and run in order, over a prelude that defines what the text takes
for granted: `tests/contract/preludes/<document>.py`. Its `REPLIES` are the script of the fake that answers.
"""

from __future__ import annotations

import contextlib
import importlib
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.contract.blocks import Block, blocks, run
from tests.contract.source import ROOT, SOURCE

PRELUDES = Path(__file__).parent / "preludes"

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def _kit() -> Any:
    """The testing kit, under which documents run."""
    if not all((SOURCE / room / "__init__.py").is_file() for room in ("client", "testing")):
        pytest.skip("the client or the testing kit is not written yet, and blocks must not reach a network")
    return importlib.import_module("interlingua.testing")


def _prelude(document: Path) -> dict[str, Any]:
    path = PRELUDES / f"{document.stem.lower().replace('-', '_')}.py"
    return runpy.run_path(str(path)) if path.is_file() else {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of the document runs to its end, in order, in an empty folder, against the fake model."""
    found = blocks(document)
    if not found:
        return
    kit = _kit()
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__", **_prelude(document)}
    replies = names.pop("REPLIES", None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(kit.no_network())
        if replies is not None:
            stack.enter_context(kit.use(kit.FakeModel(replies)))
        for block in found:
            _run_named(block, names)


def _run_named(block: Block, names: dict[str, Any]) -> None:
    try:
        run(block, names)
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
