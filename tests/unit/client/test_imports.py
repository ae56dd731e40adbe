"""A call loads what it needs: no event loop on the blocking face, no schema engine without schemas."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEEDLESS = (
    *("asyncio", "jsonschema_rs", "PIL", "httptools", "interlingua.client.aio", "interlingua.schema.reflect"),
    *("interlingua.client.batch", "interlingua.dialects._batches"),
)


@pytest.mark.parametrize(
    "statement",
    [
        "il.model('fake/x').generate('Hi')",
        "il.model('fake/x').stream('Hi').finish()",
        "il.model('fake/x').explain('Hi')",
    ],
)
def test_a_blocking_call_loads_no_event_loop(statement: str) -> None:
    """Neither asyncio nor the schema engine is there after a plain call that stays in the process."""
    code = f"import sys, interlingua as il; {statement}; print([name for name in {NEEDLESS} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
