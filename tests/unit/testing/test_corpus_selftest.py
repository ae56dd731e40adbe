"""The corpus command fails on bad codecs, and says refused only where it may."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.dialects.table import get_dialect
from interlingua.testing.corpus import find_dialect, main, run
from interlingua.testing.judge import DialectFor
from tests.support.codecs import NAME, identity, losing

CALL = {"id": "call_a1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}}
OTHER_CALL = {"id": "call_a2", "type": "function", "function": {"name": "get_time", "arguments": '{"tz":"CET"}'}}
PLAIN: dict[str, Any] = {
    "id": "aaaaaaaaaaaa",
    "api": "chat-completions",
    "url": "api.openai.com/v1/chat/completions",
    "status": 200,
    "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]},
    "response": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1795000000,
        "model": "gpt-4o",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Hello.", "refusal": None},
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    },
}
HISTORY = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "Weather and time?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, OTHER_CALL]},
        {"role": "tool", "tool_call_id": "call_a1", "content": "4"},
        {"role": "tool", "tool_call_id": "call_a2", "content": "12:00"},
    ],
}
CALLING = {
    **PLAIN["response"],
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL, OTHER_CALL]},
        }
    ],
}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
CHOICES: tuple[dict[str, Any], ...] = (
    {"index": 0, "delta": {"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}, "finish_reason": None},
    {"index": 0, "delta": {"tool_calls": [{"index": 1, **OTHER_CALL}]}, "finish_reason": None},
    {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
)
STREAM = "".join(f"data: {json.dumps({**CHUNK, 'choices': [choice]})}\n\n" for choice in CHOICES)
STREAMED: dict[str, Any] = {"response": None, "stream": STREAM + "data: [DONE]\n\n", "stream_format": "sse"}
ERROR = {
    "error": {"message": "No such key.", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
}


def _tape(folder: Path, *changes: dict[str, Any]) -> Path:
    """A recording of the plain exchange, once for each set of changes."""
    path = folder / "recorded.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for number, change in enumerate(changes):
            file.write(json.dumps({**PLAIN, "id": f"{number:012x}", **change}) + "\n")
    return path


def _outcomes(path: Path, dialect_for: DialectFor = find_dialect) -> list[str]:
    [file] = run([path], dialect_for=dialect_for).files
    return [f"{verdict.outcome} {verdict.reason}".strip() for verdict in file.verdicts.values()]


def _only(dialect: Any) -> DialectFor:
    return lambda name: dialect if name == NAME else None


EVERY_KIND: tuple[dict[str, Any], ...] = ({}, {"request": HISTORY}, {"response": CALLING}, STREAMED)


def test_the_real_dialect_passes(tmp_path: Path) -> None:
    """Plain, calling, streamed and failing exchanges pass with the dialect that there is."""
    errors = ({"status": 401, "response": ERROR}, {"response": ERROR})
    assert _outcomes(_tape(tmp_path, *EVERY_KIND, *errors)) == ["passed"] * 6


def test_an_identity_codec_fails(tmp_path: Path) -> None:
    """A codec that carries everything in `extra` fails on every exchange, however perfect its round trips are."""
    outcomes = _outcomes(_tape(tmp_path, *EVERY_KIND, {"request": None}), _only(identity()))
    assert [outcome.split()[0] for outcome in outcomes] == ["failed"] * 5


def test_a_codec_that_drops_the_last_call_fails(tmp_path: Path) -> None:
    """A codec that loses one call of a request, an answer or a stream fails on each of them, and only there."""
    outcomes = _outcomes(_tape(tmp_path, *EVERY_KIND), _only(losing(get_dialect(NAME))))
    assert [outcome.split()[0] for outcome in outcomes] == ["passed", "failed", "failed", "failed"]


def test_a_cut_recording_passes_when_the_cut_is_said(tmp_path: Path) -> None:
    """A stream without finish reason and `[DONE]` passes as one incomplete-stream error that holds what came."""
    cut = STREAM.rsplit("data:", 1)[0]
    assert _outcomes(_tape(tmp_path, {**STREAMED, "stream": cut})) == ["passed"]


def test_a_stream_kept_without_frames_is_replayed_with_them(tmp_path: Path) -> None:
    """`json-lines-unframed` is the same stream, one JSON document a line."""
    lines = "\n".join(line.removeprefix("data: ") for line in STREAM.splitlines() if line)
    assert _outcomes(_tape(tmp_path, {**STREAMED, "stream": lines, "stream_format": "json-lines-unframed"})) == [
        "passed"
    ]


def test_refusals_are_a_closed_list(tmp_path: Path) -> None:
    """Unknown formats, broken histories and streams that are no JSON are refused, each under its own name."""
    broken = json.loads(json.dumps(HISTORY).replace('{\\"city\\":\\"Oslo\\"}', "{"))
    path = _tape(
        tmp_path,
        {"api": "a-format-of-old"},
        {"request": broken},
        {"request": {**HISTORY, "messages": HISTORY["messages"][:3]}},
        {**STREAMED, "stream": "data: {not json}\n\n"},
    )
    assert _outcomes(path) == [
        "refused unsupported_api",
        "refused bad_history",
        "refused bad_history",
        "refused invalid_json",
    ]


def test_a_sound_history_may_not_be_refused(tmp_path: Path) -> None:
    """A codec that calls a sound history broken fails."""
    real = get_dialect(NAME)

    def refuse(request: Any, options: Any) -> Any:
        from interlingua.errors import HistoryError

        raise HistoryError("I do not like it")

    assert _outcomes(_tape(tmp_path, {}), _only(replace(real, decode_request=refuse))) == ["failed a request"]


def test_a_codec_that_raises_fails(tmp_path: Path) -> None:
    """An exception of the codec is its failure, with its class in the line."""

    def fail(kind: str, body: object) -> object:
        return 1 // 0

    broken = replace(get_dialect(NAME), normal_form=fail)
    [file] = run([_tape(tmp_path, {})], dialect_for=_only(broken)).files
    [verdict] = file.verdicts.values()
    assert (verdict.outcome, verdict.reason) == ("failed", "a request")
    assert verdict.detail.startswith("raised ZeroDivisionError")


def test_the_command_prints_and_exits(tmp_path: Path) -> None:
    """One line a file and one for all, and status 0 when all is well."""
    written: list[str] = []
    assert main([str(_tape(tmp_path, {}, {"response": CALLING})), "--seed", "7"], written.append) == 0
    assert written[-2:] == [
        "recorded: 2 exchanges, 2 passed, 0 failed, 0 refused",
        "in all: 2 exchanges, 2 passed, 0 failed, 0 refused",
    ]


def test_unread_bytes_are_counted_by_path(tmp_path: Path) -> None:
    """What travels in `extra` is printed by its path."""
    written: list[str] = []
    strange = {**PLAIN["request"], "strange": [1, 2]}
    assert main([str(_tape(tmp_path, {"request": strange}))], written.append) == 0
    assert "unread 5 bytes at /extra/openai-chat/strange" in written


UNPAIRED: dict[str, Any] = {"request": {**HISTORY, "messages": HISTORY["messages"][:3]}}
"""An exchange that is refused: a call of its history has no result."""


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param([], 1, id="empty file"),
        pytest.param([{}, UNPAIRED], 1, id="half refused"),
        pytest.param([*[{}] * 49, UNPAIRED], 0, id="one in fifty refused"),
        pytest.param([*[{}] * 48, UNPAIRED], 1, id="one in forty-nine refused"),
        pytest.param([{}, {"api": "a-format-of-old"}], 0, id="half in a format that is no dialect"),
    ],
)
def test_exit_status(tmp_path: Path, changes: list[dict[str, Any]], status: int) -> None:
    """A file without exchanges, and more than 2 % refused, are failures; formats without a dialect count apart."""
    assert main([str(_tape(tmp_path, *changes))], lambda line: None) == status


LINE = json.dumps(PLAIN).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.jsonl", None, "none.jsonl cannot be read: [Errno 2] No such file or directory"),
        ("plain.jsonl.gz", LINE, "plain.jsonl.gz cannot be read: Not a gzipped file"),
        ("cut.jsonl.gz", gzip.compress(LINE)[:-9], "cut.jsonl.gz cannot be read: Compressed file ended before"),
        ("odd.jsonl", LINE + b'{"id": 7}\n', "odd.jsonl, line 2 is no exchange: Expected `str`, got `int`"),
        ("torn.jsonl", LINE + b"\n{", "torn.jsonl, line 3 is no exchange: Input data was truncated"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, sentence: str
) -> None:
    """With its line, and the exit status of wrong usage."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main([str(path)], lambda line: None)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_file_of_known_faults_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what is wrong."""
    known = tmp_path / "known.toml"
    known.write_text("[[fault]]\ntopic = 7\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main([str(_tape(tmp_path)), "--known", str(known)], lambda line: None)
    assert ended.value.code == 2
    assert "known.toml holds no known faults" in capsys.readouterr().err
