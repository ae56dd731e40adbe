"""`il translate`: bodies from stdin to stdout, changes to stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]
Pipe = Callable[[bytes], None]

CHAT = {"model": "gpt-5.6", "max_tokens": 5, "seed": 7, "messages": [{"role": "user", "content": "Hi"}]}
ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5, "output_tokens": 7},
}


def test_a_request_is_told_in_another_dialect(pipe: Pipe, capsys: Capture) -> None:
    """The body goes to stdout, a line for each change to stderr."""
    pipe(json.dumps(CHAT).encode())
    assert main(["translate", "--from", "openai", "--to", "anthropic", "-m", "claude-opus-5"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "model": "claude-opus-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }
    assert err.startswith("il: dropped /seed: ")
    assert err.count("\n") == 1


def test_an_answer_is_told_in_another_dialect(pipe: Pipe, capsys: Capture) -> None:
    """With `--response`, stdin is what the service said."""
    pipe(json.dumps(ANSWER).encode())
    assert main(["translate", "--from", "anthropic", "--to", "openai-chat", "--response"]) == 0
    out, err = capsys.readouterr()
    (choice,) = json.loads(out)["choices"]
    assert choice["message"]["tool_calls"] == [
        {"id": "toolu_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
    assert err == ""


def test_what_may_be_let_go_is_refused_first(pipe: Pipe, capsys: Capture) -> None:
    """A refusal ends with 2 and no output; `--allow` lets it go with a line."""
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    content = [{"type": "text", "text": "Hi"}, audio]
    body = json.dumps({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": content}]}).encode()
    arguments = ["translate", "--from", "openai-chat", "--to", "anthropic"]
    pipe(body)
    assert main(arguments) == 2
    assert capsys.readouterr().out == ""
    pipe(body)
    assert main([*arguments, "--allow", "audio"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["messages"][0]["content"] == [{"type": "text", "text": "Hi"}]
    assert err.startswith("il: dropped /messages/0/parts/1: ")


def test_r56_a_provider_is_told_what_it_takes(pipe: Pipe, capsys: Capture) -> None:
    """The first dialect of the row, with its quirks; without any name of the other end the command says what to add."""
    pipe(json.dumps(CHAT | {"reasoning_effort": "minimal"}).encode())
    assert main(["translate", "--from", "openai", "--provider", "groq", "-m", "some-model"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["reasoning_effort"] == "low"
    assert err.startswith("il: approximated /effort: ")
    assert main(["translate", "--from", "openai"]) == 2
    assert capsys.readouterr().err == "il: --to names the dialect of stdout, or --provider whose it is\n"
    assert main(["translate", "--from", "openai", "--provider", "groq", "--response"]) == 2
    assert capsys.readouterr().err == "il: --to names the dialect of stdout\n"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"[]", "il: stdin: a body is a JSON object\n"),
        (b"{", "il: stdin: "),
        (b'{"messages": 7}', "il: stdin: expected `array`, got `int`, at /messages\n"),
        (b'{"messages": [], "messages": [1]}', "il: stdin: /messages: the member stands twice in one object\n"),
        (b'{"messages": "\\ud83d"}', "il: stdin: the text is not JSON: half of a surrogate pair"),
    ],
)
def test_what_is_no_body_ends_with_2(data: bytes, sentence: str, pipe: Pipe, capsys: Capture) -> None:
    """One line that says what is wrong with stdin, and nothing on stdout."""
    pipe(data)
    assert main(["translate", "--from", "openai-chat", "--to", "ollama"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_an_unknown_dialect_is_named_before_stdin_is_read(capsys: Capture) -> None:
    """With the names there are."""
    assert main(["translate", "--from", "esperanto", "--to", "ollama"]) == 2
    assert capsys.readouterr().err.startswith("il: no dialect 'esperanto'; there are: ")
