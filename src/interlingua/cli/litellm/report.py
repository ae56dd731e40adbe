"""The report of a conversion: the fate of each setting of a file.

Rules
- Every leaf of the input stands in the report once, with what was said of it or of what it is a part of.
- Nothing is told of a value, only of its place: any value may be a key.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["UNKNOWN", "Entry", "Fate", "Report"]

Fate: TypeAlias = Literal["becomes", "nearly", "needless", "secret", "missing", "unknown"]
"""It stands in the new file; it does, and means something else; it is so without being said; it is a key to be set as a
variable; there is nothing like it here; nobody knows what it is."""
UNKNOWN = "no setting that is known here; nothing was made of it"
"""The note on an unknown setting."""


class Entry(NamedTuple):
    """One leaf, and what became of it."""

    path: str
    """Where it stands, as `model_list[0].litellm_params.model`."""
    fate: Fate
    """Its fate."""
    detail: str
    """Its fate, in words."""


class Report:
    """The report so far."""

    def __init__(self) -> None:
        """Nothing was said."""
        self._entries: dict[str, Entry] = {}
        self.variables: dict[str, str] = {}
        """Variables to set, with what each holds."""
        self.flags: list[str] = []
        """Flags for `il serve`."""

    def say(self, path: str, fate: Fate, words: str) -> None:
        """Say what became of a leaf, or of all that stands below a path; the first word counts."""
        self._entries.setdefault(path, Entry(path, fate, words))

    def drop(self, path: str, words: str) -> None:
        """Say that there is no place for anything below a path, whatever was said before."""
        below = (f"{path}.", f"{path}[")
        self._entries = {
            place: entry for place, entry in self._entries.items() if place != path and not place.startswith(below)
        }
        self.say(path, "missing", words)

    def entries(self, paths: list[str]) -> list[Entry]:
        """Every leaf with the word that is closest to it."""
        return [self._closest(path) for path in paths]

    def _closest(self, path: str) -> Entry:
        for end in range(len(path), 0, -1):
            if (end == len(path) or path[end] in ".[") and (entry := self._entries.get(path[:end])) is not None:
                return Entry(path, entry.fate, entry.detail)
        return Entry(path, "unknown", UNKNOWN)
