"""Code blocks of the documents: found, numbered by line, run as a reader would run them, and their output compared.

A block shows its output in comments: `#> text` is one printed line, to the letter. A group of such lines that begins
with `#> for example:` stands for one or more lines of any text: a model's words.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import dataclasses
import inspect
import io
import re
import textwrap
import tokenize
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"^(?P<indent> *)```python(?P<flags>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
EXAMPLE = "for example:"
"""The beginning of an output that may be any text."""


@dataclasses.dataclass(frozen=True)
class Block:
    """One fenced block of Python."""

    path: Path
    line: int
    code: str
    flags: str

    def __str__(self) -> str:
        """File and line, for test ids."""
        return f"{self.path.name}:{self.line}"


def blocks(path: Path) -> tuple[Block, ...]:
    """The Python blocks of a document, in order; ```` ```python no-run ```` is left out."""
    text = path.read_text(encoding="utf-8")
    found = (
        Block(
            path, text.count("\n", 0, match.start("code")) + 1, textwrap.dedent(match["code"]), match["flags"].strip()
        )
        for match in FENCE.finditer(text)
    )
    return tuple(block for block in found if block.flags != "no-run")


def run(block: Block, names: dict[str, Any]) -> None:
    """Run a block over `names`, which it may extend; one with `await` runs in an event loop."""
    source = "\n" * (block.line - 1) + block.code
    code = compile(source, str(block.path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, names))  # the compiled block is a coroutine
    else:
        exec(code, names)


def run_and_compare(block: Block, names: dict[str, Any]) -> None:
    """Run a block and compare its output with its comments; a block without such comments may print anything."""
    groups = outputs(block.code)
    if not groups:
        run(block, names)
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run(block, names)
    lines = printed.getvalue().splitlines()
    pattern = "".join([_pattern(group) for group in groups])
    text = "".join([f"{line.rstrip()}\n" for line in lines])
    assert re.fullmatch(pattern, text), f"printed:\n{text}\nthe comments say:\n{groups}"


def outputs(code: str) -> list[list[str]]:
    """The groups of output comments of a block, in order: comment lines that follow each other directly."""
    groups: list[list[str]] = []
    last_line = -1
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and token.string.startswith("#>"):
            line = token.string[2:].removeprefix(" ").rstrip()
            if token.start[0] == last_line + 1:
                groups[-1].append(line)
            else:
                groups.append([line])
            last_line = token.start[0]
    return groups


def _pattern(group: list[str]) -> str:
    if group[0].startswith(EXAMPLE):
        return r"(?:.*\n)+?"
    return "".join([re.escape(line) + r"\n" for line in group])
