"""Issue 4, point 2: where MCP servers are, as a command, an address or a file says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import interlingua as il
from interlingua.tools.mcp_servers import Address, Command, places_of


def written(tmp_path: Path, text: str) -> Path:
    """A file of servers."""
    path = tmp_path / ".mcp.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_command_line() -> None:
    """Words as a shell would split them; the program's name until the server has said its own."""
    assert places_of("uvx some-server --root 'my files'") == (
        Command("uvx", "uvx", ("some-server", "--root", "my files"), is_named=False),
    )
    assert places_of("/opt/bin/serve.sh", name="files", env={"A": "b"}, cwd=Path("x")) == (
        Command("files", "/opt/bin/serve.sh", (), {"A": "b"}, "x"),
    )
    for empty in ("", "  ", "say 'hello"):
        with pytest.raises(il.ConfigError, match="the command of an MCP server is empty or has an open quote"):
            places_of(empty)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://mcp.example/mcp", "mcp.example"),
        ("http://127.0.0.1:8000/mcp", "127.0.0.1"),
        ("https://user:secret@mcp.example:8443?key=1", "mcp.example"),
    ],
)
def test_an_address(url: str, host: str) -> None:
    """It is called like its host, without credentials."""
    assert places_of(url) == (Address(host, url, {}, is_named=False),)
    assert places_of(url, name="far", headers={"a": "b"}) == (Address("far", url, {"a": "b"}),)


def test_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and addresses in order; variables are filled in; what is disabled is left out."""
    monkeypatch.setenv("ROOM", "attic")
    monkeypatch.delenv("NO_SUCH", raising=False)
    path = written(
        tmp_path,
        """{"mcpServers": {
            "files": {"command": "${BIN:-uvx}", "args": ["files", "${ROOM}"], "env": {"K": "${ROOM}"}, "cwd": "x"},
            "far": {"url": "https://${ROOM}.example/mcp", "headers": {"authorization": "Bearer ${ROOM}"}},
            "old": {"type": "sse", "url": "https://old.example/sse"},
            "off": {"command": "${NO_SUCH:-}", "disabled": true}
        }}""",
    )
    expected = (
        Command("files", "uvx", ("files", "attic"), {"K": "attic"}, "x"),
        Address("far", "https://attic.example/mcp", {"authorization": "Bearer attic"}),
        Address("old", "https://old.example/sse", {}, is_sse=True),
    )
    assert places_of(path) == expected
    assert places_of(str(path)) == expected
    assert places_of(written(tmp_path, '{"servers": {"a": {"type": "stdio", "command": "b"}}}')) == (Command("a", "b"),)
    assert repr(il.mcp(path)) == "McpTools(a)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "malformed"),
        ("[]", "no object mcpServers"),
        ('{"mcpServers": []}', "no object mcpServers"),
        ('{"mcpServers": {"a": 3}}', "server a: neither a command nor a url"),
        ('{"mcpServers": {"a": {"args": []}}}', "server a: neither a command nor a url"),
        ('{"mcpServers": {"a": {"command": ""}}}', "server a: command is not a text"),
        ('{"mcpServers": {"a": {"command": "b", "args": "c"}}}', "server a: args is not a list of texts"),
        ('{"mcpServers": {"a": {"command": "b", "env": {"c": 1}}}}', "server a: env is not an object of texts"),
        ('{"mcpServers": {"a": {"url": 1}}}', "server a: url is not a text"),
        ('{"mcpServers": {"a": {"url": "b", "type": "ws"}}}', "server a: type 'ws' is none of http, "),
        ('{"mcpServers": {"a": {"command": "${NO_SUCH}"}}}', "server a: the environment has no NO_SUCH"),
    ],
)
def test_a_file_that_says_something_else(tmp_path: Path, text: str, sentence: str) -> None:
    """The error names the file, the server and what is wrong, before anything is started."""
    path = written(tmp_path, text)
    with pytest.raises(il.ConfigError) as caught:
        il.mcp(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert sentence in caught.value.message or sentence == "malformed"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(il.ConfigError, match=r"nowhere\.json: No such file"):
        il.mcp(tmp_path / "nowhere.json")
    with pytest.raises(il.ConfigError, match="name, env, cwd and headers of the servers of a file stand in the file"):
        il.mcp(tmp_path / "nowhere.json", name="a")


def test_what_is_no_server_is_refused() -> None:
    """The error says what there may be."""
    sentence = r"^il\.mcp\(…\) takes a command, an address or the path of a \.json file, not a dict$"
    with pytest.raises(il.UsageError, match=sentence):
        il.mcp({"command": "uvx"})  # type: ignore[arg-type]


def test_a_box_takes_a_list_here_too() -> None:
    """A source alone is told the form; nothing is started for it."""
    with pytest.raises(il.UsageError, match=r"a toolbox takes a list, as in Toolbox\(\[il\.mcp\(…\)\]\)"):
        il.Toolbox(il.mcp("false"))
    assert repr(il.Toolbox([il.mcp("false --quiet", name="quiet")])) == "Toolbox(McpTools(quiet))"


def test_a_model_takes_a_box_and_not_a_source_among_functions() -> None:
    """A source in a list of a model is told where it belongs; nothing is started for it."""
    model = il.model("openai/gpt-5.6")
    with pytest.raises(il.UsageError, match=r"a McpTools is no tool; put it in an il\.Toolbox"):
        model.generate("Hi", tools=[il.mcp("false")])  # pyright: ignore[reportArgumentType]  # what it proves


WITHOUT = """
import sys
sys.modules["mcp"] = None
import interlingua as il
box = il.Toolbox([il.mcp("false")])
for use in (box.open, lambda: il.serve_mcp(il.Toolbox())):
    try:
        use()
    except il.ConfigError as error:
        print(error)
"""


def test_without_the_extra_the_error_says_how() -> None:
    """Nothing of the package is imported before a server is opened or a toolbox served."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "MCP servers need the [mcp] extra: pip install 'interlingua[mcp]'",
        "serving MCP needs the [mcp] extra: pip install 'interlingua[mcp]'",
    ]
