"""`python -m bench.prefix`: tokens read from the cache of two llama.cpp servers, by the policy of their alias.

Method: three conversations of four turns, interleaved, each with an opening of its own; the servers are started anew
for each policy. A token counts as cached where the server's own usage says so. Round robin is both orders of the two
targets, taken in turn. It needs the engine and the small weights; about a minute on one core.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack
from itertools import cycle
from typing import TYPE_CHECKING

import interlingua as il
from interlingua.local import weights
from tests.support.ports import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

CONVERSATIONS, TURNS = 3, 4
_WORDS = (
    "river",
    "stone",
    "lamp",
    "garden",
    "paper",
    "winter",
    "copper",
    "letter",
    "bridge",
    "cloud",
    "music",
    "window",
)


def main() -> int:
    """Print a line for each policy."""
    path, places = str(weights.find("tiny")[1]), {name: Place() for name in ("a", "b")}
    for name, place in places.items():
        os.environ[f"LLM_{name.upper()}"] = f"openai-compatible://127.0.0.1:{place.port}/v1?tls=0"
    for policy in ("prefix", "round robin"):
        with ExitStack() as stack:
            for place in places.values():
                _serve(stack, place.port, path)
            print(_measured(policy), flush=True)
    return 0


def _serve(stack: ExitStack, port: int, path: str) -> None:
    """Start a server, which answers when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scoreboard.llama", str(port), path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    until_s = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                return
        except OSError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.1)


def _models(policy: str) -> Iterator[il.Model]:
    if policy == "round robin":
        return cycle([il.model("a/tiny,b/tiny"), il.model("b/tiny,a/tiny")])
    il.register_alias("pool", "a/tiny,b/tiny", policy="prefix")
    return cycle([il.model("pool")])


def _measured(policy: str) -> str:
    models, chance = _models(policy), random.Random(7)
    openings = [" ".join(chance.choices(_WORDS, k=80)) for _ in range(CONVERSATIONS)]
    histories: list[list[il.Message]] = [[] for _ in range(CONVERSATIONS)]
    read = cached = 0
    began_s = time.perf_counter()
    for turn in range(TURNS):
        for number in chance.sample(range(CONVERSATIONS), CONVERSATIONS):
            question = (
                f"Turn {turn}: name one word of the list." if turn else f"The list: {openings[number]}. Name one."
            )
            histories[number].append(il.user(question))
            reply = next(models).generate(histories[number], max_tokens=4, temperature=0.0)
            histories[number].append(reply.message)
            usage = reply.usage or il.Usage()
            read += usage.input_tokens or 0
            cached += usage.cache_read_tokens or 0
    took_s = time.perf_counter() - began_s
    return f"{policy}: {cached:,} of {read:,} tokens from the cache ({cached / read:.0%}), {took_s:.1f} s"


if __name__ == "__main__":
    sys.exit(main())
