"""Message batches: all requests in one body, results as JSON lines.

The service keeps no word of ours with a batch, and shows no ids of requests before it has ended.

Source: vendor pages "Message Batches", "Errors"; official client 2.12.0, `types/messages/message_batch*.py`; read in
November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Raw

from interlingua.dialects._batches import (
    BatchCall,
    Batches,
    BatchInfo,
    BatchOrder,
    BatchPage,
    BatchResult,
    counts_at,
    id_at,
    member,
    object_at,
    page_of,
    plain_line,
    results_of_lines,
    text_at,
    unix_time,
)
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.dialects._contract import Encoded

__all__ = ["BATCHES"]

PAGE = 100
_JSON = (("content-type", "application/json"),)
_MANY = 1_000_000
"""Nulls of a body that was read as JSON are meant."""
_VERSION = (("anthropic-version", "2023-06-01"),)
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of each type of error in a live call; the results of a batch name the type alone."""


def _line(custom_id: str, encoded: Encoded) -> bytes:
    return encode({"custom_id": custom_id, "params": Raw(encoded.body)})


def _submit(order: BatchOrder) -> BatchCall:
    body = b'{"requests":[%s]}' % b",".join(order.lines)
    return BatchCall("/messages/batches", "POST", body, (*_JSON, *(order.headers or _VERSION)))


def _about(name: str, rest: str = "", method: str = "GET") -> BatchCall:
    return BatchCall(f"/messages/batches/{quote(name, safe='')}{rest}", method, headers=_VERSION)


def _info(body: Any) -> BatchInfo:
    name, status, counts = id_at(body, "id"), text_at(body, "processing_status"), counts_at(body, "request_counts")
    total = sum(counts.values())
    return BatchInfo(
        id=name,
        state="ended" if status == "ended" else "running",
        status=plain_line(status),
        created_at=unix_time(member(body, "created_at")),
        total=total,
        done=total - counts.get("processing", 0) - counts.get("canceled", 0) - counts.get("expired", 0),
        results=(_about(name, "/results"),) if status == "ended" else (),
        deletions=(_about(name, method="DELETE"),),
    )


def _list(after: str) -> BatchCall:
    query = f"?limit={PAGE}" + (f"&after_id={quote(after, safe='')}" if after else "")
    return BatchCall(f"/messages/batches{query}", headers=_VERSION)


def _read_list(reply: HttpReply) -> BatchPage:
    body = decode_any(reply.body)
    place = (member(body, "last_id") or True) if member(body, "has_more") else None
    return page_of(member(body, "data"), _info, (), place)


def _results(reply: HttpReply) -> Iterator[BatchResult]:
    return results_of_lines(reply, _result)


def _result(line: Any) -> BatchResult:
    custom_id, kind = text_at(line, "custom_id"), text_at(line, "result", "type")
    if kind in ("expired", "canceled"):
        return BatchResult(custom_id, None)
    status, body = 200, object_at(line, "result", "message")
    if kind != "succeeded":
        body = object_at(line, "result", "error")
        status = _STATUSES.get(str(member(body, "error", "type")), 500)
    return BatchResult(custom_id, HttpReply(status=status, headers=_JSON, body=encode(body, nulls=_MANY)))


BATCHES = Batches(
    max_requests=100_000,
    max_bytes=256_000_000 - 100,
    line=_line,
    submit=_submit,
    show=_about,
    read=lambda reply: _info(decode_any(reply.body)),
    list=_list,
    read_list=_read_list,
    cancel=lambda name: _about(name, "/cancel", "POST"),
    results=_results,
)
"""Message batches."""
