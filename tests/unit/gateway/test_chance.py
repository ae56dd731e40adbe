"""Random names that are drawn many at a time."""

from __future__ import annotations

import os
import re

import pytest

from interlingua.gateway.chance import random_name


def test_names_are_given_out_once() -> None:
    """Each is as long as an id needs it, and never comes again."""
    given = [random_name() for _ in range(1_000)]
    assert all(re.fullmatch(r"[0-9a-f]{22}", one) for one in given)
    assert len(set(given)) == 1_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_draws_its_own() -> None:
    """What was drawn before the fork is the parent's alone."""
    random_name()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, random_name().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 22).decode() != random_name()
    os.close(reading)
    os.close(writing)
