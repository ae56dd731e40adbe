"""Errors of Ollama's servers, read by their status and written as a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.ollama import DIALECT
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    DecodeError,
    Error,
    HistoryError,
    IncompleteStreamError,
    InternalServerError,
    LimitExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    UnsupportedError,
    UpstreamError,
)
from interlingua.wire.http import Headers, HttpReply


def read(status: int, body: str, headers: Headers = ()) -> Error:
    """The error of a failed answer."""
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=body.encode()), DecodeContext())


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, BadRequestError, False),
        (401, AuthenticationError, False),
        (402, BillingError, False),
        (403, PermissionDeniedError, False),
        (404, NotFoundError, False),
        (413, RequestTooLargeError, False),
        (429, RateLimitError, True),
        (500, InternalServerError, True),
        (502, InternalServerError, True),
        (503, OverloadedError, True),
        (504, APITimeoutError, True),
    ],
)
def test_the_status_is_the_class(status: int, kind: type[Error], retryable: bool) -> None:
    """The body says a sentence and nothing else."""
    error = read(status, """{"error":"model 'qwen9' not found"}""")
    assert type(error) is kind
    assert (error.message, error.status, error.code) == ("model 'qwen9' not found", status, None)
    assert error.retryable is retryable


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"error":{"message":"no"}}', "no"),
        ('{"message":"no"}', "no"),
        ('{"error":"no","signin_url":"https://ollama.com/x"}', "no"),
        ("<html>\n no </html>", "<html> no </html>"),
        ('"no"', "no"),
        ("", "an empty body"),
        ("{}", "the server gave no reason"),
        ('{"error":""}', "the server gave no reason"),
    ],
)
def test_any_body_has_a_sentence(body: str, sentence: str) -> None:
    """Whatever stood between us and the server."""
    error = read(401, body)
    assert (type(error), error.message) == (AuthenticationError, sentence)


def test_headers_say_when_to_come_back() -> None:
    """In both directions."""
    error = read(429, '{"error":"slow"}', (("retry-after", "7"), ("x-request-id", "r")))
    assert (error.retry_after_s, error.request_id) == (7.0, "r")
    reply = DIALECT.encode_error(error, ServerContext())
    assert reply.headers == (
        ("content-type", "application/json; charset=utf-8"),
        ("retry-after", "7"),
        ("x-request-id", "r"),
    )


ERRORS: tuple[tuple[Error, int, dict[str, Any]], ...] = (
    (BadRequestError("no", status=422), 422, {}),
    (AuthenticationError("no"), 401, {}),
    (BillingError("no", status=429), 429, {"code": "insufficient_quota"}),
    (BillingError("no"), 402, {}),
    (PermissionDeniedError("no"), 403, {}),
    (NotFoundError("no"), 404, {}),
    (RequestTooLargeError("no"), 413, {}),
    (ContextWindowExceededError("no"), 400, {"code": "context_length_exceeded"}),
    (ContentPolicyViolationError("no"), 400, {"code": "content_filter"}),
    (RateLimitError("no"), 429, {}),
    (OverloadedError("no", status=529), 503, {}),
    (OverloadedError("no"), 503, {}),
    (InternalServerError("no"), 500, {}),
    (APITimeoutError("no", phase="total"), 504, {}),
    (IncompleteStreamError("no"), 502, {"code": "incomplete_stream"}),
    (UpstreamError("no", status=409), 409, {}),
)


@pytest.mark.parametrize(("error", "status", "members"), ERRORS, ids=lambda value: type(value).__name__)
def test_every_class_survives(error: Error, status: int, members: dict[str, Any]) -> None:
    """By its status, and by a code where the status says less."""
    reply = DIALECT.encode_error(error, ServerContext())
    assert (reply.status, json.loads(reply.body)) == (status, {"error": "no", **members})
    assert type(DIALECT.decode_error(reply, DecodeContext())) is type(error)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (HistoryError("no"), 400),
        (UnsupportedError("no"), 400),
        (LimitExceededError("no"), 413),
        (DecodeError("no", status=400), 400),
        (DecodeError("no"), 502),
        (UpstreamError("no"), 502),
    ],
)
def test_errors_of_our_own_have_a_status(error: Error, status: int) -> None:
    """The client's fault is a 400, a broken upstream a 502."""
    assert DIALECT.encode_error(error, ServerContext()).status == status
