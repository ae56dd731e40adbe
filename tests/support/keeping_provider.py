"""A provider that keeps things as OpenAI does: responses, conversations, files, batches, under ids of OpenAI's form.

```python
keeper = KeepingProvider()
with keeper.serving() as at, serving(providers={"up": provider("openai-responses", f"{at}/v1")}, …) as url:
    ...
assert keeper.requests[-1].body == …
```

An id that it did not give out is not found; it knows of no owners, so that whoever has its key may do anything.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from interlingua.testing.upstream.loopback import serving
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest

__all__ = ["KeepingProvider"]

_JSON = (("content-type", "application/json"),)
_IDS = frozenset({"previous_response_id", "conversation", "file_id", "container", "id"})
_ROUTE = re.compile(r"/v1/(?P<kind>\w+)(?:/(?P<id>[^/]+))?(?:/(?P<rest>.+))?")


class KeepingProvider:
    """One account of a provider."""

    def __init__(self) -> None:
        """An account that keeps nothing."""
        self.requests: list[HttpRequest] = []
        """What was asked, oldest first."""
        self.kept: dict[str, dict[str, Any]] = {}
        """What it keeps, by its own ids."""
        self._number = 0
        self._lock = threading.Lock()

    @contextmanager
    def serving(self) -> Generator[str]:
        """Its base URL, without `/v1`, on a port of the loopback."""
        with serving(self.answer) as at:
            yield at

    def bodies(self) -> list[Any]:
        """The JSON bodies that it was sent."""
        return [json.loads(one.body) for one in self.requests if one.body.startswith(b"{")]

    def answer(self, request: HttpRequest) -> Line:
        """What it answers."""
        with self._lock:
            self.requests.append(request)
            at = urlsplit(request.url)
            found = _ROUTE.fullmatch(at.path)
            if found is None:
                return _missing(at.path)
            kind, own_id, rest = found["kind"], found["id"] or "", found["rest"] or ""
            if own_id and own_id not in self.kept:
                return _missing(own_id)
            query = dict(parse_qsl(at.query))
            return self._below(request, kind, own_id, rest, query) if own_id else self._top(request, kind)

    def _id(self, prefix: str, digits: int = 50) -> str:
        self._number += 1
        return f"{prefix}{self._number:0{digits}x}"

    def _made(self, prefix: str, value: dict[str, Any], digits: int = 50) -> dict[str, Any]:
        own_id = self._id(prefix, digits)
        self.kept[own_id] = {"id": own_id, **value}
        return self.kept[own_id]

    def _top(self, request: HttpRequest, kind: str) -> Line:
        if request.method == "GET":
            return _told({"object": "list", "data": list(self.kept.values()), "has_more": False})
        if kind == "files":
            file = {"object": "file", "bytes": len(request.body), "filename": "a.jsonl", "purpose": "batch"}
            return _told(self._made("file-", file, 22))
        body = json.loads(request.body)
        match kind:
            case "responses":
                return self._response(body)
            case "conversations":
                return _told(self._made("conv_", {"object": "conversation", "created_at": 1, "metadata": {}}))
            case "batches" if body["input_file_id"] in self.kept:
                batch = {"object": "batch", "status": "validating", "input_file_id": body["input_file_id"]}
                return _told(self._made("batch_", batch, 32))
            case _:
                return _missing(kind)

    def _response(self, body: dict[str, Any]) -> Line:
        names = _names_in(body)
        unknown = [name for name in names if name not in self.kept]
        if unknown:
            return _missing(unknown[0])
        item = self._made("msg_", {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
        })  # fmt: skip
        conversation = body.get("conversation")
        told = self._made("resp_", {
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body["model"],
            "output": [item],
            "previous_response_id": body.get("previous_response_id"),
            "conversation": {"id": conversation} if isinstance(conversation, str) else conversation,
            "tools": body.get("tools", []),
            "metadata": body.get("metadata", {}),
            "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        })  # fmt: skip
        return _streamed(told, item) if body.get("stream") else _told(told)

    def _below(self, request: HttpRequest, kind: str, own_id: str, rest: str, query: dict[str, str]) -> Line:
        kept = self.kept[own_id]
        match request.method, kind, rest:
            case "DELETE", _, "":
                del self.kept[own_id]
                return _told({"id": own_id, "object": f"{kept['object']}.deleted", "deleted": True})
            case "GET", "responses", "" if query.get("stream") == "true":
                return _streamed(kept, kept["output"][0])
            case "GET", _, "":
                return _told(kept)
            case "POST", _, "cancel":
                return _told({**kept, "status": "cancelled"})
            case "GET", _, "input_items" | "items" if query.get("after", "msg_") in {"msg_", *self.kept}:
                items = [one for one in self.kept.values() if one.get("type") == "message"]
                ends = {"first_id": items[0]["id"], "last_id": items[-1]["id"]}
                return _told({"object": "list", "has_more": False, "data": items, **ends})
            case "GET", "files", "content":
                return Line(pieces=(b'{"custom_id": "1"}\n',), headers=(("content-type", "application/octet-stream"),))
            case _:
                return _missing(rest)


def _names_in(value: Any) -> list[str]:
    """Every id that a request goes on with."""
    found: list[str] = []
    places: list[Any] = [value]
    while places:
        one: Any = places.pop()
        members: list[tuple[str, Any]] = list(cast("dict[str, Any]", one).items()) if isinstance(one, dict) else []
        for name, inner in members:
            if name in _IDS and isinstance(inner, str):
                found.append(inner)
            found += inner if name == "vector_store_ids" else []
            places += [] if name == "metadata" else [inner]
        places += one if isinstance(one, list) else []
    return found


def _told(value: Any, status: int = 200) -> Line:
    return Line(pieces=(json.dumps(value).encode(),), status=status, headers=_JSON)


def _missing(name: str) -> Line:
    error = {"message": f"No such thing: {name}", "type": "invalid_request_error", "param": None, "code": None}
    return _told({"error": error}, 404)


def _streamed(response: dict[str, Any], item: dict[str, Any]) -> Line:
    part = item["content"][0]
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    begun: dict[str, Any] = {**response, "status": "in_progress", "output": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": part["text"], "logprobs": []},
        {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    frames = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]
    return Line(pieces=tuple(frames), headers=(("content-type", "text/event-stream"),))
