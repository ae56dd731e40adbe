"""Rate limits in the headers of an answer."""

from __future__ import annotations

import pytest

from interlingua.types.limit import RateLimit
from interlingua.wire.limits import rate_limits, wait_s

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
        ("9" * 400 + "s", 1e9), ("99999999d", 1e9), ("9999-12-31T23:59:59Z", 1e9), ("nan", None), ("inf", None),
    ],
)  # fmt: skip
def test_a_reset_in_every_form(text: str, seconds: float | None) -> None:
    """Seconds, a duration, a time; what cannot be read is not said, and nothing is later than in thirty years."""
    found = rate_limits((DATE, ("x-ratelimit-reset-requests", text)))["requests"].reset_s
    assert found == pytest.approx(seconds) if seconds is not None else found is None


def test_the_least_number_that_is_a_time() -> None:
    """A thousand million seconds are a time of 2001, one less is how long it lasts."""
    asked = (("date", "Sun, 09 Sep 2001 01:46:30 GMT"),)
    resets = [
        rate_limits((*asked, ("x-ratelimit-reset-requests", text)))["requests"].reset_s
        for text in ("999999999", "1000000000")
    ]
    assert resets == [999_999_999.0, 10.0]


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("x-ratelimit-used", "5"),),
        (("x-ratelimit-policy-requests", "5"),),
        (("anthropic-ratelimit-limit", "5"),),
        (("ratelimit", "5"),),
    ],
)
def test_other_headers_say_nothing(headers: tuple[tuple[str, str], ...]) -> None:
    """No name of a limit, no word that is known."""
    assert rate_limits(headers) == {}


def test_the_form_without_a_name() -> None:
    """It counts requests; its reset may be a time since 1970, in seconds or in milliseconds."""
    told = ("x-ratelimit-limit", "1"), ("x-ratelimit-remaining", "0")
    for reset in ("1795255230", "1795255230000", "30"):
        found = rate_limits((DATE, *told, ("x-ratelimit-reset", reset)))
        assert found == {"requests": RateLimit(limit=1, remaining=0, reset_s=30.0)}
    assert rate_limits((("x-ratelimit-reset", "1795255230"),)) == {"requests": RateLimit()}
    for reset in ("1795255200", "1e300", "inf", "nan"):
        assert rate_limits((DATE, ("x-ratelimit-reset", reset)))["requests"].reset_s in (0.0, None)


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, None),
        ({"requests": RateLimit(remaining=1, reset_s=9.0)}, None),
        ({"requests": RateLimit(reset_s=9.0)}, None),
        ({"requests": RateLimit(remaining=0)}, None),
        ({"requests": RateLimit(remaining=0, reset_s=9.0), "tokens": RateLimit(remaining=0, reset_s=30.0)}, 30.0),
        ({"requests": RateLimit(remaining=0, reset_s=1e7)}, 86_400.0),
    ],
)
def test_how_long_until_all_that_is_used_up_is_there_again(limits: dict[str, RateLimit], seconds: float | None) -> None:
    """The longest of those that are used up counts, a day at most."""
    assert wait_s(limits) == seconds


def test_what_is_no_count_is_not_said() -> None:
    """A word where a number belongs."""
    assert rate_limits((("x-ratelimit-limit-tokens", "many"),)) == {"tokens": RateLimit()}


def test_a_count_of_thousands_of_digits_is_not_said() -> None:
    """Python refuses to read it as a number, with an error that is none of ours."""
    headers = (("x-ratelimit-limit-tokens", "9" * 5_000), ("x-ratelimit-remaining-tokens", "9" * 18))
    assert rate_limits(headers) == {"tokens": RateLimit(limit=None, remaining=999_999_999_999_999_999)}
