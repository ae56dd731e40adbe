"""`il capabilities`: what a model takes, and who says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlingua.cli.table import table
from interlingua.cli.terminal import write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Unknown capabilities are left out: unknown does not mean no, and requests with them are sent. Without --ask nothing is
sent.

examples:
  il capabilities local/tiny
  il capabilities ollama/gemma3:4b --ask        queries its server, too (Ollama, llama.cpp, Google, OpenRouter)
  il capabilities openai/gpt-5.6 --json         for scripts
  export LLM_WORK='openai://host/v1?images=0'; il capabilities work/any
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("spec", metavar="SPEC", help="provider/model, or an alias of one")
    parser.add_argument("--ask", action="store_true", help="query the model's server, too")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of a table")


def run(options: Namespace) -> int:
    """Print what is known."""
    from interlingua.client.capabilities import capabilities

    listed = capabilities(options.spec, ask=options.ask)
    if options.json:
        import json

        values: dict[str, object] = {name: getattr(listed, name) for name in listed.known()}
        words = {name: value if isinstance(value, int) else _words(value) for name, value in values.items()}
        members = {"model": listed.model, **words, "origins": listed.origins}
        write(f"{json.dumps(members, indent=2, ensure_ascii=False)}\n")
    else:
        rows = [(name, _shown(getattr(listed, name)), listed.origins.get(name, "")) for name in listed.known()]
        write(table(("feature", "", "says"), rows))
    return 0


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case _:
            return ", ".join(_words(value))


def _words(value: object) -> list[str]:
    return sorted(cast("frozenset[str]", value))
