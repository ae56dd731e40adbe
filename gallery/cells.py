"""What one client comes to: its driver as a process, in each dialect, in front of each upstream."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from gallery.environments import command
from gallery.stage import CLIENT_KEY, UPSTREAMS, Place, models_of
from interlingua.cli.clients import Access, Client, Surface

__all__ = ["SCENARIOS", "Cell", "cells_of"]

SCENARIOS = (
    "text", "stream", "loop", "streamed loop", "parallel", "structured", "image", "thinking", "usage", "errors",
    "broken",
)  # fmt: skip
"""Every scenario, in the order of the page."""
ERRORS = ("key", "model", "rate", "context")
LATER = ("model", "context")
"""Kinds of errors: a wrong key, an unknown model, a rate limit, a context overflow; a rate limit makes clients wait."""
DRIVER_S = 150.0
EXPECTED = Path(__file__).parent / "expected.toml"


class Cell(NamedTuple):
    """One scenario of one client, in one dialect, in front of one upstream."""

    client: str
    """The client."""
    dialect: str
    """What it speaks."""
    upstream: str
    """Who answers behind the gateway."""
    scenario: str
    """What was tried."""
    state: str
    """`ok`, `failed`, `reason` (failed, and it lies with the client), or `absent` (the client does not offer it)."""
    seen: str
    """What came instead, or the reason."""


def scenarios_of(upstream: str) -> list[str]:
    """The scenarios that can be tried in front of an upstream."""
    return [scenario for scenario in SCENARIOS if scenario != "thinking" or UPSTREAMS[upstream].thinker]


def cells_of(name: str, client: Client, place: Place, upstreams: tuple[str, ...], *, trace: bool = False) -> list[Cell]:
    """Every cell of a client; `trace` has its driver tell times and tracebacks on stderr."""
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8")).get(name, {})
    cells: list[Cell] = []
    for dialect, surface in client.surfaces.items():
        place.stage.renew()
        facts = {**expected, **expected.get(dialect, {})}
        access = Access(place.url, CLIENT_KEY, "{model}")
        variables = {key: access.put_into(value) for key, value in surface.variables.items()}
        job = {**_job(dialect, surface, access, facts, upstreams), "wrong_key": _wrong(variables), "trace": trace}
        lines = _lines(command(name, client), job, variables)
        reasons = facts.get("reasons", {})
        cells += [Cell(name, dialect, *_judged(*where, lines.get(where), reasons)) for where in _places(upstreams)]
    return cells


def _places(upstreams: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every upstream with each of its scenarios."""
    return [(upstream, scenario) for upstream in upstreams for scenario in scenarios_of(upstream)]


def _job(
    dialect: str, surface: Surface, access: Access, facts: dict[str, Any], upstreams: tuple[str, ...]
) -> dict[str, Any]:
    """What a driver is told."""
    tasks = {
        name: {
            "models": models_of(name),
            "scenarios": scenarios_of(name),
            "errors": ERRORS if name == upstreams[0] else LATER,
        }
        for name in upstreams
    }
    code = access.put_into(surface.code).strip()
    return {
        "dialect": dialect, "code": code, "file": surface.file, "errors": facts.get("errors", {}), "upstreams": tasks,
    }  # fmt: skip


def _wrong(variables: dict[str, str]) -> dict[str, str]:
    """The variables with a key that the gateway does not know."""
    return {key: value.replace(CLIENT_KEY, "il-wrong-key") for key, value in variables.items() if CLIENT_KEY in value}


def _judged(
    upstream: str, scenario: str, line: dict[str, str] | None, reasons: dict[str, str]
) -> tuple[str, str, str, str]:
    """A cell without its client."""
    line = line or {"state": "failed", "seen": "the driver ended before it"}
    reason = reasons.get(f"{scenario} {upstream}") or reasons.get(scenario, "")
    match line["state"]:
        case "failed" if reason:
            return upstream, scenario, "reason", reason
        case "absent":
            return upstream, scenario, "absent", reason
        case state:
            return upstream, scenario, state, line["seen"]


def _lines(command: list[str], job: dict[str, Any], variables: dict[str, str]) -> dict[tuple[str, str], dict[str, str]]:
    """What a driver prints, up to where it ends, by upstream and scenario."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, **variables}
        errors = None if job["trace"] else subprocess.DEVNULL
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=home
        )
        try:
            printed, _ = process.communicate(json.dumps(job), timeout=DRIVER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
            print(f"  broken off after {DRIVER_S:.0f} s", flush=True)
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith('{"')]
    return {(line["upstream"], line["scenario"]): line for line in lines}
