"""What the headers of a failed answer say, whatever its dialect: when to come back, whether to, and who asked."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.openai_chat import DIALECT
from interlingua.errors import Error
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

NOW = ("date", "Sun, 22 Nov 2026 00:00:00 GMT")


def failed(*headers: tuple[str, str], status: int = 429, body: bytes = b"{}") -> Error:
    """The error of an answer with these headers."""
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=body), DecodeContext())


@cells(
    ("headers", "seconds"),
    [
        ((("retry-after", "7"),), 7.0),
        ((("retry-after", "0"),), 0.0),
        ((("retry-after", "1.5"),), 1.5),
        ((("retry-after", "-1"),), None),
        ((("retry-after", "90000"),), 86_400.0),
        ((("retry-after", "soon"),), None),
        ((("retry-after-ms", "1500"),), 1.5),
        ((("retry-after-ms", "1500"), ("retry-after", "7")), 1.5),
        ((("retry-after-ms", "soon"), ("retry-after", "7")), 7.0),
        ((("retry-after-ms", "-1"), ("retry-after", "7")), None),
        ((("retry-after", "Sun, 22 Nov 2026 00:00:30 GMT"), NOW), 30.0),
        ((("retry-after", "Sat, 21 Nov 2026 00:00:30 GMT"), NOW), 0.0),
        ((("retry-after", "Sun, 29 Nov 2026 00:00:30 GMT"), NOW), 86_400.0),
        ((("retry-after", "Sun, 22 Nov 2026 00:00:30 GMT"),), None),
        ((("retry-after", "Sun, 22 Nov 2026 00:00:30 GMT"), ("date", "now")), None),
        ((("retry-after", "Sun, 22 Nov 99999999999999999999 00:00:30 GMT"), NOW), None),
        ((("retry-after", "Sun, 22 Nov 2026 00:00:30 +99999999999999999"), NOW), None),
        ((("retry-after", NOW[1]), ("date", "Sun, 22 Nov 99999999999999999999 00:00:00 GMT")), None),
        ((("retry-after", "nan"),), None),
        ((("retry-after", "inf"),), 86_400.0),
        ((("retry-after", "9" * 5_000),), 86_400.0),
        ((NOW,), None),
        ((), None),
    ],
)
def test_when_to_come_back(headers: tuple[tuple[str, str], ...], seconds: float | None) -> None:
    """Seconds, milliseconds, or a date against the server's own clock; a day at most, and never in the past."""
    assert failed(*headers).retry_after_s == seconds


@pytest.mark.parametrize(
    "name", ["x-request-id", "request-id", "mistral-correlation-id", "x-goog-request-id", "cf-ray"]
)
def test_the_id_of_the_request(name: str) -> None:
    """Each service has a name of its own for it; an empty one is none."""
    assert failed((name, "req_1")).request_id == "req_1"
    assert failed((name, "")).request_id is None


def test_the_first_id_of_the_request_counts() -> None:
    """The service's own comes before that of what stands in front of it."""
    assert failed(("cf-ray", "ray"), ("x-request-id", "req_1")).request_id == "req_1"


@pytest.mark.parametrize(
    ("said", "status", "retryable"),
    [("true", 400, True), ("TRUE", 400, True), ("false", 429, False), ("maybe", 429, True), ("", 400, False)],
)
def test_a_server_that_says_whether_to_come_back(said: str, status: int, retryable: bool) -> None:
    """It overrules the status; any other word says nothing."""
    assert failed(("x-should-retry", said), status=status).retryable is retryable


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(status, True) for status in (408, 409, 429, 500, 502, 503, 504, 529)]
    + [(status, False) for status in (400, 404, 501)],
)
def test_a_conflict_may_pass(status: int, retryable: bool) -> None:
    """What is known as a conflict alone is worth another try where its status is."""
    error = failed(status=status, body=b'{"error":{"message":"No.","code":"conflict"}}')
    assert (type(error).__name__, error.retryable) == ("UpstreamError", retryable)
