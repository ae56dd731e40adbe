from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import CallIdRule, NameRule
from interlingua.schema.names import map_call_ids, map_names

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES: dict[NameRule, str] = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "google": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "unified": r"[a-zA-Z0-9_]{1,64}",
    "free": r"(?s:.*)",
}
IDS: dict[CallIdRule, str] = {
    "any": r"(?s:.*)",
    "max40": r"(?s:.{1,40})",
    "alnum9": r"[a-zA-Z0-9]{9}",
    "anthropic": r"[a-zA-Z0-9_-]+",
    "bedrock": r"[a-zA-Z0-9_.:-]{1,64}",
}
"""What each rule takes, stated a second time."""

PIECES = st.sampled_from(["a", "b", "_", "-", ".", ":", "/", " ", "é", "7", "x" * 64, "\n", "\ud800", "名"])
WEIRD = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=150)


def _one_name(name: str, rule: NameRule) -> str:
    return map_names([name], rule)[name]


def _one_id(call_id: str, rule: CallIdRule) -> str:
    return map_call_ids([call_id], rule)[call_id]


def test_every_rule_is_tested() -> None:
    """The tables of this file name every rule of the contract."""
    assert set(NAMES) == set(get_args(NameRule))
    assert set(IDS) == set(get_args(CallIdRule))


@pytest.mark.parametrize("rule", NAMES)
@given(names=st.lists(WEIRD, max_size=8))
def test_id_15_names_are_legal_injective_and_repeatable(rule: NameRule, names: list[str]) -> None:
    """Every name gets one that the target takes, no two get the same, legal ones stay, and the answer is stable."""
    mapping = map_names(names, rule)
    assert list(mapping) == list(dict.fromkeys(names))
    assert len(set(mapping.values())) == len(mapping)
    for own, wire in mapping.items():
        assert re.fullmatch(NAMES[rule], wire)
        assert own == wire or not re.fullmatch(NAMES[rule], own)
    assert map_names(names, rule) == mapping


@pytest.mark.parametrize("rule", IDS)
@given(ids=st.lists(WEIRD, max_size=8))
def test_id_05_call_ids_are_legal_injective_and_repeatable(rule: CallIdRule, ids: list[str]) -> None:
    """Every id gets one that the target takes, and no two get the same."""
    mapping = map_call_ids(ids, rule)
    assert list(mapping) == list(dict.fromkeys(ids))
    assert len(set(mapping.values())) == len(mapping)
    assert all(re.fullmatch(IDS[rule], wire) for wire in mapping.values())
    assert map_call_ids(ids, rule) == mapping


@pytest.mark.parametrize("rule", IDS)
@given(ids=st.lists(WEIRD, max_size=8), cut=st.integers(0, 8))
def test_a_further_turn_changes_no_earlier_id(rule: CallIdRule, ids: list[str], cut: int) -> None:
    """The mapping of a prefix is a prefix of the mapping, so that prompt caches hit (ID-09)."""
    whole = list(map_call_ids(ids, rule).items())
    before = list(map_call_ids(ids[:cut], rule).items())
    assert whole[: len(before)] == before


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("openai", "get_weather-2"),
        ("openai", "7up"),
        ("anthropic", "x" * 128),
        ("google", "a.b:c-d"),
        ("free", "a b/c"),
    ],
)
def test_names_that_the_target_takes_stay(rule: NameRule, name: str) -> None:
    """Nothing is mapped without need."""
    assert _one_name(name, rule) == name


@pytest.mark.parametrize(
    ("rule", "name", "wire"),
    [
        ("openai", "files.read", r"files_read_\w{8}"),
        ("openai", "math.hypot (2d)", r"math_hypot_2d_\w{8}"),
        ("openai", "a" * 71, r"a{55}_\w{8}"),
        ("anthropic", "a" * 129, r"a{119}_\w{8}"),
        ("google", "7up", r"_7up_\w{8}"),
        ("google", "files/read", r"files_read_\w{8}"),
        ("openai", "天気", r"tool_\w{8}"),
        ("openai", "", r"tool_\w{8}"),
    ],
)
def test_id_16_other_names_are_cleaned_and_marked(rule: NameRule, name: str, wire: str) -> None:
    """A mapped name still reads like its own, within the limit, with the beginning of its hash."""
    assert re.fullmatch(wire, _one_name(name, rule))


def test_a_mapped_name_never_takes_anothers() -> None:
    """A tool whose legal name is what another would be mapped to keeps it."""
    taken = _one_name("a.b", "openai")
    assert map_names(["a.b", taken], "openai")[taken] == taken
    assert map_names([taken, "a.b"], "openai")["a.b"] != taken


@pytest.mark.parametrize(
    ("rule", "call_id", "wire"),
    [
        ("any", "toolu_01|fc_2", r"toolu_01\|fc_2"),
        ("max40", "call_" + "x" * 35, "call_x{35}"),
        ("max40", "call_" + "x" * 36, r"call_x{22}_\w{12}"),
        ("max40", "", r"call_\w{12}"),
        ("alnum9", "abcDEF123", "abcDEF123"),
        ("alnum9", "call_1", r"[a-zA-Z0-9]{9}"),
        ("anthropic", "functions.get_weather:0", r"functions_get_weather_0_\w{12}"),
        ("anthropic", "call-1", "call-1"),
        ("anthropic", "", r"call_\w{12}"),
    ],
)
def test_id_01_02_04_call_ids_fit_the_target(rule: CallIdRule, call_id: str, wire: str) -> None:
    """Ids are left alone where they are taken, else shortened, replaced or cleaned as the target wants."""
    assert re.fullmatch(wire, _one_id(call_id, rule))


def test_a_later_id_gives_way() -> None:
    """An id that an earlier one was mapped to is mapped itself: the earlier one is already in a cache."""
    taken = _one_id("call_1", "alnum9")
    mapping = map_call_ids(["call_1", taken], "alnum9")
    assert mapping["call_1"] == taken
    assert mapping[taken] not in {taken, "call_1"}


@pytest.mark.parametrize("single", [lambda: _one_name("a.b", "openai"), lambda: _one_id("a.b", "anthropic")])
def test_other_processes_map_alike(single: Callable[[], str]) -> None:
    """The hash does not depend on the process's own seed."""
    code = (
        "from interlingua.schema.names import map_call_ids, map_names;"
        "print(*map_names(['a.b'], 'openai').values(), *map_call_ids(['a.b'], 'anthropic').values())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert single() in done.stdout.split()
