from __future__ import annotations

from collections.abc import Callable

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import use

Capture = pytest.CaptureFixture[str]
Pipe = Callable[[bytes], None]


def test_lines_are_a_conversation(capsys: Capture, pipe: Pipe) -> None:
    """Each line is a turn over those before; blank lines are none."""
    pipe(b"Hello\n\nAnd you?\n")
    with use(["Hi.", "Fine."]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert capsys.readouterr() == ("Hi.\nFine.\n", "")
    assert [message.text for message in fake.last_request.messages] == ["Hello", "Hi.", "And you?"]


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


def test_commands_begin_with_a_slash(capsys: Capture, pipe: Pipe) -> None:
    """/new forgets, /model changes, /quit ends, anything else of that form is explained; a path is no command."""
    pipe(b"One\n/new\nTwo\n/model fake/y\nThree\n/what\n/etc/hosts?\n/quit\nNever\n")
    with use(["1", "2", "3", "4"]) as fake:
        assert main(["chat", "-m", "fake/x"]) == 0
    assert [len(request.messages) for request in fake.requests] == [1, 1, 3, 5]
    assert fake.models == ["fake/x", "fake/x", "fake/y", "fake/y"]
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "il: fake/y"
    assert err[1].startswith("il: no command /what; /new forgets")


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
    assert capsys.readouterr().err.startswith("il: /new forgets the conversation")
    assert fake.requests == []


def test_ctrl_c_in_a_pipe_ends_with_130(pipe: Pipe) -> None:
    """Where nobody sits, an interrupt ends the command."""

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    pipe(b"One\n")
    with use(interrupt):
        assert main(["chat", "-m", "fake/x"]) == 130
