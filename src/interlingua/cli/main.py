"""The `il` command: finds the command that is asked for, loads it alone, and turns every outcome into an exit code.

Rules
- Answers go to stdout; everything else goes to stderr, one line each.
- No traceback, unless `INTERLINGUA_DEBUG=1`; never a credential.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, cast

from interlingua.cli.outcome import Interrupted, exit_code
from interlingua.cli.terminal import lenient, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from interlingua.cli.command import CommandModule

__all__ = ["COMMANDS", "main"]


COMMANDS: dict[str, tuple[str, str]] = {
    "ask": ("interlingua.cli.commands.ask", "ask a model once; pipes, files, tools and types welcome"),
    "chat": ("interlingua.cli.commands.chat", "talk to a model"),
    "run": ("interlingua.cli.commands.run", "let a model work with tools, step by step, until it is done"),
    "providers": ("interlingua.cli.commands.providers", "who is known, and whose key is there"),
    "extract": ("interlingua.cli.commands.extract", "many files become rows of a type; a rerun goes on"),
    "explain": ("interlingua.cli.commands.explain", "show what would be sent, to whom, and what changes"),
    "translate": ("interlingua.cli.commands.translate", "tell a request or an answer in another dialect"),
    "lint": ("interlingua.cli.commands.lint", "what each provider will rewrite or refuse of your tools, and why"),
    "doctor": ("interlingua.cli.commands.doctor", "versions, extras, keys, and what is broken"),
    "serve": ("interlingua.cli.commands.serve", "the gateway: every client of a model API to every provider"),
    "keys": ("interlingua.cli.commands.keys", "keys of the gateway: create, list, revoke, usage"),
    "logs": ("interlingua.cli.commands.logs", "what the requests of a gateway came to: list, filter, follow"),
    "replay": ("interlingua.cli.commands.replay", "a recorded request again, offline, in any dialect"),
    "migrate": ("interlingua.cli.commands.migrate", "a LiteLLM proxy's configuration as one of ours, with a report"),
    "health": ("interlingua.cli.commands.health", "which targets are passed over, and why; suspend and resume them"),
    "launch": ("interlingua.cli.commands.launch", "a coding agent on any model: claude, codex, gemini, qwen, opencode"),
    "models": ("interlingua.cli.commands.models", "local models: list, pull, path"),
    "version": ("interlingua.cli.commands.version", "the version of interlingua"),
}
"""Every command, in the order of the help: the module where it is, and what it does in one line."""
HEAD = """\
il: one command for every model. `il` is short for `interlingua`.

usage: il COMMAND [options]          il COMMAND --help shows them, with examples
"""
TAIL = """
A model is provider/model (openai/gpt-5.6, local/tiny), an alias, or several with commas: a chain, tried in order.
`-m` names it, else INTERLINGUA_MODEL. Keys come from OPENAI_API_KEY and its like, or from LLM_<NAME>.

examples:
  il ask -m local/tiny "One line on Oslo, please."
  il ask "What failed?" < build.log
  il ask -c "And why?"
  il explain -m openai/gpt-5.6 --curl "Hello"
  il doctor

exit codes:
  0  it worked                                  3    the answer did not fit the schema
  1  the model, provider or network failed      130  interrupted (Ctrl-C)
  2  the command line or configuration is wrong 141  whoever read the output went away
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of one command line; None takes the process's own."""
    try:
        lenient(sys.stdout, sys.stderr)
        code = _command(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except (Exception, *Interrupted) as error:  # noqa: BLE001 - the last stop: every failure becomes one line and a code
        code = exit_code(error)
    if argv is None:
        gc.freeze()  # the process ends: without this, the interpreter would look through all its modules for garbage
    return code


def _command(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help" | "help"]:
            write(_help())
            return 0
        case ["--version" | "-V", *_]:
            return _run("version", [])
        case ["help", name, *_]:
            return _run(name, ["--help"])
        case _:
            return _run(arguments[0], arguments[1:])


def _help() -> str:
    lines = [f"  {name:<10} {said}\n" for name, (_, said) in COMMANDS.items()]
    return f"{HEAD}\ncommands:\n{''.join(lines)}{TAIL}"


def _run(name: str, arguments: list[str]) -> int:
    if name not in COMMANDS:
        raise _unknown(name)
    place, said = COMMANDS[name]
    from importlib import import_module

    _load_quickly()
    from interlingua.cli.parse import parse

    command = cast("CommandModule", import_module(place))
    return command.run(parse(name, said, command, arguments))


def _load_quickly() -> None:
    """Spare a process that lives for one command what takes a fifth of its start.

    msgspec loads typing_extensions wherever that is installed, though `typing` has all that it asks for; and garbage
    is looked for all the while modules are loaded, when there is none.
    """
    if "msgspec" in sys.modules:
        return
    gc.set_threshold(50_000)
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    if modules.setdefault("typing_extensions", None) is None:
        import msgspec  # noqa: F401  # pyright: ignore[reportUnusedImport]

        del modules["typing_extensions"]


def _unknown(name: str) -> UsageError:
    if name.startswith("-"):
        return UsageError(f"a command comes first, not {name}; `il --help` lists them")
    from interlingua.registry.spec import near, shown

    if " " in name:
        return UsageError(f'a command comes first; to ask a model: il ask "{name:.40}"')
    return UsageError(f"no command {shown(name)}{near(name, tuple(COMMANDS)) or '; `il --help` lists them'}")
