"""What dialects say of batches: the bytes that are handed over, the states, the results, and what is none of these."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import interlingua as il
from interlingua.dialects._batches import (
    BatchCall,
    Batches,
    BatchInfo,
    BatchOrder,
    BatchResult,
    batches_of,
    unix_time,
    whole_number,
)
from interlingua.dialects._contract import Encoded, Quirks
from interlingua.dialects.table import get_service, services
from interlingua.providers.rows import ROWS
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

JSON = (("content-type", "application/json"),)
VERSION = (("anthropic-version", "2023-06-01"),)


def _batches(dialect: str, form: Any = "vendor") -> Batches:
    batches = batches_of(get_service(dialect), Quirks(batches=form))
    assert batches is not None
    return batches


CHAT, JOBS = _batches("openai-chat"), _batches("openai-chat", "jobs")
MESSAGES, GOOGLE = _batches("anthropic"), _batches("google")
ALL = {"chat": CHAT, "jobs": JOBS, "messages": MESSAGES, "google": GOOGLE}
ENCODED = {
    "chat": Encoded(path="/chat/completions", body=b'{"model":"m","messages":[]}'),
    "jobs": Encoded(path="/chat/completions", body=b'{"model":"m","messages":[]}'),
    "messages": Encoded(path="/messages", body=b'{"model":"m","messages":[]}', headers=VERSION),
    "google": Encoded(path="/models/m:generateContent", body=b'{"contents":[]}'),
}


def _reply(body: Any) -> HttpReply:
    return HttpReply(status=200, body=body if isinstance(body, bytes) else json.dumps(body).encode())


def _submitted(name: str, *replies: Any) -> tuple[list[BatchCall], BatchInfo]:
    """The calls that hand over two requests, and the batch that comes of these replies."""
    encoded, batches = ENCODED[name], ALL[name]
    lines = [batches.line(f"mark-{number}", encoded) for number in range(2)]
    order = BatchOrder("mark", lines, encoded.path, "m", encoded.headers)
    calls: list[BatchCall] = []
    if batches.files is not None:
        calls.append(batches.files.upload(order))
        order = order._replace(file=batches.files.read(_reply(replies[0])))
    calls.append(batches.submit(order))
    return calls, batches.read(_reply(replies[-1]))


def test_openai_hands_a_file_over() -> None:
    """The file's form, byte by byte, and the batch that is made of it."""
    made = {"id": "batch_1", "status": "validating", "metadata": {"interlingua": "mark"}, "created_at": 7}
    calls, info = _submitted("chat", {"id": "file-1"}, made)
    line = '{"custom_id":"mark-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[]}}\n'
    body = (
        '--interlingua-mark\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        '--interlingua-mark\r\ncontent-disposition: form-data; name="file"; filename="mark.jsonl"\r\n'
        f"content-type: application/jsonl\r\n\r\n{line % 0}{line % 1}\r\n--interlingua-mark--\r\n"
    )
    assert calls[0] == BatchCall(
        "/files", "POST", body.encode(), (("content-type", "multipart/form-data; boundary=interlingua-mark"),)
    )
    made_of = {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    sent = {**made_of, "metadata": {"interlingua": "mark"}}
    assert calls[1] == BatchCall("/batches", "POST", json.dumps(sent, separators=(",", ":")).encode(), JSON)
    assert info == BatchInfo(id="batch_1", state="running", status="validating", mark="mark", created_at=7)


def test_mistral_hands_a_job_over() -> None:
    """A line has no path; the job names the file, the path and the model."""
    calls, info = _submitted("jobs", {"id": "f"}, {"id": "j", "status": "QUEUED", "total_requests": 2})
    assert b'\r\n\r\n{"custom_id":"mark-0","body":{"model":"m","messages":[]}}\n{"custom_id":"mark-1",' in calls[0].body
    assert calls[1] == BatchCall(
        "/batch/jobs",
        "POST",
        b'{"input_files":["f"],"endpoint":"/v1/chat/completions","model":"m","metadata":{"interlingua":"mark"},'
        b'"timeout_hours":24}',
        JSON,
    )
    assert info == BatchInfo(id="j", state="running", status="QUEUED", mark="", total=2)


def test_anthropic_hands_a_body_over() -> None:
    """With the headers that the requests need; what comes back has no mark."""
    counts = {"processing": 2, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    made = {
        "id": "msgbatch_1",
        "processing_status": "in_progress",
        "request_counts": counts,
        "created_at": "2026-11-18T11:06:40Z",
    }
    [call], info = _submitted("messages", made)
    line = b'{"custom_id":"mark-%d","params":{"model":"m","messages":[]}}'
    body = b'{"requests":[%s,%s]}' % (line % 0, line % 1)
    assert call == BatchCall("/messages/batches", "POST", body, (*JSON, *VERSION))
    assert info == BatchInfo(
        id="msgbatch_1",
        state="running",
        status="in_progress",
        created_at=1_795_000_000.0,
        total=2,
        done=0,
        deletions=(BatchCall("/messages/batches/msgbatch_1", "DELETE", headers=VERSION),),
    )
    assert info.mark is None


def test_google_hands_requests_over_in_the_body() -> None:
    """At the model's own path; the operation names the batch."""
    metadata = {"state": "BATCH_STATE_PENDING", "displayName": "mark", "batchStats": {"requestCount": "2"}}
    [call], info = _submitted("google", {"name": "batches/b", "metadata": metadata})
    line = b'{"request":{"contents":[]},"metadata":{"key":"mark-%d"}}'
    body = b'{"batch":{"displayName":"mark","inputConfig":{"requests":{"requests":[%s,%s]}}}}' % (line % 0, line % 1)
    assert call == BatchCall("/models/m:batchGenerateContent", "POST", body, JSON)
    assert info == BatchInfo(
        id="batches/b",
        state="running",
        status="BATCH_STATE_PENDING",
        mark="mark",
        total=2,
        done=0,
        deletions=(BatchCall("/batches/b", "DELETE"),),
    )


@cells(
    ("name", "status", "state"),
    [
        *[("chat", word, "running") for word in ("validating", "in_progress", "finalizing", "cancelling", "new word")],
        *[("chat", word, "ended") for word in ("completed", "expired", "cancelled")],
        ("chat", "failed", "failed"),
        *[("jobs", word, "running") for word in ("QUEUED", "RUNNING", "CANCELLATION_REQUESTED")],
        *[("jobs", word, "ended") for word in ("SUCCESS", "TIMEOUT_EXCEEDED", "CANCELLED")],
        ("jobs", "FAILED", "failed"),
        *[("messages", word, "running") for word in ("in_progress", "canceling")],
        ("messages", "ended", "ended"),
        *[("google", f"BATCH_STATE_{word}", "running") for word in ("UNSPECIFIED", "PENDING", "RUNNING")],
        *[("google", f"JOB_STATE_{word}", "ended") for word in ("SUCCEEDED", "EXPIRED", "CANCELLED")],
        ("google", "BATCH_STATE_FAILED", "failed"),
        ("google", "", "running"),
    ],
)
def test_states(name: str, status: str, state: str) -> None:
    """Every word of a service; one that nobody knows is waited for."""
    bodies: dict[str, Any] = {
        "chat": {"id": "b", "status": status},
        "jobs": {"id": "b", "status": status},
        "messages": {"id": "b", "processing_status": status},
        "google": {"name": "b", "metadata": {"state": status}},
    }
    assert ALL[name].read(_reply(bodies[name])).state == state


def test_calls_about_one_batch() -> None:
    """Ids stand in paths as one element, whatever is in them; Google's are resource names."""
    assert CHAT.show("a/b") == BatchCall("/batches/a%2Fb")
    assert CHAT.cancel("b") == BatchCall("/batches/b/cancel", "POST")
    assert JOBS.show("b") == BatchCall("/batch/jobs/b")
    assert JOBS.cancel("b") == BatchCall("/batch/jobs/b/cancel", "POST")
    assert MESSAGES.show("b") == BatchCall("/messages/batches/b", headers=VERSION)
    assert MESSAGES.cancel("b") == BatchCall("/messages/batches/b/cancel", "POST", headers=VERSION)
    assert GOOGLE.show("batches/b") == BatchCall("/batches/b")
    assert GOOGLE.cancel("batches/b") == BatchCall("/batches/b:cancel", "POST", b"{}", JSON)


def test_pages() -> None:
    """Where a list goes on, in the words of each service; the fields of Google's leave the results out."""
    one = {"id": "b", "status": "completed", "metadata": {"interlingua": "m"}}
    page = CHAT.read_list(_reply({"data": [one], "has_more": True}))
    assert ([info.mark for info in page.batches], page.next) == (["m"], "b")
    assert CHAT.read_list(_reply({"data": [one], "has_more": False})).next == ""
    assert CHAT.read_list(_reply({"data": [], "has_more": True})).next == ""
    assert (CHAT.list("").path, CHAT.list("b").path) == ("/batches?limit=100", "/batches?limit=100&after=b")
    jobs = [{**one, "id": str(number), "created_at": number} for number in range(100)]
    page = JOBS.read_list(_reply({"data": jobs, "total": 150}))
    assert (page.batches[0].id, page.next, JOBS.list(page.next).path) == ("99", "1", "/batch/jobs?page=1&page_size=100")
    assert JOBS.list("").path == "/batch/jobs?page=0&page_size=100"
    assert JOBS.read_list(_reply({"data": jobs, "total": 200, "page": 1})).next == ""
    message = {"id": "b", "processing_status": "ended"}
    assert MESSAGES.read_list(_reply({"data": [message], "has_more": True, "last_id": "b"})).next == "b"
    assert MESSAGES.read_list(_reply({"data": [message], "has_more": False, "last_id": "b"})).next == ""
    assert MESSAGES.list("b") == BatchCall("/messages/batches?limit=100&after_id=b", headers=VERSION)
    assert GOOGLE.read_list(_reply({"operations": [{"name": "b"}], "nextPageToken": "t"})).next == "t"
    assert GOOGLE.read_list(_reply({})).batches == []
    assert GOOGLE.list("t").path == (
        "/batches?pageSize=100&fields=operations(name,error,metadata(model,displayName,state,createTime,batchStats)),"
        "nextPageToken&pageToken=t"
    )


_STRANGE: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("chat", "data", {"id": "b", "status": "completed"}, {"metadata": {"interlingua": "m"}}),
    ("jobs", "data", {"id": "b", "status": "SUCCESS"}, {"metadata": {"interlingua": "m"}}),
    ("messages", "data", {"id": "b", "processing_status": "ended"}, {"metadata": {"interlingua": "m"}}),
    ("google", "operations", {"name": "b"}, {"metadata": {"displayName": "m"}}),
]


@pytest.mark.parametrize(("name", "member", "good", "marked"), _STRANGE)
def test_a_strange_entry_of_a_list_hides_no_other(
    name: str, member: str, good: dict[str, Any], marked: dict[str, Any]
) -> None:
    """What shows no batch is noted with its place and its mark, where the service keeps marks; the others are there."""
    page = ALL[name].read_list(_reply({member: [{"id": "../x", "name": "../x", **marked}, good, "rubbish"]}))
    assert [info.id for info in page.batches] == ["b"]
    assert [entry.mark for entry in page.strange] == [None if name == "messages" else "m", None]
    assert page.strange[0].problem.startswith(f"entry 0 /{'name' if name == 'google' else 'id'}: an id is missing") or (
        page.strange[0].problem == "entry 0 /status: a text is missing"
    )
    assert page.strange[1].problem.startswith("entry 2 /")
    with pytest.raises(il.DecodeError, match="the list of batches is missing"):
        ALL[name].read_list(_reply({member: "rubbish"}))


@pytest.mark.parametrize("place", ["x" * 2_049, "a b", "\n", 7, {"a": 1}])
def test_the_place_of_a_page_is_a_short_word(place: Any) -> None:
    """A service that names no place where its list goes on, or a long one, is asked for no such page."""
    bodies: tuple[tuple[str, dict[str, Any]], ...] = (
        ("messages", {"data": [], "has_more": True, "last_id": place}),
        ("google", {"operations": [], "nextPageToken": place}),
    )
    for name, body in bodies:
        page = ALL[name].read_list(_reply(body))
        assert (page.next, page.is_cut) == ("", True)
    assert MESSAGES.read_list(_reply({"data": [], "has_more": True})).is_cut
    assert CHAT.read_list(_reply({"data": [{"id": "a b"}], "has_more": True})).is_cut
    page = CHAT.read_list(_reply({"data": [{"id": "a", "status": "completed"}, {"id": "b"}], "has_more": True}))
    assert (page.next, page.is_cut) == ("b", False)


def test_what_is_deleted_of_a_batch() -> None:
    """The files of its results, the batch where requests stand in the body; the file that was handed up by itself."""
    body = {"id": "b", "status": "completed", "output_file_id": "o", "error_file_id": "e"}
    assert CHAT.read(_reply(body)).deletions == (BatchCall("/files/o", "DELETE"), BatchCall("/files/e", "DELETE"))
    assert JOBS.read(_reply({"id": "b", "status": "SUCCESS", "output_file": "o"})).deletions == (
        BatchCall("/files/o", "DELETE"),
    )
    assert [batches.files is not None for batches in ALL.values()] == [True, True, False, False]
    assert CHAT.files is not None
    assert CHAT.files.delete("a/b") == BatchCall("/files/a%2Fb", "DELETE")


def test_results_of_files() -> None:
    """A reply as a live call has it, with its request id; expired and cancelled ones; an error of the service's own."""
    lines: list[dict[str, Any]] = [
        {"custom_id": "a", "response": {"status_code": 200, "request_id": "r", "body": {"x": None}}, "error": None},
        {"custom_id": "b", "response": {"status_code": 400, "body": {"error": {}}}},
        {"custom_id": "c", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        {"custom_id": "d", "response": None, "error": {"code": "batch_cancelled", "message": "late"}},
        {"custom_id": "e", "response": None, "error": {"code": "odd", "message": "broken"}},
        {"custom_id": "f"},
    ]
    body = b"\n\n".join(json.dumps(line).encode() for line in lines)
    results = list(CHAT.results(HttpReply(status=200, body=body)))
    assert [result.custom_id for result in results] == list("abcdef")
    replies = [result.reply for result in results]
    assert replies[0] == HttpReply(status=200, headers=(("x-request-id", "r"), *JSON), body=b'{"x":null}')
    assert [reply and reply.status for reply in replies] == [200, 400, None, None, 500, 500]
    assert replies[4] == HttpReply(status=500, headers=JSON, body=b'{"error":{"message":"broken","code":"odd"}}')
    assert list(JOBS.results(HttpReply(status=200, body=body))) == results


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("invalid_request_error", 400),
        ("authentication_error", 401),
        ("billing_error", 402),
        ("permission_error", 403),
        ("not_found_error", 404),
        ("request_too_large", 413),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("timeout_error", 504),
        ("overloaded_error", 529),
        ("a new one", 500),
    ],
)
def test_results_of_messages(kind: str, status: int) -> None:
    """The type of an error gives the status of the live call; what was not run has no reply."""
    error = {"type": "error", "error": {"type": kind, "message": "m"}}
    lines = [
        {"custom_id": "a", "result": {"type": "succeeded", "message": {"id": "msg"}}},
        {"custom_id": "b", "result": {"type": "errored", "error": error}},
        {"custom_id": "c", "result": {"type": "expired"}},
        {"custom_id": "d", "result": {"type": "canceled"}},
    ]
    reply = HttpReply(status=200, body=b"\n".join(json.dumps(line).encode() for line in lines))
    assert list(MESSAGES.results(reply)) == [
        BatchResult("a", HttpReply(status=200, headers=JSON, body=b'{"id":"msg"}')),
        BatchResult(
            "b", HttpReply(status=status, headers=JSON, body=json.dumps(error, separators=(",", ":")).encode())
        ),
        BatchResult("c", None),
        BatchResult("d", None),
    ]


@cells(
    ("code", "status"),
    [
        (3, 400),
        (4, None),
        (1, None),
        (5, 404),
        (7, 403),
        (8, 429),
        (13, 500),
        (14, 503),
        (16, 401),
        (429, 429),
        (2, 500),
    ],
)
@cells("place", ["response", "metadata"])
def test_results_of_operations(code: int, status: int | None, place: str) -> None:
    """By their keys, from either place of an operation; a code of google.rpc gives the status of the live call."""
    output: dict[str, Any] = {
        "inlinedResponses": {
            "inlinedResponses": [
                {"response": {"candidates": []}, "metadata": {"key": "a"}},
                {"error": {"code": code, "message": "m"}, "metadata": {"key": "b"}},
            ]
        }
    }
    body: dict[str, Any] = {"name": "batches/b", place: output if place == "response" else {"output": output}}
    first, second = GOOGLE.results(_reply(body))
    assert first == BatchResult("a", HttpReply(status=200, headers=JSON, body=b'{"candidates":[]}'))
    assert (second.custom_id, second.reply and second.reply.status) == ("b", status)


@cells("name", ALL)
@cells("body", [b"no json", b"[]", b"{}", b'{"id":1,"status":1,"name":1}', b'{"id":"b"}'])
def test_what_shows_no_batch(name: str, body: bytes) -> None:
    """A reply without an id or a state is a DecodeError; Google's has a name alone at first."""
    with pytest.raises(il.DecodeError):
        ALL[name].read(HttpReply(status=200, body=body))


@pytest.mark.parametrize("name", ["chat", "jobs", "messages"])
@pytest.mark.parametrize("line", [b'{"custom_id":"a","res', b"{}", b'{"custom_id":1}', b"[]"])
def test_what_is_no_result(name: str, line: bytes) -> None:
    """A line that was cut off, or has no id, is a DecodeError, so that the file is fetched again."""
    read: Callable[[HttpReply], Any] = ALL[name].results
    with pytest.raises(il.DecodeError):
        list(read(HttpReply(status=200, body=line)))


def test_what_is_no_result_of_an_operation() -> None:
    """A result without a key is nobody's, and the others are read; an operation without results has none."""
    entries: list[Any] = [{"response": {}}, "rubbish", {"response": {}, "metadata": {"key": "a"}}]
    results = GOOGLE.results(_reply({"response": {"inlinedResponses": {"inlinedResponses": entries}}}))
    assert [result.custom_id for result in results] == ["a"]
    assert list(GOOGLE.results(_reply({"name": "b"}))) == []


def test_which_dialects_have_batches() -> None:
    """Those of the four vendors, where a server's row says so."""
    forms: list[Any] = ["none", "vendor", "jobs"]
    having = {
        name: [form for form in forms if batches_of(service, Quirks(batches=form)) is not None]
        for name, service in services().items()
    }
    assert {
        name: having[name] for name in ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere")
    } == {
        "openai-chat": ["vendor", "jobs"],
        "openai-responses": ["vendor"],
        "anthropic": ["vendor"],
        "google": ["vendor"],
        "ollama": [],
        "cohere": [],
    }


_NAMES = (
    "id", "name", "status", "processing_status", "data", "has_more", "last_id", "error", "errors", "code", "message",
    "metadata", "interlingua", "state", "displayName", "createTime", "batchStats", "requestCount", "request_counts",
    "total", "completed", "failed", "processing", "created_at", "output_file_id", "error_file_id", "output_file",
    "error_file", "custom_id", "response", "status_code", "request_id", "body", "result", "type", "operations",
    "nextPageToken", "inlinedResponses", "output", "key", "page",
)  # fmt: skip
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["ended", "succeeded", "12"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("name", ALL)
@given(body=_VALUES | st.dictionaries(st.sampled_from(_NAMES), _VALUES))
def test_whatever_comes_is_read_or_a_decode_error(name: str, body: Any) -> None:
    """A reply of any form gives values, or the one error: nothing else is raised."""
    reply, batches = _reply(body), ALL[name]
    with suppress(il.DecodeError, il.LimitExceededError):
        batches.read(reply)
    with suppress(il.DecodeError, il.LimitExceededError):
        batches.read_list(reply)
    with suppress(il.DecodeError, il.LimitExceededError):
        list(batches.results(reply))


def test_which_rows_have_batches() -> None:
    """The vendors themselves, and whose servers are known to have OpenAI's; a row of another's host has none."""
    having = [name for name, row in ROWS.items() if row.quirks.batches != "none"]
    assert having == [
        *("openai", "openai-chat", "openai-responses", "azure", "groq", "mistral", "anthropic", "google"),
    ]


def test_numbers_and_dates() -> None:
    """Counts that are written as texts, and dates; what is none of these is nothing."""
    assert [whole_number(value) for value in (3, "12", "x", "", 1.5, True, None)] == [
        3,
        12,
        None,
        None,
        None,
        None,
        None,
    ]
    assert [unix_time(value) for value in ("1970-01-01T00:00:01Z", "x", "", None)] == [1.0, None, None, None]


_SHOWN: dict[str, dict[str, Any]] = {
    "chat": {"status": "completed"},
    "jobs": {"status": "SUCCESS"},
    "messages": {"processing_status": "ended"},
    "google": {"metadata": {"state": "BATCH_STATE_SUCCEEDED"}},
}


@cells("name", ALL)
@cells("identity", ["", ".", "..", "batches/../files/x", "a//b", "/a", "a b", "a\nb", "a\x1b[2J", "ä"])
def test_an_id_that_is_no_plain_word_is_refused(name: str, identity: str) -> None:
    """An id becomes a path and a cell of a table: one that climbs in a path or holds control characters is none."""
    with pytest.raises(il.DecodeError, match="an id is missing, or is no plain word"):
        ALL[name].read(_reply({"id": identity, "name": identity, **_SHOWN[name]}))
    with pytest.raises(il.DecodeError, match="an id is missing, or is no plain word"):
        ALL[name].read(_reply({"id": "x" * 513, "name": "x" * 513, **_SHOWN[name]}))


@pytest.mark.parametrize(("name", "member"), [("chat", "output_file_id"), ("jobs", "error_file")])
@pytest.mark.parametrize("file", ["..", "a b", {"a": 1}, 7])
def test_a_file_that_is_no_plain_word_is_refused(name: str, member: str, file: Any) -> None:
    """The key goes to no path that an answer made up."""
    with pytest.raises(il.DecodeError, match="an id is missing"):
        ALL[name].read(_reply({"id": "b", "status": "failed", member: file}))


@pytest.mark.parametrize("name", ["chat", "jobs", "google"])
def test_words_of_a_service_are_bounded_lines(name: str) -> None:
    """A message stands in the error of each request of a batch, a state in a table: both are short, without keys."""
    text = f"bad\x1b[2J\nkey sk-abcdefghijklmnop123456 {'x' * 100_000}"
    problems = [{"message": text}] * 3
    shown: dict[str, Any] = {
        "chat": {"id": "b", "status": text, "errors": {"data": problems}, "metadata": {"interlingua": text}},
        "jobs": {"id": "b", "status": text, "errors": problems, "metadata": {"interlingua": text}},
        "google": {"name": "b", "error": {"message": text}, "metadata": {"state": text, "displayName": text}},
    }
    info = ALL[name].read(_reply(shown[name]))
    for line in (info.message, info.status, info.mark or ""):
        assert line.startswith("bad [2J key ***")
        assert len(line) == 500


def test_a_whole_line_that_tells_of_nothing_is_nobodys() -> None:
    """One bad line does not keep the paid answers of a batch from their inputs; a code of any kind is read."""
    good = b'{"custom_id":"a","error":{"code":{"x":1}}}\n'
    results = list(
        CHAT.results(HttpReply(status=200, body=b'{"custom_id":7}\nrubbish\n' + good + b"[" * 1_000 + b"\n"))
    )
    assert [(result.custom_id, result.reply and result.reply.status) for result in results] == [("a", 500)]
    line = b'{"custom_id":"a","result":{"type":"expired"}}\n'
    assert list(MESSAGES.results(HttpReply(status=200, body=b"{}\n" + line))) == [BatchResult("a", None)]


@pytest.mark.parametrize(("status", "read"), [(200, 200), (-5, 502), (0, 502), (10**30, 200), (99, 502), (600, 502)])
def test_the_status_of_a_result_is_one_of_http(status: int, read: int) -> None:
    """A status that no live call could have is an error of the service; a request id is one line."""
    response: dict[str, Any] = {"status_code": status, "request_id": f"r\r\nx: {'y' * 1_000}", "body": {}}
    [result] = CHAT.results(_reply({"custom_id": "a", "response": response}))
    assert result.reply is not None
    assert result.reply.status == read
    identity = dict(result.reply.headers)["x-request-id"]
    assert (identity[:6], len(identity)) == ("r x: y", 500)


def test_a_time_that_no_date_can_show_is_none() -> None:
    """Times before 1970, behind the year 9999, or that no system can hold are not there."""
    times = [0, 1_795_000_000, -1, 10**12, 10**17, 10**40, "0001-01-01T00:00:00", "9999-12-31T23:59:59-23:59"]
    assert [unix_time(value) for value in times] == [0, 1_795_000_000, *[None] * 6]
