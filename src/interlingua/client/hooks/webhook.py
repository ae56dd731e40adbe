"""A hook that asks a service over HTTP: the door for detectors and rules that somebody else runs.

Shape: a POST of `{"step": "before" | "after", "context": {…}, "request": {…}, "response": {…}}`, request and answer as
canonical JSON (`il.dump`), `response` after the call alone. It is answered with status 200 and one of
`{"action": "allow"}`, `{"action": "refuse", "message": "…"}` and `{"action": "change", "request": {…}}`; after the
call, `response` is what may change.

Rules
- An answer is waited for `timeout_s` in all, and asked for once. It has at most `MAX_REPLY_BYTES`.
- Where there is none, or one that is no such answer, the call fails, unless `on_failure="allow"` lets it through; both
  are logged. A webhook that refuses is no failure.
- It is asked as it is, past fakes and cassettes: it is no model. Its key stands in a header and in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from msgspec.structs import replace

from interlingua.client.hooks.hook import Hook, HookContext
from interlingua.errors import (
    ConfigError,
    ContentPolicyViolationError,
    DecodeError,
    Error,
    InternalServerError,
    LimitExceededError,
    kind_of,
)
from interlingua.registry.secret import Secret
from interlingua.transport.base import Timeouts
from interlingua.types.dump import dump, load
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.wire.arguments import parse_unique
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.wire.http import Headers, HttpReply

__all__ = ["MAX_REPLY_BYTES", "TIMEOUT_S", "Webhook"]

TIMEOUT_S = 2.0
"""How long an answer is waited for unless somebody says otherwise."""
MAX_REPLY_BYTES = 64 * 1024 * 1024
"""The largest answer."""
Step: TypeAlias = Literal["before", "after"]
_STEPS: tuple[Step, ...] = ("before", "after")


class Webhook(Hook):
    """Asks a service what to do with each call."""

    def __init__(
        self,
        url: str,
        *,
        key: str | Callable[[], str] | None = None,
        timeout_s: float = TIMEOUT_S,
        on_failure: Literal["refuse", "allow"] = "refuse",
        steps: tuple[Step, ...] | list[Step] = ("before",),
        name: str = "",
    ) -> None:
        """The service at `url`; `key` goes there as `Authorization: Bearer`, `name` is what errors and changes call it.

        Raises: ConfigError for what is no address, no time and no step.
        """
        if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise ConfigError(f"a webhook is at an http:// or https:// address, not at {kind_of(url)}")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("a webhook is at an http:// or https:// address")
        if "@" in parts.netloc:  # nothing could be sent there, which `on_failure="allow"` would take for a failure
            raise ConfigError("the address of a webhook contains a credential: pass it as key=")
        if type(timeout_s) not in (int, float) or not 0 < timeout_s < inf:
            raise ConfigError("a webhook has more than 0 seconds to answer (timeout_s)")
        if on_failure not in ("refuse", "allow"):
            raise ConfigError("on_failure of a webhook is `refuse` or `allow`")
        if not isinstance(steps, Iterable) or not steps or not all([step in _STEPS for step in steps]):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise ConfigError(f"steps of a webhook are {' and '.join(_STEPS)}")
        self._url = url
        self._key = Secret.of_argument(key, "key")
        self._timeouts = Timeouts(
            connect_s=timeout_s, first_byte_s=timeout_s, idle_s=timeout_s, total_s=timeout_s, pool_s=timeout_s
        )
        self._lets_pass = on_failure == "allow"
        self._steps = frozenset(steps)
        self._name = name or parts.hostname

    @property
    def name(self) -> str:
        """`webhook` and its name."""
        return f"webhook {self._name}"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def before(
        self, request: Request, context: HookContext
    ) -> Request | Response[Any] | Awaitable[Request | Response[Any]]:
        """The request as the service wants it.

        Raises: ContentPolicyViolationError where it refuses; InternalServerError where it does not answer.
        """
        if "before" not in self._steps:
            return request
        body = {"step": "before", "context": _context_members(context), "request": decode_any(dump(request).encode())}
        return self._post(body, lambda answer: _request_of(answer, request), request, context)

    def after(self, response: Response[Any], context: HookContext) -> Response[Any] | Awaitable[Response[Any]]:
        """The answer as the service wants it.

        Raises: as `before`.
        """
        if "after" not in self._steps:
            return response
        bare = replace(response, request=None, raw_reply=None, output=None)
        body = {"step": "after", "context": _context_members(context), "response": decode_any(dump(bare).encode())}
        if response.request is not None:
            body["request"] = decode_any(dump(response.request).encode())
        return self._post(body, lambda answer: _response_of(answer, response), response, context)

    def _post(self, body: object, read: Callable[[dict[str, Any]], Any], same: object, context: HookContext) -> Any:
        headers: Headers = (
            ("content-type", "application/json"), ("accept", "application/json"), ("user-agent", "interlingua"),
        )  # fmt: skip
        key = None if self._key is None else self._key.reveal()
        if key is not None:
            headers = (*headers, ("authorization", f"Bearer {key}"))
        sent = HttpRequest(url=self._url, headers=headers, body=encode(body))
        if context.is_async:
            return self._awaited(sent, read, same)
        from interlingua.transport.base import fetch_of
        from interlingua.transport.default import default_transport

        try:
            reply = fetch_of(default_transport())(sent, self._timeouts)
        except Error as error:
            return self._failed(error, same)
        return self._settled(reply, read, same)

    async def _awaited(self, sent: HttpRequest, read: Callable[[dict[str, Any]], Any], same: object) -> Any:
        from interlingua.transport.base import async_fetch_of
        from interlingua.transport.default import default_async_transport

        try:
            reply = await async_fetch_of(default_async_transport())(sent, self._timeouts)
        except Error as error:
            return self._failed(error, same)
        return self._settled(reply, read, same)

    def _settled(self, reply: HttpReply, read: Callable[[dict[str, Any]], Any], same: object) -> Any:
        """The value that the service decides on: the same, or its change.

        Raises: ContentPolicyViolationError where it refuses; InternalServerError for what is no answer.
        """
        try:
            if reply.status != 200:
                raise DecodeError(f"status {reply.status}", path="")
            if len(reply.body) > MAX_REPLY_BYTES:
                raise LimitExceededError(f"{len(reply.body):,} bytes, and {MAX_REPLY_BYTES:,} are the most")
            try:
                text = reply.body.decode()
            except UnicodeDecodeError:
                raise DecodeError("no text in UTF-8", path="") from None
            parsed = parse_unique(text)  # of two actions none is taken
            if not isinstance(parsed, dict):
                raise DecodeError("no JSON object", path="")
            answer = cast("dict[str, Any]", parsed)
            match answer.get("action"):
                case "allow":
                    return same
                case "change":
                    return read(answer)
                case "refuse":
                    pass
                case other:
                    raise DecodeError(f"the action {str(other)[:40]!r} is none", path="/action")
        except Error as error:
            return self._failed(error, same)
        message = answer.get("message")
        sentence = message[:1_000] if isinstance(message, str) and message else f"refused by the {self.name}"
        raise ContentPolicyViolationError(sentence, status=400, code="webhook_refused")

    def _failed(self, error: Error, same: object) -> Any:
        """The value as it was, where failures are let through.

        Raises: InternalServerError where they are not.
        """
        import logging  # only what fails needs it

        what = "lets the call through" if self._lets_pass else "refuses the call"
        logging.getLogger("interlingua").warning("the %s failed, which %s: %s", self.name, what, error.message)
        if self._lets_pass:
            return same
        raise InternalServerError(
            f"the {self.name} gave no answer ({type(error).__name__}), so that nothing is let through", status=503
        ) from None


def _context_members(context: HookContext) -> dict[str, Any]:
    return {
        "model": context.model,
        "targets": list(context.targets),
        "stream": context.stream,
        "owner": context.owner,
        "client": context.client,
    }


def _request_of(answer: dict[str, Any], request: Request) -> Request:
    """The request that a service gave back, with the handlers of the tools that it left as they were.

    Raises: DecodeError for what is none.
    """
    changed = load(encode(answer.get("request")))
    if not isinstance(changed, Request):
        raise DecodeError("a change of a request has a canonical request", path="/request")
    own = {tool.name: tool for tool in request.tools if isinstance(tool, Tool)}
    tools = [
        replace(tool, handler=own[tool.name].handler) if isinstance(tool, Tool) and tool.name in own else tool
        for tool in changed.tools
    ]
    return replace(changed, tools=tuple(tools))


def _response_of(answer: dict[str, Any], response: Response[Any]) -> Response[Any]:
    """The answer that a service gave back; how it came about stays what it was.

    Raises: DecodeError for what is none.
    """
    changed = load(encode(answer.get("response")))
    if not isinstance(changed, Response):
        raise DecodeError("a change of an answer has a canonical response", path="/response")
    loaded = cast("Response[Any]", changed)
    return replace(
        response,
        parts=loaded.parts,
        finish_reason=loaded.finish_reason,
        alternatives=loaded.alternatives,
    )
