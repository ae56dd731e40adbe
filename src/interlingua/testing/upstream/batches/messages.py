"""Anthropic's message batches.

Source: vendor page "Message Batches"; official client 2.12.0, `resources/messages/batches.py`; read in November 2026.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from interlingua.testing.upstream.batches.desk import Desk, Refused, Route, StoredBatch, parsed, shown
from interlingua.testing.wirefacts.values import items
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpReply, HttpRequest, header
from interlingua.wire.json import encode

__all__ = ["MessageBatches"]

MAX_REQUESTS = 100_000
MAX_BYTES = 256_000_000
_MANY = 1_000_000
_DAY_S = 86_400
_PASSED = ("x-api-key", "authorization", "anthropic-version", "anthropic-beta", "content-type")


class MessageBatches(Desk):
    """Anthropic's message batches."""

    def routes(self) -> tuple[Route, ...]:
        """Batches and their results."""
        return (
            ("POST", r".*/v1/messages/batches", self._create),
            ("GET", r".*/v1/messages/batches", self._list),
            ("GET", r".*/v1/messages/batches/([^/]+)", self._look),
            ("DELETE", r".*/v1/messages/batches/([^/]+)", self.delete_batch),
            ("POST", r".*/v1/messages/batches/([^/]+)/cancel", self.cancel),
            ("GET", r".*/v1/messages/batches/([^/]+)/results", self._results),
        )

    def answer(self, request: HttpRequest) -> Line | None:
        """The answer to a call about batches; None for any other call."""
        self._root = "{0.scheme}://{0.netloc}".format(urlsplit(request.url))
        return super().answer(request)

    def _create(self, request: HttpRequest, _: str) -> Line:
        _check_version(request)
        if len(request.body) > MAX_BYTES:
            raise Refused(413, "Request exceeds the maximum size")
        made = self.strict(self.body(request), ("requests",))
        listed = items(made["requests"])
        if not 0 < len(listed) <= MAX_REQUESTS:
            raise Refused(400, "requests: 1 to 100,000 requests")
        requests: dict[str, HttpRequest] = {}
        for place, one in enumerate(listed):
            entry = self.strict(one, ("custom_id", "params"), where=f"requests.{place}.")
            name = entry["custom_id"]
            if not isinstance(name, str) or re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) is None:
                raise Refused(400, f"requests.{place}.custom_id: String should match '^[a-zA-Z0-9_-]{{1,64}}$'")
            if name in requests:
                raise Refused(400, f"requests.{place}.custom_id: {name} is not unique")
            headers = tuple([pair for pair in request.headers if pair[0] in _PASSED])
            body = encode(entry["params"], nulls=_MANY)
            requests[name] = HttpRequest(url=f"{self._root}/v1/messages", headers=headers, body=body)
        number = len(self.batches) + 1
        return self.take(StoredBatch(id=f"msgbatch_{number}", created=self.plan.clock(), requests=requests))

    def _look(self, request: HttpRequest, name: str) -> Line:
        _check_version(request)
        return self.look(request, name)

    def _results(self, request: HttpRequest, name: str) -> Line:
        _check_version(request)
        batch = self.stored(name)
        if not batch.ending:
            raise Refused(400, "The batch has not ended.")
        lines = [encode(_result(batch, *pair), nulls=_MANY) for pair in batch.results.items()]
        return self.file(lines, "application/x-jsonl")

    def show(self, batch: StoredBatch) -> dict[str, Any]:
        """A batch as Anthropic shows it."""
        kinds = [_kind(batch, reply) for reply in batch.results.values()]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        status = "ended" if batch.ending else "canceling" if batch.is_cancelling else "in_progress"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": {"processing": len(batch.requests) - len(kinds), **counts},
            "created_at": _date(batch.created),
            "expires_at": _date(batch.created + _DAY_S),
            "ended_at": _date(batch.created + 1) if batch.ending else None,
            "cancel_initiated_at": _date(batch.created + 1) if batch.is_cancelling else None,
            "archived_at": None,
            "results_url": f"{self._root}/v1/messages/batches/{batch.id}/results" if batch.ending else None,
        }

    def _list(self, request: HttpRequest, _: str) -> Line:
        _check_version(request)
        page, more = self.page(request, "limit", "after_id", 20)
        ends = (page[0].id, page[-1].id) if page else (None, None)
        data = [self.show(batch) for batch in page]
        return shown({"data": data, "has_more": more, "first_id": ends[0], "last_id": ends[1]})


def _check_version(request: HttpRequest) -> None:
    if header(request.headers, "anthropic-version") is None:
        raise Refused(400, "anthropic-version: header is required")


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def _kind(batch: StoredBatch, reply: HttpReply | None) -> str:
    if reply is None:
        return "canceled" if batch.ending == "cancelled" else "expired"
    return "succeeded" if reply.status == 200 else "errored"


def _result(batch: StoredBatch, name: str, reply: HttpReply | None) -> dict[str, Any]:
    kind = _kind(batch, reply)
    if reply is None:
        return {"custom_id": name, "result": {"type": kind}}
    member = "message" if kind == "succeeded" else "error"
    return {"custom_id": name, "result": {"type": kind, member: parsed(reply)}}
