"""Batches of files: requests go up as a file of JSON lines, a batch is made of it, and its results come as files.

Source: OpenAI "Batch API guide", "Batches", "Files"; official client 3.54.0, `types/batch*.py`; read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Raw

from interlingua.dialects._batches import (
    BatchCall,
    Batches,
    BatchFiles,
    BatchInfo,
    BatchOrder,
    BatchPage,
    BatchResult,
    counts_at,
    id_at,
    is_id,
    list_at,
    member,
    object_at,
    page_of,
    plain_line,
    problems_line,
    results_of_lines,
    text_at,
    unix_time,
    whole_number,
)
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.dialects._batches import BatchState
    from interlingua.dialects._contract import Encoded

__all__ = ["BATCHES", "FILES", "MARK", "file_calls", "posted", "read_results"]

MARK = "interlingua"
"""The member of a batch's metadata that holds our own word for it."""
PAGE = 100
_JSON = (("content-type", "application/json"),)
_MANY = 1_000_000
"""Nulls of a body that was read as JSON are meant."""
_NOT_RUN = frozenset({"batch_expired", "batch_cancelled"})
"""Codes of requests that were never run. Source: Batch API guide, "Batch expiration"; Batches, "Cancel batch"."""
_OVER_QUOTA = "token_limit_exceeded"
"""The code of a batch with more tokens than may wait at a time. Source: Batch API guide, "Rate limits"."""
_STATES: dict[str, BatchState] = {
    "completed": "ended",
    "expired": "ended",
    "cancelled": "ended",
    "failed": "failed",
}
"""The states in which nothing more happens."""


def _upload(order: BatchOrder) -> BatchCall:
    """The call that hands the lines of a batch up as a file."""
    boundary = f"interlingua-{order.mark}"
    field = f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    file = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{order.mark}.jsonl"\r\n'
        "content-type: application/jsonl\r\n\r\n"
    )
    body = b"".join((field.encode(), file.encode(), b"\n".join(order.lines), f"\n\r\n--{boundary}--\r\n".encode()))
    return BatchCall("/files", "POST", body, (("content-type", f"multipart/form-data; boundary={boundary}"),))


def posted(path: str, body: dict[str, Any]) -> BatchCall:
    """The call that posts an object."""
    return BatchCall(path, "POST", encode(body), _JSON)


def _delete_file(file: str) -> BatchCall:
    return BatchCall(f"/files/{quote(file, safe='')}", "DELETE")


FILES = BatchFiles(
    upload=_upload,
    read=lambda reply: id_at(decode_any(reply.body), "id"),
    delete=_delete_file,
)
"""OpenAI's files, as far as batches need them."""


def file_calls(body: Any, *names: str) -> tuple[tuple[BatchCall, ...], tuple[BatchCall, ...]]:
    """The calls that fetch the files whose ids stand in these members, and those that delete them.

    Raises: DecodeError for what is no id.
    """
    files = [id_at(body, name) for name in names if member(body, name)]
    contents = [BatchCall(f"/files/{quote(file, safe='')}/content") for file in files]
    return tuple(contents), tuple([_delete_file(file) for file in files])


def read_results(reply: HttpReply) -> Iterator[BatchResult]:
    """The result of each request, as a file of results tells it.

    Raises: DecodeError for a line that is none, such as one that was cut off.
    """
    return results_of_lines(reply, _result)


def _result(line: Any) -> BatchResult:
    custom_id, response = text_at(line, "custom_id"), object_at(line, "response")
    if response:
        headers = (("x-request-id", plain_line(member(response, "request_id"))), *_JSON)
        status = whole_number(member(response, "status_code"))
        status = 200 if status is None else status if 100 <= status < 600 else 502
        body = encode(member(response, "body"), nulls=_MANY)
        return BatchResult(custom_id, HttpReply(status=status, headers=headers, body=body))
    error = object_at(line, "error")
    if str(member(error, "code")) in _NOT_RUN:
        return BatchResult(custom_id, None)
    body = encode({"error": {"message": "no answer", "code": None, **error}}, nulls=_MANY)
    return BatchResult(custom_id, HttpReply(status=500, headers=_JSON, body=body))


def _line(custom_id: str, encoded: Encoded) -> bytes:
    url = f"/v1{encoded.path}"
    return encode({"custom_id": custom_id, "method": "POST", "url": url, "body": Raw(encoded.body)})


def _submit(order: BatchOrder) -> BatchCall:
    made = {
        "input_file_id": order.file,
        "endpoint": f"/v1{order.path}",
        "completion_window": "24h",
        "metadata": {MARK: order.mark},
    }
    return posted("/batches", made)


def _show(name: str) -> BatchCall:
    return BatchCall(f"/batches/{quote(name, safe='')}")


def _info(body: Any) -> BatchInfo:
    status, counts = text_at(body, "status"), counts_at(body, "request_counts")
    problems = list_at(body, "errors", "data")
    results, deletions = file_calls(body, "output_file_id", "error_file_id")
    return BatchInfo(
        id=id_at(body, "id"),
        state=_STATES.get(status, "running"),
        status=plain_line(status),
        mark=plain_line(member(body, "metadata", MARK)),
        created_at=unix_time(member(body, "created_at")),
        total=counts.get("total"),
        done=counts["completed"] + counts.get("failed", 0) if "completed" in counts else None,
        message=problems_line(problems),
        is_over_quota=any(member(problem, "code") == _OVER_QUOTA for problem in problems),
        results=results,
        deletions=deletions,
    )


def _list(after: str) -> BatchCall:
    return BatchCall(f"/batches?limit={PAGE}" + (f"&after={quote(after, safe='')}" if after else ""))


def _read_list(reply: HttpReply) -> BatchPage:
    body = decode_any(reply.body)
    ids = [name for entry in list_at(body, "data") if is_id(name := member(entry, "id"))]
    place = (ids[-1] if ids else True) if member(body, "has_more") else None
    return page_of(member(body, "data"), _info, ("metadata", MARK), place)


def _cancel(name: str) -> BatchCall:
    return BatchCall(f"/batches/{quote(name, safe='')}/cancel", "POST")


BATCHES = Batches(
    max_requests=50_000,
    max_bytes=200_000_000,
    line=_line,
    submit=_submit,
    show=_show,
    read=lambda reply: _info(decode_any(reply.body)),
    list=_list,
    read_list=_read_list,
    cancel=_cancel,
    results=read_results,
    files=FILES,
)
"""OpenAI's batches, which servers of its format have as well."""
