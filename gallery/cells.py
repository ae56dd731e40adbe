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

__all__ = ["SCENARIOS", "UNREACHED", "Cell", "cells_of", "reason_of"]

SCENARIOS = (
    "text", "stream", "loop", "streamed loop", "parallel", "structured", "image", "thinking", "usage", "errors",
    "broken",
)  # fmt: skip
"""Every scenario, in the order of the page."""
LOOSE = ("text", "stream", "loop", "streamed loop", "structured", "usage")
"""What a server can be asked whose words we do not write."""
ERRORS = ("key", "model", "rate", "context")
LATER = ("model", "context")
"""Kinds of errors: a wrong key, an unknown model, a rate limit, a context overflow; a rate limit makes clients wait."""
UNREACHED = "the driver ended before it"
DRIVER_S = 600.0
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""What keeps clients from asking the network for more than answers."""
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
    """`ok`, `failed`, or `absent` (the client does not offer it)."""
    seen: str
    """What came instead."""

    @property
    def reason(self) -> str:
        """Why it is not ok, where that lies with the client; else empty."""
        return reason_of(self.client, self.dialect, self.scenario, self.upstream)


def scenarios_of(upstream: str) -> list[str]:
    """The scenarios that can be tried in front of an upstream."""
    target = UPSTREAMS[upstream]
    if not target.is_strict:
        return list(LOOSE)
    return [scenario for scenario in SCENARIOS if scenario != "thinking" or target.thinker]


def cells_of(name: str, client: Client, place: Place, upstreams: tuple[str, ...], *, trace: bool = False) -> list[Cell]:
    """Every cell of a client; `trace` has its driver tell times and tracebacks on stderr."""
    cells: list[Cell] = []
    for dialect, surface in client.surfaces.items():
        place.stage.renew()
        access = Access(place.url, CLIENT_KEY, "{model}")
        variables = {key: access.put_into(value) for key, value in surface.variables.items()}
        job = {**_job(name, dialect, surface, access, upstreams), "wrong_key": _wrong(variables), "trace": trace}
        lines = _lines(command(name, client), job, variables)
        for upstream, scenario in _places(upstreams):
            line = lines.get((upstream, scenario), {"state": "failed", "seen": UNREACHED})
            cells.append(Cell(name, dialect, upstream, scenario, line["state"], line["seen"]))
    return cells


def reason_of(client: str, dialect: str, scenario: str, upstream: str) -> str:
    """Why a cell is not ok or absent, where that lies with the client; else empty."""
    reasons = _expected(client, dialect).get("reasons", {})
    return reasons.get(f"{scenario} {upstream}") or reasons.get(scenario, "")


def _expected(client: str, dialect: str) -> dict[str, Any]:
    """What is expected of a client in a dialect; what is said for the dialect goes before what is said for all."""
    facts = tomllib.loads(EXPECTED.read_text(encoding="utf-8")).get(client, {})
    own = facts.get(dialect, {})
    return {key: {**facts.get(key, {}), **own.get(key, {})} for key in ("errors", "reasons")}


def _places(upstreams: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every upstream with each of its scenarios."""
    return [(upstream, scenario) for upstream in upstreams for scenario in scenarios_of(upstream)]


def _job(name: str, dialect: str, surface: Surface, access: Access, upstreams: tuple[str, ...]) -> dict[str, Any]:
    """What a driver is told."""
    tasks = {
        upstream: {
            "models": models_of(upstream),
            "scenarios": scenarios_of(upstream),
            "errors": ERRORS if upstream == upstreams[0] else LATER,
            "loose": not UPSTREAMS[upstream].is_strict,
        }
        for upstream in upstreams
    }
    return {
        "dialect": dialect,
        "code": access.put_into(surface.code).strip(),
        "file": surface.file,
        "errors": _expected(name, dialect)["errors"],
        "upstreams": tasks,
    }


def _wrong(variables: dict[str, str]) -> dict[str, str]:
    """The variables with a key that the gateway does not know."""
    return {key: value.replace(CLIENT_KEY, "il-wrong-key") for key, value in variables.items() if CLIENT_KEY in value}


def _lines(command: list[str], job: dict[str, Any], variables: dict[str, str]) -> dict[tuple[str, str], dict[str, str]]:
    """What a driver prints, up to where it ends, by upstream and scenario."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, **QUIET, **variables}
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
