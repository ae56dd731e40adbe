"""The server that a recorded request was written for: how the recorded host spells things, and nothing that it refuses.

A same-dialect trip has to end in the body that it began with. So the request goes to a server that takes everything,
and that spells what can be said in two ways as the row of the recorded host has it; without a row, as it was read.
"""

from __future__ import annotations

from functools import cache
from urllib.parse import urlsplit

from msgspec.structs import asdict

from interlingua.dialects._contract import Quirks, Target
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.testing.exchange import Exchange
from interlingua.testing.wirefacts.values import members, word

__all__ = ["faithful_target", "row_of"]

SPELLING = ("max_tokens_field", "seed_field", "image_url_string", "document_part")
"""Quirks by which a server spells what another one spells otherwise; the other ones refuse, add or leave out."""


def faithful_target(dialect: str, exchange: Exchange) -> Target:
    """The target that the client of `exchange` spoke to; the model is not the one that only the path names."""
    spelt = asdict(_quirks(dialect, exchange.host))
    echo = "always" if dialect == "anthropic" else "as_given"  # who shows unsigned thinking wants it back
    quirks = Quirks(**{name: spelt[name] for name in SPELLING}, schema_form="as_read", reasoning_echo=echo)
    return Target(model=word(members(exchange.request).get("model")), quirks=quirks)


def _quirks(dialect: str, host: str) -> Quirks:
    """The quirks of the row whose address is at that host."""
    row = row_of(dialect, host)
    return row.quirks if row is not None else Quirks()


@cache
def row_of(dialect: str, host: str) -> Provider | None:
    """The row whose address is at that host, where it speaks that dialect."""
    rows = [row for row in ROWS.values() if dialect in row.dialects and urlsplit(row.base_url).netloc == host]
    return rows[0] if rows else None
