"""Rate limits in the headers of an answer."""

from __future__ import annotations

import pytest

from interlingua.types.limit import RateLimit
from interlingua.wire.limits import rate_limits

DATE = ("date", "Sat, 21 Nov 2026 10:00:00 GMT")


def test_the_form_of_openai() -> None:
    """Requests and tokens, each with its three numbers."""
    headers = (
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-remaining-requests", "499"),
        ("x-ratelimit-reset-requests", "120ms"),
        ("x-ratelimit-limit-tokens", "30000"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "6m0s"),
        ("content-type", "application/json"),
    )
    assert rate_limits(headers) == {
        "requests": RateLimit(limit=500, remaining=499, reset_s=0.12),
        "tokens": RateLimit(limit=30_000, remaining=0, reset_s=360.0),
    }


def test_the_form_of_anthropic() -> None:
    """The reset is a time, read against the server's own clock."""
    headers = (
        DATE,
        ("anthropic-ratelimit-input-tokens-limit", "40000"),
        ("anthropic-ratelimit-input-tokens-remaining", "39000"),
        ("anthropic-ratelimit-input-tokens-reset", "2026-11-21T10:00:30Z"),
    )
    assert rate_limits(headers) == {"input_tokens": RateLimit(limit=40_000, remaining=39_000, reset_s=30.0)}
    assert rate_limits(headers[1:])["input_tokens"].reset_s is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0), ("1.57s", 1.57), ("20ms", 0.02), ("1h2m3s", 3723.0), ("59", 59.0), ("-1", 0.0),
        ("1d", 86_400.0), ("2026-11-21T09:59:00Z", 0.0), ("soon", None), ("", None), ("5 s", None),
    ],
)  # fmt: skip
def test_a_reset_in_every_form(text: str, seconds: float | None) -> None:
    """Seconds, a duration, a time; what cannot be read is not said."""
    found = rate_limits((DATE, ("x-ratelimit-reset-requests", text)))["requests"].reset_s
    assert found == pytest.approx(seconds) if seconds is not None else found is None


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("x-ratelimit-limit", "5"),),
        (("x-ratelimit-policy-requests", "5"),),
        (("anthropic-ratelimit-limit", "5"),),
        (("ratelimit", "5"),),
    ],
)
def test_other_headers_say_nothing(headers: tuple[tuple[str, str], ...]) -> None:
    """No name of a limit, no word that is known."""
    assert rate_limits(headers) == {}


def test_what_is_no_count_is_not_said() -> None:
    """A word where a number belongs."""
    assert rate_limits((("x-ratelimit-limit-tokens", "many"),)) == {"tokens": RateLimit()}
