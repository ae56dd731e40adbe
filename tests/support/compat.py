"""The official SDK and `interlingua.compat` behind one interface: the same calls, the answers as plain JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

__all__ = ["Caller", "said"]


class Caller:
    """Clients of one kind, blocking or awaited; every call has one of its own, which is closed after it."""

    def __init__(self, make: Callable[[], Any], **always: Any) -> None:
        """A caller of clients that `make` makes; `always` is in every body."""
        self._make = make
        self._always = always

    def chat(self, **body: Any) -> Any:
        """What `chat.completions.create` gives; a stream's pieces as a list."""
        return self._come(lambda client: client.chat.completions.create(**{**body, **self._always}))

    def parse(self, **body: Any) -> Any:
        """What `chat.completions.parse` gives."""
        return self._come(lambda client: client.chat.completions.parse(**{**body, **self._always}))

    def respond(self, **body: Any) -> Any:
        """What `responses.create` gives; a stream's events as a list."""
        return self._come(lambda client: client.responses.create(**{**body, **self._always}))

    def parse_response(self, **body: Any) -> Any:
        """What `responses.parse` gives."""
        return self._come(lambda client: client.responses.parse(**{**body, **self._always}))

    def _come(self, use: Callable[[Any], Any]) -> Any:
        client = self._make()
        if hasattr(client, "__aenter__"):
            return asyncio.run(_awaited(client, use))
        with client:
            made = use(client)
            if hasattr(made, "to_dict"):
                return made
            with made:
                return list(made)


async def _awaited(client: Any, use: Callable[[Any], Any]) -> Any:
    async with client:
        made = await use(client)
        if hasattr(made, "to_dict"):
            return made
        async with made:
            return [piece async for piece in made]


def said(value: Any) -> Any:
    """What JSON says: without nulls and without what is empty, which is what neither side makes a difference of."""
    if isinstance(value, list):
        return [said(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = {name: said(member) for name, member in cast("dict[str, Any]", value).items()}
        return {name: member for name, member in members.items() if member not in (None, "", [], {})}
    return value
