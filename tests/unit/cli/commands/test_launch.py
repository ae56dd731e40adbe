"""`il launch`: what each agent is told, that nothing else is touched, and what is said at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlingua as il
from interlingua.cli.agents import AGENTS, Place, environment, flags, written
from interlingua.cli.main import main
from interlingua.cli.tally import Tally
from interlingua.client.observe import CallFinished, CallStarted
from interlingua.testing import FakeModel, use
from interlingua.types.response import Attempt

if TYPE_CHECKING:
    from collections.abc import Callable

Capture = pytest.CaptureFixture[str]
PLACE = Place("http://127.0.0.1:9", "il-key", "openai/gpt-5.6", "local/coder")
ASKS = """
import json, os, sys, urllib.request
open("told.json", "w").write(json.dumps([sys.argv[1:], dict(os.environ)]))
body = {"model": os.environ["ANTHROPIC_MODEL"], "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
headers = {"authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"], "content-type": "application/json"}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
print(json.load(opener.open(request))["content"][0]["text"])
sys.exit(7)
"""

# Many short sleeps: a signal that comes between `ready` and a sleep is answered only after that sleep. Handlers end
# with `os._exit`: an exception would be lost where the signal comes while Python closes the file.
WAITS = "import time\nopen('ready', 'w')\nfor _ in range(1000):\n    time.sleep(0.02)\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a Python program under a name on the search path."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)

    def put(name: str, code: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
        path.chmod(0o755)
        return path

    return put


# What each is told


def test_claude() -> None:
    """Its address, key and models; a key of another kind, and ways to another service, are forgotten."""
    around = {"ANTHROPIC_API_KEY": "sk-ant-own", "CLAUDE_CODE_USE_BEDROCK": "1", "HOME": "elsewhere"}
    with written(AGENTS["claude"], PLACE) as papers:
        told = environment(AGENTS["claude"], PLACE, around, papers)
        assert flags(AGENTS["claude"], PLACE, papers) == ["--settings", papers["--settings"]]
        settings = json.loads(Path(papers["--settings"]).read_text())
    own = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_AUTH_TOKEN": "il-key",
        "ANTHROPIC_MODEL": "openai/gpt-5.6",
        "ANTHROPIC_DEFAULT_OPUS_MODEL": "openai/gpt-5.6",
        "ANTHROPIC_DEFAULT_SONNET_MODEL": "openai/gpt-5.6",
        "ANTHROPIC_DEFAULT_FABLE_MODEL": "openai/gpt-5.6",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "local/coder",
    }
    assert told == {"HOME": "elsewhere", **own, "NO_PROXY": "127.0.0.1,localhost,::1"}
    assert settings == {"env": own}


def test_codex() -> None:
    """A provider by flags whose values are TOML; the key is in a variable, where nobody who lists processes sees it."""
    agent = AGENTS["codex"]
    told = flags(agent, PLACE, {})
    assert told[::2] == ["-c"] * 7
    assert tomllib.loads("\n".join(told[1::2])) == {
        "model_provider": "interlingua",
        "model": "openai/gpt-5.6",
        "model_providers": {
            "interlingua": {
                "name": "interlingua",
                "base_url": "http://127.0.0.1:9/v1",
                "env_key": "INTERLINGUA_LAUNCH_KEY",
                "wire_api": "responses",
                "supports_websockets": False,
            }
        },
    }
    assert agent.variables(PLACE) == {"INTERLINGUA_LAUNCH_KEY": "il-key"}


def test_gemini() -> None:
    """Its address and key in variables; how it logs in stands in a file of its own, gone afterwards."""
    agent = AGENTS["gemini"]
    told = environment(agent, PLACE, {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, {})
    assert told == {
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GEMINI_API_KEY": "il-key",
        "GEMINI_MODEL": "openai/gpt-5.6",
        "NO_PROXY": "127.0.0.1,localhost,::1",
    }
    with written(agent, PLACE) as papers:
        assert environment(agent, PLACE, {}, papers) == {**told, **papers}
        path = Path(papers["GEMINI_CLI_SYSTEM_SETTINGS_PATH"])
        assert json.loads(path.read_text()) == {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.parent.exists()


def test_qwen() -> None:
    """The variables of the OpenAI SDK, and flags that say that they count."""
    agent = AGENTS["qwen"]
    assert agent.variables(PLACE) == {
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "OPENAI_API_KEY": "il-key",
        "OPENAI_MODEL": "openai/gpt-5.6",
    }
    assert agent.flags(PLACE) == ["--auth-type", "openai", "--model", "openai/gpt-5.6"]


def test_opencode() -> None:
    """A configuration in a variable, which names the variable of the key."""
    told = AGENTS["opencode"].variables(PLACE)
    assert json.loads(told.pop("OPENCODE_CONFIG_CONTENT")) == {
        "model": "interlingua/openai/gpt-5.6",
        "small_model": "interlingua/local/coder",
        "provider": {
            "interlingua": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "interlingua",
                "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "{env:INTERLINGUA_LAUNCH_KEY}"},
                "models": {"openai/gpt-5.6": {"name": "openai/gpt-5.6"}, "local/coder": {"name": "local/coder"}},
            }
        },
    }
    assert told == {"INTERLINGUA_LAUNCH_KEY": "il-key"}


@pytest.mark.parametrize("name", AGENTS)
def test_no_key_is_a_flag(name: str) -> None:
    """Whoever lists the processes of a machine reads flags."""
    assert "il-key" not in " ".join(AGENTS[name].flags(PLACE))


def test_a_proxy_is_passed_by() -> None:
    """What was said of proxies holds on; this machine is never asked by way of one."""
    told = environment(AGENTS["qwen"], PLACE, {"no_proxy": "corp.example", "HTTPS_PROXY": "http://proxy:3128"}, {})
    assert told["no_proxy"] == "corp.example,127.0.0.1,localhost,::1"
    assert told["HTTPS_PROXY"] == "http://proxy:3128"
    assert "NO_PROXY" not in told


# A run


def test_a_run(program: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gets its arguments and variables, asks through the gateway, and its exit code is ours."""
    program("claude", ASKS)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-own")
    before = dict(os.environ)
    with use(FakeModel(["Hello"])):
        assert main(["launch", "claude", "-m", "openai/gpt-5.6", "--", "-p", "fix the tests", "--", "-x"]) == 7
    arguments, told = json.loads((tmp_path / "told.json").read_text())
    assert arguments[0] == "--settings"
    assert not Path(arguments[1]).exists()
    assert arguments[2:] == ["-p", "fix the tests", "--", "-x"]
    assert told["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert told["ANTHROPIC_AUTH_TOKEN"].startswith("il-")
    assert "ANTHROPIC_API_KEY" not in told
    assert dict(os.environ) == before


def test_what_is_said_at_the_end(program: Callable[[str, str], Path], capsys: Capture) -> None:
    """Who answered, tokens and money, and what was changed; with `-q` nothing."""
    program("claude", ASKS)
    usage = il.Usage(input_tokens=1200, output_tokens=30, cache_read_tokens=1000)
    for options in ([], ["-q"]):
        reply = il.Response(parts=(il.TextPart("Hello"),), usage=usage)
        with use(FakeModel([reply])):
            assert main(["launch", "claude", "-m", "openai/gpt-5.6", *options]) == 7
    assert capsys.readouterr().err.splitlines() == [
        "il: 1 call of openai/gpt-5.6; 1,200 tokens in (1,000 from the cache), 30 out, price unknown",
        "il: changed on the way: approximated parameter_adjusted (1)",
    ]


def test_a_chain_has_a_name_of_its_own(program: Callable[[str, str], Path], tmp_path: Path) -> None:
    """No agent takes a comma for a part of a name; the small model is the other one's, unless it is said."""
    program("claude", ASKS)
    with use(FakeModel(["Hello"])):
        main(["launch", "claude", "-m", "openai/gpt-5.6,google/gemini-3-pro", "--small", "openai/gpt-5-mini"])
    _, told = json.loads((tmp_path / "told.json").read_text())
    assert told["ANTHROPIC_MODEL"] == "main"
    assert told["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "openai/gpt-5-mini"


def test_an_agents_own_names_work(program: Callable[[str, str], Path], capsys: Capture) -> None:
    """A name that nothing defines stands for the model, its name for what is small stands for the small one."""
    program("claude", ASKS.replace('os.environ["ANTHROPIC_MODEL"]', "sys.argv[3]"))
    for name in ("claude-opus-5", "claude-haiku-4-5"):
        with use(FakeModel(["Hello"])):
            main(["launch", "claude", "-m", "openai/gpt-5.6", "--small", "openai/gpt-5-mini", "--", name])
    told = [line.partition(";")[0] for line in capsys.readouterr().err.splitlines()]
    assert told[::2] == ["il: 1 call of openai/gpt-5.6", "il: 1 call of openai/gpt-5-mini"]


def test_signals_are_the_programs(program: Callable[[str, str], Path], tmp_path: Path) -> None:
    """What ends us ends the program, whose exit code it is; one that a signal ended has a shell's code."""
    catches = f"import os, signal\nsignal.signal({signal.SIGTERM}, lambda *_: os._exit(9))\n{WAITS}"
    for code, expected in ((WAITS, 128 + signal.SIGTERM), (catches, 9)):
        (tmp_path / "ready").unlink(missing_ok=True)
        program("claude", code)
        command = [sys.executable, "-m", "interlingua", "launch", "claude", "-q", "-m", "openai/gpt-5.6"]
        with subprocess.Popen(command, env={**os.environ, "OPENAI_API_KEY": "k"}) as launched:
            while not (tmp_path / "ready").exists():
                assert launched.poll() is None
            launched.terminate()
            assert launched.wait(60) == expected


def test_the_keyboard_is_the_programs(program: Callable[[str, str], Path], tmp_path: Path) -> None:
    """Ctrl-C reaches the program from the terminal, and does not end us before it."""
    program("claude", f"import os, signal\nsignal.signal(signal.SIGINT, lambda *_: os._exit(5))\n{WAITS}")
    command = [sys.executable, "-m", "interlingua", "launch", "claude", "-q", "-m", "openai/gpt-5.6"]
    environ = {**os.environ, "OPENAI_API_KEY": "k"}
    with subprocess.Popen(command, env=environ, start_new_session=True) as launched:
        while not (tmp_path / "ready").exists():
            assert launched.poll() is None
        os.killpg(launched.pid, signal.SIGINT)  # what a terminal does
        assert launched.wait(60) == 5


def test_a_missing_program(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says how to install it."""
    monkeypatch.setenv("PATH", "")
    assert main(["launch", "codex", "-m", "openai/gpt-5.6"]) == 2
    assert capsys.readouterr().err == (
        "il: Codex is not installed: npm install -g @openai/codex (its program is `codex`)\n"
    )


def test_a_missing_key(program: Callable[[str, str], Path], capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anything starts, since every answer would be an error; one key of a chain is enough."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    program("claude", "")
    assert main(["launch", "claude", "-m", "openai/gpt-5.6"]) == 2
    assert capsys.readouterr().err.startswith("il: openai: no key; set OPENAI_API_KEY")
    monkeypatch.setenv("GROQ_API_KEY", "gsk")
    assert main(["launch", "claude", "-q", "-m", "openai/gpt-5.6,groq/some-model"]) == 0


def test_a_program_that_cannot_start(
    program: Callable[[str, str], Path], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, no traceback."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    path = program("claude", "")
    path.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    assert main(["launch", "claude", "-m", "openai/gpt-5.6"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"il: {path} cannot be started: No such file or directory"


def test_what_is_missing_or_unknown(capsys: Capture) -> None:
    """No model, a model that names nothing, an agent that is not known."""
    assert main(["launch", "claude"]) == 2
    assert main(["launch", "claude", "-m", "nobody/at-all"]) == 2
    assert main(["launch", "emacs", "-m", "openai/gpt-5.6"]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == "il: launch: no model; name one with -m, or set INTERLINGUA_MODEL"
    assert "nobody" in second
    assert "'emacs'" in third


def test_print_env(capsys: Capture) -> None:
    """What to say by hand, for a gateway that `il serve` runs; nothing is started, so the agent need not be there."""
    assert main(["launch", "gemini", "-m", "openai/gpt-5.6", "--print-env", "--", "-p", "two words"]) == 0
    told = capsys.readouterr()
    paper, settings = "GEMINI_CLI_SYSTEM_SETTINGS_PATH", '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'
    assert told.out.splitlines() == [
        "unset GOOGLE_API_KEY GOOGLE_GENAI_USE_GCA GOOGLE_GENAI_USE_VERTEXAI",
        "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787",
        "export GEMINI_API_KEY=any",
        "export GEMINI_MODEL=openai/gpt-5.6",
        f'export {paper}="$(mktemp)"; echo \'{settings}\' > "${paper}"',
        "gemini -p 'two words'",
    ]
    assert told.err == "il: these settings need a running gateway: il serve -m openai/gpt-5.6\n"


# The tally


def _finished(**facts: Any) -> CallFinished:
    return CallFinished(id="1", duration_s=1.0, **facts)


def test_a_tally_of_nothing() -> None:
    """Nothing was asked: one line."""
    tally = Tally()
    tally.hear(CallStarted(id="1", targets=("a/b",)))
    assert tally.lines() == ["no model was asked"]


def test_a_tally_of_a_chain() -> None:
    """Each target with its calls, failed tries by their class, money as far as it is known, changes by their kind."""
    tally = Tally()
    failed = Attempt(model="a/b", outcome="failed", error="OverloadedError: no capacity")
    change = il.Change("dropped", "cache_unsupported", "/cache", "openai-chat", "encode_request", "")
    usage = il.Usage(input_tokens=10, output_tokens=5)
    tally.hear(_finished(model="c/d", attempts=(failed,), usage=usage, cost_usd=0.25, changes=(change, change)))
    tally.hear(_finished(model="c/d", usage=usage, cost_usd=1.5))
    tally.hear(_finished(model="e/f", usage=usage))
    tally.hear(_finished(error="ConfigError"))
    assert tally.lines() == [
        "3 calls (2 of c/d, 1 of e/f); 30 tokens in, 15 out, $1.75 and 1 of unknown price",
        "failed tries: a/b OverloadedError (1), ConfigError (1)",
        "changed on the way: dropped cache_unsupported (2)",
    ]
