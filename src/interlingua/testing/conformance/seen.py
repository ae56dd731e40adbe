"""The content of an answer, in no service's words, with everything that is wrong with it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from interlingua.errors import Error
from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.wirefacts.values import members
from interlingua.wire.json import decode_any
from interlingua.wire.sse import SseDecoder

__all__ = ["CallSeen", "Finish", "Seen", "arguments_of", "frames_of", "parsed"]

Finish: TypeAlias = Literal["stop", "length", "tool_calls", "refusal", "other", ""]
"""Why an answer ended; empty when it does not say."""


class CallSeen(msgspec.Struct, kw_only=True):
    """One call."""

    id: str = ""
    """Its id."""
    name: str = ""
    """The tool's name."""
    arguments: Any = None
    """Its arguments; None when they are no JSON object."""


class Seen(msgspec.Struct, kw_only=True):
    """One answer."""

    text: str = ""
    """Its text."""
    calls: list[CallSeen] = []
    """Its calls."""
    finish: Finish = ""
    """Why it ended."""
    has_usage: bool = False
    """Whether it counts tokens."""
    turn: list[dict[str, Any]] = []
    """The assistant's turn as the service takes it back in a history."""
    faults: list[str] = []
    """Everything that is wrong, each with its place."""


def arguments_of(text: str, where: str, faults: list[str]) -> Any:
    """The arguments that a text holds; a fault when they are no JSON object."""
    try:
        value = decode_any(text or "{}")
    except Error as error:
        faults.append(f"{where}: the arguments are malformed: {error.message}")
        return None
    if not isinstance(value, dict):
        faults.append(f"{where}: the arguments are no object")
        return None
    return members(value)


def parsed(data: bytes | str, where: str, faults: list[str]) -> Any:
    """The JSON value of a body or a frame; a fault, and None, when it is none."""
    try:
        return decode_any(data)
    except Error as error:
        faults.append(f"{where}: no JSON: {error.message}")
        return None


def frames_of(dialect: str, body: bytes, faults: list[str]) -> list[tuple[str | None, dict[str, Any]]]:
    """Name and object of every server-sent event, `[DONE]` as an empty object."""
    decoder = SseDecoder()
    try:
        events = [*decoder.feed(body), *decoder.close()]
    except Error as error:
        faults.append(f"stream: {error.message}")
        return []
    frames: list[tuple[str | None, dict[str, Any]]] = []
    for place, event in enumerate(events):
        if event.data.strip() == b"[DONE]":
            frames.append(("[DONE]", {}))
            continue
        frame = members(parsed(event.data, f"frame {place}", faults))
        if "error" in frame and frame.get("type", "error") == "error":
            faults.append(f"frame {place}: an error in the stream: {frame['error']}")
        else:
            faults.extend(f"frame {place} {fault}" for fault in shape_faults(dialect, "Frame", frame))
        frames.append((event.event, frame))
    return frames
