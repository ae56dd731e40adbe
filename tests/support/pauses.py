"""How long other clients wait while `il serve` works on a body of 60 MB: `python -m tests.support.pauses [runs]`.

One line for each kind of body: its status, how long it took, and the longest that liveness took meanwhile, of all runs.
The bar is 250 ms on an idle machine; the load of the machine is printed, since a busy one tells little.
"""

from __future__ import annotations

import os
import sys
import time
from random import Random

from fuzz.shapes import SHAPES
from tests.support.gateway import provider
from tests.support.heavy import alive, plain_upstream, served

__all__ = ["main"]

BODY_BYTES = 60_000_000
KINDS = ("long text", "escapes", "many messages", "huge names", "halves of surrogates")
PATHS = ("/v1/chat/completions", "/v1/messages")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(runs: int) -> None:
    """Print the longest pauses."""
    _say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {runs} runs, {BODY_BYTES:,} bytes")
    with (
        plain_upstream() as at,
        served(LLM_UP=provider("anthropic", f"{at}/v1"), LLM_SMART="up/claude-opus-4-5", INTERLINGUA_LOG="off") as made,
    ):
        for path, dialect in zip(PATHS, ("openai-chat", "anthropic"), strict=True):
            for kind in KINDS:
                body = SHAPES[kind](dialect, BODY_BYTES, Random(3)).replace(b'"m"', b'"smart"', 1)
                longest_s = took_s = 0.0
                status = 0
                for _ in range(runs):
                    began_s = time.monotonic()
                    with alive(made.port) as watch:
                        status, _ = made.post(path, body)
                    took_s = max(took_s, time.monotonic() - began_s)
                    longest_s = max(longest_s, watch.longest_s)
                _say(f"{path:22} {kind:22} {status} {took_s:6.1f} s   longest pause {longest_s * 1000:6.0f} ms")
    _say(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
