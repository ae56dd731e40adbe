"""The entry of a seal that stays at home: once for each part, however many there are."""

from __future__ import annotations

from interlingua.dialects._seals import LATEST, note_seal
from interlingua.types.change import Changes
from interlingua.types.content import Sealed

SEALED = Sealed("anthropic", {"signature": "c2ln"})


def test_a_part_that_is_sealed_again_is_noted_once() -> None:
    """A stream knows more of it at its end; the parts that came meanwhile do not count."""
    changes = Changes("google", "encode_response")
    for place in (*range(LATEST), 0):
        note_seal(changes, SEALED, f"/parts/{place}")
    assert [entry.path for entry in changes.entries] == [f"/parts/{place}/sealed" for place in range(LATEST)]


def test_very_many_seals_are_noted_in_one_pass() -> None:
    """What looks through all entries for each of them takes minutes."""
    changes = Changes("google", "encode_request")
    for place in range(100_000):
        note_seal(changes, SEALED, f"/parts/{place}")
    *entries, count = changes.entries
    assert [entry.path for entry in entries] == [f"/parts/{place}/sealed" for place in range(256)]
    assert count.code == "changes_counted"
    assert count.detail == "99744 more"
