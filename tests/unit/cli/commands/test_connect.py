"""`il connect`: the lines of each client, and where keys stand in them."""

from __future__ import annotations

import ast

import pytest

from interlingua.cli.agents import AGENTS
from interlingua.cli.clients import Access, clients, lines
from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_the_lines_of_a_client(capsys: Capture) -> None:
    """Variables for the shell, an empty line, the client's own code; the other dialects on stderr."""
    assert main(["connect", "langchain", "-m", "anthropic/claude-opus-5", "--url", "http://gw:1/"]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "export OPENAI_API_BASE=http://gw:1/v1\n"
        "export OPENAI_API_KEY=YOUR_KEY\n"
        "\n"
        "from langchain_openai import ChatOpenAI\n"
        "\n"
        'model = ChatOpenAI(model="anthropic/claude-opus-5")\n'
    )
    assert "--dialect openai-responses or anthropic or google or ollama" in err


def test_a_dialect_with_its_note_and_the_variable_of_the_key(capsys: Capture) -> None:
    """What OLLAMA_HOST has no place for is said; the shell puts the key in."""
    assert main(["connect", "langchain", "--dialect", "ollama", "--key-env", "MY_KEY"]) == 0
    first, _, key, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("# OLLAMA_HOST has no place for a key")
    assert key == 'export OLLAMA_API_KEY="$MY_KEY"'


def test_a_coding_agent_is_connected_as_il_launch_would(capsys: Capture) -> None:
    """Its variables, with a key that the shell puts in."""
    assert main(["connect", "qwen", "-m", "openai/gpt-5.6", "--key-env", "MY_KEY"]) == 0
    assert 'export OPENAI_API_KEY="$MY_KEY"\n' in capsys.readouterr().out


def test_without_a_name_all_are_listed(capsys: Capture) -> None:
    """A line for each client and each agent."""
    assert main(["connect"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*clients(), *AGENTS]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["instructer"], "no client 'instructer'; did you mean instructor?"),
        (["langchain", "--dialect", "cohere"], "langchain does not speak 'cohere'; it speaks openai-chat"),
        (["langchain", "-m", 'a"b'], "connect: 'a\"b' is no name of a model"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], said: str, capsys: Capture) -> None:
    """A client, a dialect, a model that there is none of."""
    assert main(["connect", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_keys_stand_in_variables_alone_and_code_is_code() -> None:
    """No line of code holds the key; lines of Python compile."""
    access = Access("http://gw", "SECRET", "a/b")
    for name, client in clients().items():
        for dialect, surface in client.surfaces.items():
            shell, _, code = "\n".join(lines(surface, access)).partition("\n\n")
            assert "SECRET" in shell, (name, dialect)
            assert "SECRET" not in code, (name, dialect)
            if client.language == "python" and not surface.file:
                ast.parse(code)


def test_every_package_is_pinned() -> None:
    """The gallery installs what the table names: exact versions."""
    for client in clients().values():
        assert client.packages
        for package in client.packages:
            assert "==" in package or package.rpartition("@")[0], package
