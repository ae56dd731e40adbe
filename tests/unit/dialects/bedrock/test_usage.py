"""The token counts of Converse, each by its value."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.bedrock.usage import decode_usage, encode_usage
from interlingua.types.change import Changes
from interlingua.types.usage import MAX_COUNT, Usage


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        ({"inputTokens": 2, "outputTokens": 3, "totalTokens": 5}, Usage(input_tokens=2, output_tokens=3)),
        (
            {"inputTokens": 2, "outputTokens": 3, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 100},
            Usage(input_tokens=112, output_tokens=3, cache_read_tokens=10, cache_write_tokens=100),
        ),
        (
            {"inputTokens": 2, "outputTokens": 3, "totalTokens": 6},
            Usage(input_tokens=2, output_tokens=3, extra={"bedrock": {"totalTokens": 6}}),
        ),
        ({"outputTokens": 0, "cacheReadInputTokens": 1}, Usage(output_tokens=0, cache_read_tokens=1)),
        (
            {"inputTokens": MAX_COUNT, "outputTokens": MAX_COUNT + 1},
            Usage(input_tokens=MAX_COUNT, output_tokens=MAX_COUNT),
        ),
        ({"inputTokens": -1, "outputTokens": 2.0}, Usage(output_tokens=2)),
        ({"inputTokens": True, "outputTokens": "2", "other": None}, Usage()),
    ],
)
def test_counts_are_read(wire: dict[str, Any], usage: Usage) -> None:
    """The input is the sum with the cache, a total that differs is kept, and what is no count is absent."""
    assert decode_usage(wire, Changes("bedrock", "decode_response")) == usage


@pytest.mark.parametrize(
    ("usage", "own", "wire"),
    [
        (None, False, {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}),
        (None, True, {}),
        (Usage(output_tokens=3), True, {"outputTokens": 3}),
        (Usage(input_tokens=2), False, {"inputTokens": 2, "outputTokens": 0, "totalTokens": 2}),
        (
            Usage(input_tokens=112, output_tokens=3, cache_read_tokens=10, cache_write_tokens=100),
            False,
            {
                "inputTokens": 2,
                "outputTokens": 3,
                "totalTokens": 115,
                "cacheReadInputTokens": 10,
                "cacheWriteInputTokens": 100,
            },
        ),
        (
            Usage(input_tokens=5, output_tokens=3, cache_read_tokens=6),
            False,
            {"inputTokens": 0, "outputTokens": 3, "totalTokens": 9, "cacheReadInputTokens": 6},
        ),
    ],
)
def test_counts_are_written(usage: Usage | None, own: bool, wire: dict[str, Any]) -> None:
    """The input is written without the cache, and an unknown count as 0 save in an answer of the dialect's own."""
    assert encode_usage(usage, Changes("bedrock", "encode_response"), own=own) == wire
