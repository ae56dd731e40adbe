"""A dialect is one folder and one line, a provider is one row: tried in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import interlingua

SOURCE = Path(interlingua.__file__).parent
SUPPORT = Path(__file__).parents[1] / "support"
LINE = '    "toy": "interlingua.dialects.toy",\n'
LAST_GROUP = "_IN_PROCESS = (\n"
ROW = """    Provider(
        name="toyland",
        title="Toyland",
        base_url="https://toyland.example/v1",
        dialects=("toy",),
        key_env=("TOYLAND_API_KEY",),
    ),
"""


def _insert(path: Path, line: str, text: str) -> None:
    """Put a text behind a line that is there once."""
    content = path.read_text()
    assert content.count(line) == 1, line
    path.write_text(content.replace(line, line + text))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process says whose package has the toy dialect and its provider."""
    root = tmp_path_factory.mktemp("scratch")
    package = root / "interlingua"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = package / "dialects" / "toy"
    folder.mkdir()
    for module in (SUPPORT / "toy").glob("*.py"):
        text = module.read_text().replace("tests.support.toy", "interlingua.dialects.toy")
        (folder / module.name).write_text(text)
    _insert(package / "dialects" / "table.py", '    "unified": "interlingua.dialects.unified",\n', LINE)
    _insert(package / "providers" / "rows.py", LAST_GROUP, ROW)
    shutil.copy(SUPPORT / "toy_trial.py", root / "trial.py")
    environ = {"PYTHONPATH": str(root), "TOYLAND_API_KEY": "sk-toy", "GROQ_API_KEY": "sk-groq"}
    for name in ("PATH", "HOME", "SYSTEMROOT"):
        environ |= {name: os.environ[name]} if name in os.environ else {}
    run = subprocess.run([sys.executable, "trial.py"], cwd=root, env=environ, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


def test_the_codec_translates_it_both_ways(found: dict[str, Any]) -> None:
    """A request of the new dialect becomes one of Chat and back, with an entry for what it cannot say."""
    assert found["codec"] == {
        "request": {
            "model": "m",
            "messages": [{"role": "user", "content": "Hi"}],
            "max_completion_tokens": 9,
        },
        "request back": {"model": "m", "lines": [{"by": "user", "words": "Hi"}]},
        "changes": ["/temperature"],
        "answer back": "Hello",
    }


def test_the_gateway_serves_its_clients(found: dict[str, Any]) -> None:
    """Its path is answered in its own words, whole and streamed, by its own provider and by another one's."""
    served = found["gateway"]
    frames = 'data: {"words":"Hello from %s"}\n\ndata: {"why":"done"}\n\n'
    assert served["passed"] == '200 {"words":"Hello from m1","why":"done","id":"r1"}'
    assert served["passed, stream"] == f"200 {frames % 'm1'}"
    assert served["to another provider"] == '200 {"words":"Hello from m2","why":"done","id":"r1"}'
    assert served["to another provider, stream"] == f"200 {frames % 'm2'}"


def test_the_gateway_tells_its_clients_errors(found: dict[str, Any]) -> None:
    """What is wrong with a body, and a path that nothing answers, are told in the dialect's own form."""
    place = "/lines: it is missing or empty; there is nothing to say to the model"
    assert found["gateway"]["says nothing"] == f'400 {{"wrong":{{"message":"{place}","status":400}}}}'
    assert found["gateway"]["nothing there"].startswith('404 {"wrong":{"message":"nothing is answered at /toy/v1/ask;')


def test_its_provider_serves_everybody(found: dict[str, Any]) -> None:
    """The new provider is asked by the library and for clients of other dialects, at its address and in its dialect."""
    whole = {"model": "m1", "lines": [{"by": "user", "words": "Hi"}]}
    toyland = ["toy", "https://toyland.example/v1/say", ["1"]]
    assert found["library"] == "Hello from m1"
    answer = json.loads(found["gateway"]["from another client"].removeprefix("200 "))
    assert answer["choices"][0]["message"]["content"] == "Hello from m1"
    own = [sent for sent in found["sent"] if sent[0] == "toy"]
    assert own == [
        [*toyland, whole],
        [*toyland, whole],
        [*toyland, {**whole, "stream": True}],
        [*toyland, whole],
    ]


def test_the_command_line_has_both(found: dict[str, Any]) -> None:
    """The provider is listed, a call to it is explained, and a body of the dialect is translated by name."""
    commands = found["commands"]
    assert commands["providers"].split("\n")[1].split() == [
        *("toyland", "toy", "set:", "TOYLAND_API_KEY", "https://toyland.example/v1", "built", "in")
    ]
    body = '{\n  "model": "m1",\n  "lines": [\n    {\n      "by": "user",\n      "words": "Hi"\n    }\n  ]\n}'
    assert commands["explain"] == (
        f"0 -> toyland/m1 (toy): first target\n\nPOST https://toyland.example/v1/say\n{body}\n\nno changes\n"
    )
    assert commands["dialects in the help"].split(", ")[-2:] == ["toy", "bedrock"]
    chat = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    assert json.loads(commands["translate"].removeprefix("0 ")) == chat
