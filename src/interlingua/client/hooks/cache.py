"""A cache of whole answers to requests that are the same in every member.

Rules
- A key is made of the owner and the keys of the targets, the targets and where they are, how the call is made and the
  whole request: what differs anywhere has another one. With `shared` all owners share what is kept, without what a
  provider sealed or keeps for one of them.
- Nothing is kept, and nothing is looked up, where something acts: of a request with tools, one that a provider keeps or
  goes on from, or an answer that calls. Vectors are not kept either.
- Only an answer that ended by itself is kept: none that was cut, refused or filtered, or that failed.
- A hit has no id of a provider, costs nothing and is counted by no meter; its usage says what the first answer took.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from interlingua.client.call.chain import is_committed
from interlingua.client.hooks.hook import Hook, HookContext
from interlingua.client.hooks.stores import open_store
from interlingua.errors import ConfigError, Error
from interlingua.types.content import AudioPart, ImagePart, TextPart, ThinkingPart
from interlingua.types.dump import dump, load
from interlingua.types.response import Response
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from interlingua.client.hooks.stores import CacheStore
    from interlingua.types.content import Part
    from interlingua.types.request import Request

__all__ = ["MAX_BYTES", "TTL_S", "ResponseCache"]

TTL_S = 3_600.0
"""How long an answer is kept unless somebody says otherwise."""
MAX_BYTES = 64 * 1024 * 1024
"""How much is kept."""
_KEPT = frozenset({TextPart, ThinkingPart, ImagePart, AudioPart})
_KEY = "interlingua.cache"
_BARE: dict[str, Any] = {"sealed": None, "extra": {}}


class ResponseCache(Hook):
    """Answers a request that was answered before; put it last, so that it sees what would be sent."""

    sees_everything: bool = False
    """An answer that cannot be read is not stored, and goes on."""

    def __init__(
        self,
        store: str | CacheStore = "memory",
        *,
        ttl_s: float = TTL_S,
        max_bytes: int = MAX_BYTES,
        shared: bool = False,
    ) -> None:
        """A cache in `memory`, in a SQLite file (its path), at a `redis://…` or `postgresql://…` address, or one's own.

        Raises: ConfigError for a place that cannot be used, and for a bound that is none.
        """
        are_numbers = all([type(bound) in (int, float) for bound in (ttl_s, max_bytes)])
        if not (are_numbers and ttl_s > 0 and max_bytes > 0):
            raise ConfigError("a cache of answers keeps them for more than 0 seconds, and more than 0 bytes of them")
        self._store = open_store(store, max_bytes) if isinstance(store, str) else store
        self._ttl_s = ttl_s
        self._shared = shared

    def before(
        self, request: Request, context: HookContext
    ) -> Request | Response[Any] | Awaitable[Request | Response[Any]]:
        """The answer that is kept, or the request."""
        if context.operation != "chat":
            return request
        if request.tools or is_committed(request):
            return request
        owner = None if self._shared else (context.owner, context.account)
        facts = (owner, context.targets, context.variant, dump(request))
        key = context.memo[_KEY] = sha256(encode(facts)).hexdigest()
        entry = self._store.get(key, is_async=context.is_async)
        if entry is None or isinstance(entry, bytes):
            return self._looked(request, context, entry)
        return self._awaited(request, context, entry)

    async def _awaited(
        self, request: Request, context: HookContext, entry: Awaitable[bytes | None]
    ) -> Request | Response[Any]:
        return self._looked(request, context, await entry)

    def _looked(self, request: Request, context: HookContext, entry: bytes | None) -> Request | Response[Any]:
        answer = None if entry is None else _read(entry)
        context.cache = "miss" if answer is None else "hit"
        return request if answer is None else replace(answer, cost_usd=0.0)

    def after(self, response: Response[Any], context: HookContext) -> Response[Any] | Awaitable[Response[Any]]:
        """The answer, which is kept where it is a whole one."""
        key = context.memo.get(_KEY)
        if key is None:
            return response
        choices = [(response.finish_reason, response.parts)]
        choices += [(other.finish_reason, other.parts) for other in response.alternatives]
        # A whole answer ended by itself, and nothing in it acts.
        if not all(reason == "stop" and parts and _KEPT.issuperset(map(type, parts)) for reason, parts in choices):
            return response
        changes = tuple([change for change in response.changes if change.stage != "hook"])
        stored = replace(
            response, id=None, request_id=None, request=None, raw_reply=None, output=None, attempts=(), rate_limits={},
            changes=changes,
        )  # fmt: skip
        if self._shared:  # without what belongs to whom it was given
            others = [replace(other, parts=_bare(other.parts), extra={}) for other in stored.alternatives]
            stored = replace(stored, parts=_bare(stored.parts), alternatives=tuple(others), extra={})
        pending = self._store.put(key, dump(stored).encode(), self._ttl_s, is_async=context.is_async)
        return response if pending is None else _after(pending, response)

    def close(self) -> None:
        """Close its store."""
        self._store.close()


async def _after(pending: Awaitable[None], response: Response[Any]) -> Response[Any]:
    await pending
    return response


def _read(entry: bytes) -> Response[Any] | None:
    """The answer that was kept; None for what another version wrote, or nobody can read."""
    try:
        answer = load(entry)
    except Error:
        return None
    return cast("Response[Any]", answer) if isinstance(answer, Response) else None


def _bare(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    visible = [part for part in parts if not isinstance(part, ThinkingPart) or part.text]
    return tuple(
        [replace(cast("Any", part), **{name: _BARE[name] for name in _BARE if hasattr(part, name)}) for part in visible]
    )
