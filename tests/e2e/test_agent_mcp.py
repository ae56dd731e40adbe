"""An agent, in both faces and on the command line, with the tools of an MCP server beside a function."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import FakeModel, tool_call, use
from tests.support.agents import FACES, AgentFace, call, get_weather

ROOT = Path(__file__).parents[2]
COMMAND = f"{sys.executable} -W error -m tests.support.mcp_server shop"


@pytest.mark.parametrize("face", FACES, ids=repr)
def test_r38_an_agent_calls_a_server_and_a_function(face: AgentFace) -> None:
    """The server is started when the run needs its tools; their results stand side by side."""
    server = il.mcp(COMMAND, env={"PYTHONPATH": str(ROOT)})
    with use(FakeModel([[tool_call("pid"), call()], "Done."])) as fake:
        agent = face.agent(tools=[get_weather, server])
        assert not server.is_open
        run = face.run(agent)
    try:
        assert run.output == "Done."
        assert [result.is_error for result in run.steps[0].results] == [False, False]
        assert {"get_weather", "pid"} <= {tool.name for tool in fake.requests[0].tools if isinstance(tool, il.Tool)}
    finally:
        server.disconnect()


def test_il_run_takes_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--mcp` names a file of servers; what they answer is told like that of any tool."""
    command = {"command": sys.executable, "args": ["-W", "error", "-m", "tests.support.mcp_server", "shop"]}
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"shop": {**command, "env": {"PYTHONPATH": str(ROOT)}}}}))
    monkeypatch.setattr("sys.stdin", None)
    with use(FakeModel([tool_call("pid"), "Done."])):
        assert main(["run", "-m", "fake/x", "Go", "--mcp", str(path)]) == 0
    with sys.stdin as opened:  # what the command has where there is none; nobody else would close it
        assert opened.name == os.devnull
    told = capsys.readouterr()
    assert told.out == "Done.\n"
    assert told.err.startswith("→ pid({})\n← pid: ")
