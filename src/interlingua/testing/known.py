"""Faults of the codec that are known and wait to be repaired: a file of them, compact and exact.

```
[[fault]]
topic = "A"                          # what mends it
what = "one sentence"
part = "b response in anthropic"     # the part of the judgement; `*` stands for anything
path = "/parts/*/id"                 # the differing path, or how the detail begins; `*` stands for anything
ids = ["2c0b1260c6b8"]               # the exchanges
```

Rules
- A fault is known when an entry names its exchange, its part and its place.
- An entry is needed for every one of its ids; one that is not has to go.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from interlingua.errors import ConfigError
from interlingua.testing.exchange import Fault, Verdict

__all__ = ["Known", "KnownFault", "read_known"]


class KnownFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of fault."""

    topic: str
    """The topic of the work that mends it."""
    what: str
    """The fault, in one sentence."""
    part: str
    """The part of the judgement."""
    path: str
    """The place, or how the detail begins."""
    ids: list[str]
    """The exchanges that have it."""

    def fits(self, exchange: str, fault: Fault) -> bool:
        """Whether it is this fault of that exchange."""
        if exchange not in self.ids or not _pattern(self.part).fullmatch(fault.part):
            return False
        return _pattern(self.path).match(fault.path or fault.detail) is not None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fault: list[KnownFault] = []


class Known(msgspec.Struct, frozen=True):
    """The known faults."""

    faults: list[KnownFault]
    """Every kind of them."""

    def unknown(self, exchange: str, verdict: Verdict) -> list[Fault]:
        """The faults of an exchange that no entry names."""
        return [fault for fault in verdict.faults if not any(one.fits(exchange, fault) for one in self.faults)]

    def needless(self, verdicts: Mapping[str, Verdict]) -> list[str]:
        """The entries that no judged exchange has, as `topic id part path`."""
        return [
            f"{one.topic} {name} {one.part} {one.path}"
            for one in self.faults
            for name in one.ids
            if name in verdicts and not any(one.fits(name, fault) for fault in verdicts[name].faults)
        ]


def read_known(paths: Iterable[Path]) -> Known:
    """The known faults in these files.

    Raises: ConfigError for a file that cannot be read, or that holds something else.
    """
    return Known([one for path in paths for one in _read(path).fault])


def _read(path: Path) -> _File:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
    except (OSError, ValueError) as error:  # of TOML, of UTF-8, of another shape
        raise ConfigError(f"{path} holds no known faults: {error}") from error


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join([re.escape(piece) for piece in text.split("*")]))
