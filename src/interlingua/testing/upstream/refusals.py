"""The error bodies of every service, with their statuses and headers.

Source: section "Errors" of our notes on each service; the error classes of the official clients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from interlingua.testing.upstream.verdict import Problem
from interlingua.wire.http import Headers, HttpReply
from interlingua.wire.json import encode

__all__ = ["ERROR_STATUSES", "error_body", "error_reply", "exception_of", "refusal"]

Step: TypeAlias = "str | int"

JSON: Headers = (("content-type", "application/json"),)

OPENAI_CODES = {
    "unknown_member": "unknown_parameter",
    "missing_member": "missing_required_parameter",
    "wrong_type": "invalid_type",
    "unknown_value": "invalid_value",
    "bad_length": "string_above_max_length",
    "bad_pattern": "invalid_value",
    "schema": "invalid_function_parameters",
    "unsupported_by_model": "unsupported_parameter",
}
"""The code of a refusal, by rule."""

OPENAI_ERRORS: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: (
        "invalid_request_error",
        "unsupported_country_region_territory",
        "Country, region, or territory not supported",
    ),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    405: ("invalid_request_error", "method_not_supported", "Not allowed to use this method on this address."),
    413: ("invalid_request_error", None, "The request is too large."),
    429: ("tokens", "rate_limit_exceeded", "Rate limit reached on tokens per min."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The engine is currently overloaded, please try again later."),
    529: ("server_error", None, "The engine is currently overloaded, please try again later."),
}
ANTHROPIC_ERRORS: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: not found"),
    405: ("invalid_request_error", "Method Not Allowed"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error"),
    503: ("overloaded_error", "Overloaded"),
    529: ("overloaded_error", "Overloaded"),
}
GOOGLE_ERRORS: dict[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
    404: ("NOT_FOUND", "The model is not found for API version v1beta."),
    405: ("UNIMPLEMENTED", "Method Not Allowed"),
    413: ("INVALID_ARGUMENT", "Request payload size exceeds the limit."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
OLLAMA_ERRORS: dict[int, str] = {
    400: "invalid request",
    401: "unauthorized",
    403: "cloud is disabled",
    404: "model not found",
    405: "405 method not allowed",
    413: "http: request body too large",
    429: "rate limit exceeded",
    500: "model runner has unexpectedly stopped",
    503: "server busy, please try again.  maximum pending requests exceeded",
    529: "server busy, please try again.  maximum pending requests exceeded",
}
COHERE_ERRORS: dict[int, str] = {
    400: "invalid request: the request is not valid",
    401: "invalid api token",
    403: "your account is not allowed to use this model",
    404: "model not found, make sure the correct model ID was used and that you have access to the model",
    405: "method not allowed",
    413: "request body too large",
    429: "You are past the per minute request limit, please wait and try again later.",
    500: "internal server error, this has been reported to our developers",
    503: "service unavailable",
    529: "service unavailable",
}
BEDROCK_ERRORS: dict[int, tuple[str, str]] = {
    400: ("ValidationException", "The request is not valid."),
    401: ("UnrecognizedClientException", "The security token included in the request is invalid."),
    403: ("AccessDeniedException", "You don't have access to the model with the specified model ID."),
    404: ("ResourceNotFoundException", "The provided model identifier is invalid."),
    405: ("UnknownOperationException", "The operation is not known."),
    408: ("ModelTimeoutException", "Model has timed out in processing the request. Try your request again."),
    413: ("RequestEntityTooLargeException", "The request is too large."),
    424: ("ModelErrorException", "The model returned an error. Try your request again."),
    429: ("ThrottlingException", "Too many requests, please wait before trying again."),
    500: ("InternalServerException", "The system encountered an unexpected error during processing."),
    503: ("ServiceUnavailableException", "Bedrock is unable to process your request."),
    529: ("ServiceUnavailableException", "Bedrock is unable to process your request."),
}
UNIFIED_ERRORS = {
    400: "bad_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_denied_error",
    404: "not_found_error",
    413: "request_too_large_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}
ERROR_STATUSES = tuple(sorted({*OPENAI_ERRORS, *ANTHROPIC_ERRORS}))
"""The statuses that every service can be told to fail with."""
RETRY_AFTER_S = 7


def _openai(status: int, message: str | None, problem: Problem | None) -> dict[str, Any]:
    kind, code, text = OPENAI_ERRORS.get(status, OPENAI_ERRORS[500])
    param = None
    if problem is not None:
        param, code = _dotted(problem.steps) or None, OPENAI_CODES.get(problem.rule, code)
    return {"error": {"message": message or text, "type": kind, "param": param, "code": code}}


def _anthropic(status: int, message: str | None, problem: Problem | None) -> dict[str, Any]:
    kind, text = ANTHROPIC_ERRORS.get(status, ANTHROPIC_ERRORS[500])
    where = f"{'.'.join(map(str, problem.steps))}: " if problem is not None and problem.steps else ""
    error = {"type": kind, "message": where + (message or text)}
    return {"type": "error", "error": error, "request_id": "req_upstream"}


def _google(status: int, message: str | None, problem: Problem | None) -> dict[str, Any]:
    kind, text = GOOGLE_ERRORS.get(status, GOOGLE_ERRORS[500])
    where = f"* {_dotted(problem.steps)}: " if problem is not None and problem.steps else ""
    error: dict[str, Any] = {
        "code": 503 if status == 529 else status,
        "message": where + (message or text),
        "status": kind,
    }
    if status == 429:
        error["details"] = [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{RETRY_AFTER_S}s"},
        ]
    return {"error": error}


def _ollama(status: int, message: str | None, _: Problem | None) -> dict[str, Any]:
    return {"error": message or OLLAMA_ERRORS.get(status, OLLAMA_ERRORS[500])}


def _cohere(status: int, message: str | None, _: Problem | None) -> dict[str, Any]:
    return {"id": "e-upstream", "message": message or COHERE_ERRORS.get(status, COHERE_ERRORS[500])}


def _bedrock(status: int, message: str | None, problem: Problem | None) -> dict[str, Any]:
    where = f" ({'.'.join(map(str, problem.steps))})" if problem is not None and problem.steps else ""
    return {"message": (message or BEDROCK_ERRORS.get(status, BEDROCK_ERRORS[500])[1]) + where}


def exception_of(status: int) -> str:
    """The exception by which Bedrock answers with that status."""
    return BEDROCK_ERRORS.get(status, BEDROCK_ERRORS[400 if status < 500 else 500])[0]


def _unified(status: int, message: str | None, problem: Problem | None) -> dict[str, Any]:
    error: dict[str, Any] = {
        "type": UNIFIED_ERRORS.get(status, "internal_server_error"),
        "message": message or "the request was refused",
        "status": status,
        "retryable": status in (429, 500, 503, 529),
    }
    if problem is not None:
        # Names of tools alone have a pattern.
        code = "tool_name_illegal" if problem.rule == "bad_pattern" else problem.rule
        error |= {"type": "decode_error", "code": code, "path": problem.pointer}
    return {"error": error}


def _dotted(steps: tuple[Step, ...]) -> str:
    """`messages[0].content`, as OpenAI and Google name a place."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


_BODIES: dict[str, Callable[[int, str | None, Problem | None], dict[str, Any]]] = {
    "openai-chat": _openai,
    "openai-responses": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
    "cohere": _cohere,
    "bedrock": _bedrock,
    "unified": _unified,
}
_HEADERS: dict[str, Headers] = {
    "openai-chat": (("x-request-id", "req_upstream"),),
    "openai-responses": (("x-request-id", "req_upstream"),),
    "anthropic": (("request-id", "req_upstream"),),
    "bedrock": (("x-amzn-requestid", "req_upstream"),),
}
_RETRY: dict[str, Headers] = {
    "openai-chat": (("retry-after", str(RETRY_AFTER_S)), ("x-ratelimit-remaining-requests", "0")),
    "openai-responses": (("retry-after", str(RETRY_AFTER_S)), ("x-ratelimit-remaining-requests", "0")),
    "anthropic": (("retry-after", str(RETRY_AFTER_S)), ("anthropic-ratelimit-requests-remaining", "0")),
    "unified": (("retry-after", str(RETRY_AFTER_S)),),
}
_SENT_AS = {(name, 529): 503 for name in ("openai-chat", "openai-responses", "google", "ollama", "cohere", "bedrock")}
"""529 is Anthropic's own; what the others answer when they are overloaded."""
_SENT_AS[("bedrock", 401)] = 403


def error_body(dialect: str, status: int, message: str | None = None) -> dict[str, Any]:
    """The error body of that service and status."""
    return _BODIES[dialect](status, message, None)


def error_reply(dialect: str, status: int, message: str | None = None) -> HttpReply:
    """The whole error answer of that service: status, headers, body."""
    headers = (*_headers(dialect, status), *(_RETRY.get(dialect, ()) if status == 429 else ()))
    sent_as = _SENT_AS.get((dialect, status), status)
    return HttpReply(status=sent_as, headers=headers, body=encode(error_body(dialect, status, message), nulls=2))


def refusal(dialect: str, problem: Problem) -> HttpReply:
    """The answer of that service to a request with this problem."""
    body = _BODIES[dialect](problem.status, problem.sentence, problem)
    status = _SENT_AS.get((dialect, problem.status), problem.status)
    return HttpReply(status=status, headers=_headers(dialect, problem.status), body=encode(body, nulls=2))


def _headers(dialect: str, status: int) -> Headers:
    named: Headers = (("x-amzn-errortype", exception_of(status)),) if dialect == "bedrock" else ()
    return (*JSON, *_HEADERS.get(dialect, ()), *named)
