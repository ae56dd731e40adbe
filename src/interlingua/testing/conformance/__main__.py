"""`python -m interlingua.testing.conformance --url URL --dialect D [--model M] [--key K] [--header NAME:VALUE]`.

Output: a line for each check, with its reason where it did not pass, and a line that counts them.
Exit status: 0 when none failed, 1 when one did, 2 for arguments that make no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from interlingua.testing.conformance.checks import check_server
from interlingua.testing.conformance.session import TONGUES, Session

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, write: Callable[[str], object] = print) -> int:
    """The exit status of the command; `write` takes its lines."""
    parser = argparse.ArgumentParser("python -m interlingua.testing.conformance", description="Judge a server.")
    parser.add_argument("--url", required=True, help="base URL: everything before the operation, such as …/v1")
    parser.add_argument("--dialect", required=True, choices=sorted(TONGUES), help="the dialect it speaks")
    parser.add_argument("--model", default="some-model", help="a model it has (default: some-model)")
    parser.add_argument("--key", default="", help="its key, or the name of the variable that holds it, after a $")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="sent with each request")
    parser.add_argument("--timeout-s", type=float, default=120.0, help="patience for one answer (default: 120)")
    options = parser.parse_args(arguments)
    key = os.environ.get(options.key[1:], "") if options.key.startswith("$") else options.key
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (h.partition(":") for h in options.header)]
    session = Session(
        options.url, options.dialect, options.model, key, headers=tuple(headers), timeout_s=options.timeout_s
    )
    report = check_server(session)
    for line in report.lines():
        write(line)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
