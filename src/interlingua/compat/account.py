"""The account of a client: its key, its server, its time-outs; and the targets that follow from it.

Rules
- Every argument of the SDK's clients is honoured, or refused in words with the way out; none is ignored in silence.
- Without `base_url` a model is a spec, as in `il.model`: a name without a provider that no alias has is OpenAI's.
- With `base_url` every model is asked there, by its name as it stands.
- `api_key` goes to the server of `base_url`, else to OpenAI; no other provider ever gets to see it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from interlingua.client.face import Face, call_of
from interlingua.client.options import Settings, settle
from interlingua.errors import UnknownModelError, UsageError
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry, default_registry
from interlingua.registry.secret import Secret
from interlingua.transport.base import Timeouts
from interlingua.wire.http import Headers

if TYPE_CHECKING:
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.types.request import Request

__all__ = ["Account", "Key", "account_of", "headers_of", "refuse", "retries_of", "timeouts_of"]

Key: TypeAlias = "str | Callable[[], str]"
"""A key, or a function that gives the one that holds now."""

OPENAI = frozenset({"openai", "openai-chat", "openai-responses"})
"""The rows that are OpenAI's own servers."""
_HOSTS = {"openai-chat": "openai-chat", "openai-responses": "openai"}
"""The row that a bare name of a model belongs to, by the dialect of the body."""
_ELSEWHERE = {
    "admin_api_key": "keys of models are the only ones that are used",
    "default_query": "parameters of an address belong in its provider's row, see il.register_provider(…)",
    "extra_query": "parameters of an address belong in its provider's row, see il.register_provider(…)",
    "http_client": "proxies and certificates come from the environment; il.testing has fakes and cassettes",
    "organization": "default_headers={'OpenAI-Organization': …} sends it",
    "project": "default_headers={'OpenAI-Project': …} sends it",
    "provider": "the model's name says who serves it: 'provider/model'",
    "webhook_secret": "webhooks are not taken here",
    "websocket_base_url": "web sockets are not spoken here",
    "workload_identity": "api_key takes a function that gives the key that holds now",
}


def refuse(arguments: Mapping[str, object]) -> None:
    """Nothing, if nothing in `given` says anything.

    Raises: UsageError for the first argument that says something that is not done here, with the way out.
    """
    for name, value in arguments.items():
        if value is None:
            continue
        raise UsageError(f"{name} is not taken here{f': {_ELSEWHERE[name]}' if name in _ELSEWHERE else ''}")


def timeouts_of(value: object) -> Timeouts:
    """The deadlines that the SDK's `timeout` stands for: seconds for each phase, or an object with one for each.

    Raises: UsageError for anything else.
    """
    if value is None:
        return Timeouts(connect_s=None, first_byte_s=None, idle_s=None, total_s=None, pool_s=None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Timeouts(connect_s=value, first_byte_s=value, idle_s=value, total_s=None, pool_s=value)
    if all(hasattr(value, name) for name in ("connect", "read", "pool")):
        phases: Any = value
        read = phases.read
        return Timeouts(connect_s=phases.connect, first_byte_s=read, idle_s=read, total_s=None, pool_s=phases.pool)
    raise UsageError(f"timeout takes seconds, None or an httpx.Timeout, not {value!r:.60}")


def retries_of(value: object, name: str) -> int | None:
    """How often a target is asked again; None leaves it to us.

    Raises: UsageError for what is no such number.
    """
    try:
        return settle(Settings(), {"retries": value}).retries
    except UsageError as error:
        raise UsageError(error.message.replace("retries", name, 1)) from None


def headers_of(pairs: Mapping[str, str] | None) -> Headers:
    """Headers in our form."""
    return tuple([(name.lower(), value) for name, value in (pairs or {}).items()])


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """A key, a server and time-outs."""

    api_key: Secret | None = None
    """The key that was given; None leaves it to each provider's variable."""
    base_url: str | None = None
    """The one server that is asked; None leaves it to the name of the model."""
    timeouts: Timeouts = Timeouts()
    """Deadlines of a call."""
    headers: Headers = ()
    """Further headers of every call."""
    own: frozenset[str] | None = OPENAI
    """Providers that the key is for; None: the provider of the model, whoever it is."""
    strict: bool = False
    """Whether whatever would be dropped or approximated is refused."""
    retries: int | None = None
    """How often a target is asked again after a failure that may pass; None leaves it to us."""

    def call(self, dialect: str, model: str, request: Request, output: object = None) -> Call:
        """The call as a value, whose body was in `dialect`.

        Raises: UsageError and its kinds for what cannot be asked, and for a key that would go to another provider.
        """
        without = replace(request, messages=())
        settings = Settings(
            request=without,
            headers=self.headers,
            timeouts=self.timeouts,
            strict=self.strict,
            retries=self.retries,
        )
        if self.base_url is not None:
            secret = self.api_key
            key = (lambda: secret.reveal() or "") if secret else os.environ.get("OPENAI_API_KEY") or None
            home = self.base_url.startswith(f"{ROWS['openai'].base_url}")
            row = replace(
                ROWS["openai" if home else "openai-compatible"],
                name=_SERVER,
                base_url=self.base_url.rstrip("/"),
                dialects=(dialect,),
                family="openai" if home else "openai-compatible",
            )
            registry = Registry({})
            registry.register_provider(row, key=key)
            face = Face(f"{_SERVER}/{model}", settings, registry=registry)
            return call_of(face, request.messages, None, {}, output)
        # Names without a provider are aliases, or OpenAI's.
        names = [name.strip() for name in model.split(",")]
        spec = ",".join([name if "/" in name or _is_alias(name) else f"{_HOSTS[dialect]}/{name}" for name in names])
        call = call_of(Face(spec, settings), request.messages, None, {}, output)
        return call if self.api_key is None else replace(call, targets=self._keyed(call.targets, self.api_key))

    def _keyed(self, targets: tuple[CallTarget, ...], key: Secret) -> tuple[CallTarget, ...]:
        own = self.own
        if own is None and len({target.endpoint.provider for target in targets}) > 1:
            raise UsageError("api_key is one key and the chain has several providers: give each its variable instead")
        for target in targets:
            if own is not None and target.endpoint.provider not in own:
                raise UsageError(
                    f"api_key is OpenAI's and {target.endpoint.spec} is not: leave it out, and the key comes from the "
                    "variable that `il providers` names; base_url= says when the key is another server's"
                )
        return tuple([replace(target, endpoint=replace(target.endpoint, credential=key)) for target in targets])


_SERVER = "openai-compatible"
"""The name in answers and errors of a server that is known by its address alone."""


def _is_alias(name: str) -> bool:
    try:
        default_registry().resolve(name)
    except UnknownModelError:
        return False
    return True


def account_of(
    *,
    api_key: Key | None,
    base_url: object,
    timeout: object,
    default_headers: Mapping[str, str] | None,
    has_timeout: bool,
    max_retries: object = None,
) -> Account:
    """The account of a client's arguments; OPENAI_BASE_URL stands for a `base_url` that is not given."""
    address = str(base_url) if base_url is not None else os.environ.get("OPENAI_BASE_URL") or None
    return Account(
        api_key=Secret.of_argument(api_key),
        base_url=address,
        timeouts=timeouts_of(timeout) if has_timeout else Timeouts(),
        headers=headers_of(default_headers),
        retries=retries_of(max_retries, "max_retries"),
    )
