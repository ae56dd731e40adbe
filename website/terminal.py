"""A terminal without a window: the text that a program writes becomes rows, each with its contents over time.

It understands the control characters that `il` writes: carriage return, line feed, erase to the end of the line, and
dim or plain text. Any other one is an error, so that a recording never shows garbage. Rows are never dropped: whoever
draws them scrolls.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Content", "Terminal"]

TOKEN = re.compile(r"\x1b\[(?P<parameters>[0-9;]*)(?P<command>[A-Za-z])|(?P<control>[\x00-\x1f\x7f])|(?P<character>.)")
STYLES = {"": "", "0": "", "2": "dim", "22": "", "32": "green", "39": ""}
"""The style that follows a parameter of `ESC [ … m`."""


class Content(NamedTuple):
    """A row between two moments."""

    row: int
    """Its number, from 0 at the top of everything that was ever written."""
    cells: tuple[tuple[str, str], ...]
    """Its characters, each with its style."""
    start_s: float
    """From when it looks so."""
    end_s: float | None
    """Until when; None for a row that stays so."""

    @property
    def text(self) -> str:
        """The characters alone."""
        return "".join([character for character, _ in self.cells])


class Terminal:
    """A screen of a fixed width and of any height."""

    def __init__(self, columns: int) -> None:
        """An empty screen."""
        self.columns = columns
        self.contents: list[Content] = []
        """Every content of every row, in the order in which they appeared."""
        self._rows: list[list[tuple[str, str]]] = [[]]
        self._column = 0
        self._style = ""
        self._last: dict[int, int] = {}

    def feed(self, time_s: float, text: str) -> None:
        """Write a text at a moment.

        Raises: ValueError for a control character that is not understood.
        """
        touched = {len(self._rows) - 1}
        for token in TOKEN.finditer(text):
            match token.groupdict():
                case {"character": str(character)}:
                    self._put(character)
                case {"control": "\r"}:
                    self._column = 0
                case {"control": "\n"}:
                    self._rows.append([])
                case {"command": "K", "parameters": "" | "0"}:
                    del self._rows[-1][self._column :]
                case {"command": "m", "parameters": parameters} if parameters in STYLES:
                    self._style = STYLES[parameters]
                case _:
                    raise ValueError(f"the recording holds {token[0]!r}, which this terminal does not understand")
            touched.add(len(self._rows) - 1)
        for row in sorted(touched):
            self._note(row, time_s)

    def lines(self) -> list[str]:
        """The rows as they are now, without blanks at their ends."""
        return ["".join([character for character, _ in row]).rstrip() for row in self._rows]

    def _put(self, character: str) -> None:
        if self._column == self.columns:
            self._rows.append([])
            self._column = 0
        row = self._rows[-1]
        row += [(" ", "")] * (self._column - len(row))
        row[self._column : self._column + 1] = [(character, self._style)]
        self._column += 1

    def _note(self, row: int, time_s: float) -> None:
        """Add what a row looks like now, and end what it looked like before."""
        cells = tuple(self._rows[row])
        if (index := self._last.get(row)) is not None:
            before = self.contents[index]
            if before.cells == cells:
                return
            self.contents[index] = before._replace(end_s=time_s)
        elif not cells:
            return
        self._last[row] = len(self.contents)
        self.contents.append(Content(row, cells, time_s, None))
