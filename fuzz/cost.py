"""What a body costs, and whether that grows with its size alone.

The law, for every decoder of a client's body: twice as many bytes cost at most `MAX_GROWTH` times as much, and a byte
costs at most `MAX_STEPS_A_BYTE` steps. It is judged twice.

- **Steps** are lines of our own Python, counted at a few kilobytes. They are exact, whatever the machine does.
- **Time** is that of the processor at some hundred kilobytes, where a C function or a regular expression would show
  that is worse than linear. It is the least of several tries, and whoever breaks the law is tried again.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any, NamedTuple

from fuzz.dialects import URL
from fuzz.shapes import FRAMINGS, SHAPES
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.gateway.calls.reading import check_values, is_cheap, read_request
from interlingua.gateway.serving.bodies import Intake
from interlingua.gateway.serving.heads import Heads
from interlingua.gateway.serving.reader import RequestReader
from interlingua.wire.http import HttpRequest

__all__ = ["MAX_GROWTH", "MAX_STEPS_A_BYTE", "Costs", "Reader", "fuzz_costs", "readers", "steps_of", "why_not"]

MAX_GROWTH = 2.5
"""How much more twice as many bytes may cost."""
MAX_STEPS_A_BYTE = 32.0
"""How many lines of Python a byte may cost, beside `FREE_STEPS`: an object of 2 bytes takes 70 where it is refused."""
FREE_STEPS = 10_000
"""How many lines any body may cost."""
STEPS_BYTES = 4_000
"""At which size steps are counted first, and at twice that then."""
TIME_BYTES = 150_000
"""At which size time is measured first."""
LEAST_S = 0.03
"""Less time than that says nothing about growth."""
_TRIES = (3, 7, 15)
_MAX_BODY_BYTES = 4_194_304

Reader = Callable[[bytes], object]
"""Reads one input; returns, or raises an `interlingua.Error`."""


class Costs(NamedTuple):
    """What a run has shown."""

    inputs: int
    """How many pairs of inputs were tried."""
    most_steps: float
    """The most steps that a byte took."""
    failure: str
    """What broke the law; empty for nothing."""


def readers(name: str) -> dict[str, Reader]:
    """What reads a client's body in a dialect."""
    dialect = get_dialect(name)

    def translated(data: bytes) -> None:
        decoded = dialect.decode_request(HttpRequest(url=URL, body=data), DecodeOptions(history="mend"))
        dialect.encode_request(decoded.request, EncodeOptions(target=Target(model="m")))

    def weighed(data: bytes) -> None:
        is_cheap(data)
        check_values(data)

    return {"read": lambda data: read_request(data, name), "translate": translated, "weigh": weighed}


def _http(data: bytes) -> None:
    reader = RequestReader(Heads())
    for place in range(0, len(data), 65_536):
        reader.feed(data[place : place + 65_536])
        for arrival in reader.arrivals:
            arrival.pieces.clear()


def _gzip(data: bytes) -> None:
    intake = Intake("gzip", _MAX_BODY_BYTES)
    for place in range(0, len(data), 65_536):
        intake.feed(data[place : place + 65_536])
        while intake.is_behind:
            intake.go_on()
    intake.whole()


_FRAMES: dict[str, Reader] = {"http": _http, "gzip": _gzip}


def steps_of(read: Reader, data: bytes) -> int:
    """How many lines of our Python it takes to read data."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - the form of a trace function
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - the form of a trace function
        return line if "interlingua" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        _read(read, data)
    finally:
        sys.settrace(before)
    return count


def _read(read: Reader, data: bytes) -> None:
    try:
        read(data)
    except Error:
        return


def _time_of(read: Reader, data: bytes, tries: int) -> float:
    times: list[float] = []
    for _ in range(tries):
        gc.collect()
        gc.disable()  # a collection that falls into one of two runs would say that it is worse than linear
        began_s = time.process_time()
        _read(read, data)
        times.append(time.process_time() - began_s)
        gc.enable()
    return min(times)


def why_not(read: Reader, make: Callable[[int], bytes], *, timed: bool = True) -> tuple[str, float]:
    """Why a reader breaks the law with inputs of two sizes, empty where it does not; and the steps that a byte took."""
    _read(read, make(STEPS_BYTES))  # what is loaded or learned at the first time
    small, large = make(STEPS_BYTES), make(2 * STEPS_BYTES)
    few, many = steps_of(read, small), steps_of(read, large)
    a_byte = max(0, many - FREE_STEPS) / len(large)
    if a_byte > MAX_STEPS_A_BYTE:
        return f"{many:,} steps for {len(large):,} bytes", a_byte
    # A history that is remembered costs next to nothing, and a single leap is where the memory of one ends.
    if many > MAX_GROWTH * max(few, len(small)) + FREE_STEPS:
        larger = make(4 * STEPS_BYTES)
        if (most := steps_of(read, larger)) > MAX_GROWTH * many + FREE_STEPS:
            return (
                f"{few:,} steps for {len(small):,} bytes, {many:,} for {len(large):,}, {most:,} for {len(larger):,}",
                a_byte,
            )
    return (_slow(read, make) if timed else ""), a_byte


def _slow(read: Reader, make: Callable[[int], bytes]) -> str:
    """What took too long, where that comes twice in a row: a single step is where one way of reading ends."""
    return _grows(read, make, TIME_BYTES) and _grows(read, make, 2 * TIME_BYTES)


def _grows(read: Reader, make: Callable[[int], bytes], size: int) -> str:
    small, large = make(size), make(2 * size)
    problem = ""
    for tries in _TRIES:
        short_s, long_s = _time_of(read, small, tries), _time_of(read, large, tries)
        if long_s <= max(LEAST_S, MAX_GROWTH * short_s):
            return ""
        problem = f"{short_s * 1e3:.1f} ms for {len(small):,} bytes, {long_s * 1e3:.1f} ms for {len(large):,}"
    return problem


def fuzz_costs(*, seconds: float, seed: int, timed: bool = True) -> Costs:
    """Hold readers of all dialects to the law for this long, with shapes drawn at random, some of them mixed.

    Without `timed` only steps are counted, which no other program on the machine can change.
    """
    random, ends_s = Random(seed), time.monotonic() + seconds
    inputs, most = 0, 0.0
    while time.monotonic() < ends_s:
        draw = random.random()
        if draw < 0.1:
            label = random.choice(list(FRAMINGS))
            kind, frame = FRAMINGS[label]
            label, read, make = f"{kind}: {label}", _FRAMES[kind], _repeatable(frame, random.random())
        else:
            name = random.choice(list(DIALECTS))
            shapes = random.choices(list(SHAPES), k=1 if draw < 0.7 else 2)
            kind, read = random.choice(list(readers(name).items()))
            label, make = f"{name}, {kind}: {' + '.join(shapes)}", _mixed(name, shapes, random.random())
        problem, a_byte = why_not(read, make, timed=timed)
        inputs, most = inputs + 1, max(most, a_byte)
        if problem:
            return Costs(inputs, most, f"{label}: {problem}")
    return Costs(inputs, most, "")


def _repeatable(make: Callable[[int, Random], bytes], seed: float) -> Callable[[int], bytes]:
    return lambda size: make(size, Random(seed))


def _mixed(name: str, shapes: list[str], seed: float) -> Callable[[int], bytes]:
    """A body of a shape, with that of another one in a member of it."""

    def make(size: int) -> bytes:
        first, *more = [SHAPES[shape](name, size // len(shapes), Random(seed)) for shape in shapes]
        for other in more:
            first = first.rstrip()[:-1] + b',"metadata":' + other + b"}"
        return first

    return make
