"""Which faults are worth another try, and which end a chain, by the status that a provider answered with."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.openai_chat import DIALECT
from interlingua.errors import APIConnectionError, APITimeoutError, BillingError, Error
from interlingua.routing.verdict import verdict
from interlingua.wire.http import HttpReply


def _error(status: int, body: bytes = b"{}") -> Error:
    return DIALECT.decode_error(HttpReply(status=status, body=body), DecodeContext())


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 520, 529])
def test_r43_transient_statuses(status: int) -> None:
    """The same request may succeed later."""
    assert _error(status).retryable


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 418, 422, 451])
def test_r43_permanent_statuses(status: int) -> None:
    """The same request fails again."""
    assert not _error(status).retryable


def test_r43_a_429_without_quota_is_permanent() -> None:
    """No waiting brings the money back."""
    error = _error(429, b'{"error":{"message":"m","code":"insufficient_quota","type":"insufficient_quota"}}')
    assert type(error) is BillingError
    assert not error.retryable


def test_r43_faults_on_the_way_are_transient() -> None:
    """No connection, no answer in time."""
    assert APIConnectionError("x").retryable
    assert APITimeoutError("x", phase="connect").retryable


@pytest.mark.parametrize("status", [400, 405, 418, 422])
def test_r43_a_fault_of_the_request_ends_a_chain(status: int) -> None:
    """Another target would say the same; other 4xx count as such."""
    assert verdict(_error(status)).action == "stop"


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 413, 429, 500, 529])
def test_r43_a_fault_of_the_target_does_not(status: int) -> None:
    """The next target may have a key, money, the model, time, or room."""
    assert verdict(_error(status)).action != "stop"
