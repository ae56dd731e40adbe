"""Batches of generateContent: requests in the body, an operation to look at, results in the operation.

A batch may also be made of an uploaded file, up to 2 GB. It is not: requests that stand in the body go through the same
door as everything else, and 20 MB of them make one batch of several.

Source: vendor page "Batch API"; official client 3.4.0, `batches.py`; read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
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
    list_at,
    member,
    object_at,
    page_of,
    plain_line,
    text_at,
    unix_time,
    whole_number,
)
from interlingua.errors import DecodeError
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.dialects._batches import BatchState
    from interlingua.dialects._contract import Encoded

__all__ = ["BATCHES"]

PAGE = 100
_MARK = ("metadata", "displayName")
_FIELDS = "operations(name,error,metadata(model,displayName,state,createTime,batchStats)),nextPageToken"
"""The wanted fields of a list: an operation that has ended holds all its results."""
_JSON = (("content-type", "application/json"),)
_MANY = 1_000_000
"""Nulls of a body that was read as JSON are meant."""
_STATES: dict[str, BatchState] = {
    "SUCCEEDED": "ended",
    "EXPIRED": "ended",
    "CANCELLED": "ended",
    "FAILED": "failed",
}
_STATUSES = {
    3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401,
}  # fmt: skip
"""The HTTP status of each code of google.rpc that a request which ran may have, as live calls answer them."""
_NOT_RUN = frozenset({1, 4})
"""Codes of requests that were never run: cancelled, deadline exceeded."""


def _line(custom_id: str, encoded: Encoded) -> bytes:
    return encode({"request": Raw(encoded.body), "metadata": {"key": custom_id}})


def _submit(order: BatchOrder) -> BatchCall:
    path = f"{order.path.partition('?')[0].rpartition(':')[0]}:batchGenerateContent"
    name = encode(order.mark)
    requests = b",".join(order.lines)
    body = b'{"batch":{"displayName":%s,"inputConfig":{"requests":{"requests":[%s]}}}}' % (name, requests)
    return BatchCall(path, "POST", body, (*_JSON, *order.headers))


def _path(name: str) -> str:
    return f"/{quote(name, safe='/-._~')}"


def _show(name: str) -> BatchCall:
    return BatchCall(_path(name))


def _info(body: Any) -> BatchInfo:
    name, state = id_at(body, "name"), str(member(body, "metadata", "state") or "")
    word = state.rpartition("_STATE_")[2]
    counts = counts_at(body, "metadata", "batchStats")
    return BatchInfo(
        id=name,
        state=_STATES.get(word, "running"),
        status=plain_line(state),
        mark=plain_line(member(body, *_MARK)),
        created_at=unix_time(member(body, "metadata", "createTime")),
        total=counts.get("requestCount"),
        done=counts.get("successfulRequestCount", 0) + counts.get("failedRequestCount", 0) if counts else None,
        message=plain_line(member(body, "error", "message")),
        results=(_show(name),) if _STATES.get(word) == "ended" else (),
        deletions=(BatchCall(_path(name), "DELETE"),),
    )


def _list(token: str) -> BatchCall:
    return BatchCall(
        f"/batches?pageSize={PAGE}&fields={_FIELDS}" + (f"&pageToken={quote(token, safe='')}" if token else "")
    )


def _read_list(reply: HttpReply) -> BatchPage:
    body = decode_any(reply.body)
    operations = member(body, "operations")  # which is left out where there are none
    return page_of([] if operations is None else operations, _info, _MARK, member(body, "nextPageToken"))


def _results(reply: HttpReply) -> Iterator[BatchResult]:
    body = decode_any(reply.body)
    output = object_at(body, "response") or object_at(body, "metadata", "output")
    for entry in list_at(output, "inlinedResponses", "inlinedResponses"):
        with suppress(DecodeError):  # it is nobody's; the others belong to their own requests
            yield _result(entry)


def _result(one: Any) -> BatchResult:
    custom_id, error = text_at(one, "metadata", "key"), object_at(one, "error")
    if not error:
        body = encode(object_at(one, "response"), nulls=_MANY)
        return BatchResult(custom_id, HttpReply(status=200, headers=_JSON, body=body))
    code = whole_number(member(error, "code")) or 13
    if code in _NOT_RUN:
        return BatchResult(custom_id, None)
    status = _STATUSES.get(code, code if 400 <= code < 600 else 500)
    return BatchResult(custom_id, HttpReply(status=status, headers=_JSON, body=encode({"error": error}, nulls=_MANY)))


BATCHES = Batches(
    max_requests=100_000,
    max_bytes=20_000_000 - 1_000,
    line=_line,
    submit=_submit,
    show=_show,
    read=lambda reply: _info(decode_any(reply.body)),
    list=_list,
    read_list=_read_list,
    cancel=lambda name: BatchCall(f"{_path(name)}:cancel", "POST", b"{}", _JSON),
    results=_results,
)
"""Batches of generateContent."""
