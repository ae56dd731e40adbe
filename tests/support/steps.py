"""What work comes to in steps of the interpreter: the same on every machine, and under any load."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["steps_of"]


def steps_of(run: Callable[[], object]) -> int:
    """How many instructions `run` takes; it runs twice, and the second time counts, which finds everything loaded.

    What a function of C does is one step, however long it takes: a bound on steps proves that loops end, not that
    nothing heavy is called.
    """
    count = 0

    def seen(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return seen

    run()
    before = sys.gettrace()
    sys.settrace(seen)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
