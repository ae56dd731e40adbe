"""Batches of files: OpenAI's batches, and Mistral's jobs.

Source: OpenAI "Batch API guide", "Batches", "Files", official client 3.54.0; Mistral "Batch Inference", API reference
"Batch"; read in November 2026.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from interlingua.errors import Error
from interlingua.testing.upstream.batches.desk import JSON, Desk, Refused, Route, StoredBatch, parsed, shown
from interlingua.testing.wirefacts.values import items, members
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpReply, HttpRequest, header
from interlingua.wire.json import decode_any, encode

__all__ = ["FileBatches", "JobBatches"]

MAX_FILE_BYTES = 200_000_000
MAX_LINES = 50_000
_ENDPOINTS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
_MANY = 1_000_000


class FileBatches(Desk):
    """OpenAI's batches."""

    def routes(self) -> tuple[Route, ...]:
        """Files and batches."""
        return (
            ("POST", r".*/files", self._upload),
            ("GET", r".*/files/([^/]+)/content", self._content),
            ("GET", r".*/files/([^/]+)", self._file),
            ("DELETE", r".*/files/([^/]+)", self._delete),
            ("POST", r".*/batches", self._create),
            ("GET", r".*/batches", self._list),
            ("GET", r".*/batches/([^/]+)", self.look),
            ("POST", r".*/batches/([^/]+)/cancel", self.cancel),
        )

    # Files

    def _upload(self, request: HttpRequest, _: str) -> Line:
        fields = _form(request)
        if fields.get("purpose", ("", b""))[1] != b"batch":
            raise Refused(400, "purpose: 'batch' is expected")
        name, content = fields.get("file", ("", b""))
        if not name:
            raise Refused(400, "file: Field required")
        if len(content) > MAX_FILE_BYTES:
            raise Refused(413, f"The file has {len(content)} bytes; {MAX_FILE_BYTES} is the most.")
        identity = f"file-{len(self.files) + 1}"
        self.files[identity] = content
        self.plan.on("uploaded")
        return shown(_file_shown(identity, name, len(content)))

    def _file(self, _: HttpRequest, name: str) -> Line:
        return shown(_file_shown(name, f"{name}.jsonl", len(self._of(name))))

    def _of(self, name: str) -> bytes:
        if name not in self.files or name in self.deleted:
            raise Refused(404, f"No such File object: {name}")
        return self.files[name]

    def _delete(self, _: HttpRequest, name: str) -> Line:
        if name.partition("-of-")[2] not in self.batches or name in self.deleted:
            self._of(name)
        self.delete(name)
        return shown({"id": name, "object": "file", "deleted": True})

    def _content(self, _: HttpRequest, name: str) -> Line:
        kind, _dash, owner = name.partition("-of-")
        if owner in self.batches and name not in self.deleted:
            lines = self._lines(self.batches[owner], is_error=kind == "errors")
            return self.file(lines, "application/octet-stream")
        return Line(pieces=(self._of(name),), headers=(("content-type", "application/octet-stream"),))

    # Batches

    def _create(self, request: HttpRequest, _: str) -> Line:
        made = self.strict(
            self.body(request),
            ("input_file_id", "endpoint", "completion_window"),
            ("metadata", "output_expires_after"),
        )
        if made["endpoint"] != _ENDPOINTS[self.dialect]:
            raise Refused(400, f"endpoint: {made['endpoint']} is not {_ENDPOINTS[self.dialect]}")
        if made["completion_window"] != "24h":
            raise Refused(400, "completion_window: '24h' is expected")
        _check_metadata(made.get("metadata"))
        batch = self._made(made)
        self._read_lines(batch, request, self._of(made["input_file_id"]), method="POST", url=made["endpoint"])
        return self.take(batch)

    def _made(self, about: dict[str, Any]) -> StoredBatch:
        return StoredBatch(id=f"batch_{len(self.batches) + 1}", created=self.plan.clock(), requests={}, about=about)

    def _read_lines(self, batch: StoredBatch, request: HttpRequest, content: bytes, **fixed: str) -> None:
        """Read the file of a batch; what is wrong with it fails the whole."""
        models: set[str] = set()
        for number, text in enumerate(content.splitlines(), 1):
            try:
                line = self.strict(decode_any(text), ("custom_id", *fixed, "body"))
                wrong = [name for name, value in fixed.items() if line[name] != value]
                if wrong or not isinstance(line["custom_id"], str):
                    raise Refused(400, f"{wrong or 'custom_id'} is not what the batch says")
                if line["custom_id"] in batch.requests:
                    raise Refused(400, f"The custom_id '{line['custom_id']}' is there twice.")
                models.add(str(members(line["body"]).get("model")))
            except (Refused, Error) as problem:
                batch.problems.append({"code": "invalid_line", "line": number, "message": str(problem), "param": None})
                continue
            batch.requests[line["custom_id"]] = self._request(request, batch.about["endpoint"], line["body"])
        if not 0 < len(batch.requests) + len(batch.problems) <= MAX_LINES:
            batch.problems.append({"code": "bad_size", "line": None, "message": "1 to 50,000 requests", "param": None})
        if len(models) > 1:
            batch.problems.append({"code": "model_mismatch", "line": None, "message": "one model", "param": None})

    def _request(self, request: HttpRequest, endpoint: str, body: Any) -> HttpRequest:
        """The live request that a line stands for."""
        parts = urlsplit(request.url)
        credentials = tuple([pair for pair in request.headers if pair[0] in ("authorization", "api-key")])
        url = f"{parts.scheme}://{parts.netloc}{endpoint}"
        return HttpRequest(url=url, headers=(*credentials, *JSON), body=encode(body, nulls=_MANY))

    def _lines(self, batch: StoredBatch, *, is_error: bool) -> list[bytes]:
        return [
            encode(self._result(batch, name, reply), nulls=_MANY)
            for name, reply in batch.results.items()
            if is_error == (reply is None or reply.status != 200)
            and not (reply is None and batch.ending == "cancelled")
        ]

    def _result(self, batch: StoredBatch, name: str, reply: HttpReply | None) -> dict[str, Any]:
        place = list(batch.results).index(name)
        base = {"id": f"batch_req_{place}", "custom_id": name}
        if reply is None:
            error = {"code": "batch_expired", "message": "This request could not be executed before it expired."}
            return {**base, "response": None, "error": error}
        response = {"status_code": reply.status, "request_id": f"req_{place}", "body": parsed(reply)}
        return {**base, "response": response, "error": None}

    def show(self, batch: StoredBatch) -> dict[str, Any]:
        """A batch as OpenAI shows it."""
        replies = list(batch.results.values())
        answered = sum(reply is not None and reply.status == 200 for reply in replies)
        failed = sum(reply is not None and reply.status != 200 for reply in replies)
        has = {kind: bool(self._lines(batch, is_error=kind == "errors")) for kind in ("output", "errors")}
        status = batch.ending or ("cancelling" if batch.is_cancelling else "in_progress")
        made = batch.about
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": made["endpoint"],
            "errors": {"object": "list", "data": batch.problems} if batch.problems else None,
            "input_file_id": made["input_file_id"],
            "completion_window": "24h",
            "status": status,
            "output_file_id": f"output-of-{batch.id}" if has["output"] else None,
            "error_file_id": f"errors-of-{batch.id}" if has["errors"] else None,
            "created_at": int(batch.created),
            "request_counts": {"total": len(batch.requests), "completed": answered, "failed": failed},
            "metadata": made.get("metadata"),
        }

    def _list(self, request: HttpRequest, _: str) -> Line:
        page, more = self.page(request, "limit", "after", 20)
        ends = (page[0].id, page[-1].id) if page else (None, None)
        data = [self.show(batch) for batch in page]
        return shown({"object": "list", "data": data, "first_id": ends[0], "last_id": ends[1], "has_more": more})


class JobBatches(FileBatches):
    """Mistral's jobs."""

    _WORDS = {"completed": "SUCCESS", "expired": "TIMEOUT_EXCEEDED", "cancelled": "CANCELLED", "failed": "FAILED"}

    def routes(self) -> tuple[Route, ...]:
        """Files and jobs."""
        return (
            ("POST", r".*/files", self._upload),
            ("GET", r".*/files/([^/]+)/content", self._content),
            ("GET", r".*/files/([^/]+)", self._file),
            ("DELETE", r".*/files/([^/]+)", self._delete),
            ("POST", r".*/batch/jobs", self._create),
            ("GET", r".*/batch/jobs", self._list),
            ("GET", r".*/batch/jobs/([^/]+)", self.look),
            ("POST", r".*/batch/jobs/([^/]+)/cancel", self.cancel),
        )

    def _create(self, request: HttpRequest, _: str) -> Line:
        made = self.strict(
            self.body(request),
            ("input_files", "endpoint", "model"),
            ("metadata", "timeout_hours"),
        )
        if made["endpoint"] != _ENDPOINTS[self.dialect]:
            raise Refused(422, f"endpoint: {made['endpoint']}")
        files = items(made["input_files"])
        if len(files) != 1:
            raise Refused(422, "input_files: one file is expected")
        batch = self._made(made)
        self._read_lines(batch, request, self._of(str(files[0])))
        return self.take(batch)

    def show(self, batch: StoredBatch) -> dict[str, Any]:
        """A job as Mistral shows it."""
        replies = list(batch.results.values())
        answered = sum(reply is not None and reply.status == 200 for reply in replies)
        failed = sum(reply is not None and reply.status != 200 for reply in replies)
        waiting = "CANCELLATION_REQUESTED" if batch.is_cancelling else "RUNNING"
        return {
            "id": batch.id,
            "object": "batch",
            **{name: batch.about.get(name) for name in ("input_files", "endpoint", "model", "metadata")},
            "output_file": f"output-of-{batch.id}" if self._lines(batch, is_error=False) else None,
            "error_file": f"errors-of-{batch.id}" if self._lines(batch, is_error=True) else None,
            "errors": [{"message": problem["message"], "count": 1} for problem in batch.problems],
            "status": self._WORDS.get(batch.ending, waiting),
            "created_at": int(batch.created),
            "total_requests": len(batch.requests),
            "completed_requests": answered + failed,
            "succeeded_requests": answered,
            "failed_requests": failed,
        }

    def _list(self, request: HttpRequest, _: str) -> Line:
        query = {name: int(values[0]) for name, values in parse_qs(urlsplit(request.url).query).items()}
        first = query.get("page", 0) * (size := query.get("page_size", 100))
        newest = list(self.batches.values())[::-1]
        data = [self.show(batch) for batch in newest[first : first + size]]
        return shown({"object": "list", "data": data, "total": len(newest), "page": query.get("page", 0)})


def _check_metadata(value: Any) -> None:
    if value is None:
        return
    metadata = members(value)
    if len(metadata) > 16 or any(not isinstance(text, str) or len(text) > 512 for text in metadata.values()):
        raise Refused(400, "metadata: up to 16 texts of 512 characters")


def _file_shown(identity: str, name: str, size: int) -> dict[str, Any]:
    return {
        "id": identity,
        "object": "file",
        "bytes": size,
        "created_at": 1_795_000_000,
        "filename": name,
        "purpose": "batch",
        "status": "processed",
    }


def _form(request: HttpRequest) -> dict[str, tuple[str, bytes]]:
    """The fields of a form, each with its file name and its content.

    Raises: Refused for a body that is none.
    """
    kind = header(request.headers, "content-type") or ""
    match = re.fullmatch(r'multipart/form-data; *boundary="?([^";]+)"?', kind)
    if match is None:
        raise Refused(400, f"content-type: {kind} is not multipart/form-data with a boundary")
    mark = b"--" + match[1].encode()
    before, *parts = (b"\r\n" + request.body).split(b"\r\n" + mark)
    if before or not parts or parts[-1].strip() != b"--":
        raise Refused(400, "The form is not closed.")
    fields: dict[str, tuple[str, bytes]] = {}
    for part in parts[:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(r'(?i)content-disposition: form-data;.*?\bname="([^"]*)"', head.decode())
        file = re.search(r'filename="([^"]*)"', head.decode())
        if name is None:
            raise Refused(400, "A part of the form has no name.")
        fields[name[1]] = (file[1] if file else "", content)
    return fields
