"""Random and mutated inputs for one target, for a bounded time or number, and what broke the law.

The law: return, or raise an `interlingua.Error`, within the bounds below. Memory is measured at every
`MEASURED_EVERY`-th input, because measuring takes ten times longer than decoding.
A run is repeated exactly by its seed, up to the input at which the time ran out.
"""

from __future__ import annotations

import gc
import math
import random
import time
import traceback
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

from fuzz.targets import Target
from interlingua.errors import Error
from interlingua.wire._shape import EXTRA

__all__ = ["Failure", "Report", "fuzz"]

MAX_INPUT_S = 1.0
"""Processor seconds that one input of a few kilobytes may take."""
MAX_PEAK_BYTES = 32 * 2**20
"""Memory that one input of a few kilobytes may need."""
MAX_LEFT_BYTES = 2 * 2**20
"""Memory that all measured inputs of a run together may leave behind."""
MAX_KEPT_FREE_BYTES = 512
"""What the interpreter may seem to leave behind; more is a leak."""
MAX_LENGTH_BYTES = 4_096
MEASURED_EVERY = 20

_SPECIAL = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\\u", b"\\", b'"', b"\r", b"\n", b"\r\n\r\n"),
    *(b"{", b"}", b"[", b"]", b":", b",", b"NaN", b"1e999", b"-0", b"9" * 40, b"null", b"true", b"data: ", b"[DONE]"),
    *(b"[" * 200, b'{"a":' * 200, f'"{EXTRA}":'.encode(), b"\xf0\x9f\x98\x80"),
)


class Failure(NamedTuple):
    """One input that broke the law."""

    data: bytes
    """The input."""
    reason: str
    """The traceback, or the bound that was passed."""


class Report(NamedTuple):
    """What a run has shown."""

    inputs: int
    """How many inputs were tried."""
    accepted: int
    """How many of them decoded."""
    failure: Failure | None
    """The first that broke the law, made as short as a few tries allow."""


def fuzz(target: Target, *, seconds: float, seed: int, most_inputs: float = math.inf) -> Report:
    """What `target` does with random inputs for this long, or with the first `most_inputs`."""
    rng = random.Random(seed)
    inputs = accepted = left_bytes = 0
    kept_free = _kept_free(target)
    ends_s = time.monotonic() + seconds  # only now: of a target whose inputs are slow, the line above takes seconds
    while time.monotonic() < ends_s and inputs < most_inputs:
        data = _input(rng, target.samples)
        inputs += 1
        reason, decoded = _verdict(target.run, data)
        accepted += decoded
        if reason is None and inputs % MEASURED_EVERY == 0:
            peak_bytes, left = _memory(target.run, data)
            left_bytes += max(0, left - kept_free)
            reason = _over(peak_bytes, left_bytes)
        if reason is not None:
            return Report(inputs, accepted, _shortened(target.run, Failure(data, reason)))
    return Report(inputs, accepted, None)


def _kept_free(target: Target) -> int:
    """What the interpreter itself seems to leave behind: lists of free objects, which stand at the second run, too."""
    for data in target.samples:
        _verdict(target.run, data)
    return min(MAX_KEPT_FREE_BYTES, max(_memory(target.run, data)[1] for data in target.samples))


def _memory(run: Callable[[bytes], object], data: bytes) -> tuple[int, int]:
    """What an input needs at most, and what it leaves behind."""
    tracemalloc.start()
    try:
        _verdict(run, data)
        _, peak = tracemalloc.get_traced_memory()
        gc.collect(0)  # a parser and its reader know each other: that is garbage, not a leak
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak, left


def _over(peak_bytes: int, left_bytes: int) -> str | None:
    if peak_bytes > MAX_PEAK_BYTES:
        return f"memory: {peak_bytes:,} bytes for one input"
    return f"memory: {left_bytes:,} bytes left behind" if left_bytes > MAX_LEFT_BYTES else None


def _verdict(run: Callable[[bytes], object], data: bytes) -> tuple[str | None, bool]:
    """Why the law is broken, or None; and whether the input decoded."""
    began_s = time.process_time()
    try:
        run(data)
        decoded = True
    except Error:
        decoded = False
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return traceback.format_exc(), False
    took_s = time.process_time() - began_s
    return (f"took {took_s:.1f} s" if took_s > MAX_INPUT_S else None), decoded


def _input(rng: random.Random, samples: tuple[bytes, ...]) -> bytes:
    """Mostly a sample with a few wounds; sometimes rubbish."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(64))
    data = bytearray(rng.choice(samples))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
        rng.choice(_MUTATIONS)(rng, data, samples)
    return bytes(data[:MAX_LENGTH_BYTES])


def _flip(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    del samples
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _insert(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    del samples
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(_SPECIAL)


def _remove(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    del samples
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(1, 17)]


def _cut(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    del samples
    del data[rng.randrange(len(data) + 1) :]


def _repeat(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    del samples
    begin = rng.randrange(len(data) + 1)
    piece = bytes(data[begin : begin + rng.randrange(1, 33)])
    data[begin:begin] = piece * rng.randrange(1, 5)


def _splice(rng: random.Random, data: bytearray, samples: tuple[bytes, ...]) -> None:
    other = rng.choice(samples)
    begin = rng.randrange(len(other) + 1)
    at = rng.randrange(len(data) + 1)
    data[at:at] = other[begin : begin + rng.randrange(1, 65)]


_MUTATIONS = (_flip, _insert, _remove, _cut, _repeat, _splice)


def _shortened(run: Callable[[bytes], object], failure: Failure) -> Failure:
    """The same kind of failure with fewer bytes, found by leaving out ever smaller pieces."""
    kind = failure.reason.strip().splitlines()[-1].partition(":")[0]
    size = len(failure.data) // 2
    while size:
        at = 0
        while at < len(failure.data):
            data = failure.data[:at] + failure.data[at + size :]
            reason, _ = _verdict(run, data)
            if reason is not None and kind in reason:
                failure = Failure(data, reason)
            else:
                at += size
        size //= 2
    return failure
