"""Changes of one request are bounded: the first ones are told, the others are counted, and a refusal is never lost."""

from __future__ import annotations

from interlingua.types.change import MAX_CHANGES, Change, Changes, first_changes


def _many(number: int, changes: Changes) -> Changes:
    for place in range(number):
        changes.add("name_unsupported", f"/messages/{place}/name")
    return changes


def test_changes_at_the_bound_are_told_and_more_are_counted() -> None:
    """256 entries, then one with a number."""
    at_bound = _many(MAX_CHANGES, Changes("anthropic", "encode_request")).done()
    beyond = _many(MAX_CHANGES + 1_000, Changes("anthropic", "encode_request")).done()
    assert (MAX_CHANGES, len(at_bound), len(beyond)) == (256, 256, 257)
    assert beyond[:256] == at_bound
    assert beyond[256] == Change("dropped", "changes_counted", "", "anthropic", "encode_request", "1000 more")


def test_a_refusal_behind_the_bound_still_forbids_sending() -> None:
    """The first one takes the place of another entry; further ones are counted."""
    changes = _many(MAX_CHANGES, Changes("anthropic", "encode_request"))
    changes.add("images", "/messages/999")
    changes.add("audio", "/messages/1000")
    assert [change.path for change in changes.refused()] == ["/messages/999"]
    assert (len(changes.done()), changes.done()[-1].detail) == (257, "2 more")


def test_changes_of_several_stages_are_bounded_together() -> None:
    """What reading, writing and answering changed."""
    one = _many(200, Changes("google", "decode_request")).done()
    assert first_changes(one) is one
    both = first_changes(one + one)
    assert both[:256] == (one + one)[:256]
    assert both[256:] == (Change("dropped", "changes_counted", "", None, None, "144 more"),)


def test_a_change_without_a_place_of_its_own_says_what_it_is() -> None:
    """It said `repaired : /usage/prompt_tokens`: a place on the wire, and nothing of what became of it."""
    changes = Changes("openai-chat", "decode_response")
    changes.repaired(["count_clamped /usage/prompt_tokens", "lone_surrogate"])
    changes.add("parameter_unsupported", "/top_k", "the dialect has no top_k")
    changes.add("name_unsupported", "/messages/0/name")
    assert [str(change) for change in changes.done()] == [
        "repaired: a count that cannot be true: below 0 left out, above 2^53 taken as that (/usage/prompt_tokens)",
        "repaired: a lone surrogate replaced by U+FFFD",
        "dropped /top_k: the dialect has no top_k",
        "dropped /messages/0/name: the name of a message or of its author",
    ]
    assert str(_many(MAX_CHANGES + 3, Changes("google", "encode_request")).done()[-1]) == (
        "dropped: further entries of one request, of which only the number is told (3 more)"
    )
