"""The gateway stands on the seam of the client: a call, its values and its stores, and none of the steps of a call."""

from __future__ import annotations

import ast

from tests.contract.source import MODULES

SEAM = {
    "aio.embed": "requests for vectors, side by side",
    "aio.pump": "the driver that carries steps out",
    "call.core": "a call of the gateway's own, such as a summary",
    "call.effect": "the type of steps, and the wait for a limit",
    "call.values": "a call and its targets as values",
    "call.live": "the base of a stream that is passed on",
    "call.relay": "a call whose targets may get the body as it came",
    "call.transports": "the transport of paths that nobody reads",
    "hooks.run": "hooks around a call",
    "observe": "whether anybody listens",
    "options": "the settings of a call",
    "plan": "a call that is explained, not made",
    "state": "the stores of health and limits",
    "vectors": "vectors and orders as values",
}
"""Modules of the client that the gateway imports, and what for; a step of a call (`chain`, `attempt`) is none."""


def test_the_gateway_imports_the_seam_of_the_client_alone() -> None:
    """The modules of the client that the gateway imports, also for annotations, are those of the seam."""
    imported = {
        node.module.removeprefix("interlingua.client.")
        for module in MODULES
        if module.name.startswith("interlingua.gateway")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("interlingua.client.")
        if node.module is not None
    }
    assert imported == set(SEAM)
