"""`make scale`: what holds at size, a section of SCALE.md for each module of `SECTIONS`.

A section is a module of this package with `section(arguments) -> str`, its text as Markdown without the heading. One
whose module is not there, and one that is not named on the command line, keeps the text that it has.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

__all__ = ["SECTIONS", "main", "with_section"]

SECTIONS = {
    "map": "A map on Ray",
    "gateways": "A hundred gateways on one Redis",
}
"""The sections by name, in their order, with their headings; the module of one is `bench.scale_<name>`."""
FILE = Path(__file__).parent / "SCALE.md"
_HEAD = """# At size

Written by `make scale` on the machine that a section names; every number was measured in that run, unless its line says
that it was computed.
"""


def main(words: list[str] | None = None) -> int:
    """Write the sections that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="what holds at size")
    parser.add_argument("--inputs", type=int, default=0, help="how many inputs; 0: as many as take some minutes")
    parser.add_argument("sections", nargs="*", help=f"which sections (default: all of {', '.join(SECTIONS)})")
    options = parser.parse_args(words)
    for name in options.sections or SECTIONS:
        if find_spec(f"bench.scale_{name}") is None:
            continue
        text = import_module(f"bench.scale_{name}").section(options)
        before = FILE.read_text(encoding="utf-8") if FILE.exists() else _HEAD
        FILE.write_text(with_section(before, name, text), encoding="utf-8")
        print(f"{name}: written to {FILE.name}")
    return 0


def with_section(text: str, name: str, section: str) -> str:
    """A text with a section in the place of the one that it has, or at the end."""
    heading = f"## {SECTIONS[name]}"
    block = f"{heading}\n\n{section.strip()}\n"
    pattern = re.compile(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(text):
        return pattern.sub(lambda _: f"{block}\n", text).rstrip() + "\n"
    return f"{text.rstrip()}\n\n{block}"


if __name__ == "__main__":
    sys.exit(main())
