"""What a terminal shows that a pipe does not: Markdown, a sign of life, colours. A real pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")

PROGRAM = """
import sys, time
from interlingua.cli.main import main
from interlingua.testing import use
def slow(request):
    time.sleep({delay})
    return {text!r}
with use(slow):
    sys.exit(main({arguments!r}))
"""


def on_terminal(
    home: Path, arguments: list[str], text: str = "", *, delay: float = 0.0, environ: Mapping[str, str] | None = None
) -> str:
    """What a terminal of 60 columns gets to see, on both streams."""
    ours, theirs = os.openpty()
    program = PROGRAM.format(delay=delay, text=text, arguments=arguments)
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "60", "INTERLINGUA_HOME": str(home)}
    environment |= environ or {}
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:  # how Linux says that the other side is closed
            return

    with subprocess.Popen([sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        reader = threading.Thread(target=read)
        reader.start()
    reader.join()
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n")


ANSWER = (
    "# Towns\n\n- **Oslo**\n- Bergen\n\n```python\nprint(1)\n\nprint(2)\n```\n\n"
    "See [here](https://x.example/a). \x1b[2J"
)


def test_an_answer_is_shown_as_markdown(home: Path) -> None:
    """Headings, lists and code have a form; links show where they lead; nothing steers the terminal."""
    pytest.importorskip("rich")
    seen = on_terminal(home, ["ask", "-m", "fake/x", "Towns?"], ANSWER)
    assert "\x1b[1m" in seen
    assert " • " in seen
    assert "**Oslo**" not in seen
    assert "```" not in seen
    assert "https://x.example/a" in seen
    assert "\x1b[2J" not in seen
    assert "\x1b]8" not in seen


@pytest.mark.parametrize(("arguments", "environ"), [(["--plain"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})])
def test_plain_text_can_be_had(home: Path, arguments: list[str], environ: dict[str, str]) -> None:
    """`--plain`, `NO_COLOR` and terminals without colours show the text as it came."""
    seen = on_terminal(home, ["ask", "-m", "fake/x", "Towns?", *arguments], ANSWER, environ=environ)
    assert "- **Oslo**\n" in seen
    assert "[2J" in seen
    assert "\x1b[2J" not in seen


def test_a_sign_turns_while_nothing_has_come(home: Path) -> None:
    """After a moment, on stderr, and it is gone when the answer comes."""
    seen = on_terminal(home, ["ask", "-m", "fake/x", "Hi", "--plain"], "Hello.", delay=1.0)
    before, _, after = seen.partition("Hello.")
    assert "⠋ fake/x" in before
    assert before.endswith("\r\x1b[K")
    assert "⠋" not in after


def test_an_error_is_red(home: Path) -> None:
    """On a terminal, and nowhere else."""
    assert on_terminal(home, ["ask", "Hi", "-m", "fake/x", "--option", "nope=1"]).startswith("\x1b[31mil: ")


def test_a_call_waits_for_somebody_in_a_chat(home: Path) -> None:
    """`--approve never` runs nothing; the model reads why."""
    tools = home.parent / "mytools.py"
    tools.write_text('def go() -> str:\n    """Go."""\n    raise SystemExit(9)\n', encoding="utf-8")
    program = """
import io, sys
from interlingua.cli.main import main
from interlingua.testing import tool_call, use
sys.stdin = io.TextIOWrapper(io.BytesIO(b"Go.\\n"))
with use([tool_call("go"), "Not allowed."]) as fake:
    main(["chat", "-m", "fake/x", "--tool", "mytools.py", "--approve", "never"])
    print(fake.last_request.messages[-1].tool_results[0].content)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=home.parent)
    assert done.stdout == b"Not allowed.\nthe call of go was not approved\n"


def test_our_own_signs_reach_the_terminal(home: Path) -> None:
    """Bold and dim are shown as such in the history and in chapters; tables have none."""
    on_terminal(home, ["ask", "-m", "fake/x", "Hello"], "Hi \x1b[2J")
    listed = on_terminal(home, ["history"])
    assert listed.startswith("\x1b[2m1  ")
    assert listed.endswith("\x1b[22m\n  \x1b[1mHello\x1b[22m\n  Hi \ufffd[2J\n")
    assert on_terminal(home, ["history", "--show", "1"]).endswith("\n\x1b[1mHello\x1b[22m\n\nHi \ufffd[2J\n\n")
    assert on_terminal(home, ["auth", "list"], environ={"OPENAI_API_KEY": "k"}).count("\ufffd") == 0
    assert on_terminal(home, ["doctor"]).startswith("\x1b[1m")
