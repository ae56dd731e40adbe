"""`il connect`: the lines that lead another program to the gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
It writes no file and sends nothing. The key is read from a variable, never written into code; --key-env names yours.
Every line was tested against a gateway: docs/guides/clients.md has the versions and the results.

examples:
  il connect                                       lists the clients and their dialects
  il connect langchain -m anthropic/claude-opus-5
  il connect litellm --dialect google --key-env MY_KEY
  il connect claude                                a coding agent; `il launch` starts it with a gateway of its own
"""
DEFAULT_MODEL = "openai/gpt-5.6"


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("client", nargs="?", metavar="CLIENT", help="the client (default: list all clients)")
    parser.add_argument("-m", "--model", metavar="SPEC", help="the model (default: INTERLINGUA_MODEL)")
    parser.add_argument(
        "--dialect", metavar="NAME", help="the dialect that the client should speak (default: its best)"
    )
    parser.add_argument("--url", metavar="URL", help="the gateway's address (default: the one of `il serve` here)")
    parser.add_argument("--key-env", metavar="NAME", help="the variable that holds the gateway's key")


def run(options: Namespace) -> int:
    """Print the lines of a client, or the list of clients."""
    import os
    from shlex import quote

    from interlingua.cli.agents import AGENTS, Place, shell_lines
    from interlingua.cli.clients import Access, clients, lines
    from interlingua.gateway.serving.serve import DEFAULT_PORT

    if options.client is None:
        # A line for each client, and one for each coding agent.
        rows = [(name, client.title, ", ".join(client.surfaces)) for name, client in clients().items()]
        rows += [(name, agent.title, "a coding agent; see `il launch`") for name, agent in AGENTS.items()]
        wide, title = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
        write("".join([f"{name:<{wide}}  {what:<{title}}  {state}\n" for name, what, state in rows]))
        return 0
    model = options.model or os.environ.get("INTERLINGUA_MODEL") or DEFAULT_MODEL
    if set(model) & set("\"'\\\n{}"):
        raise UsageError(f"connect: {model!r} is no name of a model")
    key = f'"${options.key_env}"' if options.key_env else "YOUR_KEY"
    access = Access((options.url or f"http://127.0.0.1:{DEFAULT_PORT}").rstrip("/"), key, model)
    if options.client in AGENTS:
        place = Place(access.url, key, model, model)
        printed = shell_lines(AGENTS[options.client], options.client, place, [])
        printed = [line.replace(quote(key), key) for line in printed]  # a variable, which a shell is to read
    elif options.client in clients():
        surfaces = clients()[options.client].surfaces
        dialect = options.dialect or next(iter(surfaces))
        if dialect not in surfaces:
            raise UsageError(f"{options.client} does not speak {dialect!r}; it speaks {', '.join(surfaces)}")
        printed = lines(surfaces[dialect], access)
        others = [name for name in surfaces if name != dialect]
        if others:
            note(f"over {dialect}; --dialect {' or '.join(others)} is there, too")
    else:
        from interlingua.registry.spec import near, shown

        hint = near(options.client, (*clients(), *AGENTS)) or "; `il connect` lists them"
        raise UsageError(f"no client {shown(options.client)}{hint}")
    write("\n".join(printed) + "\n")
    return 0
