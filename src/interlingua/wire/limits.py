"""Rate limits in the headers of an answer, in every form that providers have for them.

Rules
- `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` and `anthropic-ratelimit-{…}-{limit,remaining,reset}`; what
  stands in the place of `requests` is the name of the limit, with underscores.
- `x-ratelimit-{limit,remaining,reset}` alone counts requests.
- A reset is seconds, a duration such as `6m0s` or `20ms`, or a time (ISO 8601, or seconds or milliseconds since 1970),
  which is read against the `date` header.
- What cannot be read is not said.
Source: vendor references "Rate limits" of openai, groq, anthropic, openrouter; recorded headers, November 2026.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlingua.types.limit import RateLimit
from interlingua.wire.http import header

if TYPE_CHECKING:
    from interlingua.wire.http import Headers

__all__ = ["rate_limits", "tells_limit", "wait_s"]

_OPENAI = "x-ratelimit-"
_ANTHROPIC = "anthropic-ratelimit-"
_WORDS = frozenset({"limit", "remaining", "reset"})
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|h|m|s|d))+"
_STEP = r"(\d+(?:\.\d+)?)(ms|h|m|s|d)"
_FIRST_TIME_S = 1e9
_FIRST_TIME_MS = 1e12
"""A number of seconds from here on is a time; a number of milliseconds from here on is one, too."""
_MAX_WAIT_S = 86_400.0
_MOST_DIGITS = 18
"""A count has no more of them; Python refuses to read one of thousands."""
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def rate_limits(headers: Headers) -> dict[str, RateLimit]:
    """The limits that the headers tell of, by name: `requests`, `tokens`, `input_tokens`; empty for none."""
    fields: dict[str, dict[str, str]] = {}
    for name, value in headers:
        if not tells_limit(name):
            continue
        if name.startswith(_OPENAI):
            word, _, limit = name.removeprefix(_OPENAI).partition("-")
            limit = limit or "requests"
        else:
            limit, _, word = name.removeprefix(_ANTHROPIC).rpartition("-")
        if word in _WORDS and limit:
            fields.setdefault(limit.replace("-", "_"), {})[word] = value
    return {name: _limit(words, headers) for name, words in fields.items()}


def tells_limit(name: str) -> bool:
    """Whether the header of a name may tell of a limit."""
    return name.startswith((_OPENAI, _ANTHROPIC))


def _limit(words: dict[str, str], headers: Headers) -> RateLimit:
    seconds = _seconds(words.get("reset"), headers)
    return RateLimit(
        limit=_count(words.get("limit")),
        remaining=_count(words.get("remaining")),
        reset_s=None if seconds is None else min(seconds, _FIRST_TIME_S),  # a clock may be put on by no more
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and len(text) <= _MOST_DIGITS and text.isdecimal() else None


def _seconds(text: str | None, headers: Headers) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return max(0.0, number) if number < _FIRST_TIME_S else _until(number, header(headers, "date"))
    if re.fullmatch(_DURATION, text):
        return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_STEP, text))
    return _until(text, header(headers, "date"))


def _until(reset: str | float, now: str | None) -> float | None:
    """Seconds from `now`, the server's own clock, to a time in ISO 8601 or since 1970."""
    if now is None:
        return None
    from datetime import UTC, datetime  # here and below: only who is told a time pays for it
    from email.utils import parsedate_to_datetime

    try:
        if isinstance(reset, str):
            then = datetime.fromisoformat(reset)
        else:
            then = datetime.fromtimestamp(reset / 1000 if reset >= _FIRST_TIME_MS else reset, UTC)
        left = then - parsedate_to_datetime(now)
    except (OSError, OverflowError, TypeError, ValueError):
        return None
    return max(0.0, left.total_seconds())


def wait_s(limits: dict[str, RateLimit]) -> float | None:
    """Seconds until every limit that is used up is filled again; None when none is, or when none says so."""
    waits = [limit.reset_s for limit in limits.values() if limit.remaining == 0 and limit.reset_s is not None]
    return min(max(waits), _MAX_WAIT_S) if waits else None
