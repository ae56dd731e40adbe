"""Every example runs to its end under the fake model, and prints what it promises."""

from __future__ import annotations

import re
import runpy
from contextlib import ExitStack
from pathlib import Path

import pytest

from interlingua.testing import FakeModel, no_network, tool_call, use
from interlingua.testing.fake import FakeAnswer
from interlingua.testing.upstream import Call, Say, Upstream
from tests.contract.source import ROOT
from tests.support.gateway import provider, serving

EXAMPLES = ROOT / "examples"

OF_ITS_OWN = {"demo", "demo_gateway"}
"""Need a real model and have tests of their own."""

OVER_HTTP = {"own_http_client": "OPENAI_BASE_URL", "unified_over_http": "GATEWAY"}
"""Need a server, whose address stands in this variable."""

SCRIPTS: dict[str, tuple[FakeAnswer | list[FakeAnswer], list[str]]] = {
    "tool_call": (
        [
            [tool_call("get_weather", city="Oslo"), tool_call("get_weather", city="Bergen")],
            tool_call("get_weather", city="Paris"),
            "Bergen is warmer.",
        ],
        ["→ get_weather {'city': 'Oslo'}", "→ get_weather {'city': 'Paris'}", "Bergen is warmer."],
    ),
    "agent": (
        [
            [tool_call("find_fare", city="Oslo"), tool_call("find_fare", city="Bergen")],
            tool_call("book", city="Oslo"),
            tool_call("book", city="Bergen"),
            "You have seat 12 to Bergen.",
        ],
        [
            "1 find_fare → Json(value=900)",
            "2 book → the call of book was not approved: too expensive",
            "3 book → seat 12 to Bergen",
            "You have seat 12 to Bergen.",
        ],
    ),
    "typed_output": (
        ['{"number": "2026-7", "total": 12.5, "items": ["brass screw", "brass screw"]}'],
        ["2026-7: 12.50 for brass screw, brass screw"],
    ),
    "stream": (["Once upon a wire."], ["Once upon a wire.\n[stop, "]),
    "switch": ([], ["anthropic/claude-opus-5 → [{'city': 'Oslo'}]", "anthropic/claude-opus-5 → In Bergen."]),
    "history": (["Tønsberg.", "Longyearbyen."], ["openai/gpt-5.6: Tønsberg.", "mistral/mistral-large-latest: Longy"]),
    "gather": ("A fine place.", ["Oslo: A fine place.", "Bergen: A fine place.", "Tromsø: A fine place."]),
    "own_provider": (
        ["Hello from work."],
        ["https://llm.example/v1/chat/completions", '"max_tokens":50', "big-model", "Hello from work."],
    ),
}
"""Example -> what the fake answers, and what must be printed."""


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_an_example_runs(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The example ends, asked for every answer, and printed what it shows."""
    for variable in ("LLM_WORK", "LLM_SMART", "WORK_KEY"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv(variable, "")  # so that what the example sets is taken back
        monkeypatch.delenv(variable)
    answers, printed = SCRIPTS[name]
    with no_network(), use(FakeModel(answers)) as fake:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert [text for text in printed if text not in said] == []
    assert fake.left == 0


OUTPUT = re.compile(r"<!-- output: examples/(?P<name>\w+)\.py -->\n```text\n(?P<text>.*?)```", re.DOTALL)


def test_the_readme_shows_what_examples_print(capsys: pytest.CaptureFixture[str]) -> None:
    """Output in the README is that of the example that it names, line by line."""
    shown = OUTPUT.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [name for name, _ in shown] == ["switch"]
    for name, text in shown:
        with no_network():
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        assert capsys.readouterr().out == text


def _files() -> list[Path]:
    return sorted(path for path in EXAMPLES.glob("*.py") if path.stem not in OF_ITS_OWN)


def test_every_example_is_run() -> None:
    """No example is left to rot."""
    assert [path.stem for path in _files()] == sorted({*SCRIPTS, *OVER_HTTP})


@pytest.mark.parametrize("name", sorted(OVER_HTTP))
def test_an_example_over_http_runs(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An HTTP client of the example's own, a strict server on loopback: the call is run, and the model ends."""
    upstream = Upstream("openai-chat", Say(calls=(Call("get_weather", {"city": "Oslo"}),)), "It rains in Oslo.")
    with upstream.serving() as address, ExitStack() as stack:
        url = address
        if name == "unified_over_http":
            providers = {"up": provider("openai-chat", address)}
            url = stack.enter_context(serving(providers=providers, aliases={"smart": "up/gpt-4.1"}))
        monkeypatch.setenv(OVER_HTTP[name], url)
        monkeypatch.setenv("OPENAI_API_KEY", "upstream-key")
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out == "It rains in Oslo.\n"
    assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert len(upstream.verdicts) == 2


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.stem)
def test_an_example_is_short(path: Path) -> None:
    """An example fits on a screen: at most 40 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
