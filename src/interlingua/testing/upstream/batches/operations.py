"""Google's batches of generateContent, with their requests in the body.

Source: vendor page "Batch API"; official client 3.4.0, `batches.py`; read in November 2026.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from interlingua.testing.upstream.batches.desk import Desk, Refused, Route, StoredBatch, parsed, shown
from interlingua.testing.wirefacts.values import items, members
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

__all__ = ["OperationBatches"]

MAX_BYTES = 20_000_000
_MANY = 1_000_000
_CANCELLED, _EXPIRED = 1, 4
"""Codes of google.rpc: CANCELLED, DEADLINE_EXCEEDED."""
_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch"


class OperationBatches(Desk):
    """Google's batches."""

    def routes(self) -> tuple[Route, ...]:
        """Batches as operations."""
        return (
            ("POST", r".*/models/([^/:]+):batchGenerateContent", self._create),
            ("GET", r".*/batches", self._list),
            ("GET", r".*/(batches/[^/:]+)", self._look),
            ("DELETE", r".*/(batches/[^/:]+)", self._delete),
            ("POST", r".*/(batches/[^/:]+):cancel", self._cancel),
        )

    def _create(self, request: HttpRequest, model: str) -> Line:
        if len(request.body) > MAX_BYTES:
            raise Refused(400, "Request payload size exceeds the limit: 20000000 bytes.")
        made = self.strict(self.strict(self.body(request), ("batch",))["batch"], ("inputConfig",), ("displayName",))
        source = self.strict(made["inputConfig"], ("requests",), where="batch.inputConfig.")
        inlined = self.strict(source["requests"], ("requests",), where="batch.inputConfig.requests.")
        listed = items(inlined["requests"])
        if not listed:
            raise Refused(400, "batch.inputConfig.requests: at least one request is expected")
        requests: dict[str, HttpRequest] = {}
        parts = urlsplit(request.url)
        prefix = parts.path.rpartition("/models/")[0]
        url = f"{parts.scheme}://{parts.netloc}{prefix}/models/{model}:generateContent"
        for place, one in enumerate(listed):
            entry = self.strict(one, ("request",), ("metadata",), where=f"requests[{place}].")
            key = str(members(entry.get("metadata")).get("key", place))
            body = {name: value for name, value in entry["request"].items() if name != "model"}
            requests[key] = HttpRequest(url=url, headers=request.headers, body=encode(body, nulls=_MANY))
        about = {"displayName": made.get("displayName", ""), "model": f"models/{model}"}
        number = len(self.batches) + 1
        return self.take(
            StoredBatch(id=f"batches/b{number}", created=self.plan.clock(), requests=requests, about=about)
        )

    def _look(self, request: HttpRequest, name: str) -> Line:
        line = self.look(request, name)
        if self.stored(name).ending in ("", "failed"):
            return line
        body: Any = decode_any(b"".join(line.pieces))
        self.plan.on("results")
        output = body["response"]["inlinedResponses"]
        output["inlinedResponses"] = [
            decode_any(text)
            for text in self.plan.spoil([encode(one, nulls=_MANY) for one in output["inlinedResponses"]])
        ]
        body["metadata"]["output"] = {"inlinedResponses": output}
        return shown(body)

    def _cancel(self, request: HttpRequest, name: str) -> Line:
        self.strict(self.body(request) if request.body else {}, ())
        self.cancel(request, name)
        return shown({})

    def _delete(self, request: HttpRequest, name: str) -> Line:
        self.delete_batch(request, name)
        return shown({})

    def show(self, batch: StoredBatch) -> dict[str, Any]:
        """A batch as Google shows it."""
        replies = list(batch.results.values())
        answered = sum(reply is not None and reply.status == 200 for reply in replies)
        failed = sum(reply is not None and reply.status != 200 for reply in replies)
        words = {"completed": "SUCCEEDED", "": "RUNNING"}
        state = words.get(batch.ending, batch.ending.upper())
        metadata: dict[str, Any] = {
            "@type": _TYPE,
            "name": batch.id,
            **batch.about,
            "createTime": _date(batch.created),
            "updateTime": _date(batch.created),
            "state": f"BATCH_STATE_{state}",
            "batchStats": {
                "requestCount": str(len(batch.requests)),
                "successfulRequestCount": str(answered),
                "failedRequestCount": str(failed),
                "pendingRequestCount": str(len(batch.requests) - answered - failed),
            },
        }
        operation: dict[str, Any] = {"name": batch.id, "metadata": metadata}
        if batch.ending == "failed":
            return {**operation, "done": True, "error": {"code": 3, "message": "the batch failed"}}
        if not batch.ending:
            return operation
        results = [_result(batch, *pair) for pair in batch.results.items()]
        return {
            **operation,
            "done": True,
            "response": {"@type": _TYPE, "inlinedResponses": {"inlinedResponses": results}},
        }

    def _list(self, request: HttpRequest, _: str) -> Line:
        page, more = self.page(request, "pageSize", "pageToken", 10)
        operations = [{name: value for name, value in self.show(batch).items() if name != "response"} for batch in page]
        return shown({"operations": operations, **({"nextPageToken": page[-1].id} if more else {})})


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def _result(batch: StoredBatch, name: str, reply: HttpReply | None) -> dict[str, Any]:
    metadata = {"key": name}
    if reply is None:
        code = _CANCELLED if batch.ending == "cancelled" else _EXPIRED
        return {"error": {"code": code, "message": "The request was not run."}, "metadata": metadata}
    body: Any = parsed(reply)
    if reply.status != 200:
        return {"error": {"code": body["error"]["code"], "message": body["error"]["message"]}, "metadata": metadata}
    return {"response": body, "metadata": metadata}
