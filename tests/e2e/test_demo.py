"""What `make demo` shows, with the real model: every step comes to its end."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.contract.source import ROOT
from tests.support.local_model import weights_or_skip


def shown(script: str) -> str:
    """What an example prints; it must end well."""
    weights_or_skip("tiny")
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_model_calls_fills_in_and_streams() -> None:
    """A call with its result, a dataclass, a text in pieces."""
    told = shown("demo.py")
    assert re.findall(r"  call      (.*)", told)[0] == 'get_weather({"city": "Oslo"})'
    assert "  returned  light rain, 4 degrees" in told
    assert re.search(r"  output    Person\(name='.+', age=\d+, city='.+'\)", told)
    assert re.search(r"  stream    \S+", told)


@pytest.mark.parametrize("package", ["openai", "anthropic", "google.genai", "ollama"])
def test_the_packages_are_there(package: str) -> None:
    """The next test needs them, and so does the demo."""
    assert find_spec(package) is not None


def test_every_sdk_gets_its_call_and_its_stream() -> None:
    """The four official packages, through the gateway, each with a call and a text."""
    told = shown("demo_gateway.py")
    assert len(re.findall(r"  call      get_weather\(\{.city.: .Oslo.\}\)", told)) == 4
    assert len(re.findall(r"  stream    \S+", told)) == 4
