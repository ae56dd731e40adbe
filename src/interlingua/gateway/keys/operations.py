"""Operations of calls on accounts: a call enters or leaves, in the accounts of its key and its team together.

Rules
- An operation is done in all of its accounts or in none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from interlingua.gateway.keys.budget import EMPTY, Account, MeteredCall, Refusal, Tally, Used
from interlingua.gateway.keys.terms import Terms

__all__ = ["Enter", "Leave", "Operation", "Owed", "Tallies", "names_of", "step"]

Owed: TypeAlias = tuple[tuple[str, Terms], ...]
"""The accounts that a call concerns, a key's and its team's, with what they may use."""


class Enter(NamedTuple):
    """A call wants to begin."""

    call: MeteredCall
    """The call."""
    terms: Owed
    """Its accounts."""


class Leave(NamedTuple):
    """A call has ended."""

    call: MeteredCall
    """The call, as it entered."""
    accounts: tuple[str, ...]
    """The accounts that it concerns."""
    used: Used
    """The use of the call."""
    now_s: float
    """When it ended."""


Operation: TypeAlias = "Enter | Leave"
"""Operations on accounts."""


class Tallies:
    """Accounts at hand, changed by whole operations: in all accounts that one concerns, or in none."""

    __slots__ = ("_tallies", "changed")

    def __init__(self, accounts: Mapping[str, Account] | None = None) -> None:
        """Goes on from accounts; every other one is empty."""
        self._tallies = {name: Tally(account) for name, account in (accounts or {}).items()}
        self.changed: set[str] = set()
        """The accounts that were changed."""

    def __contains__(self, name: str) -> bool:
        """Whether an account is at hand."""
        return name in self._tallies

    def has_entered(self, operation: Operation) -> bool:
        """Whether the call of an operation has a reservation."""
        tallies = [self._tallies[name] for name in names_of([operation]) if name in self._tallies]
        return any([tally.holds(operation.call.id) for tally in tallies])

    def put(self, name: str, account: Account) -> None:
        """Have an account at hand."""
        self._tallies[name] = Tally(account)

    def forget(self) -> None:
        """Have nothing at hand."""
        self._tallies.clear()
        self.changed.clear()

    def apply(self, operation: Operation) -> Refusal | None:
        """Do an operation; the refusal of a call that does not enter."""
        if isinstance(operation, Leave):
            for name in operation.accounts:
                self._of(name).leave(operation.call, operation.used, operation.now_s)
                self.changed.add(name)
            return None
        call, terms = operation
        for name, each in terms:
            refusal = self._of(name).refusal(each, call)
            if refusal is not None:
                return msgspec.structs.replace(refusal, account=name)
        for name, each in terms:
            self._tallies[name].add(each, call)
            self.changed.add(name)
        return None

    def charge(self, is_gone: Callable[[str], bool], now_s: float) -> None:
        """Charge the reservations of holders that are gone."""
        for name, tally in self._tallies.items():
            if any(map(is_gone, tally.holders())):
                tally.lapse(now_s, is_gone=is_gone)
                self.changed.add(name)

    def value(self, name: str) -> Account | None:
        """An account; None for one that nobody has used."""
        tally = self._tallies.get(name)
        account = EMPTY if tally is None else tally.value()
        return None if account == EMPTY else account

    def _of(self, name: str) -> Tally:
        tally = self._tallies.get(name)
        if tally is None:
            tally = self._tallies[name] = Tally()
        return tally


def step(accounts: Mapping[str, Account], operation: Operation) -> tuple[dict[str, Account], Refusal | None]:
    """The accounts that an operation changes, and why a call does not enter; then it changes none."""
    tallies = Tallies({name: accounts[name] for name in names_of([operation]) if name in accounts})
    refusal = tallies.apply(operation)
    return {name: tallies.value(name) or EMPTY for name in tallies.changed}, refusal


def names_of(operations: Iterable[Operation]) -> tuple[str, ...]:
    """The accounts that operations concern, each once."""
    names: dict[str, None] = {}
    for operation in operations:
        named = operation.accounts if isinstance(operation, Leave) else [name for name, _ in operation.terms]
        names |= dict.fromkeys(named)
    return tuple(names)
