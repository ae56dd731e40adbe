"""Which faults are worth another try, and which end a chain, by the status that a provider answered with."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects._errors.bodies import ErrorBody
from interlingua.dialects._errors.classes import class_of
from interlingua.dialects.anthropic.reasons import WORD_CLASSES
from interlingua.dialects.openai_chat import DIALECT
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    BadRequestError,
    BillingError,
    ContextWindowExceededError,
    Error,
    InternalServerError,
    OverloadedError,
    RateLimitError,
)
from interlingua.routing.verdict import verdict
from interlingua.wire.http import HttpReply
from tests.support.cells import cells


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


@pytest.mark.parametrize(
    ("word", "message", "kind"),
    [
        ("", "the prompt is too long: 9 tokens > 8 maximum", ContextWindowExceededError),
        ("api_error", "the prompt is too long: 9 tokens > 8 maximum", ContextWindowExceededError),
        ("invalid_request_error", "the prompt is too long: 9 tokens > 8 maximum", ContextWindowExceededError),
        ("overloaded_error", "the prompt is too long: 9 tokens > 8 maximum", OverloadedError),
        ("rate_limit_error", "the prompt is too long: 9 tokens > 8 maximum", RateLimitError),
        ("rate_limit_error", "Your credit balance is too low", BillingError),
        ("overloaded_error", "Your credit balance is too low", OverloadedError),
    ],
)
def test_a_phrase_counts_in_a_stream_where_the_word_says_nothing_finer(
    word: str, message: str, kind: type[Error]
) -> None:
    """Without a status, a failure of the server's may be anything; what is refused or limited may be so for money."""
    body = ErrorBody(words=(word,), message=message)
    assert class_of(body, None, WORD_CLASSES) is kind


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


@pytest.mark.parametrize("name", DIALECTS)
@cells("status", [405, 406, 410, 412, 415, 418, 421, 422, 424, 426, 431, 451])
def test_the_status_of_a_bad_request_without_a_word_of_its_own_reaches_a_client(name: str, status: int) -> None:
    """As the upstream gave it: no dialect has a word for it, and the general one goes with it."""
    dialect = get_dialect(name)
    reply = dialect.encode_error(BadRequestError("No.", status=status), ServerContext())
    again = dialect.decode_error(reply, DecodeContext())
    assert (reply.status, type(again), again.status) == (status, BadRequestError, status)


@pytest.mark.parametrize("name", DIALECTS)
@cells("status", [500, 501, 502, 505, 507])
def test_the_status_of_a_server_that_failed_reaches_a_client(name: str, status: int) -> None:
    """As the upstream gave it."""
    dialect = get_dialect(name)
    reply = dialect.encode_error(InternalServerError("No.", status=status), ServerContext())
    again = dialect.decode_error(reply, DecodeContext())
    assert (reply.status, type(again), again.status) == (status, InternalServerError, status)
