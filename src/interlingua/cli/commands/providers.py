"""`il providers`: every provider that can stand before a slash, and whether its key is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.table import table
from interlingua.cli.terminal import note, write
from interlingua.errors import redact

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Keys are never shown, only whether they are set. The last column is the source of the address: built in, a variable of
the vendor such as OPENAI_BASE_URL, LLM_<NAME>, a file, code.

examples:
  il providers
  il providers openai groq       only these
  il providers --json            for scripts
  export LLM_WORK='openai://gateway.example/v1?key_env=WORK_KEY'; il providers work
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these providers")
    parser.add_argument("--json", action="store_true", help="a JSON array instead of a table")


def run(options: Namespace) -> int:
    """Print the table."""
    from interlingua.errors import UnknownModelError
    from interlingua.registry.resolve import default_registry
    from interlingua.registry.spec import near, shown

    rows = default_registry().providers()
    all_names = tuple(row.name for row in rows)
    for name in options.names:
        if name not in all_names:
            raise UnknownModelError(f"no provider {shown(name)}{near(name, all_names)}")
    rows = [row for row in rows if not options.names or row.name in options.names]
    if options.json:
        import json

        import msgspec

        write(f"{json.dumps([msgspec.to_builtins(row) for row in rows], indent=2, ensure_ascii=False)}\n")
        return 0
    cells: list[tuple[str, ...]] = []
    for row in rows:
        variables = " or ".join(row.key_env)
        is_plain = row.key == "not needed" or row.key.startswith("login ")
        key = f"{row.key}: {variables}" if variables and not is_plain else row.key
        speaks = row.dialect or ("-" if row.problem else "nothing that this version has")
        cells.append((row.name, speaks, key or "-", redact(row.base_url) or "-", row.origin))
    write(table(("provider", "speaks", "key", "address", "from"), cells))
    for row in rows:
        if row.problem:
            note(row.problem)
    return 0
