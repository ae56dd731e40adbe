"""Sealed reasoning goes back to its issuer and to nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.content import Sealed

__all__ = ["seal_fits"]


def seal_fits(sealed: Sealed, dialect: str, target: Target) -> bool:
    """Whether `target`, spoken to in `dialect`, issued the state: a provider or model that is not known may have."""
    if sealed.dialect != dialect:
        return False
    if sealed.provider and target.provider and sealed.provider != target.provider:
        return False
    same_model = not sealed.model or not target.model or sealed.model == target.model
    return same_model or target.facts.seals_carry_over is True
