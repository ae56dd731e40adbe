"""Injected faults, in the shape of the dialect that meets them."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.client.faults import error_body
from interlingua.errors import (
    APIConnectionError,
    AuthenticationError,
    BadRequestError,
    ConfigError,
    IncompleteStreamError,
    InternalServerError,
    OverloadedError,
    RateLimitError,
)
from interlingua.testing import faults, use
from interlingua.transport.override import overridden, overridden_async
from interlingua.wire.http import HttpRequest
from tests.support.asking import ask, ask_async


def _transport() -> Any:
    inner: Any = None
    return overridden(inner)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (429, RateLimitError),
        (500, InternalServerError),
        (503, OverloadedError),
        (529, OverloadedError),
    ],
)
def test_a_status_is_the_class_it_stands_for(status: int, kind: type[Exception]) -> None:
    """The injected body is one that the client's own dialect reads as the right class."""
    with use("Fine."), faults({"openai/*": str(status)}), pytest.raises(kind, match="injected fault"):
        ask(_transport(), "Hi")


async def test_only_matching_targets_are_hit() -> None:
    """Other targets go through to what is underneath; the plan lists what was hit; a list is used up."""
    with use("Fine."), faults({"anthropic/*": ["429", "refuse"]}) as plan:
        assert ask(_transport(), "Hi", model="openai/gpt-4o").text == "Fine."
        with pytest.raises(RateLimitError):
            ask(_transport(), "Hi", model="anthropic/claude")
        inner: Any = None
        with pytest.raises(APIConnectionError):
            await ask_async(overridden_async(inner), "Hi", model="anthropic/claude")
        assert ask(_transport(), "Hi", model="anthropic/claude").text == "Fine."
        assert [target for target, _ in plan.injected] == ["anthropic/claude"] * 2


def test_a_provider_is_hit_by_its_other_spelling() -> None:
    """`gemini/…` is asked as `google/…`; the first pattern decides, whichever spelling it has."""
    with use("Fine."), faults({"gemini/*": "429", "google/*": "500"}) as plan, pytest.raises(RateLimitError):
        ask(_transport(), "Hi", model="google/gemini-3-pro")
    assert [target for target, _ in plan.injected] == ["google/gemini-3-pro"]


def test_a_stream_is_truncated() -> None:
    """A body that ends cleanly too early is an incomplete stream, with what came."""
    with use("One two three four five."), faults({"*": "truncate:400"}), pytest.raises(IncompleteStreamError) as caught:
        ask(_transport(), "Hi", stream=True)
    assert caught.value.partial is not None


def test_a_fault_that_is_none_is_said() -> None:
    """An unknown text is a ConfigError before anything is called."""
    with pytest.raises(ConfigError, match="explode"), faults({"*": "explode"}):
        pass


def test_what_is_no_plan_is_refused() -> None:
    """A text alone names no target."""
    with pytest.raises(ConfigError, match=r"^faults are a dict such as .*, not a str$"), faults("429"):  # type: ignore[arg-type]
        pass


def test_without_a_dialect_the_body_is_neutral() -> None:
    """A request of unknown shape gets the neutral body."""
    assert b"injected fault: status 500" in error_body(HttpRequest(url="https://x.example/"), 500)
