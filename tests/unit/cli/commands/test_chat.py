from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import use
from tests.support.cells import cells
from tests.support.tiny import PNG

Capture = pytest.CaptureFixture[str]
Pipe = Callable[[bytes], None]
UNKNOWN = {
    "nope/x": "no provider 'nope', asked for as 'nope/x'; did you mean openai?",
    "x": "no model or alias 'x'; a model is named provider/model, such as openai/gpt-5.6",
    "fake/x,nope/x": "no provider 'nope', asked for as 'nope/x'; did you mean openai?",
}
"""Spec -> why it stands for no target."""


def test_lines_are_a_conversation(capsys: Capture, pipe: Pipe) -> None:
    """Each line is a turn over those before; blank lines are none."""
    pipe(b"Hello\n\nAnd you?\n")
    with use(["Hi.", "Fine."]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert capsys.readouterr() == ("Hi.\nFine.\n", "")
    assert [message.text for message in fake.last_request.messages] == ["Hello", "Hi.", "And you?"]


def test_lines_that_are_no_utf_8_have_their_bytes_replaced() -> None:
    """As everywhere; a byte is no reason to end the conversation."""
    program = (
        "from interlingua.testing import use; from interlingua.cli.main import main\nwith use('Hi.') as fake: main({})"
    )
    program = program.format(["chat", "-m", "fake/x"]) + "\nprint(ascii(fake.last_request.messages[-1].text))"
    done = subprocess.run([sys.executable, "-c", program], input=b"\xe9t\xe9\n", capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"Hi.\n'\\ufffdt\\ufffd'\n", b"")


def test_what_fails_is_told_and_the_talk_goes_on(capsys: Capture, pipe: Pipe) -> None:
    """An error is one line; the turn that failed is no part of the conversation."""
    pipe(b"One\nTwo\n")
    with use([il.RateLimitError("slow down"), "Yes."]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    out, err = capsys.readouterr()
    assert out == "Yes.\n"
    assert err.startswith("il: ")
    assert err.count("\n") == 1
    assert [message.text for message in fake.last_request.messages] == ["Two"]


def test_a_pipe_ends_with_the_exit_code_of_its_last_turn(capsys: Capture, pipe: Pipe) -> None:
    """So that a script notices a model that nobody knows, or a service that is down."""
    pipe(b"One\n")
    assert main(["chat", "-m", "nope/x"]) == 2
    assert "no provider 'nope'" in capsys.readouterr().err
    pipe(b"One\nTwo\n")
    with use(["Yes.", il.RateLimitError("slow down")]):
        assert main(["chat", "-m", "fake/x"]) == 1


@cells("spec", UNKNOWN)
def test_a_model_that_nobody_knows_is_refused_before_anything_is_said(spec: str, capsys: Capture) -> None:
    """Exit code 2 with nothing on stdin, too; no tool is loaded for it."""
    assert main(["chat", "-m", spec, "--tool", "gone:tool"]) == 2
    assert capsys.readouterr() == ("", f"il: {UNKNOWN[spec]}\n")


@cells("spec", UNKNOWN)
def test_another_model_is_taken_only_if_somebody_knows_it(
    spec: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is one line, and the talk goes on with the model before; alone, the command names that one."""
    lines = f"/model {spec}\nOne\n/model\n/model fake/z\nTwo\n"
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(lines.encode())))
    assert main(["chat", "-m", "fake/y"]) == 0
    out, err = capsys.readouterr()
    assert out.count("It was told: ") == 2
    assert err.splitlines() == [f"il: {UNKNOWN[spec]}", "il: fake/y", "il: fake/z"]


def test_a_pipe_that_ends_with_a_model_that_nobody_knows_has_failed(capsys: Capture, pipe: Pipe) -> None:
    """A script notices it, as it notices a turn that failed."""
    pipe(b"One\n/model nope/x\n")
    assert main(["chat", "-m", "fake/y"]) == 2
    assert capsys.readouterr().err == f"il: {UNKNOWN['nope/x']}\n"


def test_the_model_of_a_conversation_that_goes_on_is_shown(capsys: Capture, pipe: Pipe) -> None:
    """`/model` alone ended the talk where the conversation had brought the model."""
    assert main(["ask", "-m", "fake/x", "One"]) == 0
    pipe(b"/model\nTwo\n")
    assert main(["chat", "-c"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("It was told: "), err) == (2, "il: fake/x\n")


def test_commands_begin_with_a_slash(capsys: Capture, pipe: Pipe) -> None:
    """/new forgets, /model changes, /quit ends, anything else of that form is explained; a path is no command."""
    pipe(b"One\n/new\nTwo\n/model fake/y\nThree\n/what\n/etc/hosts?\n/quit\nNever\n")
    with use(["1", "2", "3", "4"]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert [len(request.messages) for request in fake.requests] == [1, 1, 3, 5]
    assert fake.models == ["fake/x", "fake/x", "fake/y", "fake/y"]
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "il: fake/y"
    assert err[1].startswith("il: no command /what; /help lists the commands")


def test_chat_goes_on_with_what_was_asked(capsys: Capture, pipe: Pipe) -> None:
    """`il chat -c` takes up what `il ask` began, with its model."""
    with use(["First.", "Second."]) as fake:
        assert main(["ask", "-m", "fake/x", "One"]) == 0
        pipe(b"And?\n")
        assert main(["chat", "-c"]) == 0
    assert [message.text for message in fake.last_request.messages] == ["One", "First.", "And?"]


def test_help_inside(capsys: Capture, pipe: Pipe) -> None:
    """/help says what there is."""
    pipe(b"/help\n")
    with use(["never"]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert capsys.readouterr().err.startswith("  /new           forgets the conversation\n")
    assert fake.requests == []


def test_ctrl_c_in_a_pipe_ends_with_130(pipe: Pipe) -> None:
    """Where nobody sits, an interrupt ends the command."""

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    pipe(b"One\n")
    with use(interrupt):
        assert main(["chat", "-m", "fake/x"]) == 130


def test_a_turn_can_be_taken_back(capsys: Capture, pipe: Pipe) -> None:
    """/undo forgets the last turn and lets the conversation go on before it; there may be none."""
    pipe(b"/undo\nOne\nTwo\n/undo\nThree\n")
    with use(["1", "2", "3"]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert capsys.readouterr() == ("1\n2\n3\n", "il: nothing was said here yet\n")
    assert [message.text for message in fake.last_request.messages] == ["One", "1", "Three"]


def test_a_file_goes_with_the_next_question(capsys: Capture, pipe: Pipe, tmp_path: Path) -> None:
    """/file puts a part beside the next line and no other; one that is not there is told."""
    picture = tmp_path / "a picture.png"
    picture.write_bytes(PNG)
    pipe(f"/file {tmp_path}/none.png\n/file {picture}\nWhat is it?\nSure?\n".encode())
    with use(["A cat.", "Yes."]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert [type(part).__name__ for part in fake.requests[0].messages[-1].parts] == ["TextPart", "ImagePart"]
    assert [type(part).__name__ for part in fake.requests[1].messages[-1].parts] == ["TextPart"]
    assert "none.png" in capsys.readouterr().err


def test_a_line_may_go_on(pipe: Pipe) -> None:
    """A backslash at the end joins the next line, also where the input ends."""
    pipe(b"One\\\ntwo\nThree\\\n")
    with use(["1", "2"]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert [message.text for message in fake.last_request.messages] == ["One\ntwo", "1", "Three"]
