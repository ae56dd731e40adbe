"""Other people's libraries and gateways, each in an environment of its own under `.venv-peers`.

`python -m bench.peers [name…]` installs them by pip and npm; a run of the bench takes what is there. Nothing here
imports more than the standard library, because the environments of the peers import it, too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.measure import NotRun

__all__ = ["PEERS", "Peer", "folder", "install", "program", "version"]

ROOT = Path(__file__).parents[2] / ".venv-peers"
INSTALL_S = 900
_VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
_REQUIRES = """
import importlib.metadata as m, sys
from pip._vendor.packaging.requirements import Requirement
package, extra, *loose = sys.argv[1:]
for one in map(Requirement, m.requires(package) or []):
    wanted = one.marker is None or any(one.marker.evaluate({"extra": name}) for name in ("", extra))
    extras = f"[{','.join(one.extras)}]" if one.extras else ""
    if wanted:
        print(f"{one.name}{extras}" if one.name in loose else f"{one.name}{extras}{one.specifier}")
"""


class Peer(NamedTuple):
    """What is installed in one environment."""

    package: str
    """The distribution, or the npm package."""
    version: str
    """Its version."""
    extra: str = ""
    """An extra of it."""
    loose: tuple[str, ...] = ()
    """Requirements of it of which any version is taken, because registries may lag behind what it wants."""
    is_npm: bool = False
    """Whether it comes by npm."""


PEERS = {
    "openai": Peer("openai", "3.54.0"),
    "anthropic": Peer("anthropic", "2.12.0"),
    "google-genai": Peer("google-genai", "3.4.0"),
    "ollama": Peer("ollama", "0.6.3"),
    "litellm": Peer(
        "litellm", "1.109.1", extra="proxy", loose=("certifi", "litellm-proxy-extras", "litellm-enterprise")
    ),
    "any-llm": Peer("any-llm-sdk", "1.40.2", extra="openai"),
    "aisuite": Peer("aisuite", "0.2.0", extra="openai,mcp"),
    "pydantic-ai": Peer("pydantic-ai-slim", "2.68.0", extra="openai"),
    "langchain-openai": Peer("langchain-openai", "1.7.3"),
    "llm-rosetta": Peer("llm-rosetta", "0.13.0", extra="gateway"),
    "aimux": Peer("arcships-aimux", "0.5.0"),
    "ferrogw": Peer("ferrogw", "1.5.10"),
    "smg": Peer("smg", "1.13.0"),
    "portkey": Peer("@portkey-ai/gateway", "1.15.2", is_npm=True),
}
"""Every environment by its name."""


def folder(name: str) -> Path:
    """Where an environment lies."""
    return ROOT / name


def program(name: str, command: str = "python") -> Path:
    """A program of an environment.

    Raises: NotRun where it is not installed.
    """
    found = folder(name) / "bin" / command
    if not found.exists() or not (folder(name) / ".ready").exists():
        raise NotRun(f"{name} is not installed: python -m bench.peers {name}")
    return found


def version(name: str) -> str:
    """The installed version of a peer, or why there is none."""
    peer = PEERS[name]
    if peer.is_npm:
        return peer.version if (folder(name) / ".ready").exists() else "not installed"
    try:
        python = program(name)
    except NotRun:
        return "not installed"
    return _run([str(python), "-c", _VERSION, peer.package]).stdout.strip() or "not installed"


def install(name: str) -> str | None:
    """Install a peer where it is not there in its version; the reason when that does not work."""
    ready, peer = folder(name) / ".ready", PEERS[name]
    if ready.exists() and ready.read_text(encoding="utf-8") == repr(peer):
        return None
    folder(name).mkdir(parents=True, exist_ok=True)
    failed = _by_npm(name, peer) if peer.is_npm else _by_pip(name, peer)
    if failed is None:
        ready.write_text(repr(peer), encoding="utf-8")
    return failed


def _by_npm(name: str, peer: Peer) -> str | None:
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    (folder(name) / "package.json").write_text("{}", encoding="utf-8")
    wanted = f"{peer.package}@{peer.version}"
    return _failure(_run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder(name)), wanted]))


def _by_pip(name: str, peer: Peer) -> str | None:
    python = str(folder(name) / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install"]
    if not Path(python).exists():
        _run([sys.executable, "-m", "venv", str(folder(name))])
    if not peer.loose:
        extra = f"[{peer.extra}]" if peer.extra else ""
        return _failure(_run([*pip, f"{peer.package}{extra}=={peer.version}"]))
    failed = _failure(_run([*pip, "--no-deps", f"{peer.package}=={peer.version}"]))
    if failed is not None:
        return failed
    needed = folder(name) / "needed.txt"
    needed.write_text(_run([python, "-c", _REQUIRES, peer.package, peer.extra, *peer.loose]).stdout, encoding="utf-8")
    return _failure(_run([*pip, "--requirement", str(needed)]))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"took more than {INSTALL_S} s")


def _failure(done: subprocess.CompletedProcess[str]) -> str | None:
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines() or ["?"]
    return lines[-1][:200]
