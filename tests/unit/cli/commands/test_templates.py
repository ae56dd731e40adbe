from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import use

Capture = pytest.CaptureFixture[str]
Pipe = Callable[[bytes], None]


KEYS = "model, system, prompt, schema, effort, max_tokens, temperature, timeout, tool, option"


def template(home: Path, text: str, name: str = "brief") -> Path:
    """A template that somebody wrote by hand."""
    path = home / "state" / "templates" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_saved_is_asked(home: Path, capsys: Capture, pipe: Pipe) -> None:
    """Options and prompt come back, with the input and the parameters in their places; saving asks nothing."""
    with use("Kort.") as fake:
        assert (
            main(["ask", "--save", "brief", "-m", "fake/x", "-s", 'You are "terse".', "Sum up in $lang: $input"]) == 0
        )
        assert fake.requests == []
        pipe(b"A long\narticle.\n")
        assert main(["ask", "-t", "brief", "-p", "lang=Norwegian", "All of it."]) == 0
    assert fake.last_request.system == (il.TextPart('You are "terse".'),)
    assert fake.last_request.messages[0].text == "Sum up in Norwegian: All of it.\n\nA long\narticle."
    assert capsys.readouterr().out == "Kort.\n"
    assert (home / "state" / "templates" / "brief.toml").read_text(encoding="utf-8") == (
        'model = "fake/x"\nsystem = "You are \\"terse\\"."\nprompt = "Sum up in $lang: $input"\n'
    )


def test_the_command_line_goes_first(home: Path) -> None:
    """A template says what the command line leaves out; the prompt follows one without `$input`."""
    template(home, 'model = "fake/x"\nmax_tokens = 5\nprompt = "It costs $$5."\noption = ["seed=7", "n=1"]\n')
    with use("Yes.") as fake:
        assert main(["ask", "-t", "brief", "-m", "fake/y", "--option", "seed=8", "Really?"]) == 0
    assert fake.models == ["fake/y"]
    request = fake.last_request
    assert (request.max_tokens, request.seed, request.messages[0].text) == (5, 8, "It costs $5.\n\nReally?")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ('prompt = "In $lang: $input"', [], "template brief needs -p lang=VALUE"),
        ('prompt = "In $lang"', ["-p", "lang=no", "-p", "x=1"], "template brief has no parameter x; it has lang"),
        ('system = "x"', ["-p", "lang=no"], "template brief has no prompt, so it has no parameters"),
        ('prompt = "5$"', [], "template brief: write $$ for a dollar that begins no parameter"),
        ('prompt = "$input"', ["-p", "lang"], "-p lang: write KEY=VALUE, as in lang=French"),
        ("temprature = 1", [], f"{{path}}: temprature is not known here; there are {KEYS}"),
        ("temperature = true", [], "{path}: temperature is a number"),
        ("max_tokens = -5", [], "{path}: max_tokens takes a whole number from 1 on, not -5"),
        ("max_tokens = 1.5", [], "{path}: max_tokens takes a whole number from 1 on, not 1.5"),
        ("temperature = 2.5", [], "{path}: temperature takes a number from 0 to 2, not 2.5"),
        ("timeout = 0", [], "{path}: timeout takes seconds above 0, not 0"),
        ("tool = [1]", [], "{path}: tool is a list of texts"),
        ("model = ", [], "{path}: Invalid value (at end of document)"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place(
    home: Path, capsys: Capture, text: str, arguments: list[str], message: str
) -> None:
    """Every mistake is one line that names the template, and nothing is asked."""
    path = template(home, text)
    with use("never") as fake:
        assert main(["ask", "-m", "fake/x", "-t", "brief", "Hello", *arguments]) == 2
    assert fake.requests == []
    assert capsys.readouterr().err == f"il: {message.format(path=path)}\n"


def test_a_template_that_is_not_there(home: Path, capsys: Capture) -> None:
    """Its name, and one that is nearly so; a name is no path."""
    template(home, 'system = "x"')
    assert main(["ask", "-t", "briefs", "Hi"]) == 2
    assert capsys.readouterr().err == "il: there is no template briefs; did you mean brief?\n"
    assert main(["ask", "-t", "../x", "Hi"]) == 2
    assert "a name has letters" in capsys.readouterr().err
    assert main(["ask", "-p", "a=b", "Hi"]) == 2
    assert capsys.readouterr().err == "il: -p sets a parameter of a template; name one with -t\n"
    assert main(["ask", "--save", "empty"]) == 2


def test_templates_are_listed_shown_and_deleted(home: Path, capsys: Capture) -> None:
    """By their names."""
    assert main(["templates"]) == 0
    path = template(home, 'prompt = "Sum up."\n')
    for arguments in (["templates"], ["templates", "show", "brief"], ["templates", "path", "brief"]):
        assert main(arguments) == 0
    assert capsys.readouterr() == (
        f'brief: Sum up.\nprompt = "Sum up."\n{path}\n',
        "il: there are no templates; `il ask --save NAME` makes one\n",
    )
    assert main(["templates", "delete", "brief"]) == 0
    assert not path.exists()
    assert main(["templates", "delete", "brief"]) == 2
    assert main(["templates", "show"]) == 2
