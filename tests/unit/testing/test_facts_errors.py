"""The class of a failed answer by the fact readers: every body that is kept for the dialects, read without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlingua.testing.facts import error_facts, stream_facts
from interlingua.testing.wirefacts.errors import BY_STATUS, error_class, named_status, status_class
from tests.support.cells import cells

FOLDER = Path(__file__).parents[2] / "golden" / "error_bodies"
CASES = [
    (path.stem, case)
    for path in sorted(FOLDER.glob("*.jsonl"))
    if path.stem != "unified"
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    if "x-amzn-errortype" not in case.get("headers", {}) and "__type" not in case["body"]
]
"""The cases whose bodies say the class: of Bedrock's errors a header says it, which the readers do not see."""
IDS = [f"{name} {case['about']}" for name, case in CASES]


@cells(("name", "case"), CASES, ids=IDS)
def test_every_body_is_of_the_class_that_was_written_beside_it(name: str, case: dict[str, Any]) -> None:
    """The readers and the dialects agree because both read the service rightly, not because they share a table."""
    body = case["body"]
    if case["at"] == "stream":
        found = stream_facts(name, body).error
    else:
        found = error_facts(name, case["status"], _json(body) if isinstance(body, str) else body)
    assert found is not None
    assert found["class"] == case["error"]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"message": "m"}, "BadRequestError"),
        (400, {"error": {"code": "other", "type": "rate_limit_error"}}, "RateLimitError"),
        (429, {"error": {"type": "invalid_request_error"}}, "RateLimitError"),
        (500, {"error": {"code": "server_error", "message": "maximum context length"}}, "InternalServerError"),
        (404, {"error": {"message": "maximum context length"}}, "NotFoundError"),
        (403, {"error": {"message": "credit balance is too low"}}, "BillingError"),
        (403, {"error": {"message": "maximum context length"}}, "PermissionDeniedError"),
        (None, {"error": {"message": "maximum context length"}}, "ContextWindowExceededError"),
        (None, {"error": {"message": "m"}}, "InternalServerError"),
        (400, {"error": [{"code": "insufficient_quota"}, {"code": "content_filter"}]}, "BillingError"),
        (400, {"error": {"code": "outer_one", "details": [{"@type": "a"}, {"@type": "b", "reason": "NOT_FOUND"}]}},
         "NotFoundError"),
        (400, "{no JSON", "BadRequestError"),
        (400, None, "BadRequestError"),
    ],
)  # fmt: skip
def test_what_decides(status: int | None, body: Any, kind: str) -> None:
    """A word before the status, the status before a sentence; the first of several errors, all of several details."""
    assert error_class(status, body) == kind


def test_words_of_one_format_alone() -> None:
    """They are known only where they are given."""
    body = {"error": {"code": "OWN"}}
    assert (error_class(400, body), error_class(400, body, {"OWN": "BillingError"})) == (
        "BadRequestError",
        "BillingError",
    )


def test_statuses() -> None:
    """Those that say something, those that say whose fault it was, and none."""
    assert {status: status_class(status) for status in BY_STATUS} == BY_STATUS
    assert [status_class(status) for status in (400, 418, 500, 524, None)] == [
        "BadRequestError",
        "BadRequestError",
        "InternalServerError",
        "InternalServerError",
        "InternalServerError",
    ]
    assert [named_status(body) for body in ({"code": 404}, {"status": 599}, {"code": 600}, {"code": True}, {})] == [
        404,
        599,
        None,
        None,
        None,
    ]
