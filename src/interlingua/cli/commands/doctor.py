"""`il doctor`: what this machine has, what is configured, what is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.checkup import (
    Finding,
    addresses,
    aliases,
    entries,
    extras,
    keys,
    logins,
    model,
    state,
    versions,
    weights,
)
from interlingua.cli.numbers import SECONDS
from interlingua.cli.outcome import FAILED
from interlingua.cli.terminal import bold, write
from interlingua.errors import redact

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Keys are never shown, only the names of the variables that hold them.

examples:
  il doctor
  il doctor --probe                   requests one token of each configured target; it may cost a fraction of a cent
  il doctor --probe -m local/tiny     only this one

exit codes: 0 all is well, 1 something that is configured is broken, 2 the command line is wrong
"""
CHAPTERS: tuple[tuple[str, Callable[[], Iterable[Finding]]], ...] = (
    ("versions", versions),
    ("extras", extras),
    ("model", model),
    ("keys", keys),
    ("logins", logins),
    ("addresses", addresses),
    ("LLM_* entries", entries),
    ("aliases", aliases),
    ("state", state),
    ("local weights", weights),
)
MARKS: dict[bool | None, str] = {True: "ok", False: "!!", None: "--"}


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--probe", action="store_true", help="test each configured target with a call of one token")
    parser.add_argument(
        "-m", "--model", metavar="SPEC", help="test this model instead of INTERLINGUA_MODEL and all aliases"
    )
    parser.add_argument(
        "--timeout",
        type=SECONDS,
        default=10.0,
        metavar="SECONDS",
        help="time-out for each test in seconds (default: 10)",
    )


def run(options: Namespace) -> int:
    """Look, and tell."""
    well = True
    for title, look in CHAPTERS:
        well &= _tell(title, look())
    if options.probe or options.model:
        from interlingua.cli.probe import probes

        well &= _tell("probes", probes(options.model, options.timeout))
    return 0 if well else FAILED


def _tell(title: str, findings: Iterable[Finding]) -> bool:
    """Write a chapter; whether nothing in it is broken."""
    write(title, bold)
    write("\n")
    well = True
    for finding in findings:
        write(f"  {MARKS[finding.well]}  {redact(finding.text)}\n")
        well &= finding.well is not False
    return well
