"""`il version`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.terminal import write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = ""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes: nothing."""


def run(_options: Namespace) -> int:
    """Print the version."""
    import interlingua

    write(f"interlingua {interlingua.__version__}\n")
    return 0
