"""`python -m sabotage [--sample N] [--seed N] [--corpus FOLDER] [WORD…]`: status 1 when too few losses are noticed.

The last line is `N of M noticed`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from sabotage.run import Outcome, Sample, every_plant, try_plants  # noqa: E402 - the paths come first

BAR = 0.95
"""The share that must be noticed."""
RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or ROOT.parent / "shared" / "corpus")
"""Where recordings are, if there are any; what is invented is always tried."""
INVENTED = ROOT / "tests" / "corpus" / "invented.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant, judge, report."""
    options = _options(arguments)
    began = time.monotonic()
    files = [INVENTED, *sorted(options.corpus.glob("*.jsonl.gz"))]
    sample = Sample(files, options.sample, options.seed)
    plants = [one for one in every_plant() if all(word in one.name for word in options.words)]
    print(f"{len(sample.cases)} exchanges of {len(files)} files, {len(plants)} plants", flush=True)
    reasons = known_reasons()
    outcomes = try_plants(plants, sample, lambda outcome: _tell(outcome, reasons, verbose=options.verbose))
    return report(outcomes, reasons, time.monotonic() - began)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m sabotage", description="Plant losses in the codec; is the judge awake?")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="exchanges of each file (default: all)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="chooses the sample (default: 1)")
    parser.add_argument("--corpus", type=Path, default=RECORDINGS, metavar="FOLDER", help="where recordings are")
    parser.add_argument("--verbose", action="store_true", help="print what was noticed, too")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only plants whose line holds every word")
    return parser.parse_args(arguments)


def known_reasons() -> dict[str, str]:
    """Why a plant is not noticed, by its line."""
    entries = tomllib.loads((Path(__file__).parent / "unnoticed.toml").read_text(encoding="utf-8"))
    return {plant: entry["reason"] for entry in entries.get("unnoticed", ()) for plant in entry["plants"]}


def _tell(outcome: Outcome, reasons: dict[str, str], *, verbose: bool) -> None:
    if not outcome.noticed:
        print(
            f"unnoticed {outcome.plant.name} ({outcome.touched}): {reasons.get(outcome.plant.name, 'why?')}", flush=True
        )
    elif verbose:
        print(f"noticed {outcome.plant.name}: {outcome.noticed[:160]}")


def report(outcomes: list[Outcome], reasons: dict[str, str], seconds: float) -> int:
    """The exit status, after a line for each kind and one for all."""
    planted = Counter(outcome.plant.value for outcome in outcomes)
    noticed = Counter(outcome.plant.value for outcome in outcomes if outcome.noticed)
    for value, count in planted.items():
        losses = {outcome.plant.loss for outcome in outcomes if outcome.plant.value == value}
        print(f"{value}: {len(losses)} losses, {noticed[value]} of {count} noticed")
    open_ones = [outcome for outcome in outcomes if not outcome.noticed and outcome.plant.name not in reasons]
    needless = [  # not in this sample, or no longer
        outcome.plant.name for outcome in outcomes if outcome.noticed and outcome.plant.name in reasons
    ]
    for name in needless:
        print(f"noticed, and has a reason why not: {name}")
    print(f"{len(open_ones)} not noticed without a reason; {seconds:.0f} s")
    total, count = len(outcomes), sum(noticed.values())
    print(f"{count} of {total} noticed")
    return 0 if total and count >= BAR * total and not open_ones else 1


if __name__ == "__main__":
    sys.exit(main())
