"""Every fuzz target on its first inputs, and the engine on targets that break the law."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from fuzz.engine import fuzz
from fuzz.roads import ROADS
from fuzz.targets import TARGETS, Target
from interlingua.errors import DecodeError, Error
from interlingua.wire.json import decode_any
from tests.support.cells import cells


@pytest.mark.parametrize("name", TARGETS)
def test_targets_keep_the_law(name: str) -> None:
    """A value or our own error, whatever the bytes."""
    with suppress(Error):
        TARGETS[name].run(TARGETS[name].samples[0])  # loads what is loaded late, before the time runs
    report = fuzz(TARGETS[name], seconds=60, seed=1, most_inputs=600)
    assert report.failure is None
    assert report.inputs == 600


@pytest.mark.parametrize("name", ROADS)
def test_all_roads_keep_the_law(name: str) -> None:
    """The short ones say what the general one says."""
    assert fuzz(ROADS[name], seconds=60, seed=1, most_inputs=4).failure is None


@cells("name", TARGETS)
def test_samples_are_good_inputs_to_start_from(name: str) -> None:
    """At least one sample decodes, so that mutation does not only see the first byte refused."""

    def decodes(sample: bytes) -> bool:
        try:
            TARGETS[name].run(sample)
        except DecodeError:
            return False
        return True

    assert any(decodes(sample) for sample in TARGETS[name].samples)


def test_a_foreign_exception_is_found_and_made_short() -> None:
    """The engine sees what it is there to see."""

    def run(data: bytes) -> None:
        if b"N" in data:
            raise ZeroDivisionError
        decode_any(data)

    failure = fuzz(Target(run, (b'{"a":1}',)), seconds=60, seed=1).failure
    assert failure is not None
    assert failure.data == b"N"
    assert "ZeroDivisionError" in failure.reason


def test_what_grows_without_end_is_found() -> None:
    """Memory that every input leaves behind is a failure, too."""
    kept: list[bytes] = []

    def run(data: bytes) -> None:
        kept.append(bytes(2**16) + data)

    failure = fuzz(Target(run, (b"{}",)), seconds=60, seed=1).failure
    assert failure is not None
    assert "left behind" in failure.reason


def test_the_time_of_a_target_begins_with_its_first_input() -> None:
    """One whose samples alone take longer than its share is tried all the same."""

    def slow(data: bytes) -> None:
        del data
        time.sleep(0.02)

    assert fuzz(Target(slow, (b"{}",)), seconds=0.02, seed=1).inputs == 1
