"""Sealed reasoning goes back to its issuer and to nobody else.

What Responses seals beside plain text and plain calls is no reasoning but the address of an item: that it stays at home
is no loss, and no entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._members import ADDRESS

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.change import Changes
    from interlingua.types.content import Sealed

__all__ = ["is_address", "note_seal", "seal_fits"]

ADDRESSES = {"openai-responses": ADDRESS}
"""The dialects whose seals may be that."""
LATEST = 16
"""Among how many entries that of a part is looked for: there may be very many, and whoever seals again does it soon."""


def note_seal(changes: Changes, sealed: Sealed, path: str, target: Target | None = None) -> None:
    """Note once that the seal of the part at `path` does not go to `target`, unless it holds nothing but an address.

    A stream may seal a part again when more of it is known.
    """
    if is_address(sealed):
        return
    is_bound = target is not None and not target.takes_seals and sealed.dialect == changes.dialect
    code = "seal_bound" if is_bound else "seal_foreign"
    here = f"{path}/sealed"
    if not any([entry.path == here and entry.code == code for entry in changes.entries[-LATEST:]]):
        changes.add(code, here)


def is_address(sealed: Sealed) -> bool:
    """Whether a seal holds nothing but where an item stands."""
    address = ADDRESSES.get(sealed.dialect)
    return address is not None and address.issuperset(sealed.data)


def seal_fits(sealed: Sealed, dialect: str, target: Target) -> bool:
    """Whether `target`, spoken to in `dialect`, issued the state, and takes it: one that is not known may have."""
    if sealed.dialect != dialect or not target.takes_seals:
        return False
    if sealed.provider and target.provider and sealed.provider != target.provider:
        return False
    same_model = not sealed.model or not target.model or sealed.model == target.model
    return same_model or target.facts.seals_carry_over is True
