from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("arguments", [["models"], ["models", "list"]])
def test_models_are_listed(arguments: list[str], capsys: Capture) -> None:
    """Listing is the default."""
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("local/tiny    not pulled")


@pytest.mark.parametrize("name", ["tiny", "local/tiny"])
def test_a_path_needs_the_weights(name: str, capsys: Capture) -> None:
    """Weights that are not here are one line with the way out, and exit 2."""
    assert main(["models", "path", name]) == 2
    assert capsys.readouterr().err == "il: local/tiny: the weights are not here yet: il models pull tiny\n"


def test_pull_needs_a_name(capsys: Capture) -> None:
    """Which one, is asked."""
    assert main(["models", "pull"]) == 2
    assert capsys.readouterr().err == "il: models pull: which one? `il models` lists them\n"


def test_pull_pulls(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull ends with the path on stdout."""

    def pull(name: str, *, progress: object) -> Path:
        return Path(f"{name}.gguf")

    monkeypatch.setattr("interlingua.local.commands.pull", pull)
    assert main(["models", "pull", "local/tiny"]) == 0
    assert capsys.readouterr().out == "tiny.gguf\n"


def test_an_unknown_model(capsys: Capture) -> None:
    """A model that there is not is one line and exit 2."""
    assert main(["models", "pull", "huge"]) == 2
    assert capsys.readouterr().err.startswith("il: local/huge: there is no such model; known are tiny")
