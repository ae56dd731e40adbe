"""`python -m gallery [client…]`: install what is missing, run every scenario, write the guide.

Rules
- A run over all clients and all upstreams stores its results and writes `docs/guides/clients.md`; any other run prints,
  and stores what it ran with `--write`.
- A client that cannot be installed is skipped with a line; it fails nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from datetime import UTC, datetime

from gallery.cells import Cell, cells_of
from gallery.environments import install
from gallery.page import PAGE, page, with_run
from gallery.stage import UPSTREAMS, Place, place
from interlingua.cli.clients import clients


def main() -> int:
    """Run the gallery; 1 where a cell failed without a reason that lies with its client."""
    known = [name for name, client in clients().items() if client.in_gallery]
    parser = argparse.ArgumentParser(prog="python -m gallery")
    parser.add_argument("names", nargs="*", metavar="CLIENT", help=f"of {', '.join(known)}; all without")
    parser.add_argument("--upstreams", default=",".join(UPSTREAMS), help="which upstreams (default: %(default)s)")
    parser.add_argument("--dialects", default="", help="which dialects of the clients (default: all)")
    parser.add_argument("--trace", action="store_true", help="show the tracebacks and the times of the drivers")
    parser.add_argument("--write", action="store_true", help="store the results, and write the guide")
    options = parser.parse_args()
    upstreams = tuple(options.upstreams.split(","))
    is_whole = upstreams == tuple(UPSTREAMS) and not options.dialects
    cells: list[Cell] = []
    with place() as gateway:
        for name in options.names or known:
            own = _run(name, gateway, upstreams, options)
            cells += own
            if own and is_whole and (options.write or not options.names):
                with_run(name, clients()[name], own, f"{datetime.now(UTC):%-d %B %Y}")
                PAGE.write_text(page(), encoding="utf-8")
    return int(any(cell.state == "failed" and not cell.reason for cell in cells))


def _run(name: str, gateway: Place, upstreams: tuple[str, ...], options: argparse.Namespace) -> list[Cell]:
    """The cells of one client, which are printed; none where it cannot be installed."""
    client, began_s = clients()[name], time.monotonic()
    if options.dialects:
        wanted = options.dialects.split(",")
        client = client._replace(surfaces={key: client.surfaces[key] for key in client.surfaces if key in wanted})
    failed = install(name, client)
    if failed:
        print(f"{name}: not to be had ({failed})", flush=True)
        return []
    cells = cells_of(name, client, gateway, upstreams, trace=options.trace)
    states = Counter("reason" if cell.state == "failed" and cell.reason else cell.state for cell in cells)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    print(f"{name}: {counts}; {time.monotonic() - began_s:.0f} s", flush=True)
    for cell in cells:
        if cell.state == "failed" and not cell.reason:
            print(f"  {cell.dialect} <- {cell.upstream}, {cell.scenario}: {cell.seen}", flush=True)
    return cells


if __name__ == "__main__":
    sys.exit(main())
