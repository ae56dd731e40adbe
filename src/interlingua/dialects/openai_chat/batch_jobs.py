"""Mistral's batch jobs: files as at OpenAI, and a job that names one model for all its requests.

Source: Mistral "Batch Inference", API reference "Batch", "Files"; read in November 2026. There is no official client
here to check it against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Raw

from interlingua.dialects._batches import (
    BatchCall,
    Batches,
    BatchInfo,
    BatchOrder,
    BatchPage,
    id_at,
    list_at,
    member,
    page_of,
    plain_line,
    problems_line,
    text_at,
    unix_time,
    whole_number,
)
from interlingua.dialects._openai.batches import FILES, MARK, file_calls, posted, read_results
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.dialects._batches import BatchState
    from interlingua.dialects._contract import Encoded
    from interlingua.wire.http import HttpReply

__all__ = ["BATCHES"]

PAGE = 100
TIMEOUT_HOURS = 24
_STATES: dict[str, BatchState] = {
    "SUCCESS": "ended",
    "TIMEOUT_EXCEEDED": "ended",
    "CANCELLED": "ended",
    "FAILED": "failed",
}


def _line(custom_id: str, encoded: Encoded) -> bytes:
    return encode({"custom_id": custom_id, "body": Raw(encoded.body)})


def _submit(order: BatchOrder) -> BatchCall:
    made = {
        "input_files": [order.file],
        "endpoint": f"/v1{order.path}",
        "model": order.model,
        "metadata": {MARK: order.mark},
        "timeout_hours": TIMEOUT_HOURS,
    }
    return posted("/batch/jobs", made)


def _info(body: Any) -> BatchInfo:
    status = text_at(body, "status")
    results, deletions = file_calls(body, "output_file", "error_file")
    return BatchInfo(
        id=id_at(body, "id"),
        state=_STATES.get(status, "running"),
        status=plain_line(status),
        mark=plain_line(member(body, "metadata", MARK)),
        created_at=unix_time(member(body, "created_at")),
        total=whole_number(member(body, "total_requests")),
        done=whole_number(member(body, "completed_requests")),
        message=problems_line(list_at(body, "errors")),
        results=results,
        deletions=deletions,
    )


def _list(page: str) -> BatchCall:
    return BatchCall(f"/batch/jobs?page={page or 0}&page_size={PAGE}")


def _read_list(reply: HttpReply) -> BatchPage:
    body = decode_any(reply.body)
    number = whole_number(member(body, "page")) or 0
    is_full = len(list_at(body, "data")) == PAGE
    more = is_full and (number + 1) * PAGE < (whole_number(member(body, "total")) or 0)
    page = page_of(member(body, "data"), _info, ("metadata", MARK), str(number + 1) if more else None)
    page.batches.sort(key=lambda info: info.created_at or 0, reverse=True)
    return page


BATCHES = Batches(
    max_requests=1_000_000,
    max_bytes=500_000_000,
    line=_line,
    submit=_submit,
    show=lambda name: BatchCall(f"/batch/jobs/{quote(name, safe='')}"),
    read=lambda reply: _info(decode_any(reply.body)),
    list=_list,
    read_list=_read_list,
    cancel=lambda name: BatchCall(f"/batch/jobs/{quote(name, safe='')}/cancel", "POST"),
    results=read_results,
    files=FILES,
)
"""Mistral's batch jobs."""
