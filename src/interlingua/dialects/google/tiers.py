"""The class of service that a request asks for, in Google's words and in the canonical ones.

Rules
- What nobody asks for is `unspecified` on the wire and None in a request; `auto` leaves it to the service, too, which
  has no word for it.
- A word of nobody is the client's own: it goes back to Google alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.types.change import Changes

__all__ = ["UNSPECIFIED", "decode_tier", "encode_tier"]

UNSPECIFIED = "unspecified"
_TIERS = {"standard": "default", "flex": "flex", "priority": "priority"}
"""Word on the wire -> the canonical one, which is OpenAI's."""
_WORDS = {canonical: word for word, canonical in _TIERS.items()}
_NEAREST = {"standard": "standard", "standard_only": "standard", "on_demand": "standard", "performance": "priority"}
"""Words of others -> the nearest of Google's."""


def decode_tier(word: str | None) -> str | None:
    """The canonical word for one on the wire, in whatever case; None for one that is not known, or says nothing."""
    return _TIERS.get(word.lower()) if word is not None else None


def encode_tier(tier: str, changes: Changes) -> str | None:
    """The word on the wire for a canonical one, or the nearest or none, with an entry."""
    if tier == "auto":
        changes.add("parameter_adjusted", "/service_tier", "auto is sent as none, with which the service chooses")
        return None
    word = _WORDS.get(tier)
    if word is None:
        word = _NEAREST.get(tier)
        if word is None:
            changes.add("parameter_unsupported", "/service_tier", f"no tier {tier!r} here")
        elif word != tier:
            changes.add("parameter_adjusted", "/service_tier", f"{tier} is sent as {word}")
    return word
