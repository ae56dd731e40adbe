"""`python -m bench [--full] [--strict] [row…]`: every row with its bar, as lines, as JSON and as a page.

A whole run with `--full` writes `bench/RESULTS.md`, `bench/results/full/latest.json`, `bench/growth.svg`, and the
numbers of the README with their picture; every other one writes the first three into `bench/results/local`. Each row is
kept as soon as it is measured, so that a run that is broken off leaves what it has.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import interlingua
from bench import growth
from bench.gateways import GATEWAYS
from bench.headline import SPEED, speed, with_numbers
from bench.measure import Measured, cpu_us
from bench.outcomes import Outcome, facts, line, measure
from bench.peers import PEERS, version
from bench.report import markdown
from bench.rows import Row, all_rows

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
LOCAL = HERE / "results" / "local"
NGINX = "one worker, connections to the upstream kept, no buffering of answers, no access log"


def _loop() -> int:
    """Always the same work: what it takes tells how quiet the machine is."""
    return sum(range(20_000))


def conditions(*, full: bool) -> dict[str, Any]:
    """What a run is measured on and with."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "command": "make bench-full" if full else "make bench",
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{_processor()}, {cores} cores, {platform.system()} {platform.release()}",
        "software": f"interlingua {interlingua.__version__}, Python {platform.python_version()}",
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        "peers": {"nginx": _nginx(), **({name: version(name) for name in PEERS} if full else {})},
        "settings": {"nginx": NGINX, **{name: settings(name) for name in PEERS}},
    }


def settings(name: str) -> str:
    """How a peer is used: the words of its module as a library, of its entry as a gateway."""
    module = HERE / "peers" / "libraries" / f"{name.replace('-', '_')}.py"
    said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) if module.exists() else None
    library = (said or "").partition(": ")[2].rstrip(".")
    return "; ".join(filter(None, [library, GATEWAYS[name].settings if name in GATEWAYS else ""]))


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    names = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return names[0] if names else platform.machine()


def _nginx() -> str:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        return "not installed"
    told = subprocess.run([program, "-v"], check=False, capture_output=True, text=True).stderr
    return told.strip().rpartition("/")[2]


def _end(number: int, frame: object) -> None:  # noqa: ARG001 - the form of a signal's handler
    sys.exit(1)  # every process that was started ends with this one, as at every other end


def run(rows: list[Row], *, full: bool, minutes: float, place: Path) -> list[Outcome]:
    """What comes of all rows; those that would begin after the time is over are not run."""
    began_s, outcomes, loops = time.monotonic(), list[Outcome](), list[float]()
    told = conditions(full=full)
    for number, row in enumerate(rows, 1):
        loops.append(cpu_us(_loop, turns=3))
        passed_s = time.monotonic() - began_s
        if passed_s < minutes * 60:
            outcomes.append(measure(row, full=full))
        else:
            outcomes.append(Outcome(row, None, "not run", f"the {minutes:g} minutes of the run are over"))
        print(f"{number:3}/{len(rows)} {_clock(passed_s)}  {line(outcomes[-1])}", flush=True)
        noise = Measured.of(loops)
        told["noise"] = {"median_us": noise, "lowest_us": min(loops), "highest_us": max(loops), "spread": noise.spread}
        told |= {"took_s": time.monotonic() - began_s, "rows": [facts(outcome) for outcome in outcomes]}
        _keep(place / "latest.json", told)
    return outcomes


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:2}:{int(seconds) % 60:02}"


def _keep(path: Path, told: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def publish(place: Path, page: Path, drawing: Path) -> None:
    """Write the page of what was kept, and the picture of how cost grows where that was measured."""
    kept = place / "latest.json"
    if not kept.exists():
        return
    told = json.loads(kept.read_text(encoding="utf-8"))
    charts = growth.charts()
    if charts:
        (place / "growth.txt").write_text(growth.told(), encoding="utf-8")
        told |= {"picture": drawing.name, "growth": charts}
        _keep(kept, told)
        drawing.write_text(growth.drawn(charts), encoding="utf-8")
    page.write_text(markdown(told), encoding="utf-8")


def retell(kept: Path, readme: Path) -> None:
    """Write the numbers of the README and their picture anew, from what a whole run kept."""
    if kept.exists():
        told = json.loads(kept.read_text(encoding="utf-8"))
        readme.write_text(with_numbers(readme.read_text(encoding="utf-8"), told), encoding="utf-8")
        (readme.parent / SPEED).write_text(speed(told), encoding="utf-8")


def main() -> int:
    """Measure the rows asked for; with `--strict`, status 1 when one missed its bar."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="the numbers to reach, side by side")
    parser.add_argument("--full", action="store_true", help="rows that need other software or take long, too")
    parser.add_argument("--strict", action="store_true", help="fail when a bar is missed")
    parser.add_argument("--minutes", type=float, default=90.0, help="begin no row after so many (default: 90)")
    parser.add_argument("rows", nargs="*", metavar="row", help="names or beginnings of names (default: all)")
    options = parser.parse_args()
    wanted = [row for row in all_rows() if row.name.startswith(tuple(options.rows) or ("",))]
    is_whole = options.full and not options.rows
    place = HERE / "results" / "full" if is_whole else LOCAL
    published = HERE if is_whole else LOCAL
    signal.signal(signal.SIGTERM, _end)
    outcomes: list[Outcome] = []
    try:
        outcomes += run(wanted, full=options.full, minutes=options.minutes, place=place)
    finally:
        publish(place, published / "RESULTS.md", published / "growth.svg")
        if is_whole and outcomes:  # of a run that was broken off, the README would have half of its tables
            retell(place / "latest.json", README)
    missed = sum(outcome.verdict == "missed" for outcome in outcomes)
    print(f"{len(outcomes)} rows, {missed} missed; kept in {place.relative_to(HERE.parent)}")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
