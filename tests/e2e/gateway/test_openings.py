"""The opening of a stream does not wait for its content where nobody else could be asked any more."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

import interlingua as il
from tests.support.gateway import provider, serving

SAID: Any = [{"role": "user", "content": "Hi"}]
SEARCH: Any = [{"type": "web_search_20250305", "name": "web_search"}]
CLIENTS: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "openai-chat": ("/v1/chat/completions", {"messages": SAID, "store": True}, b'"role":"assistant"'),
    "openai-responses": ("/v1/responses", {"input": "Hi", "tools": [{"type": "web_search"}]}, b"response.created"),
    "anthropic": ("/v1/messages", {"messages": SAID, "max_tokens": 50, "tools": SEARCH}, b"message_start"),
}
"""Dialect -> path, what makes a request that must not run twice, and a mark of the opening."""
ANSWER: Any = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "in_progress",
    "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
    "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
}  # fmt: skip
ITEM: Any = {"id": "m_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
PART: Any = {"type": "output_text", "text": "Hello.", "annotations": []}
DONE_ITEM = {**ITEM, "status": "completed", "content": [PART]}
AT: Any = {"item_id": "m_1", "output_index": 0, "content_index": 0}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
MESSAGE: Any = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 1},
}  # fmt: skip


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    body = {**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


def _event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


STREAMS: dict[str, tuple[bytes, bytes]] = {
    "openai-chat": (
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"content": "Hello."}) + _chunk({}, "stop") + b"data: [DONE]\n\n",
    ),
    "anthropic": (
        _event("message_start", message=MESSAGE),
        _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello."})
        + _event("content_block_stop", index=0)
        + _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 2})
        + _event("message_stop"),
    ),
    "openai-responses": (
        _event("response.created", sequence_number=0, response=ANSWER),
        _event("response.output_item.added", sequence_number=1, output_index=0, item=ITEM)
        + _event("response.content_part.added", sequence_number=2, **AT, part={**PART, "text": ""})
        + _event("response.output_text.delta", sequence_number=3, **AT, delta="Hello.", logprobs=[])
        + _event("response.output_text.done", sequence_number=4, **AT, text="Hello.", logprobs=[])
        + _event("response.content_part.done", sequence_number=5, **AT, part=PART)
        + _event("response.output_item.done", sequence_number=6, output_index=0, item=DONE_ITEM)
        + _event(
            "response.completed",
            sequence_number=7,
            response={**ANSWER, "status": "completed", "output": [DONE_ITEM], "usage": None},
        ),
    ),
}
"""Dialect -> the opening of a stream, and the rest."""


class Slow:
    """A server that says the rest of its answer once the client has read the opening, or once it has waited long."""

    def __init__(self, dialect: str, patience_s: float) -> None:
        """Nothing was asked yet."""
        self.order: list[str] = []
        self.read = threading.Event()
        opening, rest = STREAMS[dialect]
        slow = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                """The opening, and the rest when its time has come."""
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(opening + rest)))
                self.end_headers()
                self.wfile.write(opening)
                self.wfile.flush()
                slow.read.wait(patience_s)
                slow.order.append("content is sent")
                self.wfile.write(rest)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self.handler = Handler

    def opened(self) -> None:
        """The client has something."""
        self.order.append("opening is read")
        self.read.set()


@contextmanager
def _slow(dialect: str, patience_s: float = 60.0) -> Generator[tuple[Slow, str]]:
    """A slow server, and its address."""
    slow = Slow(dialect, patience_s)
    with ThreadingHTTPServer(("127.0.0.1", 0), slow.handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield slow, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _read(slow: Slow, url: str, dialect: str, **members: Any) -> tuple[bytes, bytes]:
    """What a client reads first, and the rest."""
    path, body, _ = CLIENTS[dialect]
    connection = HTTPConnection(urlsplit(url).netloc, timeout=90)
    asked = json.dumps({"model": "up/m", "stream": True, **body, **members})
    connection.request("POST", path, asked, {"content-type": "application/json"})
    reply = connection.getresponse()
    first = reply.read1(65_536)
    slow.opened()
    rest = reply.read()
    connection.close()
    return first, rest


@pytest.mark.parametrize(
    ("client", "upstream"),
    [
        ("openai-chat", "openai-chat"),
        ("openai-chat", "anthropic"),
        ("openai-responses", "openai-responses"),
        ("anthropic", "anthropic"),
    ],
)
def test_r64_an_opening_goes_out_before_the_content(client: str, upstream: str) -> None:
    """One target, asked what must not run twice: passed on and translated, the client has the opening at once."""
    with _slow(upstream) as (slow, base), serving(providers={"up": provider(upstream, base)}) as url:
        first, rest = _read(slow, url, client)
    assert slow.order == ["opening is read", "content is sent"]
    assert CLIENTS[client][2] in first
    assert b"Hello." not in first
    assert b"Hello." in rest


def test_r64_an_opening_waits_where_the_target_may_be_asked_again() -> None:
    """A stream that breaks before its content is asked for again, so that the client gets nothing of the first try."""
    with _slow("openai-chat", 0.2) as (slow, base), serving(providers={"up": provider("openai-chat", base)}) as url:
        first, _ = _read(slow, url, "openai-chat", store=False)
    assert slow.order == ["content is sent", "opening is read"]
    assert b"Hello." in first


def test_r64_the_library_has_the_start_before_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without retries the first event comes with the first frame."""
    with _slow("anthropic") as (slow, base):
        monkeypatch.setenv("LLM_UP", provider("anthropic", base))
        model = il.model("up/m")
        with model.with_options(retries=0).stream("Hi") as stream:
            events = iter(stream)
            first = next(events)
            slow.opened()
            text = "".join([event.text for event in events if isinstance(event, il.TextDelta)])
    assert isinstance(first, il.StreamStart)
    assert (slow.order, text) == (["opening is read", "content is sent"], "Hello.")
