"""Which process this is: a forked child is another one."""

from __future__ import annotations

import os

import pytest

from interlingua.transport.process import this_process


def test_a_process_stays_the_one_that_it_is() -> None:
    """Asked twice, it is the same."""
    assert this_process() is this_process()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_is_another_one() -> None:
    """It finds nothing of its own in what its parent left behind; the parent stays the one that it was."""
    parent = this_process()
    child = os.fork()
    if child == 0:
        os._exit(7 if this_process() is not parent else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert this_process() is parent
