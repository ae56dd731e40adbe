"""`il completion`: a script that completes commands and options in a shell."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from interlingua.cli.terminal import write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.cli.command import CommandModule

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
The script knows the commands and options of this version; after an upgrade, make it again.

examples:
  il completion bash > ~/.local/share/bash-completion/completions/il
  echo 'eval "$(il completion zsh)"' >> ~/.zshrc
  il completion fish > ~/.config/fish/completions/il.fish
"""


class _Option(NamedTuple):
    names: tuple[str, ...]
    about: str
    choices: tuple[str, ...]


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(options: Namespace) -> int:
    """Print the script."""
    from interlingua.cli.main import COMMANDS
    from interlingua.cli.parse import parser_of

    commands: dict[str, list[_Option]] = {}
    for name, summary in COMMANDS.items():
        command = cast("CommandModule", import_module(f"interlingua.cli.commands.{name}"))
        # The words of a command: its options, and the words of its first argument under no name.
        commands[name] = [
            _Option(tuple(action.option_strings), action.help or "", tuple(map(str, action.choices or ())))
            for action in parser_of(name, summary, command)._actions  # noqa: SLF001 - argparse has no public list
            if action.option_strings or action.choices
        ]
    write({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](commands))
    return 0


def _bash(commands: dict[str, list[_Option]]) -> str:
    words = {
        name: " ".join([word for option in options for word in option.names or option.choices])
        for name, options in commands.items()
    }
    cases = "".join([f"        {name}) words={_quoted(text)} ;;\n" for name, text in words.items()])
    return f"""\
_il() {{
    local words current=${{COMP_WORDS[COMP_CWORD]}}
    case $COMP_CWORD:${{COMP_WORDS[1]}} in
        1:*) words={_quoted(" ".join(commands))} ;;
        *) case ${{COMP_WORDS[1]}} in
{cases}        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _il il interlingua
"""


def _zsh(commands: dict[str, list[_Option]]) -> str:
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: dict[str, list[_Option]]) -> str:
    from interlingua.cli.main import COMMANDS

    lines: list[str] = []
    for name, options in commands.items():
        lines.append(f"complete -c il -n __fish_use_subcommand -f -a {name} -d {_quoted(COMMANDS[name])}")
        here = f"complete -c il -n '__fish_seen_subcommand_from {name}'"
        for names, about, choices in options:
            spelled = [f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in names]
            words = [f"-a {_quoted(' '.join(choices))}"] if choices else []
            lines.append(" ".join([here, *spelled, *words, f"-d {_quoted(about)}"]))
    return "".join([f"{line}\n" for line in [*lines, "complete -c interlingua -w il"]])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
