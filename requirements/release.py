"""Checks that a tag may become a release: `python -m requirements.release v0.2.0`.

The version of `pyproject.toml` is the tag's, the changelog has a section for it with a date, nothing waits under "Not
released yet", and the project's address is no placeholder.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

__all__ = ["main", "problems"]

ROOT = Path(__file__).parent.parent
PLACEHOLDER = re.compile(r"^https://[^/]*\.(?:example|invalid|test)(?:/|$)")
"""Hosts that nobody can own."""


def problems(tag: str, pyproject: str, changelog: str) -> list[str]:
    """The reasons why a tag is no release of this tree; empty where it is one."""
    project = tomllib.loads(pyproject)
    version: str = project["project"]["version"]
    address: str = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]
    lines: list[str] = []
    if tag != f"v{version}":
        lines.append(f"the tag is {tag}, and the version of pyproject.toml is {version}")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        lines.append(f"CHANGELOG.md has no section `## {version} (YYYY-MM-DD)`")
    waiting = re.search(r"^## Not released yet\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if waiting is not None and waiting[1].strip():
        lines.append("CHANGELOG.md has entries under `## Not released yet`")
    if PLACEHOLDER.match(address):
        lines.append(f"pyproject.toml: the address of the project is still {address}")
    return lines


def main(arguments: list[str]) -> int:
    """Print the problems of a tag; 1 where there are any, 2 without a tag."""
    if len(arguments) != 1:
        print("usage: python -m requirements.release vX.Y.Z", file=sys.stderr)
        return 2
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CHANGELOG.md")]
    lines = problems(arguments[0], *texts)
    print("\n".join(lines or [f"{arguments[0]} can be released"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
