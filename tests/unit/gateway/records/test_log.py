"""The request log: exact lines, nothing that breaks out of one, and no content unless it is wanted."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.gateway.records.log import facts, json_line, log_writer, text_line, write_lines
from interlingua.gateway.records.record import Content, Record
from interlingua.types.response import Attempt

RECORD = Record(
    id="req_il1",
    at=1_795_325_400.1234,
    key="team-a",
    team="red",
    client="anthropic",
    path="/v1/messages",
    route="/v1/messages",
    model="claude-x",
    target="openai/gpt-5.6",
    stream=True,
    status=200,
    attempts=(
        Attempt(model="groq/qwen", outcome="failed", error="RateLimitError: too many", status=429, duration_s=0.5),
        Attempt(model="openai/gpt-5.6", outcome="served", duration_s=0.25),
    ),
    changes=2,
    input_tokens=1_204,
    output_tokens=88,
    cost_usd=0.0031,
    first_s=0.41,
    total_s=2.3,
    peer="10.0.0.7",
)
FAILED = Record(
    id="req_il2",
    at=1_795_325_400.0,
    client="openai-chat",
    path="/v1/chat/completions",
    status=499,
    error="APITimeoutError",
    message="a sentence",
    total_s=0.5,
    aborted=True,
)
ASKED = Content(method="POST", path="/", query="", headers=(), body=b"my question", reply_body=b"the answer\n")


FLOATS = st.none() | st.floats(0, allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 3e-05, 1e-07, 1e16])
COUNTS = st.none() | st.integers(0, 10**12)
ATTEMPTS = st.builds(
    Attempt,
    model=st.text(),
    outcome=st.sampled_from(["served", "failed", "benched"]),
    error=st.none() | st.sampled_from(["RateLimitError: slow", "is benched", "", "no class: x"]),
    status=st.none() | st.integers(100, 599),
    duration_s=FLOATS,
)
RECORDS = st.builds(
    Record,
    id=st.text(),
    at=st.floats(0, 4e9),
    key=st.text(),
    team=st.text(),
    path=st.text(st.characters()),
    model=st.text(),
    stream=st.booleans(),
    status=st.integers(0, 599),
    attempts=st.lists(ATTEMPTS, max_size=3).map(tuple),
    changes=st.integers(0, 5),
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cost_usd=FLOATS,
    first_s=FLOATS,
    total_s=st.floats(0, 1e9),
    aborted=st.booleans(),
)


@given(record=RECORDS)
def test_a_line_is_what_the_facts_say_by_the_standard_library(record: Record) -> None:
    """Byte for byte, whatever a record holds."""
    assert json_line(record) == json.dumps(facts(record), separators=(",", ":"))


def test_half_of_a_surrogate_pair_is_told() -> None:
    """What JSON cannot say in UTF-8 it can in ASCII."""
    assert r'"model":"a\ud800b"' in json_line(msgspec.structs.replace(RECORD, model="a\ud800b"))


def test_the_line_of_an_answer_as_json() -> None:
    """Every fact under its name, in order; the class of a try's error without its sentence."""
    assert json_line(RECORD) == (
        '{"at":"2026-11-22T05:30:00.123Z","id":"req_il1","key":"team-a","team":"red","client":"anthropic",'
        '"method":"POST","path":"/v1/messages","model":"claude-x","target":"openai/gpt-5.6","stream":true,"status":200,'
        '"attempts":[{"model":"groq/qwen","outcome":"failed","error":"RateLimitError","status":429,"duration_s":0.5},'
        '{"model":"openai/gpt-5.6","outcome":"served","duration_s":0.25}],"changes":2,"input_tokens":1204,'
        '"output_tokens":88,"cost_usd":0.0031,"first_s":0.41,"total_s":2.3,"peer":"10.0.0.7"}'
    )


def test_the_line_of_an_answer_for_people() -> None:
    """Time, status, route, who asked whom, what it took."""
    assert text_line(RECORD) == (
        "2026-11-22T05:30:00.123Z 200 POST /v1/messages model=claude-x target=openai/gpt-5.6 key=team-a attempts=2"
        " changes=2 tokens=1204+88 cost=$0.003100 first=0.410s took=2.300s id=req_il1"
    )


def test_the_lines_of_a_request_that_failed() -> None:
    """The class of the error, and that the client left; nothing that is not known."""
    assert text_line(FAILED) == (
        "2026-11-22T05:30:00.000Z 499 POST /v1/chat/completions error=APITimeoutError aborted took=0.500s id=req_il2"
    )
    assert json_line(FAILED) == (
        '{"at":"2026-11-22T05:30:00.000Z","id":"req_il2","client":"openai-chat","method":"POST",'
        '"path":"/v1/chat/completions","status":499,"error":"APITimeoutError","total_s":0.5,"aborted":true}'
    )


def test_content_is_there_only_where_it_is_wanted() -> None:
    """Sentences, what was asked and what was answered."""
    record = msgspec.structs.replace(FAILED, content=ASKED)
    for line in (json_line, text_line):
        plain, told = line(record), line(record, content=True)
        for said in ("a sentence", "my question", "the answer"):
            assert said not in plain
            assert said in told
    assert json.loads(json_line(record, content=True))["reply"] == "the answer\n"
    assert json.loads(json_line(RECORD, content=True))["attempts"][0]["error"] == "RateLimitError: too many"


@given(st.text(), st.text(), st.text())
def test_sec_log_lines_cannot_be_forged(model: str, path: str, key: str) -> None:
    """Whatever a client calls its model or path: one line of printable ASCII, and fields that cannot be made up."""
    record = Record(id="x", at=0.0, model=model, path=path, key=key, status=200)
    for line in (json_line(record), text_line(record)):
        assert line.isascii()
        assert line.isprintable()
    assert json.loads(json_line(record)).get("model", "") == model


def test_a_model_cannot_pass_for_another_field() -> None:
    """A name with a space, a quote or a line end stands in quotes."""
    forged = Record(id="x", at=0.0, model='m key=admin\n2026-01-01 200 "', path="/p", status=200)
    assert text_line(forged) == (
        '1970-01-01T00:00:00.000Z 200 POST /p model="m key=admin\\n2026-01-01 200 \\"" took=0.000s id=x'
    )


def test_lines_of_several_workers_do_not_run_into_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written at a time ends with a line, and is what a pipe takes at once; a longer line goes by itself."""
    written: list[str] = []
    monkeypatch.setattr("sys.stderr", SimpleNamespace(write=written.append, flush=lambda: None))
    sizes = (*[1_500] * 5, 9_000, 10)
    write_lines([json_line(Record(id=f"r{number}", at=0.0, path="x" * size)) for number, size in enumerate(sizes)])
    assert [[json.loads(line)["id"] for line in piece.splitlines()] for piece in written] == [
        ["r0", "r1"], ["r2", "r3"], ["r4"], ["r5"], ["r6"],
    ]  # fmt: skip
    assert all(piece.endswith("\n") for piece in written)


def test_lines_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """Many at a time, one line each; with content where that is wanted."""
    write_lines([text_line(RECORD), text_line(FAILED)])
    log_writer("json")([FAILED])
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"{text_line(RECORD)}\n{text_line(FAILED)}\n{json_line(FAILED, content=True)}\n"


def test_lines_go_to_a_file_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However many they are, and after what was said there before."""
    lines = [json_line(Record(id=f"r{number}", at=0.0)) for number in range(1_000)]
    written: list[int] = []

    def write(file: int, data: bytes, real: Callable[[int, bytes], int] = os.write) -> int:
        written.append(len(data))
        return real(file, data)

    monkeypatch.setattr("interlingua.gateway.records.log.os.write", write)
    with (tmp_path / "log").open("w") as place:
        monkeypatch.setattr("sys.stderr", place)
        place.write("ready\n")
        write_lines(lines)
    monkeypatch.undo()
    assert (tmp_path / "log").read_text().splitlines() == ["ready", *lines]
    assert len(written) == 1


def test_what_a_file_takes_in_two_parts_is_written_in_two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As when a disk is nearly full."""

    def write(file: int, data: bytes, real: Callable[[int, bytes], int] = os.write) -> int:
        return real(file, data[:10])

    monkeypatch.setattr("interlingua.gateway.records.log.os.write", write)
    with (tmp_path / "log").open("w") as place:
        monkeypatch.setattr("sys.stderr", place)
        write_lines([text_line(RECORD), text_line(FAILED)])
    monkeypatch.undo()
    assert (tmp_path / "log").read_text() == f"{text_line(RECORD)}\n{text_line(FAILED)}\n"


def test_after_half_a_line_the_next_one_begins_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A disk that is full takes some of it; what comes when it has room again is read for itself."""
    took: list[int] = []

    def write(file: int, data: bytes, real: Callable[[int, bytes], int] = os.write) -> int:
        if took:
            raise OSError(errno.ENOSPC, "No space left on device")
        took.append(real(file, data[:10]))
        return took[0]

    with (tmp_path / "log").open("w") as place:
        monkeypatch.setattr("sys.stderr", place)
        with monkeypatch.context() as full:
            full.setattr("interlingua.gateway.records.log.os.write", write)
            with pytest.raises(OSError, match="No space left on device"):
                write_lines([text_line(RECORD)])
        write_lines([text_line(FAILED)])
        write_lines([text_line(RECORD)])
    monkeypatch.undo()
    expected = f"{text_line(RECORD)[:10]}\n{text_line(FAILED)}\n{text_line(RECORD)}\n"
    assert (tmp_path / "log").read_text() == expected


@given(st.floats(0, 1e8) | st.sampled_from([1e-4, 9.99999e-05, 9.99e-04, 1e-3, 0.1, 1.0, 100.0, 2.0000005]))
def test_seconds_are_told_to_the_microsecond(value: float) -> None:
    """As Python writes the number, whatever its size."""
    record = Record(id="x", at=0.0, total_s=value)
    assert json_line(record).endswith(f'"total_s":{json.dumps(round(value * 1e6) / 1e6)}}}')
