"""What is told about the tries of a call."""

from __future__ import annotations

import interlingua as il
from interlingua.client.call.report import summary


def _failed(model: str, error: str | None) -> il.Attempt:
    return il.Attempt(model=model, outcome="failed", error=error)


def test_what_is_said_again_is_counted() -> None:
    """A target that says the same in each try is told once; another target, or another error, by itself."""
    attempts = (
        _failed("a/one", "APIConnectionError: no"),
        _failed("a/one", "APIConnectionError: no"),
        _failed("b/two", "APIConnectionError: no"),
        _failed("b/two", None),
        _failed("a/one", "APIConnectionError: no"),
    )
    assert summary(attempts).split("; ") == [
        "a/one: APIConnectionError: no (2 times)",
        "b/two: APIConnectionError: no",
        "b/two: failed",
        "a/one: APIConnectionError: no",
    ]
