"""The face of a command's module; `main` loads it by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["CommandModule"]


class CommandModule(Protocol):
    """One command."""

    EXAMPLES: str
    """Lines at the end of its help."""

    def arguments(self, parser: ArgumentParser, /) -> None:
        """Say what the command takes."""
        ...

    def run(self, options: Namespace, /) -> int:
        """Do it; the exit code."""
        ...
