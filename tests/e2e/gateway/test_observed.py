"""`il serve` that is observed, as a process: lines on stderr, `/metrics`, the store, a cassette, a client that left."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from interlingua.gateway.records.cassettes import read_cassette
from interlingua.gateway.records.logbook import Filter, read_rows
from interlingua.testing.upstream import Upstream
from tests.e2e.gateway.test_serve import BODY, _serving
from tests.support.collector import collector
from tests.support.gateway import provider

KEY, PROMPT = "planted-gateway-key-77", "planted prompt"
ASK: dict[str, Any] = {**BODY, "messages": [{"role": "user", "content": PROMPT}]}


def test_a_process_tells_what_became_of_its_requests(tmp_path: Path) -> None:
    """Answered, refused and left: each once on stderr and in the store, counted, without key or prompt."""
    store, tapes = tmp_path / "requests.db", tmp_path / "tapes"
    flags = ("--log", "json", "--metrics", "keys", "--store", str(store), "--record", str(tapes))
    with Upstream("anthropic", "Hello.").serving() as at:
        environ = {"LLM_WORK": provider("anthropic", f"{at}/v1"), "LLM_SMART": "work/claude-opus-4-5", "GW_KEY": KEY}
        with _serving("-m", "smart", "--key-env", "GW_KEY", *flags, **environ) as served:
            bearer = {"authorization": f"Bearer {KEY}"}
            assert served.ask(ASK, **bearer).status == 200
            assert served.ask(ASK, authorization="Bearer wrong").status == 401
            _leave(served.port)
            page = _metrics(served.port)
            served.process.send_signal(signal.SIGTERM)
            assert served.process.stderr is not None
            lines = [line for line in served.process.stderr if line.startswith("{")]
            served.process.wait(20)
    told = [json.loads(line) for line in lines]
    known = [(one["status"], one.get("key"), one.get("target"), one.get("aborted")) for one in told]
    assert sorted(known, key=repr) == [
        (200, "key-1", "work/claude-opus-4-5", None),
        (200, "key-1", None, None),  # the metrics themselves
        (401, None, None, None),
        (499, "key-1", None, True),
    ]  # fmt: skip
    assert sorted(row.facts["id"] for row in read_rows(store, Filter(), 10)) == sorted(one["id"] for one in told)
    totals = {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "interlingua_requests_total"
    }
    assert totals["openai-chat", "*", "work/claude-opus-4-5", "key-1", "200"] == 1
    assert totals["openai-chat", "", "", "", "401"] == 1
    (path,) = tapes.iterdir()
    assert read_cassette(path).content.body == json.dumps(ASK).encode()
    for text in (*lines, page, path.read_text(), store.read_bytes().decode(errors="replace")):
        assert KEY not in text
        assert "upstream-key" not in text
    for text in (*lines, page, store.read_bytes().decode(errors="replace")):
        assert PROMPT not in text


def test_what_cannot_be_read_is_on_stderr_in_the_store_and_counted(tmp_path: Path) -> None:
    """Bytes that are no HTTP, and a head that two readers could read in two ways: each once, without the key in it."""
    store = tmp_path / "requests.db"
    flags = ("--log", "json", "--metrics", "open", "--store", str(store))
    with _serving("-m", "fake/model", "--key-env", "GW_KEY", *flags, GW_KEY=KEY) as served:
        for sent in (
            b"\x16\x03\x01\x00\xa5\x01",
            b"GET /v1/models HTTP/1.1\r\nhost: a\r\nhost: b\r\nx-api-key: %b\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", served.port)) as connection:
                connection.sendall(sent.replace(b"%b", KEY.encode()))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        page = _metrics(served.port)
        served.process.send_signal(signal.SIGTERM)
        assert served.process.stderr is not None
        lines = [line for line in served.process.stderr if line.startswith("{")]
        served.process.wait(20)
    told = [one for one in map(json.loads, lines) if one["status"] == 400]
    assert [(one.get("method"), one.get("path"), one.get("key"), one["error"], one["peer"]) for one in told] == [
        (None, None, None, "BadRequestError", "127.0.0.1"),
        ("GET", "/v1/models", "key-1", "BadRequestError", "127.0.0.1"),
    ]
    assert told[0]["reason"] == "this is no HTTP/1.1: Invalid method encountered"
    assert told[1]["reason"].startswith("a header that counts came twice")
    rows = [row.facts for row in read_rows(store, Filter(status="400"), 10)]
    assert [row["reason"] for row in rows] == [one["reason"] for one in told]
    assert page.count('status="400"') == 2
    assert KEY not in "".join([*lines, page])


def _leave(port: int) -> None:
    """Begin a request and go away in the middle of its body."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = f"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: {KEY}\r\ncontent-length: 100\r\n\r\n{{"
        connection.sendall(head.encode())
        time.sleep(0.1)


def _metrics(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/metrics", headers={"x-api-key": KEY, "connection": "close"})
    reply = connection.getresponse()
    text = reply.read().decode()
    assert (reply.status, bool(re.search(r"^process_open_fds \d+$", text, re.MULTILINE))) == (200, True)
    return text


def test_whichever_worker_is_asked_tells_of_all_and_of_the_killed(tmp_path: Path) -> None:
    """Three processes: metrics are the sum, exact at once, also when one was killed; the console shows all requests."""
    with _serving("-m", "fake/a", "--workers", "3", "--metrics", "open") as served:
        while _worth(served.port, "interlingua_workers") < 3:
            time.sleep(0.05)
        with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)) as console:
            console.request("GET", "/console/live", headers={"connection": "close"})
            looking = console.getresponse()
            shown = b""
            while b"event: requests" not in shown:  # from now on all workers write down what they do
                shown += looking.read1()
            names = [served.ask().getheader("x-request-id") or "" for _ in range(12)]
            deadline = time.monotonic() + 20
            while not all(name.encode() in shown for name in names):
                assert time.monotonic() < deadline, shown
                shown += looking.read1()
        assert [_told_by_all(served.port) for _ in range(6)] == [12] * 6
        killed = _workers_of(served.process.pid)[0]
        os.kill(killed, signal.SIGKILL)
        assert _told_by_all(served.port, 2) == 12
        while killed in _workers_of(served.process.pid) or _worth(served.port, "interlingua_workers") < 3:
            time.sleep(0.05)
        assert served.ask().status == 200
        assert [_told_by_all(served.port) for _ in range(3)] == [13] * 3


def _told_by_all(port: int, workers: int = 3) -> float:
    """How many requests the first page tells that at least so many workers answered for: each has a second for it."""
    while True:
        page = _page(port)
        if _sum(page, "interlingua_workers") >= workers:
            return _sum(page, "interlingua_requests_total")


def _worth(port: int, name: str) -> float:
    """The sum of a metric's samples, where they are of the one target that is asked."""
    return _sum(_page(port), name)


def _page(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics", headers={"connection": "close"})
    return connection.getresponse().read().decode()


def _sum(page: str, name: str) -> float:
    families = text_string_to_metric_families(page)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if sample.labels.get("target", "fake/a") == "fake/a")


def _workers_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_spans_reach_a_collector_by_otlp() -> None:
    """The exporter that people use, read back from its protobuf: the client's trace, the request, the call below it."""
    with collector() as (port, exports), Upstream("anthropic", "Hello.").serving() as at:
        environ = {
            "LLM_WORK": provider("anthropic", f"{at}/v1"),
            "GW_KEY": KEY,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_SERVICE_NAME": "a-gateway",
        }
        with _serving("-m", "work/claude-opus-4-5", "--key-env", "GW_KEY", "--otel", **environ) as served:
            parent = f"00-{'ab' * 16}-{'cd' * 8}-01"
            reply = served.ask(ASK, authorization=f"Bearer {KEY}", traceparent=parent, x_request_id="mine")
            assert reply.status == 200
            served.process.send_signal(signal.SIGINT)
            assert served.process.wait(20) == 0
    bodies = [export.body for export in exports]
    assert {export.path for export in exports} == {"/v1/traces"}
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    resources = [one for request in requests for one in request.resource_spans]
    assert {_attributes(one.resource)["service.name"] for one in resources} == {"a-gateway"}
    spans = {span.name: span for one in resources for scope in one.scope_spans for span in scope.spans}
    server, call = spans["POST /v1/chat/completions"], spans["chat claude-opus-4-5"]
    assert (server.kind, call.kind) == (Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT)
    assert (server.trace_id, server.parent_span_id) == (b"\xab" * 16, b"\xcd" * 8)
    assert (call.trace_id, call.parent_span_id) == (server.trace_id, server.span_id)
    assert _attributes(server) == {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "url.scheme": "http",
        "client.address": "127.0.0.1",
        "interlingua.client": "openai-chat",
        "interlingua.key": "key-1",
        "http.response.status_code": 200,
        "interlingua.request_id": "mine",
        "gen_ai.request.model": "a-name-of-the-clients",
        "interlingua.target": "work/claude-opus-4-5",
        "interlingua.changes": 1,
    }
    for text in (KEY, "upstream-key", PROMPT, "Hello."):
        assert text.encode() not in b"".join(bodies)


def _attributes(of: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of.attributes}
