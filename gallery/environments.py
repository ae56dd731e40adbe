"""An environment for each client, under `.venv-clients`: a venv by pip, or a folder by npm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from interlingua.cli.clients import Client
from tests.support.node import node

__all__ = ["command", "folder", "install"]

ROOT = Path(__file__).parents[1]
HOME = Path(os.environ.get("CLIENTS_HOME") or ROOT / ".venv-clients")
DRIVERS = Path(__file__).parent / "drivers"
INSTALL_S = 900.0


def folder(name: str) -> Path:
    """Where the environment of a client lies."""
    return HOME / name


def command(name: str, client: Client) -> list[str]:
    """How the driver of a client is started."""
    module = f"drive_{name.replace('-', '_')}"
    if client.language == "js":
        return [str(node().program), str(folder(name) / f"{module}.mjs")]
    return [str(folder(name) / "bin" / "python"), str(DRIVERS / f"{module}.py")]


def install(name: str, client: Client) -> str:
    """Install what a client needs, where it is not there in these versions; the reason where it cannot be had."""
    place, wanted = folder(name), "\n".join(client.packages)
    ready = place / ".ready"
    if not (ready.is_file() and ready.read_text(encoding="utf-8") == wanted):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        failed = _by_npm(place, client) if client.language == "js" else _by_pip(place, client)
        if failed:
            return failed
        ready.write_text(wanted, encoding="utf-8")
    if client.language == "js":  # a module finds packages beside itself
        for path in DRIVERS.glob("*.mjs"):
            shutil.copy(path, place)
    return ""


def _by_npm(place: Path, client: Client) -> str:
    try:
        npm = node().npm
    except BaseException as error:  # noqa: BLE001 - a test would be skipped, with these words
        return str(error)
    (place / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    quietly = ["--no-audit", "--no-fund", "--no-progress", "--ignore-scripts"]
    return _failure([*npm, "install", *quietly, "--prefix", str(place), *client.packages], node().path)


def _by_pip(place: Path, client: Client) -> str:
    failed = _failure([sys.executable, "-m", "venv", str(place)])
    pip = [str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    return failed or _failure([*pip, *client.packages])


def _failure(command: list[str], path: str = os.environ.get("PATH", os.defpath)) -> str:
    """The last words of a command that failed; empty where it did not."""
    environment = {**os.environ, "PATH": path}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return f"not installed in {INSTALL_S:.0f} s"
    words = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason"]
    return words[-1][:200] if done.returncode else ""
