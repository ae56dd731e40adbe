"""The class of a failed answer, read from whatever its body says: one reader for the errors of every format.

Rules
- Words (`code`, `type`, `status`, a reason in `details`) decide, what stands further inside before what is around it;
  a word that any bad request or any broken server has yields to a status of the same kind, which says more.
- A sentence decides only of a bad request without a better word, and of money also where it was refused or limited.
- Errors stand under `error`, `errors` or `detail`, in a list, as JSON in a text, and behind a router in `metadata.raw`.

Source: wire/openai-chat.md §4, wire/anthropic.md §4, wire/google.md §4, wire/mistral.md §4, wire/compat-quirks.md; the
bodies of `tests/golden/error_bodies`, whose classes were written by hand from each service's documentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = [
    "BY_STATUS",
    "error_class",
    "failed_base",
    "is_bare",
    "named_status",
    "retry_after",
    "sentence_of",
    "sentences_of",
    "status_class",
]

BY_STATUS = {
    401: "AuthenticationError",
    402: "BillingError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    408: "APITimeoutError",
    409: "UpstreamError",
    413: "RequestTooLargeError",
    429: "RateLimitError",
    498: "OverloadedError",
    503: "OverloadedError",
    504: "APITimeoutError",
    529: "OverloadedError",
}
"""The class of a status by itself; any other is the client's fault (4xx) or the server's."""
_SPELLED = {
    "AuthenticationError": (
        "invalid_api_key invalid_authentication authentication_error API_KEY_INVALID API_KEY_EXPIRED"
        " base_resp:1004 base_resp:2049"
    ),
    "BillingError": (
        "insufficient_quota billing_not_active billing_hard_limit_reached payment_required billing_error Arrearage 1113"
        " 1309 exceeded_current_quota_error token_limit_exceeded contract_spend_limit_reached spend_limit_reached"
        " BILLING_DISABLED 30001 AccountOverdueError NOT_ENOUGH_BALANCE insufficient_user_quota INSUFFICIENT_BALANCE"
        " base_resp:1008"
    ),
    "PermissionDeniedError": (
        "permission_denied permission_error unsupported_country_region_territory PERMISSION_DENIED"
    ),
    "NotFoundError": (
        "model_not_found invalid_model unknown_url DeploymentNotFound not_found not_found_error NOT_FOUND 1211"
    ),
    "RequestTooLargeError": "string_above_max_length request_too_large payload_too_large",
    "ContextWindowExceededError": (
        "context_length_exceeded context_window_exceeded exceed_context_size_error tokens_limit_reached 1261"
        " model_max_prompt_tokens_exceeded"
    ),
    "ContentPolicyViolationError": (
        "content_filter content_policy_violation data_inspection_failed DataInspectionFailed 1301"
        " base_resp:1026 base_resp:1027"
    ),
    "RateLimitError": (
        "rate_limit_exceeded rate_limit_error tokens requests service_tier_capacity_exceeded 3505 RESOURCE_EXHAUSTED"
        " base_resp:1002 base_resp:1039 base_resp:1041 base_resp:2045 base_resp:2056"
    ),
    "OverloadedError": (
        "overloaded overloaded_error unavailable_error engine_overloaded_error provider_overloaded UNAVAILABLE 1305"
        " 1312 capacity_exceeded"
    ),
    "APITimeoutError": "timeout timeout_error DEADLINE_EXCEEDED base_resp:1001",
    "IncompleteStreamError": "incomplete_stream",
    "UpstreamError": "conflict conflict_error ABORTED ALREADY_EXISTS",
    "InternalServerError": "server_error api_error INTERNAL",
    "BadRequestError": (
        "tool_use_failed json_validate_failed invalid_request_error INVALID_ARGUMENT base_resp:1042 base_resp:2013"
    ),
}
BY_WORD = {name: kind for kind, names in _SPELLED.items() for name in names.split()}
"""Words of every service: each means one thing, whoever says it."""
_WEAK = frozenset({"invalid_request_error", "INVALID_ARGUMENT"})
_VAGUE = {"BadRequestError": 4, "InternalServerError": 5}
"""Classes that say no more than the first digit of a status."""
BY_PHRASE = {
    "BillingError": (
        r"credit balance is too low|reached your specified (workspace )?API usage limits|used all available credits or"
        r"|is suspended, possibly due to reaching the monthly spending limit"
    ),
    "ContextWindowExceededError": (
        r"prompt is too long|exceeds? (the )?context (limit|window)|[Ii]nput is too long for requested model"
        r"|input token count .*exceeds the maximum number of tokens|exceeds the context length"
        r"|prompt too long; exceeded|maximum context length|longer than the m(aximum model|odel's context) length"
        r"|exceeds the maximum allowed length|context length of only|prompt is greater than the context length"
        r"|exceeded model token limit"
        r"|Range of input length should be|context window exceeds limit|`inputs` tokens \+ `max_new_tokens` must"
        r"|maximum prompt length is|^too many tokens: |`inputs` must have less than|should not exceed max_num_tokens"
        r"|input token count is \d+ but|exceeds maximum (input|sequence) length|cannot exceed the total tokens limit"
        r"|Too many input tokens\. Max input tokens"
    ),
    "ContentPolicyViolationError": r"Output blocked by content filtering policy",
    "RequestTooLargeError": r"Request payload size exceeds the limit",
    "PermissionDeniedError": r"User location is not supported",
    "AuthenticationError": r"^Incorrect API key provided",
}
"""The class of a bad request by a phrase where its service has no word for it."""
_NEST = ("error", "errors", "detail", "details")
_WORDS = ("error_code", "reason", "code", "type", "error_type", "status")


def status_class(status: int | None) -> str:
    """The class of a status alone; the server's fault where there is none."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    return "InternalServerError" if status is None or status >= 500 else "BadRequestError"


def error_class(status: int | None, body: Any, finer: Mapping[str, str] | None = None) -> str:
    """The class of an error body under a status (None inside a stream); `finer` holds words of one format alone."""
    table = {**BY_WORD, **(finer or {})}
    names = [name for name in dict.fromkeys(_words(body)) if name in table]
    name = next((name for name in names if name not in _WEAK), names[0] if names else "")
    result = table.get(name)
    if result is None or (status is not None and _VAGUE.get(result) == status // 100):
        result = status_class(status)
    money = result in ("PermissionDeniedError", "RateLimitError")
    if not (money or result == "BadRequestError" or (result == "InternalServerError" and status is None)):
        return result
    phrases = {"BillingError": BY_PHRASE["BillingError"]} if money else BY_PHRASE
    sentence = next(_sentences(body), "")
    return next((kind for kind, pattern in phrases.items() if re.search(pattern, sentence)), result)


def is_bare(body: Any) -> bool:
    """Whether an object complains of itself, with nothing around it."""
    return any(body.get(name) for name in ("detail", "message", "msg", "errors"))


def failed_base(body: Any) -> dict[str, Any]:
    """The `base_resp` of MiniMax beside an answer, where it says that the request failed."""
    base = members(body.get("base_resp"))
    return base if base.get("status_code") else {}


def named_status(error: Any) -> int | None:
    """The status that an error states in its body."""
    for name in ("status_code", "raw_status_code", "code", "status"):
        value = error.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _inner(value: dict[str, Any]) -> Iterator[Any]:
    """The objects inside an error that may be errors, too: the server behind a router first."""
    metadata = members(value.get("metadata"))
    yield from (result for result in (metadata, metadata.get("raw")) if result)
    yield from (result for name in _NEST if (result := value.get(name)))
    yield word(value.get("message"))


def _opened(value: Any) -> list[dict[str, Any]]:
    """The objects that a value is, holds in a list, or is the text of; of several errors the first counts."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    if isinstance(value, list):
        listed = objects(items(value))
        return listed if all("@type" in entry for entry in listed) else listed[:1]
    return [members(value)] if isinstance(value, dict) else []


def _words(value: Any) -> Iterator[str]:
    """Every word of an error, the innermost first."""
    for error in _opened(value):
        for inside in _inner(error):
            yield from _words(inside)
        if base := failed_base(error):
            yield f"base_resp:{base['status_code']}"
        if error.get("param") == "input_tokens":
            yield "context_length_exceeded"
        if "flagged_input" in error:
            yield "content_filter"
        yield from (str(named) for name in _WORDS if isinstance(named := error.get(name), str | int))


def _sentences(value: Any) -> Iterator[str]:
    """Every sentence of an error, the innermost first."""
    if isinstance(value, str) and value.lstrip()[:1] not in ("{", "[") and value:
        yield value
    for error in _opened(value):
        for inside in _inner(error):
            yield from _sentences(inside)
        yield from _sentences(word(failed_base(error).get("status_msg")))


# What an error says beside its class


def sentence_of(body: Any) -> str:
    """The words of the error, the innermost first; empty where it has none."""
    return next(_sentences(body), "")


def sentences_of(body: Any) -> list[str]:
    """Everything that the error says in words, the innermost first."""
    return list(_sentences(body))


def retry_after(headers: Mapping[str, str], body: Any) -> float | None:
    """The seconds after which to come back, as the headers say, or Google's body; None where neither does."""
    if (precise := headers.get("retry-after-ms")) is not None:
        return float(precise) / 1000
    if (seconds := headers.get("retry-after")) is not None:
        return float(seconds)
    for detail in objects(members(members(body).get("error")).get("details")):
        if word(detail.get("@type")).endswith("RetryInfo"):
            return float(word(detail.get("retryDelay")).removesuffix("s"))
    return None
