"""What a recorded change excuses, and what it does not."""

from __future__ import annotations

import pytest

from interlingua.testing.excuses import AS_TEXT, GONE, IN_SYSTEM, LOOSE, PLACES, Excuses, excuses_place
from interlingua.types.change import CODES, Change


@pytest.mark.parametrize(
    ("code", "path", "place", "excused"),
    [
        ("parameter_unsupported", "/temperature", "/temperature", True),
        ("parameter_unsupported", "/temperature", "/top_p", False),
        ("strict_unsupported", "/tools/0/strict", "/tools/0/function/strict", True),
        ("arguments_empty", "/parts/0/arguments_json", "/choices/0/message/tool_calls/0/function/arguments", True),
        ("arguments_empty", "/parts/0/arguments_json", "/choices/0/message/content", False),
        ("call_id_made", "/parts/0/id", "/choices/0/message/tool_calls/0/id", True),
        ("cache_unsupported", "/messages/0/parts/0/cache", "/messages/0/content", False),
        ("parameter_unsupported", "", "/temperature", False),
    ],
)
def test_places_of_bodies(code: str, path: str, place: str, *, excused: bool) -> None:
    """In a body, an entry excuses the member it names, or the places its code is about, and nothing else."""
    assert excuses_place([Change("dropped", code, path)], place) is excused


@pytest.mark.parametrize(
    ("code", "path", "place", "gone"),
    [
        ("seal_foreign", "/messages/1/parts/0/sealed", "/messages/1/parts/0", True),
        ("seal_foreign", "/messages/1/parts/0", "/messages/1/parts/1", False),
        ("seal_foreign", "/messages/1", "/messages/1/parts/0", False),
        ("parameter_unsupported", "/messages/1/parts/0", "/messages/1/parts/0", False),
        ("thinking_unsupported", "/messages/1/parts/0", "/messages/1/parts/01", False),
    ],
)
def test_a_thought_is_excused_at_its_own_place(code: str, path: str, place: str, *, gone: bool) -> None:
    """By an entry of the right code at its part or inside it; one at its message is about the message."""
    assert Excuses([Change("dropped", code, path)]).gone("thinking", place) is gone


def test_a_message_that_moved_takes_its_parts_along() -> None:
    """Codes that are about whole messages excuse their parts, and those of no other message."""
    moved = Excuses([Change("approximated", "system_moved", "/messages/2")])
    assert moved.at("/messages/2/parts/0", ("system_moved",))
    assert not moved.at("/messages/21/parts/0", ("system_moved",))


def test_members_that_may_differ() -> None:
    """A strict flag that the target lacks excuses the flag of that tool, and nothing else of it."""
    excuses = Excuses([Change("dropped", "strict_unsupported", "/tools/1/strict")])
    assert (excuses.loose("tools", "/tools/1"), excuses.loose("tools", "/tools/0")) == ({"strict"}, frozenset())


def test_settings() -> None:
    """An entry names a setting, or something in it; a value that was added excuses none that was said."""
    excuses = Excuses([
        Change("dropped", "parameter_unsupported", "/logit_bias/5"),
        Change("approximated", "parameter_added", "/max_tokens"),
    ])  # fmt: skip
    assert (excuses.setting("logit_bias"), excuses.setting("logit")) == (True, False)
    assert (excuses.setting("max_tokens"), excuses.setting("max_tokens", explicit=True)) == (True, False)


def test_only_known_codes_excuse() -> None:
    """The tables name codes of the closed table alone."""
    loose = [codes for members in LOOSE.values() for codes in members.values()]
    named = set(PLACES).union(AS_TEXT, IN_SYSTEM, *GONE.values(), *loose)
    assert named <= set(CODES)
