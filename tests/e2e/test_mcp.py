"""Issue 4, point 2: servers of the official package as tools, and a toolbox served to the official client."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("mcp")

import uvicorn
from mcp import Client, StdioServerParameters

import interlingua as il
from interlingua import aio
from interlingua.tools.mcp_link import Link
from interlingua.tools.mcp_servers import Command
from interlingua.types.content import ToolCall, ToolResult
from tests.support import mcp_server

ROOT = Path(__file__).parents[2]
ENV = {"PYTHONPATH": str(ROOT)}
COMMAND = f"{sys.executable} -W error -m tests.support.mcp_server shop"
PLAIN = f"{sys.executable} -W error -m tests.support.mcp_plain shop"
"""The same without the official package, which takes most of a second to start: for how servers begin and end."""


def call(name: str, arguments: str = "{}", id: str = "call_0") -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id, name, arguments)


def shop(**options: Any) -> il.McpTools:
    """The server of the official package."""
    return il.mcp(COMMAND, env=ENV, **options)


def plain(**options: Any) -> il.McpTools:
    """The server that starts at once."""
    return il.mcp(PLAIN, env=ENV, **options)


def content(box: il.Toolbox, name: str, arguments: str = "{}", **options: Any) -> object:
    """What one call gives."""
    return box.execute(call(name, arguments), **options).tool_results[0].content


def process_of(box: il.Toolbox) -> int:
    """The process id of the server behind a box."""
    return int(str(content(box, "pid")))


def is_gone(pid: int, within_s: float = 60) -> bool:
    """Whether a process has ended."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(scope="module")
def box() -> Iterator[il.Toolbox]:
    """One open server for the tests that leave it as it is."""
    with il.Toolbox([shop()]) as opened:
        yield opened


# Tools


def test_the_servers_tools_are_tools(box: il.Toolbox) -> None:
    """Every page of the list, with names, descriptions, the servers' own schemas and what they say of themselves."""
    tools = {tool.name: tool for tool in box if isinstance(tool, il.Tool)}
    assert list(tools) == ["double", "pid", "environment", "refuse", "show", "wait"]
    assert tools["double"].description == "Twice the number."
    assert tools["double"].parameters == mcp_server.NUMBER
    assert tools["double"].metadata == {"mcp": {"readOnlyHint": True}}
    assert len(box) == 6


ASIDE = (
    "tool dangling: inputSchema: no valid JSON Schema:",
    "tool misspelled: inputSchema: no valid JSON Schema: at properties.a.type",
    "tool objekt: inputSchema: no valid JSON Schema: at type",
    "tool listed: inputSchema: the type of inputs is object, not 'array'",
    "tool worded: it has no inputSchema that is a JSON object",
    "tool bare: it has no inputSchema that is a JSON object",
    "tool described: description: Input should be a valid string",
    "tool #10: it has no inputSchema that is a JSON object",
    "tool pid: another tool of the server has the same name",
)


def test_tol_04_a_bad_tool_is_set_aside_and_the_others_work(caplog: pytest.LogCaptureFixture) -> None:
    """A dangling reference, a type that there is not, inputs that are no object: each is told of, and costs itself."""
    source = il.mcp(f"{PLAIN} --faulty", env=ENV)
    with caplog.at_level("WARNING", "interlingua.tools"), il.Toolbox([source]) as box:
        assert [tool.name for tool in source.tools] == ["double", "pid", "crash", "untyped", "output"]
        assert content(box, "double", '{"number": 4}') == "8"
        assert content(box, "untyped", '{"number": 5}') == "10"
        assert content(box, "output") == "0"
        told = [sentence.removeprefix("MCP server shop, ") for sentence in source.set_aside]
        assert [sentence[: len(start)] for sentence, start in zip(told, ASIDE, strict=True)] == list(ASIDE)
        assert len([record for record in caplog.records if "is set aside" in record.getMessage()]) == len(ASIDE)
    with (
        il.mcp(f"{PLAIN} --faulty", env=ENV, only=["double", "listed"]) as some,
        pytest.raises(il.ConfigError, match=r"tool listed: .* not 'array'; leave it out of `only`"),
    ):
        _ = some.tools


def test_calls_of_one_step_run_at_once(box: il.Toolbox) -> None:
    """Results come in call order, and arguments are checked before anything is sent (R35)."""
    calls = [call("double", f'{{"number": {number}}}', f"call_{number}") for number in range(3)]
    results = box.execute([*calls, call("double", '{"number": "x"}', "bad")]).tool_results
    assert [result.content for result in results[:3]] == ["0", "2", "4"]
    assert results[3] == ToolResult("bad", "double", 'tool double, argument number: "x" is not an integer', True)


def test_results_are_mapped(box: il.Toolbox) -> None:
    """Text, parts, structured values and errors."""
    assert content(box, "show") == (il.TextPart("look"), il.ImagePart(b"bytes", "image/png"))
    assert box.execute(call("refuse")).tool_results == (ToolResult("call_0", "refuse", "no such order", is_error=True),)
    assert isinstance(content(box, "environment"), il.Json)


def test_a_server_sees_no_keys(box: il.Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment is what every program needs, and what the caller gave."""
    found = cast("il.Json", content(box, "environment")).value
    assert "PYTHONPATH" in found["names"]
    assert set(found["names"]) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "PYTHONPATH", "LC_CTYPE", "PWD"}


def test_progress_is_heard(box: il.Toolbox) -> None:
    """The server's words, or its numbers, in the thread that called."""
    heard: list[str] = []

    def listen(one: ToolCall, text: str) -> None:
        assert threading.current_thread() is threading.main_thread()
        heard.append(text)

    assert content(box, "wait", '{"number": 0}', on_progress=listen) == "waited"
    assert heard == ["waiting", "2 of 4", "3"]


async def test_the_blocking_face_works_inside_a_loop(box: il.Toolbox) -> None:
    """A running event loop is in nobody's way."""
    assert content(box, "double", '{"number": 4}') == "8"


def test_a_time_out_reaches_the_server(tmp_path: Path) -> None:
    """The call is an error result, the server is told, and goes on."""
    with il.Toolbox([shop(cwd=tmp_path)]) as opened:
        assert content(opened, "wait", '{"number": 30}', timeout_s=0.3) == "tool wait took longer than 0.3 s"
        assert content(opened, "double", '{"number": 1}') == "2"
        until = time.monotonic() + 60
        while not (tmp_path / "cancelled").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert (tmp_path / "cancelled").read_text(encoding="utf-8") == "yes"


def test_names_that_clash_get_the_servers_name_before_them() -> None:
    """Functions keep their names; a tool that is alone keeps its own; `only` leaves the others out."""

    def pid() -> str:
        """Not a process."""
        return "mine"

    def double(number: int) -> int:
        """Not the server's."""
        return -number

    one, two = plain(only=["double", "crash"]), plain(name="other shop", only=["double", "pid"])
    with il.Toolbox([pid, one, two, double]) as opened:
        names = [tool.name for tool in opened if isinstance(tool, il.Tool)]
        assert names == ["pid", "shop_double", "crash", "other_shop_double", "other_shop_pid", "double"]
        assert content(opened, "pid") == "mine"
        assert content(opened, "double", '{"number": 2}') == il.Json(-2)
        assert content(opened, "shop_double", '{"number": 2}') == "4"
        assert content(opened, "other_shop_double", '{"number": 3}') == "6"
    with pytest.raises(il.ConfigError, match=r"McpTools\(python.*\) has no tool nothing; leave it out of `only`"):
        il.Toolbox([plain(only=["nothing"])]).open()


def test_a_file_of_servers(tmp_path: Path) -> None:
    """All servers of a `.mcp.json` come, under the names that stand there."""
    entry = {"command": sys.executable, "args": PLAIN.split()[1:], "env": ENV}
    path = tmp_path / ".mcp.json"
    servers = {"a": entry, "b": {**entry, "disabled": True}, "c": entry}
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    with il.mcp(path) as opened:
        assert repr(opened) == "McpTools(a, c)"
        assert len(opened.tools) == 6
        names = [tool.name for tool in il.Toolbox([opened]) if isinstance(tool, il.Tool)]
        assert names[:2] + names[3:5] == ["a_double", "a_pid", "c_double", "c_pid"]


def test_a_server_over_http() -> None:
    """An address is a server, too, here on loopback; headers go along."""
    seen: list[str | None] = []
    app = mcp_server.made("far").streamable_http_app()

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(dict(scope["headers"]).get(b"x-tenant", b"").decode())
        await app(scope, receive, send)

    config = uvicorn.Config(noted, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with il.Toolbox([il.mcp(f"http://127.0.0.1:{port}/mcp", headers={"x-tenant": "7"})]) as opened:
            assert content(opened, "double", '{"number": 21}') == "42"
        assert set(seen) == {"7"}
    finally:
        server.should_exit = True
        thread.join(10)


# The awaited face


async def test_the_awaited_face() -> None:
    """`async with`, or `await open()`; before that the tools are not known, and the error says how."""
    source = aio.mcp(COMMAND, env=ENV)
    box = aio.Toolbox([source])
    with pytest.raises(il.UsageError, match=r"`await box\.open\(\)` first"):
        _ = box.tools
    with pytest.raises(il.UsageError, match=r"AsyncMcpTools\(python.*\) is not open yet"):
        _ = source.tools
    heard: list[str] = []
    loop_thread = threading.current_thread()

    def listen(one: ToolCall, text: str) -> None:
        assert threading.current_thread() is loop_thread
        heard.append(text)

    message = await box.execute([call("double", '{"number": 5}'), call("wait", '{"number": 0}')], on_progress=listen)
    assert [result.content for result in message.tool_results] == ["10", "waited"]
    assert heard == ["waiting", "2 of 4", "3"]
    async with box:
        assert len(box) == len(source.tools) == 6
        pid = int(str((await box.execute(call("pid"))).tool_results[0].content))
    assert is_gone(pid)
    async with source:
        assert next(tool.name for tool in source) == "double"


# How it ends


def test_closing_ends_the_process_and_a_later_use_starts_another() -> None:
    """After `close` no process is left; the box closes what it opened, and opens it again when it is needed."""
    opened = il.Toolbox([plain()])
    first = process_of(opened)
    opened.close()
    assert is_gone(first)
    second = process_of(opened)
    assert second != first
    opened.close()
    assert is_gone(second)


def test_a_server_that_stays_is_ended_however_often_it_is_closed() -> None:
    """A second close, while the first one still waits for the process, leaves no process behind."""
    link = Link(Command("shop", sys.executable, ("-m", "tests.support.mcp_plain", "shop", "--stays"), ENV), 30)
    link.start()
    link.wait()
    (block,) = link.submit("pid", {}, print).result(30).content
    pid = int(block.text)  # type: ignore[union-attr]
    for _ in range(10):
        link.stop()
        time.sleep(0.05)
    link.join()
    assert is_gone(pid, 0.1)


async def test_a_server_is_opened_once_however_many_ask() -> None:
    """Calls that find it closed at the same time share one process; one close ends it."""
    box = aio.Toolbox([aio.mcp(PLAIN, env=ENV)])
    messages = await asyncio.gather(*[box.execute(call("pid")) for _ in range(4)])
    (pid,) = {message.tool_results[0].content for message in messages}
    await box.close()
    assert is_gone(int(str(pid)))


def test_a_box_leaves_open_what_others_opened() -> None:
    """A server that was open before the box needed it stays open after the box."""
    with plain() as source:
        with il.Toolbox([source]) as opened:
            pid = process_of(opened)
        assert not is_gone(pid, 0.2)
        assert process_of(il.Toolbox([source])) == pid
    assert is_gone(pid)


def test_what_nobody_holds_ends() -> None:
    """Neither the source nor a tool of it is there any more: the process ends."""
    opened = il.Toolbox([plain()])
    pid = process_of(opened)
    kept = next(tool for tool in opened if isinstance(tool, il.Tool) and tool.name == "double")
    del opened
    gc.collect()
    assert content(il.Toolbox([kept]), "double", '{"number": 6}') == "12"
    del kept
    assert any(gc.collect() >= 0 and is_gone(pid, 0.1) for _ in range(100))  # the thread of the call may hold it yet


PROGRAM = """
import sys
import interlingua as il
box = il.Toolbox([il.mcp(sys.argv[1], env={"PYTHONPATH": sys.argv[2]})])
print(box.execute(il.ToolCall("a", "pid", "{}")).tool_results[0].content, flush=True)
if sys.argv[3] == "raise":
    raise RuntimeError
sys.exit(0)
"""


@pytest.mark.parametrize("end", ["exit", "raise"])
def test_the_end_of_the_program_ends_the_process(end: str) -> None:
    """Whether the program ends well or not."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, PLAIN, str(ROOT), end], check=False, capture_output=True, text=True
    )
    assert done.returncode == (end == "raise"), done.stderr
    assert is_gone(int(done.stdout))
    assert done.stderr.count("Traceback") == (end == "raise")


def test_a_server_that_ends_in_a_call_is_an_error_result_and_starts_anew() -> None:
    """The model reads that it is gone; nothing is sent twice; the next call finds another process."""
    with il.Toolbox([plain()]) as opened:
        first = process_of(opened)
        (result,) = opened.execute(call("crash")).tool_results
        assert (result.is_error, result.content) == (True, "the MCP server shop closed the connection")
        assert is_gone(first, 1)
        assert process_of(opened) != first


MUTE = """
import os, sys, time
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


def test_a_server_that_is_never_ready_is_ended(tmp_path: Path) -> None:
    """The error names the server and the time; no process is left."""
    path = tmp_path / "pid"
    program = tmp_path / "mute.py"
    program.write_text(MUTE, encoding="utf-8")
    mute = il.mcp(f"{sys.executable} {program} {path}", name="mute", timeout_s=1.5)
    with pytest.raises(il.APITimeoutError, match=r"^MCP server mute: not ready after 1\.5 s$"):
        mute.open()
    assert is_gone(int(path.read_text(encoding="utf-8")))
    assert not mute.is_open


def test_servers_that_cannot_be_opened() -> None:
    """One sentence that names the server, and no secret."""
    with pytest.raises(il.ConfigError, match=r"^MCP server nothing-like-it: nothing-like-it: No such file"):
        il.mcp("nothing-like-it --stdio").open()
    with pytest.raises(il.APIConnectionError, match=r"^MCP server false could not be opened: "):
        il.mcp("false").open()
    with pytest.raises(il.APIConnectionError, match=r"^MCP server 127\.0\.0\.1 could not be opened: ") as caught:
        il.mcp("http://user:password-1@127.0.0.1:9/mcp?key=secret-12345", headers={"x-key": "secret-12345"}).open()
    assert "secret-12345" not in str(caught.value)
    assert "password-1" not in str(caught.value)


def test_opening_fails_for_all_when_it_fails_for_one(tmp_path: Path) -> None:
    """The servers of one file come together or not at all; none is left."""
    entry = {"command": sys.executable, "args": PLAIN.split()[1:], "env": ENV}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"good": entry, "bad": {"command": "false"}}}), encoding="utf-8")
    source = il.mcp(path)
    with pytest.raises(il.APIConnectionError, match=r"^MCP server bad could not be opened"):
        source.open()
    assert not source.is_open
    until = time.monotonic() + 60
    while _threads() and time.monotonic() < until:
        time.sleep(0.02)
    assert _threads() == []


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name in {"mcp good", "mcp bad"}]


def test_a_closed_server_says_so() -> None:
    """A tool that outlives its connection is an error result, not a hang."""
    link = Link(Command("gone", "false"), 1)
    with pytest.raises(il.ToolError, match="the MCP server gone is closed"):
        link.submit("double", {}, print)
    link.stop()
    link.join()


# Served


def served(*arguments: str) -> StdioServerParameters:
    """Our toolbox as a server."""
    return StdioServerParameters(
        command=sys.executable, args=["-W", "error", "-m", "tests.support.mcp_served", *arguments], env=ENV
    )


@pytest.mark.parametrize("arguments", [(), ("--awaited",)])
async def test_a_toolbox_is_a_server_for_the_official_client(arguments: tuple[str, ...]) -> None:
    """Both faces: the list, checked arguments, results of every form, failures, time-outs, context and progress."""
    heard: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with Client(served(*arguments)) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.instructions) == ("ours", "Be kind.")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["greet", "later", "fail", "tell", "hang", "several", "numbers", "shout"]
        assert tools["greet"].description == "Greet somebody."
        assert tools["greet"].input_schema == il.tool(_served().greet).parameters
        assert list(tools["later"].input_schema["properties"]) == ["text"]

        async def said(name: str, arguments: dict[str, Any] | None = None) -> tuple[bool, list[str], Any]:
            result = await client.call_tool(name, arguments, progress_callback=listen)
            texts = [getattr(block, "text", block.type) for block in result.content]
            return result.is_error, texts, result.structured_content

        assert await said("greet", {"name": "Bo"}) == (False, ['{"text":"hello Bo"}'], {"text": "hello Bo"})
        assert heard == [(1, "thinking"), (2, "greeting")]
        assert await said("greet", {"times": "x"}) == (
            True,
            ['tool greet, argument times: "x" is not an integer; argument name: is missing'],
            None,
        )
        assert await said("later", {"text": "coffee"}) == (False, ["coffee in Oslo"], None)
        assert await said("fail") == (True, ["tool fail failed with an internal error"], None)
        assert await said("tell") == (True, ["ask for a name"], None)
        assert await said("hang") == (True, ["tool hang took longer than 0.05 s"], None)
        assert await said("numbers") == (False, ["[1,2]"], None)
        assert await said("shout", {"input": "hey"}) == (False, ["HEY"], None)
        assert (await said("nothing"))[:2] == (True, [f"there is no tool nothing; there are: {', '.join(tools)}"])
        _, blocks, _ = await said("several")
        assert blocks == ["text", "image", "audio", "resource", "A part that only google can read: video"]


def test_our_client_takes_what_our_server_gives() -> None:
    """There and back, parts are the same parts."""
    with il.Toolbox([il.mcp(f"{sys.executable} -m tests.support.mcp_served", env=ENV)]) as opened:
        assert content(opened, "several") == (
            il.TextPart("text"),
            il.ImagePart(b"image", "image/png"),
            il.AudioPart(b"audio", "audio/wav"),
            il.DocumentPart(b"document", "application/pdf", "a.pdf"),
            il.TextPart("A part that only google can read: video"),
        )
        assert content(opened, "greet", '{"name": "Bo"}') == il.Json({"text": "hello Bo"})


def _served() -> Any:
    from tests.support import mcp_served

    return mcp_served


async def test_what_cannot_be_served_is_refused() -> None:
    """A tool that nothing here can run is named before any client comes."""
    with pytest.raises(il.UsageError, match="tool f has no handler, and cannot be served"):
        await aio.serve_mcp(aio.Toolbox([il.Tool(name="f")]))
    with pytest.raises(il.UsageError, match="web_search is run by a provider, and cannot be served"):
        await aio.serve_mcp(aio.Toolbox([il.OpaqueTool("anthropic", "web_search", {})]))
