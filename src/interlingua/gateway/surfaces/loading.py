"""Requests by which clients of Ollama load a model, or let it go, before they say anything.

Rules
- A body that has neither a prompt nor messages asks for that; `ollama run` begins with it.
- A target that is an Ollama itself gets it as it came. Elsewhere there is nothing to load: what can be asked is there,
  and the answer is the one that Ollama would give.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.gateway.calls.reading import read_object
from interlingua.gateway.http import GatewayReply
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from interlingua.gateway.calls.exchange import Conversations
    from interlingua.gateway.calls.plan import Targets
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.surfaces.models import ModelLists
    from interlingua.gateway.surfaces.passing import Passing

__all__ = ["Loading"]

_MOST_BYTES = 1_024
"""The most that a body has which says nothing."""
_SAYING = ("messages", "prompt", "images", "suffix")
_NOTHING: tuple[object, ...] = (None, "", [])
_AT_ONCE = (0, "0", "0s", "0m", "0h")
"""The values of `keep_alive` that let a model go."""
_JSON = (("content-type", "application/json; charset=utf-8"),)


class Loading(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that ask a model or load one."""

    conversations: Conversations
    """Conversations, which other requests begin."""
    passing: Passing
    """The way to a server that loads models."""
    models: ModelLists
    """The models that a key may ask for."""
    targets: Targets
    """The targets of names."""
    now: Callable[[], float]
    """Unix time in seconds."""

    def answer(self, dialect: str, request: GatewayRequest) -> Awaitable[GatewayReply]:
        """The answer to what a client of a dialect asks a model; one that says nothing asks for it to be loaded.

        Raises: as a conversation.
        """
        body = _silent(request.body)
        if body is None:
            return self.conversations.converse(dialect, request)
        return self._loaded(dialect, request, body)

    async def _loaded(self, dialect: str, request: GatewayRequest, body: dict[str, Any]) -> GatewayReply:
        """That the model is there, or was let go.

        Raises: NotFoundError for one that is not there, or that the key may not ask for.
        """
        name: str = body["model"]
        self.models.find(request, name)
        if any(target.dialect.name == dialect for target in self.targets.of(name, dialect, tools=False)):
            return await self.passing.answer(dialect, request)
        if request.entry is not None:
            request.entry.set_model(name, stream=False)
        empty = {"message": {"role": "assistant", "content": ""}} if request.path == "/api/chat" else {"response": ""}
        content = {
            "model": name,
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now())),
            **empty,
            "done": True,
            "done_reason": "unload" if body.get("keep_alive") in _AT_ONCE else "load",
        }
        return GatewayReply(headers=_JSON, body=encode(content))


def _silent(body: bytes) -> dict[str, Any] | None:
    """The members of a body that names a model and says nothing; None of any other."""
    if len(body) > _MOST_BYTES:
        return None
    try:
        members = read_object(body)
    except (DecodeError, LimitExceededError):
        return None  # whoever reads it as a request says what is wrong with it
    says = any(members.get(name) not in _NOTHING for name in _SAYING)
    return None if says or not isinstance(members.get("model"), str) or not members["model"] else members
