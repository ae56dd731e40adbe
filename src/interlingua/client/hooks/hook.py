"""The interface of a hook: what it is asked before, during and after a call, on canonical values.

Rules
- `before` runs in the order of the list, `during` and `after` in the opposite one, as layers around the call.
- What a hook changes is in the `changes` of the answer, under its name. Whatever it raises ends the call.
- A hook is shared by all calls: what belongs to one call is kept in its context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from interlingua.types.capability import Operation
from interlingua.types.response import Response

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from interlingua.types.event import Event
    from interlingua.types.request import Request

__all__ = ["Hook", "HookContext"]


class HookContext(msgspec.Struct, kw_only=True):
    """One call, as hooks are told of it."""

    model: str
    """The model as it was asked for: an alias, `provider/model`, or a chain."""
    targets: tuple[str, ...] = ()
    """The targets for which that stands, each as `provider/model`, in the order in which they are named."""
    operation: Operation = "chat"
    """The operation: an answer, vectors, or an order of documents.

    Of the latter two the texts are the parts of the request's only message, and the answer says nothing: its `output`
    holds what came.
    """
    stream: bool = False
    """Whether the answer is streamed."""
    is_async: bool = False
    """Whether the caller awaits: only then may a method give back an awaitable."""
    owner: str = ""
    """The name of the gateway's key that asks; empty in the library, and where there are no keys."""
    client: str = ""
    """The dialect of the gateway's client; empty in the library."""
    variant: str = ""
    """Where the targets are and which options decide what is sent (`strict`, `allow`, `headers`), as a digest."""
    account: str = ""
    """The keys that the targets would be asked with, as a digest; empty where there are none."""
    cache: Literal["", "hit", "miss"] = ""
    """The result of a look into a cache; the gateway tells its client so."""
    memo: dict[str, Any] = {}
    """Values that hooks remember from one step of this call to the next, by names of their own."""


class Hook:
    """A hook that changes nothing; a subclass overrides the steps that it needs, each plain or `async`."""

    sees_everything: bool = True
    """Whether nothing may reach a model past it: a gateway then refuses what it cannot read. A cache says False."""

    @property
    def name(self) -> str:
        """Its name in `changes` and in errors."""
        return type(self).__name__

    def before(
        self, request: Request, context: HookContext
    ) -> Request | Response[Any] | Awaitable[Request | Response[Any]]:
        """The request to go on with, or an answer that stands for the call; to refuse it, raise an `il.Error`."""
        del context
        return request

    def after(self, response: Response[Any], context: HookContext) -> Response[Any] | Awaitable[Response[Any]]:
        """The answer to give; to hold it back, raise an `il.Error`.

        Of a stream it gets the whole answer at its end. That was told already, so it has to give back the same one.
        """
        del context
        return response

    def during(self, events: list[Event], context: HookContext) -> list[Event] | Awaitable[list[Event]]:
        """The next events to give; to stop the stream, raise an `il.Error`.

        Pieces of text, of thinking and of a refusal may be changed, left out, held back and added; every other event
        has to go on, in its order. The end of the stream then says what was told.
        """
        del context
        return events

    def close(self) -> None:
        """Let go of what it has open; a gateway calls it at its end."""
