"""What a recorded change excuses, and what it does not."""

from __future__ import annotations

import pytest

from interlingua.testing.excuses import FACTS, PLACES, excused_facts, excuses_place, without
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
def test_places(code: str, path: str, place: str, *, excused: bool) -> None:
    """An entry excuses the member it names, or the places its code is about, and nothing else."""
    assert excuses_place([Change("dropped", code, path)], place) is excused


def test_facts() -> None:
    """An entry excuses the facts that its code, or its own field, stands for; in choices too."""
    changes = [
        Change("dropped", "seal_foreign", "/messages/1/parts/0"),
        Change("approximated", "tool_choice_approximated", "/tool_choice"),
    ]
    names = excused_facts(changes)
    assert {"seals", "thinking", "tool_choice"} <= names
    facts = {"model": "m", "tool_choice": None, "choices": [{"text": "x", "seals": ["s"]}]}
    assert without(facts, names) == {"model": "m", "choices": [{"text": "x"}]}


def test_another_order_is_excused_and_a_loss_beside_it_is_not() -> None:
    """What came in another order is compared without it: as many results as before, and the same ones."""
    names = excused_facts([Change("repaired", "order_changed", "/messages/3")])
    first, second = {"call": 0, "content": "a"}, {"call": 1, "content": "b"}
    assert without({"results": [second, first]}, names) == without({"results": [first, second]}, names)
    assert without({"results": [first]}, names) != without({"results": [first, second]}, names)
    assert "results" not in names


def test_only_known_codes_excuse() -> None:
    """The tables name codes of the closed table alone."""
    assert {*PLACES, *FACTS} <= set(CODES)
