"""Counts of a stream's frames, and of an answer, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.google.usage import decode_usage, encode_usage, merge_counts, uncounted
from interlingua.dialects.google.wire import UsageWire
from interlingua.types.change import Changes
from interlingua.types.usage import Usage
from interlingua.wire.json import Extra

COUNTS: dict[str, tuple[Any, Any]] = {
    "promptTokenCount": (1, 2),
    "candidatesTokenCount": (1, 2),
    "thoughtsTokenCount": (1, 2),
    "cachedContentTokenCount": (1, 2),
    "totalTokenCount": (1, 2),
    "toolUsePromptTokenCount": (1, 2),
    "promptTokensDetails": ([{"tokenCount": 1}], [{"tokenCount": 2}]),
    "candidatesTokensDetails": ([{"tokenCount": 1}], [{"tokenCount": 2}]),
    "cacheTokensDetails": ([{"tokenCount": 1}], [{"tokenCount": 2}]),
    "toolUsePromptTokensDetails": ([{"tokenCount": 1}], [{"tokenCount": 2}]),
    "serviceTier": ("standard", "flex"),
    "trafficType": ("ON_DEMAND", "PROVISIONED"),
}


def counted(name: str, value: object) -> UsageWire:
    """Usage with one member."""
    wire = UsageWire()
    setattr(wire, name, value)
    return wire


@pytest.mark.parametrize("name", COUNTS)
def test_what_a_later_frame_leaves_out_stays(name: str) -> None:
    """Each count's last value stands, also where the last frame has others."""
    early, late = COUNTS[name]
    other = "promptTokenCount" if name != "promptTokenCount" else "totalTokenCount"
    kept = merge_counts(counted(name, early), counted(other, 7))
    assert (getattr(kept, name), getattr(kept, other)) == (early, 7)
    replaced = merge_counts(counted(name, early), counted(name, late))
    assert getattr(replaced, name) == late


def test_the_first_frame_stands_alone() -> None:
    """Nothing is there to stay."""
    wire = UsageWire(promptTokenCount=1)
    assert merge_counts(None, wire) is wire


def test_counts_that_nobody_knows_stay_too() -> None:
    """Those of the later frame over those of the earlier."""
    first, later = UsageWire(promptTokenCount=1), UsageWire(promptTokenCount=2)
    first.extra, later.extra = Extra({"a": 1, "b": 1}), Extra({"b": 2})
    merged = merge_counts(first, later)
    assert (merged.promptTokenCount, merged.extra) == (2, {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        (UsageWire(), None),
        (UsageWire(totalTokenCount=3), None),
        (UsageWire(promptTokenCount=3), Usage(input_tokens=3, output_tokens=0)),
        (UsageWire(candidatesTokenCount=2), Usage(output_tokens=2)),
        (UsageWire(thoughtsTokenCount=2), Usage(output_tokens=2, reasoning_tokens=2)),
        (
            UsageWire(promptTokenCount=3, toolUsePromptTokenCount=1, candidatesTokenCount=2, totalTokenCount=6),
            Usage(input_tokens=4, output_tokens=2, extra={"google": {"toolUsePromptTokenCount": 1}}),
        ),
        (
            UsageWire(promptTokenCount=3, candidatesTokenCount=2, totalTokenCount=9),
            Usage(input_tokens=3, output_tokens=2, extra={"google": {"totalTokenCount": 9}}),
        ),
        (
            UsageWire(promptTokenCount=3, candidatesTokenCount=2, cachedContentTokenCount=1, trafficType="x"),
            Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1, extra={"google": {"trafficType": "x"}}),
        ),
    ],
)
def test_counts_are_read(wire: UsageWire, usage: Usage | None) -> None:
    """Tool use is input, thoughts are output; a total that is the sum says nothing."""
    assert decode_usage(wire) == usage
    assert (uncounted(wire) == {}) == (usage is not None)


def test_what_counts_nothing_stays_a_member() -> None:
    """So that it comes back."""
    assert uncounted(UsageWire(totalTokenCount=3)) == {"usageMetadata": {"totalTokenCount": 3}}
    assert uncounted(None) == {}


@pytest.mark.parametrize(
    ("usage", "counts", "codes"),
    [
        (Usage(), {}, []),
        (
            Usage(input_tokens=3, output_tokens=2),
            {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
            [],
        ),
        (Usage(input_tokens=3), {"promptTokenCount": 3, "totalTokenCount": 3}, ["parameter_added"]),
        (Usage(output_tokens=2), {"candidatesTokenCount": 2, "totalTokenCount": 2}, []),
        (
            Usage(input_tokens=3, output_tokens=9, reasoning_tokens=4, cache_read_tokens=1),
            {
                "promptTokenCount": 3,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 4,
                "cachedContentTokenCount": 1,
                "totalTokenCount": 12,
            },
            [],
        ),
        (Usage(cache_write_tokens=0), {}, ["parameter_unsupported"]),
        (
            Usage(input_tokens=4, extra={"google": {"toolUsePromptTokenCount": 1}}),
            {"promptTokenCount": 3, "toolUsePromptTokenCount": 1, "totalTokenCount": 4},
            ["parameter_added"],
        ),
    ],
)
def test_counts_are_written(usage: Usage, counts: dict[str, int], codes: list[str]) -> None:
    """Thoughts beside the candidates, tool use beside the prompt, the total the sum; what has no place is told."""
    changes = Changes("google", "encode_response")
    wire = encode_usage(usage, changes)
    assert {name: getattr(wire, name) for name in COUNTS if getattr(wire, name) is not None} == counts
    assert [change.code for change in changes.entries] == codes
