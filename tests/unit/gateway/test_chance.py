"""Random bytes that are drawn many at a time."""

from __future__ import annotations

import os

import pytest

from interlingua.gateway.chance import random_bytes


def test_bytes_are_given_out_once() -> None:
    """Whatever is asked for comes in its length, and never again."""
    given = [random_bytes(11) for _ in range(1_000)]
    assert {len(one) for one in given} == {11}
    assert len(set(given)) == 1_000
    assert len(random_bytes(10_000)) == 10_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_draws_its_own() -> None:
    """What was drawn before the fork is the parent's alone."""
    random_bytes(1)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, random_bytes(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 16) != random_bytes(16)
    os.close(reading)
    os.close(writing)
