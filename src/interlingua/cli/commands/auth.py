"""`il auth`: the keys of providers in a file, set, listed and removed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from interlingua.cli.key_ring import key_ring_path, read_keys, write_keys
from interlingua.cli.table import table
from interlingua.cli.terminal import note, piped_input, write
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
The key is typed unseen or piped in, never an argument, which other users of the machine could see. Every `il` command
uses it if the variable is not set; the library only reads the environment. A key is never shown.

examples:
  il auth set openai
  pass show anthropic | il auth set anthropic
  il auth list
  il auth remove openai
  il auth path
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "set", "remove", "path"), default="list", help="list is the default"
    )
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="as `il providers` lists them")


def run(options: Namespace) -> int:
    """Set, list, remove or find."""
    if options.action == "path":
        write(f"{key_ring_path()}\n")
    elif options.action == "list":
        _list()
    elif options.provider is None:
        raise UsageError(f"auth {options.action}: of which provider? `il providers` lists them")
    elif options.action == "set":
        variable = _variables(options.provider)[0]
        if sys.stdin is not None and sys.stdin.isatty():
            from getpass import getpass

            key = getpass(f"key of {options.provider} ({variable}): ").strip()
        else:
            key = piped_input(force=True).decode("utf-8", "replace").strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError(f"auth set {options.provider}: a key is one word of ASCII; nothing was changed")
        write_keys(read_keys() | {variable: key})
        note(f"{options.provider}: stored as {variable} in {key_ring_path()}")
        if os.environ.get(variable):
            note(f"{variable} is set in the environment, too, and goes before it")
    else:
        keys = read_keys()
        mine = [variable for variable in _variables(options.provider) if variable in keys]
        if not mine:
            raise UsageError(f"auth remove {options.provider}: it has no key here; `il auth list` lists the keys")
        write_keys({variable: key for variable, key in keys.items() if variable not in mine})
    return 0


def _list() -> None:
    keys = read_keys()
    if not keys:
        note("no keys are stored; `il auth set PROVIDER` stores one")
        return
    from interlingua.registry.resolve import default_registry

    names: dict[str, list[str]] = {}
    for row in default_registry().providers():
        for variable in row.key_env:
            names.setdefault(variable, []).append(row.name)
    rows = [
        (
            ", ".join(names.get(variable, ["-"])),
            variable,
            "the environment's" if os.environ.get(variable) else "this one",
        )
        for variable in sorted(keys)
    ]
    write(table(("provider", "variable", "in use"), rows))


def _variables(provider: str) -> tuple[str, ...]:
    """The variables that a provider's key is read from.

    Raises: ConfigError for a provider that is not known or takes none.
    """
    from interlingua.registry.resolve import default_registry
    from interlingua.registry.spec import near, shown

    rows = {row.name: row for row in default_registry().providers()}
    if provider not in rows:
        raise ConfigError(f"no provider {shown(provider)}{near(provider, tuple(rows))}")
    if not rows[provider].key_env:
        raise ConfigError(f"{provider} takes no key from a variable")
    return tuple(rows[provider].key_env)
