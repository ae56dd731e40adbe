"""What calls do to accounts, as lines that can be written down and read again, and the accounts that they make.

Shape of a line: a JSON array, first what it is: `["enter",call,[[account,tokens,in_minute],…]]`,
`["leave",call,[account,…],used,now_s,[row,…]]`, `["gone",[holder,…],now_s]`, `["next",folded]`.

Strategy: a line of ours counts at once for what may enter, and what it says is done with many others, or when somebody
wants to know: doing it only makes more room (`running`).

Rules
- Lines are done in the order in which they were written.
- A line says what was decided, not what was asked: who reads the same lines in the same order has the same accounts.
- What keys used is summed for each generation of lines by itself, so that it can be written elsewhere once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from interlingua.gateway.keys.accounts import COUNTS, Row
from interlingua.gateway.keys.budget import EMPTY, Call, Refusal, Used, charge_of
from interlingua.gateway.keys.running import Running

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.gateway.keys.budget import Account, Owed

__all__ = ["Books", "Entered", "Gone", "Left", "Line", "Next", "Since", "rows_of"]


class Entered(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="enter"):
    """A call was let in."""

    call: Call
    """The call."""
    charged: tuple[tuple[str, int, bool], ...]
    """Its accounts, what it is charged in the minute of each, and whether that minute is limited."""


class Left(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="leave"):
    """A call has ended."""

    call: Call
    """The call, as it entered."""
    accounts: tuple[str, ...]
    """Its accounts."""
    used: Used
    """What it has used."""
    now_s: float
    """When it ended."""
    rows: tuple[Row, ...] = ()
    """What it adds to what keys used."""


class Gone(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="gone"):
    """Processes are no more: what they had reserved is charged."""

    holders: frozenset[str]
    """Their names."""
    now_s: float
    """When somebody noticed."""


class Next(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="next"):
    """The last line of a generation: it goes on in the next one."""

    folded: int
    """The generations before this one are known to be written elsewhere."""


Line: TypeAlias = Entered | Left | Gone | Next
"""What is written down."""


class Since:
    """What the lines of one generation have changed."""

    __slots__ = ("names", "sums")

    def __init__(self) -> None:
        """Nothing yet."""
        self.names: set[str] = set()
        """The accounts."""
        self.sums: dict[tuple[str, str, str], list[int]] = {}
        """What was used, by key, day and model, in the order of `COUNTS`."""

    def count(self, rows: Iterable[Row]) -> None:
        """Add to what was used."""
        for row in rows:
            sums = self.sums.get((row.key, row.day, row.model))
            if sums is None:
                sums = self.sums[row.key, row.day, row.model] = [0] * len(COUNTS)
            sums[0] += row.requests
            sums[2] += row.input_tokens
            sums[3] += row.output_tokens
            if row.nano_usd:
                sums[5] += row.nano_usd
            if row.unpriced:
                sums[6] += row.unpriced
            if row.failed or row.estimated:
                sums[1] += row.failed
                sums[4] += row.estimated


def rows_of(sums: dict[tuple[str, str, str], list[int]]) -> list[Row]:
    """What was used, as rows."""
    return [
        Row(key=key, day=day, model=model, **dict(zip(COUNTS, counts, strict=True)))
        for (key, day, model), counts in sums.items()
    ]


MOST_BEHIND = 64
"""So many lines wait until what they say is done, if nobody wants to know."""
_NOTHING: tuple[tuple[str, int, bool], ...] = ()


class _Accounts(dict[str, Running]):
    """Accounts by name; one that nobody has used begins when it is asked about."""

    def __missing__(self, name: str) -> Running:
        account = self[name] = Running()
        return account


class Books:
    """Accounts, and what keys used, generation by generation."""

    def __init__(self, accounts: dict[str, Account], generation: int = 0) -> None:
        """Goes on from accounts, with the first line of a generation."""
        self.accounts: dict[str, Running] = _Accounts({name: Running(account) for name, account in accounts.items()})
        """Every account that was used, or asked about."""
        self._since: dict[int, Since] = {}
        self.generation: int = generation
        """The generation that is being written."""
        self._behind: list[Line] = []
        self._begin(generation)

    def _begin(self, generation: int) -> None:
        self._now = self._since[generation] = Since()
        self._names = self._now.names

    @property
    def since(self) -> dict[int, Since]:
        """What the lines of each generation changed, as far as that matters still."""
        self.catch_up()
        return self._since

    def entered(self, call: Call, terms: Owed) -> Entered | Refusal:
        """The line that lets a call in, or why it does not enter."""
        charged = _NOTHING
        for name, each in terms:
            account, tokens = self.accounts[name], call.tokens
            if not account.takes(each, call):
                self.catch_up()
                refusal = account.refusal(each, call)
                if refusal is not None:
                    return msgspec.structs.replace(refusal, account=name)
                tokens = charge_of(each, call)
            charged += ((name, tokens, each.rpm is not None or each.tpm is not None),)
        return Entered(call, charged)

    def enter(self, line: Entered) -> None:
        """Have a line count that `entered` gave; what it takes is left for nobody else by then."""
        self._behind.append(line)

    def leave(self, line: Left) -> None:
        """Have a line count by which a call of ours has ended."""
        call, used, behind = line.call, line.used, self._behind
        behind.append(line)
        if used.tokens > call.tokens or used.nano_usd > call.nano_usd:
            for name in line.accounts:
                self.accounts[name].exceed(used.tokens - call.tokens, used.nano_usd - call.nano_usd)
        if len(behind) >= MOST_BEHIND:
            self.catch_up()

    def write(self, line: Line) -> None:
        """Have any line count."""
        self._behind.append(line)
        self.catch_up()

    def catch_up(self) -> None:
        """Do what lines say that count already."""
        behind, self._behind = self._behind, []
        for line in behind:
            self._do(line)

    def _do(self, line: Line) -> None:
        if type(line) is Entered:
            for name, tokens, in_minute in line.charged:
                self._names.add(name)
                self.accounts[name].add(line.call, tokens, in_minute)
        elif type(line) is Left:
            for name in line.accounts:
                self._names.add(name)
                self.accounts[name].leave(line.call, line.used, line.now_s)
            self._now.count(line.rows)
        else:
            self._do_seldom(line)

    def _do_seldom(self, line: Line) -> None:
        if isinstance(line, Gone):
            for name in [name for name, account in self.accounts.items() if account.holders() & line.holders]:
                self._now.names.add(name)
                self.accounts[name].charge(line.holders.__contains__, line.now_s)
        elif isinstance(line, Next):
            self.generation += 1
            self._begin(self.generation)
            self.forget(line.folded)

    def forget(self, folded: int) -> None:
        """What generations before that one changed is written elsewhere."""
        for generation in [known for known in self._since if known < folded]:
            del self._since[generation]

    def holders(self) -> set[str]:
        """Who has calls under way."""
        self.catch_up()
        return {holder for account in self.accounts.values() for holder in account.holders()}

    def values(self, names: Iterable[str]) -> dict[str, Account]:
        """The accounts of those names that were used."""
        self.catch_up()
        found = {name: self.accounts[name].value() for name in names if name in self.accounts}
        return {name: account for name, account in found.items() if account != EMPTY}

    def used(self) -> list[Row]:
        """What keys used, by all lines that matter still."""
        whole = Since()
        for since in self.since.values():
            whole.count(rows_of(since.sums))
        return rows_of(whole.sums)
