"""`il templates`: the templates of `il ask -t`, listed, shown and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.conversing import shortened
from interlingua.cli.terminal import note, write
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
A template is a file of TOML; its keys are those of `il ask`: model, system, prompt, schema, effort, max_tokens,
temperature, timeout, tool, option. `$input` in its prompt is the prompt of the command line with what stdin holds,
other $words are parameters.

examples:
  il ask --save brief -s "You are terse." 'Sum this up in $lang: $input'
  il ask -t brief -p lang=French < article.txt
  il templates                   lists them
  il templates show brief
  ${EDITOR:-vi} "$(il templates path brief)"
  il templates delete brief
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "show", "path", "delete"), default="list", help="list is the default"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of the template")


def run(options: Namespace) -> int:
    """List, show, find or delete."""
    from interlingua.cli.templates import read_template, template_names, template_path

    if options.action == "list":
        names = template_names()
        if not names:
            note("there are no templates; `il ask --save NAME` makes one")
        for name in names:
            members = read_template(name)
            write(f"{name}: {shortened(members.get('prompt') or members.get('system') or '')}\n")
        return 0
    if options.name is None:
        raise UsageError(f"templates {options.action}: which one? `il templates` lists them")
    path = template_path(options.name)
    if options.action == "path":
        write(f"{path}\n")
        return 0
    read_template(options.name)
    if options.action == "show":
        write(path.read_text(encoding="utf-8"))
        return 0
    try:
        path.unlink()
    except OSError as error:
        raise ConfigError(f"{path} cannot be deleted: {error.strerror}") from None
    return 0
