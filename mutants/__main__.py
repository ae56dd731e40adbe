"""`python -m mutants [--sample N] [--seed N] [--resume] [part…]`: status 1 when fewer are killed than must be."""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import sys
import time
import tomllib
from pathlib import Path

from mutants import report
from mutants.engine import PYTEST, Outcome, plan, run, warm_up
from mutants.operators import Mutant, find_mutants
from mutants.reach import Reach, measure_reach

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/interlingua"
PARTS = ("wire", "stream", "dialects")
"""What is tested: folders of the package."""
SUITES = (
    *("tests/unit/wire", "tests/unit/stream", "tests/unit/dialects", "tests/unit/types", "tests/unit/test_codec.py"),
    *("tests/unit/test_errors.py", "tests/unit/schema", "tests/golden", "tests/matrix"),
    *("tests/laws/test_framing_laws.py", "tests/laws/test_prefix_law.py", "tests/laws/test_roads_laws.py"),
    *("tests/laws/test_usual_tools_laws.py", "tests/laws/test_sharing_laws.py"),
)
"""The tests that are tried: of the laws those of framing and of the short roads, which say who takes which; the others
are slow and seldom kill alone."""
STATE = ROOT / ".mutants"
"""What a run leaves for the next one."""
KILLS = STATE / "kills.jsonl"
"""Its kills, as they are known, so that a run that was broken off can go on."""
BAR = 0.85
"""The share that must be killed."""


def main() -> int:
    """Find, choose, run, report."""
    options = _options()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    STATE.mkdir(exist_ok=True)
    warm_up()
    began = time.monotonic()
    reach = _reach(keep=options.keep_reach)
    print(
        f"{len(reach.tests):,} tests run in {sum(reach.seconds):.0f} s; {time.monotonic() - began:.0f} s to learn what"
    )
    trees, files, found = _find(options.parts)
    chosen = _choose(found, options.sample, options.seed)
    print(f"{len(found):,} mutants in {len(files)} modules; a sample of {len(chosen)}, seed {options.seed}")
    equivalent = _equivalent()
    outcomes = _run([mutant for mutant in chosen if mutant.name not in equivalent], trees, files, reach, options)
    share = report.show(outcomes, [mutant for mutant in chosen if mutant.name in equivalent])
    print(f"{time.monotonic() - began:.0f} s in all")
    return 0 if share >= BAR else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mutants", description="small faults, and whether a test notices")
    parser.add_argument("--sample", type=int, default=500, help="how many mutants (default: 500; 0: all)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (default: 1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument(
        "--resume", action="store_true", help="believe the last run's kills in files that did not change"
    )
    parser.add_argument(
        "--keep-reach", action="store_true", help="believe the last run about which test runs which line"
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"folders or files of {PACKAGE} (default: {PARTS})")
    return parser.parse_args()


def _reach(*, keep: bool) -> Reach:
    """Which test runs which line; measured in a process of its own, so that this one stays clean."""
    path = STATE / "reach.json"
    if not (keep and path.exists()):
        child = os.fork()
        if not child:
            arguments = [*(argument for argument in PYTEST if argument != "-x"), "--continue-on-collection-errors"]
            measure_reach(ROOT, PACKAGE, SUITES, arguments).save(path)
            os._exit(0)
        os.waitpid(child, 0)
    reach = Reach.load(path)
    if not reach.tests:
        sys.exit("no test could be run")
    return reach


def _find(parts: list[str]) -> tuple[dict[str, tuple[str, ast.Module]], dict[str, str], list[Mutant]]:
    """The trees of the modules, their files from the root, and all mutants of them."""
    trees: dict[str, tuple[str, ast.Module]] = {}
    files: dict[str, str] = {}
    found: list[Mutant] = []
    for part in parts or PARTS:
        start = ROOT / PACKAGE / part
        for path in [start] if start.is_file() else sorted(start.rglob("*.py")):
            module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
            tree, mutants = find_mutants(path.read_text(encoding="utf-8"), module)
            trees[module] = (str(path), tree)
            files[module] = str(path.relative_to(ROOT))
            found.extend(mutants)
    return trees, files, found


def _choose(found: list[Mutant], sample: int, seed: int) -> list[Mutant]:
    """A sample that hardly changes when the code does: each mutant draws its own lot."""
    lots = sorted(found, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())
    chosen = {mutant.name for mutant in (lots[:sample] if sample else lots)}
    return [mutant for mutant in found if mutant.name in chosen]


def _equivalent() -> dict[str, str]:
    """The mutants that mean the same as the code, with the reason."""
    known = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))
    return {entry["mutant"]: entry["reason"] for entry in known.get("equivalent", ())}


def _run(
    mutants: list[Mutant],
    trees: dict[str, tuple[str, ast.Module]],
    files: dict[str, str],
    reach: Reach,
    options: argparse.Namespace,
) -> list[Outcome]:
    """What became of each."""
    digests = {module: _digest(file) for module, file in files.items()}
    known = _known(digests, reach) if options.resume else {}
    outcomes = [known[mutant.name]._replace(mutant=mutant) for mutant in mutants if mutant.name in known]
    waiting = [mutant for mutant in mutants if mutant.name not in known]
    plans = [plan(mutant, files[mutant.module], reach) for mutant in waiting]
    with KILLS.open("a" if options.resume else "w", encoding="utf-8") as kills:
        for outcome in run(waiting, plans, trees, workers=options.workers):
            outcomes.append(outcome)
            report.tell(outcome, files)
            if outcome.verdict == "killed":
                kills.write(_kill(outcome, digests))
                kills.flush()
    return sorted(outcomes, key=lambda outcome: (files[outcome.mutant.module], outcome.mutant.line))


# What is kept


def _digest(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


def _known(digests: dict[str, str], reach: Reach) -> dict[str, Outcome]:
    """The kills of the last run whose module and test are what they were."""
    if not KILLS.exists():
        return {}
    tests = set(reach.tests)
    kept = map(json.loads, KILLS.read_text(encoding="utf-8").splitlines())
    nobody = Mutant("", "", "", "", 0, 0, at_import=False, apply=lambda: None)
    return {
        kill["mutant"]: Outcome(nobody, "killed", kill["test"])
        for kill in kept
        if digests.get(kill["module"]) == kill["digest"] and kill["test"] in tests
    }


def _kill(outcome: Outcome, digests: dict[str, str]) -> str:
    """A kill as one line for the next run."""
    mutant, _, test = outcome
    kill = {"mutant": mutant.name, "module": mutant.module, "digest": digests[mutant.module], "test": test}
    return json.dumps(kill, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
