"""Sealed reasoning goes back to its issuer and to nobody else.

What Responses seals beside plain text and plain calls is no reasoning but the address of an item: that it stays at home
is no loss, and no entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.change import Changes
    from interlingua.types.content import Sealed

__all__ = ["note_seal", "seal_fits"]

ADDRESSES = {"openai-responses": frozenset({"id", "status"})}
"""Members of a dialect's seals that only say where an item stands and how far it got."""


def note_seal(changes: Changes, sealed: Sealed, path: str) -> None:
    """Note that the seal of the part at `path` stays at home, unless it holds nothing but an address."""
    address = ADDRESSES.get(sealed.dialect)
    if address is None or sealed.data.keys() - address:
        changes.add("seal_foreign", f"{path}/sealed")


def seal_fits(sealed: Sealed, dialect: str, target: Target) -> bool:
    """Whether `target`, spoken to in `dialect`, issued the state: a provider or model that is not known may have."""
    if sealed.dialect != dialect:
        return False
    if sealed.provider and target.provider and sealed.provider != target.provider:
        return False
    same_model = not sealed.model or not target.model or sealed.model == target.model
    return same_model or target.facts.seals_carry_over is True
