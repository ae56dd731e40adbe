"""The gateway uses public names of the client, and few of its inner modules."""

from __future__ import annotations

import ast

from tests.contract.source import MODULES

INNER = frozenset({
    "aio.embed", "aio.pump", "call.attempt", "call.chain", "call.core", "call.effect", "call.job", "call.live",
    "call.needs", "call.report", "call.transports", "call.watch", "hooks.run", "observe", "options", "plan",
    "state", "vectors",
})  # fmt: skip
"""Inner modules of the client that the gateway imports; a further one is to become a public name, and none is added."""


def test_the_gateway_imports_no_further_inner_module_of_the_client() -> None:
    """The inner modules of the client that the gateway imports, also for annotations, are those of the list."""
    imported = {
        node.module.removeprefix("interlingua.client.")
        for module in MODULES
        if module.name.startswith("interlingua.gateway")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("interlingua.client.")
        if node.module is not None
    }
    assert imported == INNER
