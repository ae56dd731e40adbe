"""`import interlingua` costs next to nothing: no socket, no event loop, no extra, no dialect, no file."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FORBIDDEN = (
    "asyncio",
    "concurrent.futures",
    "email",
    "httptools",
    "http.client",
    "httpx",
    "json",
    "jsonschema_rs",
    "logging",
    "PIL",
    "pydantic",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "urllib.request",
    "uvicorn",
    "xllamacpp",
    "interlingua.agent",
    "interlingua.cli",
    "interlingua.dialects",
    "interlingua.gateway",
    "interlingua.local",
    "interlingua.media",
    "interlingua.testing",
    "interlingua.transport",
)
"""What importing the core must not load."""

PROBE = """
import sys
before, seen = set(sys.modules), []
def hook(event, arguments):
    if event.startswith("socket.") or (event == "open" and not str(arguments[0]).endswith((".py", ".pyc", ".so"))):
        seen.append(f"{event} {arguments[0]!r}")
sys.addaudithook(hook)
STATEMENT
loaded, seen = sorted(set(sys.modules) - before), list(seen)
import json
print(json.dumps({"loaded": loaded, "seen": seen}))
"""


def _after(statement: str) -> dict[str, list[str]]:
    """What a fresh interpreter has loaded and touched after `statement`."""
    code = PROBE.replace("STATEMENT", statement)
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def _forbidden(loaded: list[str]) -> list[str]:
    return [name for name in loaded if any(name == root or name.startswith(f"{root}.") for root in FORBIDDEN)]


def test_importing_loads_nothing_heavy() -> None:
    """None of the forbidden modules is there after `import interlingua`."""
    assert _forbidden(_after("import interlingua")["loaded"]) == []


def test_importing_opens_nothing() -> None:
    """`import interlingua` opens no socket and reads no file but code."""
    assert _after("import interlingua")["seen"] == []


@pytest.mark.parametrize("module", ["interlingua.errors", "interlingua.types"])
def test_the_ground_floor_is_light(module: str) -> None:
    """Errors and types load no more than the package itself may."""
    assert _forbidden(_after(f"import {module}")["loaded"]) == []
