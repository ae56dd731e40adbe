from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua.cli import outcome
from interlingua.cli.main import COMMANDS, main
from interlingua.errors import AuthenticationError, OutputError
from interlingua.testing import use

Capture = pytest.CaptureFixture[str]
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "cli.md"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_and_the_exit_codes(arguments: list[str], capsys: Capture) -> None:
    """Asked for nothing or for help, it teaches, on stdout, and ends well."""
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(f"  {name} " in out for name in COMMANDS)
    assert "exit codes:" in out
    assert "130  interrupted" in out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str, capsys: Capture) -> None:
    """Each command has help that begins with what it does."""
    assert main([name, "--help"]) == 0
    said = COMMANDS[name]
    assert f"{said[:1].upper()}{said[1:]}." in capsys.readouterr().out


def test_help_of_a_command_comes_both_ways(capsys: Capture) -> None:
    """`il help ask` is `il ask --help`."""
    assert main(["help", "ask"]) == 0
    first = capsys.readouterr().out
    assert main(["ask", "--help"]) == 0
    assert capsys.readouterr().out == first


def test_a_mistyped_command_is_guessed(capsys: Capture) -> None:
    """What is near a command is named."""
    assert main(["aks"]) == 2
    assert capsys.readouterr().err == "il: no command 'aks'; did you mean ask?\n"


def test_an_unknown_command_points_to_the_help(capsys: Capture) -> None:
    """What is near nothing gets the way out."""
    assert main(["zzzz"]) == 2
    assert capsys.readouterr().err == "il: no command 'zzzz'; `il --help` lists them\n"


def test_a_question_without_a_command(capsys: Capture) -> None:
    """The way to ask is shown."""
    assert main(["Why is the sky blue?"]) == 2
    assert capsys.readouterr().err == 'il: a command comes first; to ask a model: il ask "Why is the sky blue?"\n'


def test_an_option_before_the_command(capsys: Capture) -> None:
    """Options come after the command."""
    assert main(["-m", "fake/echo"]) == 2
    assert capsys.readouterr().err == "il: a command comes first, not -m; `il --help` lists them\n"


@pytest.mark.parametrize("arguments", [["version"], ["--version"], ["-V"]])
def test_version(arguments: list[str], capsys: Capture) -> None:
    """The version, in each spelling."""
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("interlingua 0.")


def test_a_mark_of_the_end_of_options_alone_is_no_word(capsys: Capture) -> None:
    """Behind `--` nothing has to stand, also where a command takes no words."""
    assert main(["version"]) == 0
    plain = capsys.readouterr()
    assert main(["version", "--"]) == 0
    assert capsys.readouterr() == plain


def test_a_wrong_option_is_one_line(capsys: Capture) -> None:
    """The parser's errors are ours: one line, exit 2."""
    assert main(["ask", "Hi", "--colour"]) == 2
    assert capsys.readouterr().err == "il: ask: --colour is not known here; `il ask --help` lists the options\n"


@pytest.mark.parametrize("closed", [(0,), (0, 1), (0, 1, 2)])
def test_a_process_without_standard_streams(closed: tuple[int, ...]) -> None:
    """A supervisor may have closed them; nothing is read then, and what is said goes nowhere."""
    command = [sys.executable, "-m", "interlingua", "chat", "-m", "fake/x"]
    run = [sys.executable, "-c", f"import os; [os.close(n) for n in {closed}]; os.execv({command[0]!r}, {command})"]
    done = subprocess.run(run, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_mistyped_option_is_told_its_right_name(capsys: Capture) -> None:
    """Its value is not looked at."""
    assert main(["ask", "Hi", "--modal=openai/x"]) == 2
    assert capsys.readouterr().err == (
        "il: ask: --modal=openai/x is not known here (did you mean --model?); `il ask --help` lists the options\n"
    )


def test_a_wrong_value_is_one_line(capsys: Capture) -> None:
    """So is a value that is none."""
    assert main(["ask", "Hi", "--max-tokens", "few"]) == 2
    assert capsys.readouterr().err == (
        "il: ask: argument --max-tokens: takes a whole number from 1 on, not few; `il ask --help` lists the options\n"
    )


def test_a_failing_provider_ends_with_1(capsys: Capture) -> None:
    """An upstream error is one line, without a traceback and without the key in it."""
    with use([AuthenticationError("openai: the key sk-abcdefghijklmnop was refused")]):
        assert main(["ask", "-m", "openai/x", "Hi"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("il: ")
    assert err.count("\n") == 1
    assert "sk-abc" not in err


def test_an_answer_that_does_not_fit_ends_with_3(capsys: Capture) -> None:
    """A typed answer that is none has an exit code of its own."""
    with use([OutputError("no Invoice")]):
        assert main(["ask", "-m", "openai/x", "Hi"]) == 3


def test_ctrl_c_ends_with_130(capsys: Capture) -> None:
    """An interrupt is a line and 130."""

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    with use(interrupt):
        assert main(["ask", "-m", "openai/x", "Hi"]) == 130
    assert capsys.readouterr().err == "il: interrupted\n"


def test_a_bug_is_one_line(capsys: Capture) -> None:
    """What nobody foresaw is one line that says how to see more, with secrets cleaned."""

    def break_down(_: object) -> str:
        raise RuntimeError("boom sk-abcdefghijklmnop")

    with use(break_down):
        assert main(["ask", "-m", "openai/x", "Hi"]) == 1
    assert capsys.readouterr().err == ("il: internal error, RuntimeError: boom *** (INTERLINGUA_DEBUG=1 shows where)\n")


def test_a_full_disk_is_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that cannot be written is no fault of ours."""

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def stay(_: object) -> None:
        return

    monkeypatch.setattr("interlingua.cli.commands.version.run", fail)
    monkeypatch.setattr(outcome, "lead_nowhere", stay)
    assert main(["version"]) == 1
    assert capsys.readouterr().err == "il: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_stream_that_is_closed_leads_nowhere(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started without it, a command works all the same."""
    monkeypatch.setattr(sys, closed, None)
    assert main(["version"]) == 0
    with getattr(sys, closed) as stream:
        assert stream.name == os.devnull


def test_debug_shows_the_traceback(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """INTERLINGUA_DEBUG=1 brings the traceback, cleaned of secrets too."""
    monkeypatch.setenv("INTERLINGUA_DEBUG", "1")
    with use([AuthenticationError("the key sk-abcdefghijklmnop was refused")]):
        assert main(["ask", "-m", "openai/x", "Hi"]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "sk-abc" not in err


def test_the_guide_knows_every_command_and_exit_code() -> None:
    """The guide's tables list what there is, and no more commands than there are."""
    guide = GUIDE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `il (\w+)` \|", guide, re.MULTILINE)) == set(COMMANDS)
    codes = {0, outcome.FAILED, outcome.MISUSED, outcome.UNFIT, outcome.INTERRUPTED, outcome.UNREAD}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", guide, re.MULTILINE)} == codes


def test_bash_completes_commands_options_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the script that a real bash reads."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "il.bash"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    lines = [
        f"COMP_WORDS=({words}); COMP_CWORD={place}; _il; echo ${{COMPREPLY[@]}}"
        for words, place in (("il ex", 1), ("il ask --max", 2), ("il models p", 2), ("il nope x", 2))
    ]
    done = subprocess.run(
        [bash, "-c", "\n".join([f"source {script}", *lines])], capture_output=True, text=True, check=True
    )
    assert done.stdout == "extract explain\n--max-tokens\npull path\n\n"


def test_other_shells_have_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    """The one of zsh holds that of bash; fish has a line for each command and option, with its help."""
    assert main(["completion", "zsh"]) == 0
    assert "bashcompinit" in capsys.readouterr().out
    assert main(["completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"complete -c il -n __fish_use_subcommand -f -a ask -d '{COMMANDS['ask']}'" in lines
    here = "complete -c il -n '__fish_seen_subcommand_from ask'"
    assert f"{here} -s m -l model -d 'provider/model, an alias, or a chain a/b,c/d'" in lines
    assert main(["completion", "csh"]) == 2
