"""Places in a JSON value, as RFC 6901 writes them."""

from __future__ import annotations

__all__ = ["pointer", "pointer_steps"]


def pointer(*steps: str | int) -> str:
    """The RFC 6901 pointer that leads down these member names and indices."""
    path = "".join([f"/{step}" for step in steps])
    if "~" in path or path.count("/") > len(steps):
        return "".join([f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps])
    return path


def pointer_steps(pointer: str) -> list[str]:
    """The member names and indices that a pointer, or a local reference (`#/…`), leads down."""
    steps = pointer.split("/")[1:]
    return [step.replace("~1", "/").replace("~0", "~") for step in steps] if "~" in pointer else steps
