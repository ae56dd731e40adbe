"""The one table of what follows from an error (R42, R43)."""

from __future__ import annotations

import pytest

import interlingua as il
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import InternalServerError, OverloadedError, UpstreamError
from interlingua.routing.verdict import Verdict, verdict
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

RETRY, NEXT, STOP = Verdict("retry", "transient"), Verdict("advance"), Verdict("stop")


def _unreached() -> il.APIConnectionError:
    error = il.APIConnectionError("cannot connect")
    error.reached = False
    return error


@cells(
    ("error", "expected"),
    [
        (il.RateLimitError("x"), RETRY),
        (il.OverloadedError("x"), RETRY),
        (il.InternalServerError("x"), RETRY),
        (il.APIConnectionError("x"), RETRY),
        (il.APITimeoutError("x", phase="first_byte"), RETRY),
        (il.IncompleteStreamError("x"), RETRY),
        (UpstreamError("x", status=409, retryable=True), RETRY),
        (UpstreamError("x", status=418), Verdict("advance", "transient")),
        (il.InternalServerError("x", retryable=False), Verdict("advance", "transient")),
        (il.APIConnectionError("no TLS", retryable=False), Verdict("advance", "transient")),
        (il.DecodeError("x"), Verdict("advance", "transient")),
        (il.AuthenticationError("x"), Verdict("advance", "auth")),
        (il.PermissionDeniedError("x"), Verdict("advance", "auth")),
        (il.BillingError("x"), Verdict("advance", "billing")),
        (il.NotFoundError("x"), NEXT),
        (il.UnsupportedError("x"), NEXT),
        (il.ConfigError("no key"), NEXT),
        (il.RequestTooLargeError("x"), NEXT),
        (il.ContextWindowExceededError("x"), NEXT),
        (il.MalformedArgumentsError("x"), NEXT),
        (il.LimitExceededError("x"), NEXT),
        (il.BadRequestError("x"), STOP),
        (il.ContentPolicyViolationError("x"), STOP),
        (il.HistoryError("x"), STOP),
        (il.SchemaError("x"), STOP),
        (il.ToolError("x"), STOP),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, il.Error) else "",
)
def test_r42_every_error_has_its_verdict(error: il.Error, expected: Verdict) -> None:
    """Transient again, faults of the target onwards, faults of the request no further."""
    assert verdict(error) == expected


def test_r42_a_chain_may_go_on_after_a_fault_of_the_request() -> None:
    """`persist` is for upstream refusals; what our caller did wrong is wrong everywhere."""
    assert verdict(il.BadRequestError("x"), persist=True) == NEXT
    assert verdict(il.HistoryError("x"), persist=True) == STOP


def test_r43_the_server_may_say_what_it_is_worth() -> None:
    """`x-should-retry` has become `retryable`: a bad request that may be sent again, a full server that may not."""
    assert verdict(il.BadRequestError("x", retryable=True)).action == "retry"
    assert verdict(il.OverloadedError("x", retryable=False)) == Verdict("advance", "transient")


@cells("dialect", sorted(DIALECTS))
@cells(
    ("status", "expected"),
    [
        (400, STOP),
        (401, Verdict("advance", "auth")),
        (402, Verdict("advance", "billing")),
        (403, Verdict("advance", "auth")),
        (404, NEXT),
        (405, STOP),
        (408, RETRY),
        (409, RETRY),
        (413, NEXT),
        (418, STOP),
        (422, STOP),
        (429, RETRY),
        (500, RETRY),
        (502, RETRY),
        (503, RETRY),
        (504, RETRY),
        (529, RETRY),
    ],
)
def test_rtr_07_a_bare_status_decides_in_every_dialect(dialect: str, status: int, expected: Verdict) -> None:
    """R43: 4xx but 408, 409 and 429 are never sent again, and say nothing against the target but for its key."""
    from interlingua.dialects._contract import DecodeContext, Target

    context = DecodeContext(target=Target(model="m", provider="p"))
    error = get_dialect(dialect).decode_error(HttpReply(status=status, headers=(), body=b"{}"), context)
    assert verdict(error) == expected


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (il.InternalServerError("x"), "stop"),
        (il.RateLimitError("x"), "stop"),
        (il.APIConnectionError("reset"), "stop"),
        (il.APITimeoutError("x", phase="first_byte"), "stop"),
        (il.IncompleteStreamError("x"), "stop"),
        (il.DecodeError("x"), "stop"),
        (_unreached(), "retry"),
        (il.APITimeoutError("x", phase="connect"), "retry"),
        (il.APITimeoutError("x", phase="pool"), "retry"),
        (il.AuthenticationError("x"), "advance"),
        (il.NotFoundError("x"), "advance"),
        (il.UnsupportedError("x"), "advance"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, il.Error) else "",
)
def test_rtr_10_what_may_have_run_is_not_sent_again(error: il.Error, action: str) -> None:
    """A committed request goes elsewhere only when it was never sent, or was refused at the door."""
    assert verdict(error, committed=True).action == action


def test_committed_errors_still_count() -> None:
    """What a failure says against the target does not depend on whether the request may be sent again."""
    assert verdict(OverloadedError("x"), committed=True).fault == "transient"
    assert verdict(InternalServerError("x"), committed=True).fault == "transient"
