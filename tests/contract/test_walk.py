"""A conversation goes through few modules of the gateway, and seldom returns to one."""

from __future__ import annotations

from bench.walk import walk
from tests.contract.source import without_collector

MODULES, RETURNS = 26, 26


def test_a_conversation_enters_few_modules_and_seldom_returns() -> None:
    """Whoever reads the way of a request from its handler opens so many files, and turns back so often, at most."""
    with without_collector():
        found = walk()
    assert (len(found.modules) <= MODULES, len(found.returns) <= RETURNS) == (True, True), found
