"""The hooks of a gateway: what its file says of them, and the hooks themselves.

Shape: `[policy]` (`policy`), `[hooks]` with `use`, a list of import paths (`package.module:name`), `[webhooks.<name>]`,
and `[cache]`.

Rules
- They lie around a call in that order; hooks that code brings along come after the policy. The cache is the innermost
  one, so that an answer that it has passes all others.
- Nothing is imported, opened or connected to before a file names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from interlingua.errors import ConfigError, Error
from interlingua.gateway.policy import Policy, PolicySettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua import Hook

__all__ = ["HOOK_SECTIONS", "NO_HOOKS", "CacheSettings", "HookSettings", "WebhookSettings", "made_hooks"]


HOOK_SECTIONS = frozenset({"policy", "hooks", "webhooks", "cache"})
"""The tables of a file that speak of hooks."""


class CacheSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of `[cache]`."""

    store: str = "memory"
    """`memory`, a `redis://…` or `postgresql://…` address, or the path of a SQLite file."""
    ttl_s: float = 3_600.0
    """How long an answer is kept."""
    max_mb: int = 64
    """How much is kept in memory or in the file, in megabytes."""
    shared: bool = False
    """Whether keys share what is kept."""


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of `[webhooks.<name>]`."""

    name: str
    """Its name."""
    url: str
    """Its address."""
    key_env: str = ""
    """The variable with its key, read for each request; empty: it wants none."""
    timeout_s: float = 2.0
    """How long an answer is waited for."""
    on_failure: Literal["refuse", "allow"] = "refuse"
    """The treatment of a call when there is none."""
    steps: tuple[Literal["before", "after"], ...] = ("before",)
    """When it is asked."""


class HookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of hooks in a file."""

    policy: PolicySettings = PolicySettings()
    """The rules of the operator."""
    use: tuple[str, ...] = ()
    """Import paths of hooks."""
    webhooks: tuple[WebhookSettings, ...] = ()
    """Services that are asked."""
    cache: CacheSettings | None = None
    """The cache of answers; None for none."""
    unread: Literal["refuse", "pass"] = "refuse"
    """The treatment of requests for a model that no hook can read: batches, pictures, sounds."""


NO_HOOKS = HookSettings()
"""The settings of a file without hooks."""


def made_hooks(settings: HookSettings, own: Sequence[Hook] = ()) -> tuple[Hook, ...]:
    """The hooks of a gateway, in the order in which they lie around a call; `own` are those that code brings along.

    Raises: ConfigError for what cannot be imported or opened; UsageError for what is no hook.
    """
    if settings == NO_HOOKS and not own:
        return ()
    from interlingua.client.hooks.run import check_hooks

    hooks: list[Hook] = []
    if settings.policy.concerns_requests:
        hooks.append(Policy(settings.policy))
    hooks += check_hooks(list(own))
    hooks += [_imported(path) for path in settings.use]
    hooks += [_webhook(each) for each in settings.webhooks]
    if settings.cache is not None:
        from interlingua import ResponseCache

        cache = settings.cache
        hooks.append(
            ResponseCache(cache.store, ttl_s=cache.ttl_s, max_bytes=cache.max_mb * 1024 * 1024, shared=cache.shared)
        )
    return tuple(hooks)


def _webhook(settings: WebhookSettings) -> Hook:
    """The hook that asks a service.

    Raises: ConfigError for what is no address.
    """
    import os

    from interlingua import Webhook

    def key() -> str:
        value = os.environ.get(settings.key_env)
        if not value:
            raise ConfigError(f"[webhooks.{settings.name}] has no key: set {settings.key_env}")
        return value

    return Webhook(
        settings.url,
        key=key if settings.key_env else None,
        timeout_s=settings.timeout_s,
        on_failure=settings.on_failure,
        steps=settings.steps,
        name=settings.name,
    )


def _imported(path: str) -> Hook:
    """The hook at an import path; a class, and a function without parameters, are called.

    Raises: ConfigError for what is not there, fails, or is no hook.
    """
    from importlib import import_module

    from interlingua import Hook

    module, colon, name = path.partition(":")
    try:
        target: Any = import_module(module) if colon and module and name else None
        for step in name.split("."):
            target = getattr(target, step)
        hook: object = target if isinstance(target, Hook) else target()
    except Error:
        raise
    except Exception as error:  # what a module does when it is imported may raise anything
        raise ConfigError(f"[hooks] {path} cannot be used: {type(error).__name__}: {error}") from error
    if not isinstance(hook, Hook):
        raise ConfigError(f"[hooks] {path} is no il.Hook, and gives none")
    return hook
