"""What the head of an answer says is found where it was found before, and is what a search finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._errors.classes import REQUEST_ID_HEADERS, request_id
from interlingua.dialects._reply_head import read_reply_head
from interlingua.types.limit import RateLimit
from interlingua.wire.limits import rate_limits

NAMES = st.sampled_from(
    [
        *REQUEST_ID_HEADERS,
        "date",
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining",
        "anthropic-ratelimit-tokens-reset",
    ]
)
VALUES = st.sampled_from(["", "7", "req_1", "6m0s", "2026-11-22T10:00:00Z"])


def test_the_id_and_the_limits_are_told() -> None:
    """The most telling id that is not empty, and every limit."""
    headers = (("x-request-id", ""), ("cf-ray", "ray"), ("request-id", "req_1"), ("x-ratelimit-remaining-tokens", "7"))
    assert read_reply_head(headers) == ("req_1", {"tokens": RateLimit(remaining=7)})
    assert read_reply_head(()) == (None, {})


@given(st.lists(st.tuples(NAMES, VALUES), max_size=6))
def test_it_is_what_a_search_finds(pairs: list[tuple[str, str]]) -> None:
    """Names may repeat and values be empty: the first of a name counts, as everywhere."""
    headers = tuple(pairs)
    assert read_reply_head(headers) == (request_id(headers), rate_limits(headers))
