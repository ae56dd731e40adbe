"""`docs/guides/clients.md`: the lines of each client, and their results in the last run of the gallery."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gallery.cells import SCENARIOS, UNREACHED, Cell, reason_of
from gallery.stage import UPSTREAMS
from interlingua.cli.clients import Access, Client, clients, lines

__all__ = ["PAGE", "RESULTS", "page", "stored", "with_run"]

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "clients.md"
RESULTS = Path(__file__).parent / "results.json"
"""The cells that are not ok of the last run of each client, with its packages and its day."""
_HEAD = """# Clients

The settings that connect other clients to the gateway (`il serve`), with test results. `il connect CLIENT`
prints the same lines with your model, address and key. `make test-clients` installs each client in its own
environment, runs these lines against a real gateway process, and writes this page; nothing here is
written by hand.

A figure is *passed of tried*, over the providers behind the gateway: {upstreams}, each a strict imitation (it refuses
the faults that the real service refuses), and llmock, an independent server of Chat Completions. `–` means that the
client does not offer the scenario. Scenarios: a whole text, a stream, three steps with a tool, whole and streamed, two
calls at once, typed output, an image, thinking before a call that goes back with its result, tokens, the client's own
exceptions for a wrong key, an unknown model, a rate limit and a context overflow, and a broken stream, which must
raise an exception.

`OLLAMA_HOST` cannot hold a key: the programs of Ollama reach only a gateway without keys (on this machine, `il
serve` with none configured). Ollama's Python library sends `OLLAMA_API_KEY`; see the lines of each client.

Coding agents (Claude Code, Codex, Gemini CLI, Qwen Code, opencode) have [a page of their own](launch.md).
"""


def stored() -> dict[str, Any]:
    """What the last runs came to, by client."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def with_run(name: str, client: Client, cells: list[Cell], day: str) -> None:
    """Store what a run of one client came to."""
    surfaces: dict[str, Any] = {}
    for cell in [each for each in cells if each.seen != UNREACHED]:
        counts = surfaces.setdefault(cell.dialect, {}).setdefault(cell.scenario, {"ok": 0, "tried": 0, "rest": {}})
        counts["tried"] += cell.state != "absent"
        counts["ok"] += cell.state == "ok"
        if cell.state != "ok":
            counts["rest"][cell.upstream] = cell.seen
    results = {**stored(), name: {"packages": list(client.packages), "day": day, "surfaces": surfaces}}
    text = json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False) + "\n"
    RESULTS.write_text(text, encoding="utf-8")


def page() -> str:
    """The whole guide."""
    results = stored()
    named = ", ".join(target.dialect for target in UPSTREAMS.values() if target.is_strict)
    parts = [_HEAD.format(upstreams=named), "## Summary\n", *_summary(results)]
    for name, client in clients().items():
        parts += _section(name, client, results.get(name))
    return "\n".join(parts).rstrip() + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _summary(results: dict[str, Any]) -> Iterator[str]:
    yield _row(("client", "speaks", *SCENARIOS))
    yield _row(["---"] * (len(SCENARIOS) + 2))
    run = {name: client for name, client in clients().items() if client.in_gallery}
    for name, client in run.items():
        for dialect in client.surfaces:
            counts = results.get(name, {}).get("surfaces", {}).get(dialect, {})
            yield _row((f"[{client.title}](#{name})", dialect, *[_figure(counts.get(each)) for each in SCENARIOS]))


def _figure(counts: dict[str, Any] | None) -> str:
    if counts is None:
        return "not run"
    return f"{counts['ok']}/{counts['tried']}" if counts["tried"] else "–"


def _section(name: str, client: Client, result: dict[str, Any] | None) -> Iterator[str]:
    yield f'\n<a id="{name}"></a>\n\n## {client.title}\n'
    packages = ", ".join([f"`{package}`" for package in client.packages])
    if client.in_gallery:
        day = f", run on {result['day']}" if result else ", not run yet"
        yield f"`il connect {name}`; tried with {packages}{day}.\n"
    else:
        yield f"`il connect {name}`; `make test` runs {packages} against the gateway.\n"
    for dialect, surface in client.surfaces.items():
        yield f"Over `{dialect}`:\n"
        access = Access("http://127.0.0.1:8787", "YOUR_KEY", "anthropic/claude-opus-5")
        fence = "python no-run" if client.language == "python" else client.language
        shell, _, code = "\n".join(lines(surface, access)).partition("\n\n")
        yield f"```sh\n{shell}\n```\n"
        if code:
            yield f"```{'yaml' if surface.file.endswith('yaml') else fence}\n{code}\n```\n"
    if result:
        yield from _rest(name, result["surfaces"])


def _rest(name: str, surfaces: dict[str, Any]) -> Iterator[str]:
    """A line for each reason, with the scenarios and the upstreams that it is about."""
    places: dict[str, list[str]] = {}
    for dialect, scenarios in surfaces.items():
        for scenario, counts in scenarios.items():
            upstreams: dict[str, list[str]] = {}
            for upstream, seen in counts["rest"].items():
                upstreams.setdefault(reason_of(name, dialect, scenario, upstream) or seen, []).append(upstream)
            for seen, own in upstreams.items():
                where = "" if len(own) >= counts["tried"] else f" ({', '.join(own)})"
                if seen:
                    places.setdefault(seen, []).append(f"{scenario}{where} over `{dialect}`")
    for seen, where in places.items():
        told = seen.replace("|", "\\|")
        yield f"- {_joined(where)}: {told}"
    if places:
        yield ""


def _joined(where: list[str]) -> str:
    """The places, those of one dialect together."""
    by_dialect: dict[str, list[str]] = {}
    for one in where:
        scenario, _, dialect = one.partition(" over ")
        by_dialect.setdefault(dialect, []).append(scenario)
    return "; ".join(f"{', '.join(scenarios)} over {dialect}" for dialect, scenarios in by_dialect.items())
