"""Every code, type and status word of an error, as the services say them, and the class that it means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects._errors.bodies import error_body
from interlingua.dialects.anthropic.reasons import error_of_body
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error
from interlingua.wire.http import HttpReply
from tests.support.cells import cells


def read(name: str, body: Any, status: int = 418) -> Error:
    """The error of a failed answer; 418 is a status that decides nothing."""
    reply = HttpReply(status=status, body=json.dumps(body).encode())
    return get_dialect(name).decode_error(reply, DecodeContext())


CODES = {
    "insufficient_quota": "BillingError",
    "billing_not_active": "BillingError",
    "billing_hard_limit_reached": "BillingError",
    "payment_required": "BillingError",
    "context_length_exceeded": "ContextWindowExceededError",
    "string_above_max_length": "RequestTooLargeError",
    "request_too_large": "RequestTooLargeError",
    "content_filter": "ContentPolicyViolationError",
    "content_policy_violation": "ContentPolicyViolationError",
    "invalid_api_key": "AuthenticationError",
    "invalid_authentication": "AuthenticationError",
    "permission_denied": "PermissionDeniedError",
    "unsupported_country_region_territory": "PermissionDeniedError",
    "model_not_found": "NotFoundError",
    "DeploymentNotFound": "NotFoundError",
    "rate_limit_exceeded": "RateLimitError",
    "3505": "RateLimitError",
    "overloaded": "OverloadedError",
    "server_error": "InternalServerError",
    "timeout": "APITimeoutError",
    "incomplete_stream": "IncompleteStreamError",
    "conflict": "UpstreamError",
    "new_code": "BadRequestError",
}
TYPES = {
    "insufficient_quota": "BillingError",
    "invalid_model": "NotFoundError",
    "authentication_error": "AuthenticationError",
    "permission_error": "PermissionDeniedError",
    "not_found_error": "NotFoundError",
    "rate_limit_error": "RateLimitError",
    "tokens": "RateLimitError",
    "requests": "RateLimitError",
    "service_tier_capacity_exceeded": "RateLimitError",
    "unavailable_error": "OverloadedError",
    "overloaded_error": "OverloadedError",
    "server_error": "InternalServerError",
    "new_type": "BadRequestError",
}


@cells("name", ["openai-chat", "openai-responses"])
@cells("code", CODES)
def test_the_codes_of_openai(name: str, code: str) -> None:
    """The code decides before type and status."""
    error = read(name, {"error": {"message": "No.", "type": "requests" if code in CODES else None, "code": code}})
    expected = "RateLimitError" if code == "new_code" else CODES[code]
    assert (type(error).__name__, error.code, error.status, error.message) == (expected, code, 418, "No.")


@pytest.mark.parametrize("kind", TYPES)
def test_the_types_of_openai(kind: str) -> None:
    """The type decides before the status, and stands in for a code that is not there."""
    error = read("openai-chat", {"error": {"message": "No.", "type": kind, "code": None}})
    assert (type(error).__name__, error.code) == (TYPES[kind], kind)


@pytest.mark.parametrize(
    ("status", "kind"), [(413, "RequestTooLargeError"), (404, "NotFoundError"), (400, "BadRequestError")]
)
def test_what_says_no_more_than_the_first_digit_is_left_to_the_status(status: int, kind: str) -> None:
    """`invalid_request_error` and `server_error` stand in bodies of every status."""
    assert (
        type(read("openai-chat", {"error": {"message": "No.", "type": "invalid_request_error"}}, status)).__name__
        == kind
    )
    assert (
        type(read("openai-chat", {"error": {"message": "No.", "type": "server_error"}}, 503)).__name__
        == "OverloadedError"
    )


@cells(
    ("status", "kind", "retryable"),
    [
        (400, "BadRequestError", False), (401, "AuthenticationError", False), (402, "BillingError", False),
        (403, "PermissionDeniedError", False), (404, "NotFoundError", False), (405, "BadRequestError", False),
        (413, "RequestTooLargeError", False), (422, "BadRequestError", False),
        (408, "APITimeoutError", True), (409, "UpstreamError", True), (429, "RateLimitError", True),
        (500, "InternalServerError", True),
    ],
)  # fmt: skip
@cells(
    ("dialect", "body"),
    [
        ("openai-chat", {"error": {"message": "No.", "type": "server_error", "code": None}}),
        ("openai-responses", {"error": {"message": "No.", "type": "server_error", "code": "server_error"}}),
        ("anthropic", {"type": "error", "error": {"type": "api_error", "message": "No."}}),
        ("google", {"error": {"code": 500, "message": "No.", "status": "INTERNAL"}}),
    ],
)
def test_r43_rtr_07_a_server_that_blames_itself_leaves_its_status_as_it_is(
    dialect: str, body: dict[str, Any], status: int, kind: str, retryable: bool
) -> None:
    """R43, RTR-07: what is permanent by its status is not asked again for the sake of a general word."""
    error = read(dialect, body, status)
    assert (type(error).__name__, error.status, error.retryable) == (kind, status, retryable)


@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed"])
def test_what_the_model_did_wrong_may_be_tried_again(code: str) -> None:
    """A 400 that is not the request's fault."""
    error = read("openai-chat", {"error": {"message": "No.", "type": "invalid_request_error", "code": code}}, 400)
    assert (type(error).__name__, error.retryable, error.code) == ("BadRequestError", True, code)


FAILURES = {
    "invalid_prompt": "BadRequestError",
    "data_residency_mismatch": "BadRequestError",
    "vector_store_timeout": "APITimeoutError",
    "bio_policy": "ContentPolicyViolationError",
    "misalignment_policy_violation": "ContentPolicyViolationError",
    "image_content_policy_violation": "ContentPolicyViolationError",
    "invalid_image": "BadRequestError",
    "invalid_image_format": "BadRequestError",
    "invalid_base64_image": "BadRequestError",
    "invalid_image_url": "BadRequestError",
    "image_too_large": "BadRequestError",
    "image_too_small": "BadRequestError",
    "image_parse_error": "BadRequestError",
    "invalid_image_mode": "BadRequestError",
    "image_file_too_large": "BadRequestError",
    "unsupported_image_media_type": "BadRequestError",
    "empty_image_file": "BadRequestError",
    "failed_to_download_image": "BadRequestError",
    "image_file_not_found": "BadRequestError",
    "server_error": "InternalServerError",
    "rate_limit_exceeded": "RateLimitError",
    "new_code": "InternalServerError",
}


@cells("code", FAILURES)
def test_the_codes_of_an_answer_that_failed(code: str) -> None:
    """Only the last three are worth another try."""
    answer: dict[str, Any] = {"id": "r", "object": "response", "model": "m", "status": "failed", "output": []}
    body = {**answer, "error": {"code": code, "message": "No."}}
    dialect = get_dialect("openai-responses")
    with pytest.raises(Error) as caught:
        dialect.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())
    error = caught.value
    assert (type(error).__name__, error.code, error.message) == (FAILURES[code], code, "No.")
    assert error.retryable == (code in {"server_error", "rate_limit_exceeded", "new_code"})


ANTHROPIC_TYPES = {
    "authentication_error": "AuthenticationError",
    "billing_error": "BillingError",
    "permission_error": "PermissionDeniedError",
    "not_found_error": "NotFoundError",
    "conflict_error": "UpstreamError",
    "request_too_large": "RequestTooLargeError",
    "rate_limit_error": "RateLimitError",
    "timeout_error": "APITimeoutError",
    "overloaded_error": "OverloadedError",
    "api_error": "InternalServerError",
    "new_error": "BadRequestError",
}
ANTHROPIC_CODES = {
    "context_window_exceeded": "ContextWindowExceededError",
    "content_policy_violation": "ContentPolicyViolationError",
    "incomplete_stream": "IncompleteStreamError",
    "contract_spend_limit_reached": "BillingError",
    "spend_limit_reached": "BillingError",
    "image_dimensions_too_large": "BadRequestError",
    "tool_name_conflict": "BadRequestError",
    "new_code": "RateLimitError",
}
SENTENCES = {
    "Your credit balance is too low to access the Claude API. Please go to Plans & Billing.": "BillingError",
    "You have reached your specified API usage limits.": "BillingError",
    "You have reached your specified workspace API usage limits.": "BillingError",
    "prompt is too long: 213462 tokens > 200000 maximum": "ContextWindowExceededError",
    "input length and `max_tokens` exceed the context limit: 190000 + 20000 > 200000": "ContextWindowExceededError",
    "input length exceeds context window": "ContextWindowExceededError",
    "messages: at least one message is required": "BadRequestError",
}


@pytest.mark.parametrize("kind", ANTHROPIC_TYPES)
def test_the_types_of_anthropic(kind: str) -> None:
    """The type decides before the status."""
    error = read("anthropic", {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": "req_1"})
    assert (type(error).__name__, error.code, error.request_id) == (ANTHROPIC_TYPES[kind], kind, "req_1")


@pytest.mark.parametrize(("status", "retryable"), [(None, True), (409, True), (418, False)])
def test_a_conflict_of_anthropic_may_pass(status: int | None, retryable: bool) -> None:
    """Inside a stream, where there is no status, as with its own."""
    body = {"type": "error", "error": {"type": "conflict_error", "message": "No."}}
    error = error_of_body(error_body(body), status)
    assert (type(error).__name__, error.retryable) == ("UpstreamError", retryable)
    other = {"type": "error", "error": {"type": "not_found_error", "message": "No."}}
    assert not error_of_body(error_body(other), None).retryable


@pytest.mark.parametrize("code", ANTHROPIC_CODES)
def test_the_codes_of_anthropic(code: str) -> None:
    """The code in the details decides before the type."""
    told = {"type": "rate_limit_error", "message": "No.", "details": {"error_code": code}}
    error = read("anthropic", {"type": "error", "error": told})
    assert (type(error).__name__, error.code) == (ANTHROPIC_CODES[code], code)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_sentences_of_anthropic(sentence: str) -> None:
    """Where the service has no code, its sentence decides, and only of a bad request."""
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": sentence}}
    assert type(read("anthropic", body, 400)).__name__ == SENTENCES[sentence]
    body = {"type": "error", "error": {"type": "overloaded_error", "message": sentence}}
    assert type(read("anthropic", body, 529)).__name__ == "OverloadedError"


GOOGLE_WORDS = {
    "UNAUTHENTICATED": ("AuthenticationError", False),
    "PERMISSION_DENIED": ("PermissionDeniedError", False),
    "NOT_FOUND": ("NotFoundError", False),
    "RESOURCE_EXHAUSTED": ("RateLimitError", True),
    "ABORTED": ("UpstreamError", True),
    "ALREADY_EXISTS": ("UpstreamError", False),
    "INTERNAL": ("InternalServerError", True),
    "UNAVAILABLE": ("OverloadedError", True),
    "DEADLINE_EXCEEDED": ("APITimeoutError", True),
    "FAILED_PRECONDITION": ("BadRequestError", False),
    "OUT_OF_RANGE": ("BadRequestError", False),
    "CANCELLED": ("BadRequestError", False),
    "INVALID_ARGUMENT": ("BadRequestError", False),
}
GOOGLE_REASONS = {
    "API_KEY_INVALID": "AuthenticationError",
    "API_KEY_EXPIRED": "AuthenticationError",
    "BILLING_DISABLED": "BillingError",
    "CONTEXT_WINDOW_EXCEEDED": "ContextWindowExceededError",
    "CONTENT_POLICY_VIOLATION": "ContentPolicyViolationError",
    "REQUEST_TOO_LARGE": "RequestTooLargeError",
    "STREAM_INCOMPLETE": "IncompleteStreamError",
}


@pytest.mark.parametrize("word", GOOGLE_WORDS)
def test_the_status_words_of_google(word: str) -> None:
    """The word decides before the status."""
    error = read("google", {"error": {"code": 418, "message": "No.", "status": word}})
    assert (type(error).__name__, error.retryable) == GOOGLE_WORDS[word]
    assert (error.code, error.message) == (word, "No.")


@pytest.mark.parametrize("reason", GOOGLE_REASONS)
def test_the_reasons_of_google(reason: str) -> None:
    """The reason in the details decides before the word."""
    details = [{"@type": "x"}, {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
    error = read("google", {"error": {"code": 503, "message": "No.", "status": "UNAVAILABLE", "details": details}})
    assert (type(error).__name__, error.code, error.status) == (GOOGLE_REASONS[reason], reason, 418)


def test_a_reason_that_nobody_knows_is_the_code_without_a_word() -> None:
    """The word decides the class, and comes first as the code."""
    details = [{"reason": "NEW_REASON"}]
    error = read("google", {"error": {"message": "No.", "status": "NOT_FOUND", "details": details}})
    assert (type(error).__name__, error.code) == ("NotFoundError", "NOT_FOUND")
    assert read("google", {"error": {"message": "No.", "details": details}}).code == "NEW_REASON"


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("34s", 34.0), ("1.5s", 1.5), ("999999s", 86_400.0), ("soon", None), ("5", None), (None, None)],
)
def test_when_google_wants_us_back(delay: str | None, seconds: float | None) -> None:
    """The delay stands in the body; a day at most."""
    details = [{"retryDelay": delay}]
    body = {"error": {"code": 429, "message": "No.", "status": "RESOURCE_EXHAUSTED", "details": details}}
    assert read("google", body, 429).retry_after_s == seconds


STATUSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    402: "BillingError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    405: "BadRequestError",
    408: "APITimeoutError",
    409: "UpstreamError",
    413: "RequestTooLargeError",
    418: "BadRequestError",
    422: "BadRequestError",
    429: "RateLimitError",
    499: "BadRequestError",
    500: "InternalServerError",
    502: "InternalServerError",
    503: "OverloadedError",
    504: "APITimeoutError",
    529: "OverloadedError",
    599: "InternalServerError",
}


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"])
@cells("status", STATUSES)
def test_the_status_decides_where_the_body_says_nothing(name: str, status: int) -> None:
    """An empty body, or a page of something in between."""
    for body, message in ((b"", "an empty body"), (b"<h1>Bad\n gateway</h1>", "<h1>Bad gateway</h1>")):
        error = get_dialect(name).decode_error(HttpReply(status=status, body=body), DecodeContext())
        assert (type(error).__name__, error.status, error.message) == (STATUSES[status], status, message)
