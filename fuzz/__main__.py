"""`python -m fuzz [--seconds N] [--seed N] [target…]`: status 1 when a target broke the law."""

from __future__ import annotations

import argparse
import secrets
import sys

from fuzz.cost import fuzz_costs
from fuzz.engine import fuzz
from fuzz.roads import ROADS
from fuzz.targets import TARGETS

COSTS = "costs"
"""The target that holds what bodies cost to their sizes; it has a law of its own."""


def main() -> int:
    """Run the targets one after the other, each for its share of the time."""
    targets = TARGETS | ROADS
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="every decoder against bad bytes")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default: 60)")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"some of: {', '.join(targets)}")
    options = parser.parse_args()
    if unknown := set(options.targets) - {*targets, COSTS}:
        parser.error(f"unknown target: {', '.join(sorted(unknown))}; there are: {', '.join([*targets, COSTS])}")
    names = options.targets or [*targets, COSTS]
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed}")
    broken = 0
    if COSTS in names:  # as much time as all other targets together
        seconds = options.seconds / (2 if len(names) > 1 else 1)
        costs = fuzz_costs(seconds=seconds, seed=seed)
        outcome = "FAILED" if costs.failure else "ok"
        print(f"{COSTS:24} {costs.inputs:10,} inputs {costs.most_steps:10.1f} steps a byte at most  {outcome}")
        if costs.failure:
            broken += 1
            print(costs.failure, file=sys.stderr)
        names = [name for name in names if name != COSTS]
        options.seconds -= seconds
    for name in names:
        report = fuzz(targets[name], seconds=options.seconds / len(names), seed=seed)
        outcome = "FAILED" if report.failure else "ok"
        print(f"{name:24} {report.inputs:10,} inputs {report.accepted:10,} decoded  {outcome}")
        if report.failure is not None:
            broken += 1
            print(f"input: {report.failure.data!r}\n{report.failure.reason}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
