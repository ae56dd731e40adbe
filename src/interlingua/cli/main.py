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
from interlingua.cli.terminal import drop_unwritten, lenient, open_what_is_closed, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from interlingua.cli.command import CommandModule

__all__ = ["COMMANDS", "main"]


CHAPTERS: dict[str, dict[str, str]] = {
    "use models": {
        "ask": "ask once; pipes, files, tools and types welcome",
        "chat": "talk to a model, line by line",
        "run": "let a model work with tools, step by step, until it is done",
        "history": "list, search and show earlier prompts and answers",
        "templates": "manage templates (named prompts and options): list, show, path, delete",
        "embed": "turn texts into vectors",
        "rerank": "order documents by relevance",
        "extract": "turn many files into typed rows; a rerun continues where the last one stopped",
        "batches": "manage batches at providers (half the price): list, show, cancel",
    },
    "check before sending": {
        "explain": "show a request, its targets and the changes of its translation; send nothing",
        "capabilities": "show the known capabilities of a model, with their sources",
        "translate": "translate a request or an answer into another dialect",
        "lint": "show the parts of your tools that providers would rewrite or refuse, and why",
    },
    "run the gateway": {
        "serve": "start the gateway: any client of a model API reaches any provider",
        "launch": "run a coding agent on any model: claude, codex, gemini, qwen, opencode",
        "connect": "print the settings that connect another client to the gateway",
        "keys": "manage the gateway's keys: create, list, revoke, usage",
        "logs": "show the requests of a gateway: list, filter, follow",
        "replay": "replay a recorded request, offline, in any dialect",
        "migrate": "convert the configuration of a LiteLLM proxy, with a report",
    },
    "manage this machine": {
        "providers": "list the providers, and whether their keys are set",
        "models": "manage local models: list, pull, path; list PROVIDER lists a provider's models",
        "health": "show the targets that are skipped (circuit breakers), and why; suspend and resume them",
        "auth": "store keys of providers in your own file: set, list, remove",
        "doctor": "check versions, extras, keys and configuration",
        "completion": "print a script that completes commands and options: bash, zsh, fish",
        "version": "print the version of interlingua",
    },
}
"""The commands, each in one line, in the order of the help; its module is `interlingua.cli.commands.<name>`."""
_WITHOUT_KEYS = frozenset({"auth", "completion", "history", "templates", "version"})
"""Commands that ask no provider; the others read the key ring where the environment has no key."""
COMMANDS = {name: line for chapter in CHAPTERS.values() for name, line in chapter.items()}
HEAD = """\
il: one command for every model. `il` is short for `interlingua`.

usage: il COMMAND [options]          il COMMAND --help shows options and examples
"""
TAIL = """
A model is provider/model (openai/gpt-5.6, local/tiny), an alias, or several with commas: a chain, tried in order.
`-m` sets it; the default is INTERLINGUA_MODEL. Keys come from variables (OPENAI_API_KEY, LLM_<NAME>) or `il auth set`.

examples:
  il ask -m local/tiny "One line on Oslo, please."
  il ask "What failed?" < build.log
  il ask -c "And why?"
  il explain -m openai/gpt-5.6 --curl "Hello"
  il doctor

exit codes:
  0  it worked                                  3    the answer did not fit the schema
  1  the model, provider or network failed      130  interrupted (Ctrl-C)
  2  the command line or configuration is wrong 141  the reader of the output is gone
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of one command line; None takes the process's own."""
    try:
        open_what_is_closed()
        lenient(sys.stdin, sys.stdout, sys.stderr)
        code = _command(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except (Exception, *Interrupted) as error:  # noqa: BLE001 - the last stop: every failure becomes one line and a code
        code = exit_code(error)
    drop_unwritten()
    if argv is None:
        gc.freeze()  # the process ends: without this, the interpreter would look through all its modules for garbage
    return code


def _command(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help" | "help"]:
            chapters = [
                f"\n{title}:\n" + "".join(f"  {name:<12} {summary}\n" for name, summary in commands.items())
                for title, commands in CHAPTERS.items()
            ]
            write(f"{HEAD}{''.join(chapters)}{TAIL}")
            return 0
        case ["--version" | "-V", *_]:
            return _run("version", [])
        case ["help", name, *_]:
            return _run(name, ["--help"])
        case _:
            return _run(arguments[0], arguments[1:])


def _run(name: str, arguments: list[str]) -> int:
    if name not in COMMANDS:
        if name.startswith("-"):
            raise UsageError(f"a command comes first, not {name}; `il --help` lists them")
        from interlingua.registry.spec import near, shown

        if " " in name:
            raise UsageError(f'a command comes first; to ask a model: il ask "{name:.40}"')
        raise UsageError(f"no command {shown(name)}{near(name, tuple(COMMANDS)) or '; `il --help` lists them'}")
    from importlib import import_module

    if "msgspec" not in sys.modules:
        # Spare a process that lives for one command what takes a fifth of its start: msgspec loads typing_extensions
        # wherever that is installed, though `typing` has all that it asks for; and garbage is looked for all the while
        # modules are loaded, when there is none.
        gc.set_threshold(50_000)
        modules = cast("dict[str, ModuleType | None]", sys.modules)
        if modules.setdefault("typing_extensions", None) is None:
            import msgspec  # noqa: F401  # pyright: ignore[reportUnusedImport]  # that it is loaded now is what counts

            del modules["typing_extensions"]
    from interlingua.cli.parse import parse

    if name not in _WITHOUT_KEYS:
        from interlingua.cli.key_ring import use_key_ring

        use_key_ring()
    command = cast("CommandModule", import_module(f"interlingua.cli.commands.{name}"))
    return command.run(parse(name, COMMANDS[name], command, arguments))
