"""Both faces of the agent behind one interface, over a script instead of a network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, no_network, tool_call, use

__all__ = ["AWAITED", "BLOCKING", "FACES", "AgentFace", "call", "get_weather", "played"]


def get_weather(city: str) -> dict[str, object]:
    """The weather of a city.

    Args:
        city: City name.
    """
    return {"city": city, "celsius": 4}


def call(city: str = "Oslo", call_id: str = "") -> il.ToolCall:
    """A call of `get_weather`."""
    return tool_call("get_weather", call_id=call_id, city=city)


class AgentFace:
    """The blocking or the awaited agent, used in the same way."""

    def __init__(self, *, awaited: bool) -> None:
        """One of the two."""
        self.awaited = awaited

    def __repr__(self) -> str:
        return "aio" if self.awaited else "sync"

    def agent(self, model: str = "fake/scripted", **options: Any) -> Any:
        """An agent of this face, with the tool `get_weather` unless others are given."""
        options.setdefault("tools", [get_weather])
        return (aio if self.awaited else il).Agent(model, **options)

    def run(self, agent: Any, prompt: Any = "Weather?", **options: Any) -> il.Run[Any]:
        """What `agent.run` gives."""
        return self.settle(lambda: agent.run(prompt, **options))

    def resume(self, agent: Any, run: Any, **options: Any) -> il.Run[Any]:
        """What `agent.resume` gives."""
        return self.settle(lambda: agent.resume(run, **options))

    def live(self, run: Any, seen: Callable[[Any], object] = lambda _: None) -> list[Any]:
        """Every event of a live run; `seen` is called with each one as it comes."""

        async def read() -> list[Any]:
            found: list[Any] = []
            async with run:
                async for event in run:
                    found.append(event)
                    seen(event)
            return found

        if self.awaited:
            return asyncio.run(read())
        found: list[Any] = []
        with run:
            for event in run:
                found.append(event)
                seen(event)
        return found

    def settle(self, make: Callable[[], Any]) -> Any:
        """What a function gives, awaited where this face awaits."""

        async def main() -> Any:
            return await cast("Coroutine[Any, Any, Any]", make())

        return asyncio.run(main()) if self.awaited else make()


BLOCKING = AgentFace(awaited=False)
AWAITED = AgentFace(awaited=True)
FACES = (BLOCKING, AWAITED)


def played(face: AgentFace, answers: Any, prompt: Any = "Weather?", **options: Any) -> tuple[il.Run[Any], FakeModel]:
    """The run of an agent whose model answers from a script, and the model."""
    with no_network(), use(FakeModel(answers)) as fake:
        return face.run(face.agent(**options), prompt), fake
