"""The shared state of the parts of one judgement: the exchange, the dialects, and the faults found so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from interlingua.dialects._contract import DecodeContext, Dialect, Target, Undo
from interlingua.testing.exchange import Exchange, Fault, Refusal
from interlingua.testing.excuses import excuses_place
from interlingua.testing.facts import Difference, FactReader, builtins_of, differences, reader_for, without_nulls
from interlingua.testing.wirefacts.values import members, word
from interlingua.types.change import Change
from interlingua.wire.http import HttpReply

__all__ = ["DialectFor", "NotJudged", "Trial", "dump", "json_reply", "load"]

DialectFor: TypeAlias = Callable[[str], Dialect | None]
"""Gives the dialect of a name, or None where there is none yet."""


class NotJudged(Exception):  # noqa: N818 - a verdict on its way up, not an error of ours
    """The exchange is not judged, for a reason of the closed list."""

    def __init__(self, reason: Refusal, detail: object) -> None:
        """The reason, and what shows it."""
        super().__init__(reason)
        self.reason: Refusal = reason
        self.detail: str = str(detail)


class Trial:
    """One exchange under judgement; every part of the judgement notes all faults that it finds."""

    def __init__(self, exchange: Exchange, dialect: Dialect, others: Iterable[Dialect], seed: str) -> None:
        """An exchange that was recorded in `dialect`, to be translated to `others`."""
        self.exchange: Exchange = exchange
        self.dialect: Dialect = dialect
        self.others: tuple[Dialect, ...] = tuple(others)
        self.seed: str = seed
        self.facts: FactReader = reader_for(dialect.name)
        self.faults: list[Fault] = []
        self.opaque: Counter[str] = Counter()
        self.undo: Undo = Undo()
        self.refusals: dict[str, tuple[str, ...]] = {}
        self.translated: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the provider answered with an error status."""
        return (self.exchange.status or 200) >= 400

    def note(self, part: str, detail: object) -> None:
        """Note one fault."""
        self.faults.append(Fault(part, str(detail), detail.path if isinstance(detail, Difference) else ""))

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """A part of the judgement: what a codec raises in it is one of its faults, and ends no other part."""
        try:
            yield
        except NotJudged:
            raise
        except Exception as error:  # noqa: BLE001 - a codec under judgement may raise anything, and that is its failure
            self.note(name, f"raised {type(error).__name__}: {error}")

    def same(self, part: str, one: object, other: object) -> None:
        """Note every place where two JSON values differ."""
        for difference in differences(one, other):
            self.note(part, difference)

    def equal(self, part: str, first: Any, second: Any) -> None:
        """Note that two canonical values differ, and where."""
        if first != second:
            difference = differences(builtins_of(first), builtins_of(second))
            for place in difference or [Difference.at("", first, second)]:
                self.note(part, place)

    def same_form(self, kind: str, body: Any, again: Any, changes: Iterable[Change]) -> None:
        """Note where two bodies differ in normal form and no entry names the place."""
        one = self.dialect.normal_form(kind, without_nulls(body))
        other = self.dialect.normal_form(kind, without_nulls(again))
        entries = tuple(changes)
        for difference in differences(one, other):
            if not excuses_place(entries, difference.path):
                self.note(f"a {kind} normal form", difference)

    def context(self) -> DecodeContext:
        """The context of the decoder of the answer."""
        return DecodeContext(target=Target(model=word(members(self.exchange.request).get("model"))), undo=self.undo)


def json_reply(status: int, body: bytes, headers: dict[str, str] | None = None) -> HttpReply:
    """An answer with a JSON body."""
    named = {"content-type": "application/json", **(headers or {})}
    return HttpReply(status=status, headers=tuple(named.items()), body=body)


def dump(value: Any) -> bytes:
    """JSON of a value."""
    return msgspec.json.encode(value)


def load(body: bytes) -> Any:
    """The value of JSON."""
    return msgspec.json.decode(body)
