"""`il completion`: the scripts, run by their shells where these are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from interlingua.cli.main import COMMANDS, main

Capture = pytest.CaptureFixture[str]
TRIALS: list[tuple[list[str], set[str], set[str]]] = [
    (["il", ""], {"ask", "chat", "serve", "providers"}, {"--json"}),
    (["il", "pro"], {"providers"}, {"ask"}),
    (["il", "providers", "--"], {"--json", "--help"}, {"ask"}),
    (["il", "models", "pu"], {"pull"}, {"path"}),
    (["interlingua", "health", ""], {"suspend", "resume", "--for"}, {"providers"}),
]
"""What is typed, with what has to be offered and what must not be."""


def script(shell: str, folder: Path, capsys: Capture) -> Path:
    """The script of a shell, in a file."""
    assert main(["completion", shell]) == 0
    path = folder / f"completion.{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def found(shell: str) -> str:
    """The program of a shell; a test is skipped where it is not installed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed, so that its script was not run")
    return program


def run(command: list[str]) -> str:
    """What a shell prints; nothing may be said on stderr."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(("words", "offered", "missing"), TRIALS, ids=[" ".join(trial[0]) for trial in TRIALS])
def test_bash_completes(
    words: list[str], offered: set[str], missing: set[str], tmp_path: Path, capsys: Capture
) -> None:
    """The function that the script registers for both names is called as bash calls it."""
    path, program = script("bash", tmp_path, capsys), found("bash")
    typed = " ".join([f"'{word}'" for word in words])
    lines = [
        f"source {path}",
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}",
        f'function=$(complete -p {words[0]} | sed "s/.*-F \\([^ ]*\\).*/\\1/")',
        '"$function"',
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    answers = set(run([program, "--norc", "--noprofile", "-uc", "\n".join(lines)]).split())
    assert offered <= answers
    assert not missing & answers


def test_bash_knows_every_command(tmp_path: Path, capsys: Capture) -> None:
    """Each command of this version is offered first, and nothing else."""
    path, program = script("bash", tmp_path, capsys), found("bash")
    code = f'source {path}; COMP_WORDS=(il ""); COMP_CWORD=1; _il; printf "%s\\n" "${{COMPREPLY[@]}}"'
    assert run([program, "--norc", "--noprofile", "-uc", code]).split() == list(COMMANDS)


def test_zsh_loads_the_script(tmp_path: Path, capsys: Capture) -> None:
    """The script is read without a word, and completes both names."""
    path, program = script("zsh", tmp_path, capsys), found("zsh")
    code = f"source {path}; echo $_comps[il] $_comps[interlingua]"
    assert run([program, "-f", "-c", code]).split().count("_bash_complete") == 2


@pytest.mark.parametrize(("words", "offered", "missing"), TRIALS, ids=[" ".join(trial[0]) for trial in TRIALS])
def test_fish_completes(
    words: list[str], offered: set[str], missing: set[str], tmp_path: Path, capsys: Capture
) -> None:
    """What `complete -C` gives for the line."""
    path, program = script("fish", tmp_path, capsys), found("fish")
    code = f"source {path}; complete -C '{' '.join(words)}'"
    answers = {line.split("\t")[0] for line in run([program, "--no-config", "-c", code]).splitlines()}
    assert offered <= answers
    assert not missing & answers
