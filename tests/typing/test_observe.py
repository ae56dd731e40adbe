"""What type checkers know of observers and of what is fetched."""

from __future__ import annotations

from typing import assert_type

import interlingua as il
from interlingua import aio


def observers(event: il.Observed) -> None:
    """Functions are observers, and a match over events knows their fields."""
    with il.on_event(print) as observation:
        assert_type(observation, il.Observation)
    assert_type(il.on_event(observers, content=True), il.Observation)
    assert_type(aio.on_event(print), il.Observation)
    assert_type(event.tags, dict[str, str])
    match event:
        case il.CallFinished(usage=usage, cost_usd=cost_usd):
            assert_type(usage, il.Usage | None)
            assert_type(cost_usd, float | None)
        case il.AttemptFailed(message=message):
            assert_type(message, str)
        case il.ToolCalled(call=call):
            assert_type(call, il.ToolCall | il.BrokenToolCall | None)
        case _:
            pass


def instrumented() -> None:
    """What is switched on can be switched off."""
    assert_type(il.instrument(content=True), il.Instrumentation)
    assert_type(il.instrument().uninstrument(), None)


async def fetched() -> None:
    """One of three parts, which any prompt takes."""
    part = il.fetch("https://cdn.example/a.png", allow_ports=[8443], max_bytes=1_000)
    assert_type(part, il.ImagePart | il.AudioPart | il.DocumentPart)
    assert_type(await aio.fetch("https://cdn.example/a.png"), il.ImagePart | il.AudioPart | il.DocumentPart)
    il.model().generate(["What is this?", part])
