"""`python -m bench.versus REVISION [--turns N]`: the gateway of the working tree beside that of another commit.

Both run with everything on, each on the same core in front of the same upstream, and are asked in turn with the same
requests, of which no two are alike (`bench.traffic`). A line for each kind of traffic: the ratio of processor time for
a request, and both figures.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import interlingua
from bench import traffic
from bench.measure import Measured, NotRun, beside
from bench.rows.gateway import MODELS, OF_A_KIND
from bench.stage import Load, folder, full_gateway, load

__all__ = ["compare", "source_of"]

TURNS = 7


def source_of(revision: str) -> Path:
    """The folder of the package as a commit has it.

    Raises: NotRun for what git does not know.
    """
    place = folder() / "revision"
    done = subprocess.run(["git", "archive", revision, "src"], check=False, capture_output=True)
    if done.returncode:
        raise NotRun(done.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(place, filter="data")
    return place / "src"


def compare(kind: str, model: str, source: Path, turns: int) -> Measured:
    """The processor time of a request of this kind for each unit of that of the other version."""
    ours = full_gateway(source=Path(interlingua.__file__).parents[1])
    other = full_gateway(source=source)
    pairs: list[tuple[float, float]] = []
    for _ in range(turns + 1):
        asked = Load(model, requests=OF_A_KIND, bodies=tuple(traffic.requests(kind, model, OF_A_KIND)))
        pairs.append((load(ours, asked).cpu_us, load(other, asked).cpu_us))
    return beside(pairs[1:])  # the first turn warms up


def main() -> int:
    """Print the ratios; status 1 where a version does not start or answer."""
    parser = argparse.ArgumentParser(prog="python -m bench.versus", description="two versions of the gateway, in turn")
    parser.add_argument("revision", help="the commit to compare with")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"turns for each kind (default: {TURNS})")
    options = parser.parse_args()
    try:
        source = source_of(options.revision)
        for way, model in MODELS.items():
            for kind in traffic.KINDS:
                ratio = compare(kind, model, source, options.turns)
                print(
                    f"{kind:8} {way:10} {ratio:.3f}x  (middle half within {ratio.spread:.1%})  {ratio.note}", flush=True
                )
    except NotRun as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
