"""Bodies of errors as services and compatible servers send them, and what each is read as: the backing of every table.

A line of `error_bodies/<dialect>.jsonl` is one body of the shape that was seen: who sends it, where that is known from
(`recorded`, `documented`, `reported`, or our own server role), and the error that it stands for. `at` is where it
stands: in a failed answer (`http`), in an answer under 200 (`whole`), or in a stream. The files are written by hand.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects._errors.bodies import read_error
from interlingua.dialects._errors.classes import STATUS_CLASSES
from interlingua.dialects._errors.words import LACKS, PHRASES, WORDS
from interlingua.dialects._openai.errors import CODE_CLASSES, RETRYABLE_CODES, TYPE_CLASSES
from interlingua.dialects.anthropic import reasons as anthropic
from interlingua.dialects.bedrock import reasons as bedrock
from interlingua.dialects.cohere import reasons as cohere
from interlingua.dialects.google import reasons as google
from interlingua.dialects.ollama import reasons as ollama
from interlingua.dialects.openai_responses import reasons as openai_responses
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import BillingError, Error
from interlingua.stream.fold import error_of
from interlingua.testing.framed import stream_bytes
from interlingua.types.event import StreamError
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

FOLDER = Path(__file__).parent / "error_bodies"
BODIES: dict[str, list[dict[str, Any]]] = {
    name: [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in DIALECTS
}
CASES = [(name, case) for name, cases in BODIES.items() for case in cases]
IDS = [f"{name} {case['about']}" for name, case in CASES]
TABLES: dict[str, dict[str, type[Error]]] = {
    "openai-chat": TYPE_CLASSES | CODE_CLASSES,
    "openai-responses": openai_responses.CODE_CLASSES,
    "anthropic": anthropic.WORD_CLASSES,
    "google": google.WORD_CLASSES,
    "ollama": ollama.CODE_CLASSES,
    "cohere": cohere.CODE_CLASSES,
    "bedrock": bedrock.CODE_CLASSES,
}
FACTS = ("message", "code", "retry_after_s", "request_id", "lacking")


def bytes_of(case: dict[str, Any]) -> bytes:
    """The body as it is on the wire."""
    body = case["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()


def read(name: str, case: dict[str, Any]) -> Error:
    """The error that a case stands for."""
    dialect, data = get_dialect(name), bytes_of(case)
    reply = HttpReply(status=case["status"], headers=tuple(case.get("headers", {}).items()), body=data)
    if case["at"] == "http":
        return dialect.decode_error(reply, DecodeContext())
    if case["at"] == "whole":
        with pytest.raises(Error) as caught:
            dialect.decode_response(reply, DecodeContext())
        return caught.value
    decoder = dialect.stream_decoder(DecodeContext())
    data = stream_bytes(name, data.decode())
    last = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(last, StreamError)
    return error_of(last)


@cells(("name", "case"), CASES, ids=IDS)
def test_r43_a_body_is_read_as_its_error(name: str, case: dict[str, Any]) -> None:
    """Class, sentence, code, whether to try again and when, and who asked."""
    error = read(name, case)
    assert {fact: value for fact in FACTS if (value := getattr(error, fact)) is not None} == {
        fact: case[fact] for fact in FACTS if fact in case
    }
    assert (type(error).__name__, error.retryable) == (case["error"], case["retryable"])


@cells(("name", "case"), CASES, ids=IDS)
def test_r43_no_cut_of_a_body_breaks_its_reading(name: str, case: dict[str, Any]) -> None:
    """Half a body is an error of its status, never an exception of ours."""
    data = bytes_of(case)
    for end in {0, 1, len(data) // 3, len(data) // 2, len(data) - 1} - {len(data)}:
        reply = HttpReply(status=503, body=data[: max(end, 0)])
        assert isinstance(get_dialect(name).decode_error(reply, DecodeContext()), Error)


_KEYS = st.sampled_from(
    ["error", "errors", "message", "msg", "detail", "details", "code", "type", "status", "metadata", "raw", "headers",
     "retryDelay", "reason", "error_code", "request_id", "loc", "param", "title", "flagged_input"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
    | st.sampled_from(['{"error":{"message":"m"}}', "{", "[{", "429", "invalid_request_error", "34s"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(value=_JSON, status=st.sampled_from([400, 418, 429, 500]))
def test_r43_any_json_is_some_error(value: Any, status: int) -> None:
    """Whatever a failed answer holds, in every dialect: an error of ours with a sentence, told on as one."""
    reply = HttpReply(status=status, body=json.dumps(value).encode())
    for name in DIALECTS:
        error = get_dialect(name).decode_error(reply, DecodeContext())
        assert isinstance(error, Error)
        assert error.message
        told = get_dialect(name).encode_error(error, ServerContext())
        assert type(get_dialect(name).decode_error(told, DecodeContext())) is type(error)


@pytest.mark.parametrize("name", TABLES)
def test_r43_every_word_of_a_table_has_a_body(name: str) -> None:
    """A word that nobody sends has no place in a table."""
    told = {word for case in BODIES[name] for word in _words(case)}
    assert sorted(TABLES[name].keys() - told) == []


def test_r43_every_word_of_compatible_servers_has_a_body_that_it_decides() -> None:
    """Some body is of the class of the word, in some dialect."""
    decided = {(word, case["error"]) for cases in BODIES.values() for case in cases for word in _words(case)}
    assert [word for word, kind in WORDS.items() if (word, kind.__name__) not in decided] == []
    assert {code for code in RETRYABLE_CODES for case in BODIES["openai-chat"] if code == case.get("code")} == set(
        RETRYABLE_CODES
    )


@cells(("phrase", "kind"), PHRASES, ids=[phrase for phrase, _ in PHRASES])
def test_r43_every_phrase_has_a_body_in_which_nothing_structured_says_it(phrase: str, kind: type[Error]) -> None:
    """The phrase decides there, and only there: under another status the same body has the class of the status.

    One of money decides under 403 and 429, too: there it is what a refusal and a limit may be about.
    """
    statuses, other = (400, 422), (403, "PermissionDeniedError")
    if kind is BillingError:
        statuses, other = (400, 403, 412, 422, 429), (404, "NotFoundError")
    found = [
        (name, case)
        for name, cases in BODIES.items()
        for case in cases
        if re.search(phrase, case["message"]) and case["error"] == kind.__name__ and case["status"] in statuses
    ]
    assert found
    for name, case in found:
        elsewhere = {**case, "status": other[0]}
        if not any(WORDS.get(word) or TABLES[name].get(word) is kind for word in _words(case)):
            assert type(read(name, elsewhere)).__name__ == other[1]


@pytest.mark.parametrize(("phrase", "feature"), LACKS, ids=[phrase for phrase, _ in LACKS])
def test_cap_01_every_sentence_of_a_lack_has_a_body_and_counts_as_a_whole_only(phrase: str, feature: str) -> None:
    """Some body says it; with a word before or behind it says nothing of the target."""
    cases = [(name, case) for name, cases in BODIES.items() for case in cases if case.get("lacking") == feature]
    found = [(name, case) for name, case in cases if re.fullmatch(phrase, case["message"])]
    assert found
    for name, case in found:
        for text in (f"Invalid value: {case['message']}", f"{case['message']}, said the user"):
            body = json.loads(
                json.dumps(case["body"]).replace(json.dumps(case["message"])[1:-1], json.dumps(text)[1:-1])
            )
            assert read(name, {**case, "body": body}).lacking is None


def test_thinking_of_another_prefix_is_told_by_the_first_words_only() -> None:
    """What follows the sentence may name the change; with a word before it, it may be a client's."""
    bound = [(name, case) for name, case in CASES if case.get("has_bound_thinking")]
    assert [name for name, _ in bound] == ["anthropic"] * 3 + ["bedrock"]
    assert [(name, case) for name, case in CASES if read(name, case).has_bound_thinking] == bound
    for name, case in bound:
        said = json.dumps(case["message"])[1:-1]
        body = json.loads(json.dumps(case["body"]).replace(said, f"Invalid value: {said}"))
        assert not read(name, {**case, "body": body}).has_bound_thinking
        assert not read(name, {**case, "status": 429}).has_bound_thinking


def test_r43_every_status_decides_alone() -> None:
    """Each status of the table, with a body that says nothing."""
    alone = {case["status"]: case["error"] for case in BODIES["openai-chat"] if case["about"].endswith("alone")}
    assert alone == {status: kind.__name__ for status, kind in STATUS_CLASSES.items()} | {
        418: "BadRequestError",
        500: "InternalServerError",
    }


def _words(case: dict[str, Any]) -> set[str]:
    """The structured words of a case, those of a stream's last event too."""
    if case["at"] != "stream":
        return {*read_error(bytes_of(case)).words}
    lines = [line.removeprefix("data: ") for line in bytes_of(case).decode().splitlines() if "{" in line]
    return {word for line in lines for word in read_error(line.encode()).words} | {case.get("code", "")}


@pytest.mark.parametrize(
    ("body", "message", "words"),
    [
        ('{"error":"{not JSON at all"}', "{not JSON at all", ()),
        ('{"error":"{\\"message\\":{}}"}', '{"message":{}}', ()),
        ('{"error":{"error":{"error":{"error":{"error":{"code":"deep"}}}}}}', "the server gave no reason", ()),
        ('{"error":{"error":{"error":{"code":"deep","message":"m"}}}}', "m", ("deep",)),
        ('{"error":7.5}', "the server gave no reason", ("7.5",)),
        ('{"error":"[{\\"message\\":\\"m\\",\\"code\\":\\"c\\"}]"}', "m", ("c",)),
        ('{"message":"Failed.","metadata":{"raw":"{}"}}', "Failed.", ()),
        ('{"message":"Failed.","metadata":{"raw":"{\\"code\\":\\"c\\"}"}}', "Failed.", ("c",)),
        ('{"message":"Failed.","metadata":{"raw":"Busy."}}', "Failed: Busy.", ()),
    ],
)
def test_r43_errors_in_errors_are_read_so_far_and_no_further(body: str, message: str, words: tuple[str, ...]) -> None:
    """A text that only looks like JSON is a sentence; what is nested without end is not followed."""
    found = read_error(body.encode())
    assert (found.message, found.words) == (message, words)


def test_r43_a_body_that_is_no_json_is_cut_at_300_characters() -> None:
    """A page is no sentence; its beginning says enough."""
    assert [len(read_error(b"x" * length).message) for length in (299, 300, 301, 5_000)] == [299, 300, 300, 300]


def test_r43_a_reason_is_cut_at_4_000_characters_behind_a_whole_word() -> None:
    """Some servers repeat the request, pictures among it, and half a key would not be known for one."""
    told = [
        read_error(json.dumps({"error": {"message": f"bad: {'x' * length}"}}).encode()) for length in (3_995, 3_996)
    ]
    assert [len(body.message) for body in told] == [4_000, 6]
    assert told[1].message == "bad: …"


@pytest.mark.parametrize(
    ("code", "status"), [(399, None), (400, 400), (599, 599), (600, None), ("503", 503), ("1e2", None)]
)
def test_r43_a_number_is_a_status_where_it_can_be_one(code: object, status: int | None) -> None:
    """From 400 to 599, as a number or as three digits."""
    assert read_error(json.dumps({"error": {"message": "m", "code": code}}).encode()).status == status
