"""Code blocks of the documents: found, numbered by line, and run as a reader would run them."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python(?P<flags>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


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
        Block(path, text.count("\n", 0, match.start("code")) + 1, match["code"], match["flags"].strip())
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
