"""One request of a client, read: whom it names, what it asks, and how its answer is to be written.

Rules
- A body without a model, or without anything to say to it, is refused with the name of the missing member.
- Histories of foreign clients are mended; the unified dialect refuses by its rules.
- The answer shows the model under the name that the client used for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, PermissionDeniedError
from interlingua.wire.http import HttpRequest

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodedRequest, Dialect
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.change import Change
    from interlingua.types.request import Request

__all__ = ["ANSWER_IDS", "Asked", "read"]

ANSWER_IDS = {"openai-chat": "chatcmpl-", "openai-responses": "resp_", "anthropic": "msg_"}
"""How ids of answers begin, by dialect."""
_MESSAGES = {"openai-responses": "input", "google": "contents"}
"""The member that holds the conversation, where it is not `messages`."""
_SYSTEM_COUNTS = frozenset({"openai-chat", "openai-responses"})
"""Dialects in which a system text by itself is something to say."""
_MEND, _REFUSE = DecodeOptions(history="mend"), DecodeOptions()


class Asked:
    """One request of a client, read."""

    __slots__ = ("changes", "decoded", "dialect", "gateway", "http")

    def __init__(self, gateway: Gateway, http: GatewayRequest, dialect: Dialect, decoded: DecodedRequest) -> None:
        """A request that its dialect has read."""
        self.gateway = gateway
        self.http = http
        self.dialect: Dialect = dialect
        """The client's dialect."""
        self.decoded: DecodedRequest = decoded
        """What it asks."""
        self.changes: list[Change] = []
        """What writing the answer changed."""

    @property
    def request(self) -> Request:
        """What it asks, in canonical terms."""
        return self.decoded.request

    def context(self, source: str | None) -> ServerContext:
        """How the answer is to be written, when a target of the dialect `source` gave it."""
        name = self.dialect.name
        prefix = ANSWER_IDS.get(name, "")
        return ServerContext(
            model=self.decoded.model,
            created=int(self.gateway.now()),
            make_id=lambda: self.gateway.make_id(prefix),
            stream_usage=name != "openai-chat" or _wants_usage(self.request),
            source=source,
            json_array=self.decoded.json_array,
            path=self.http.path,
            changes=self.changes,
        )


def read(gateway: Gateway, http: GatewayRequest, name: str) -> Asked:
    """What a client of the dialect `name` asks.

    Raises: DecodeError with the place; HistoryError of the unified rules; PermissionDeniedError for a model that the
    key may not ask for.
    """
    dialect = get_dialect(name)
    url = f"{http.path}?{http.query}" if http.query else http.path
    request = HttpRequest(method=http.method, url=url, headers=http.headers, body=http.body)
    decoded = dialect.decode_request(request, _REFUSE if name == "unified" else _MEND)
    if not decoded.model:
        raise missing("model", "name the model, as `provider/model` or by an alias")
    if not gateway.may_use(http, decoded.model):
        raise PermissionDeniedError(f"this key may not ask for the model {decoded.model[:100]!r}", status=403)
    if not _says_something(name, decoded.request):
        raise missing(_MESSAGES.get(name, "messages"), "there is nothing to say to the model")
    return Asked(gateway, http, dialect, decoded)


def missing(member: str, hint: str) -> DecodeError:
    """The error of a body that lacks a member."""
    return DecodeError(f"/{member}: it is missing or empty; {hint}", path=f"/{member}", status=400)


def _says_something(name: str, request: Request) -> bool:
    if request.messages or request.continues is not None:
        return True
    return name in _SYSTEM_COUNTS and bool(request.system)


def _wants_usage(request: Request) -> bool:
    members: dict[str, Any] = request.extra.get("openai-chat") or {}
    options = members.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True  # pyright: ignore[reportUnknownMemberType]
