"""`[policy]`, `[hooks]`, `[webhooks]` and `[cache]` of a file, read with the line of whatever is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.client.options import Settings, settle
from interlingua.errors import UsageError
from interlingua.gateway.hooks import CacheSettings, HookSettings, WebhookSettings
from interlingua.gateway.policy import PolicySettings
from interlingua.registry.config import table_of
from interlingua.registry.spec import instead, shown
from interlingua.types.request import Request

if TYPE_CHECKING:
    from interlingua.registry.config import ConfigFile, Table

__all__ = ["read_hooks"]

_GUIDE = "docs/guides/hooks.md"
_Check: TypeAlias = "tuple[type | tuple[type, ...], str]"
_TEXTS: _Check = (list, "a list of texts")
_COUNT: _Check = (int, "a number from 0 on")
_POLICY: dict[str, _Check] = {
    "models": _TEXTS,
    "rewrite": (dict, "a table of names"),
    "defaults": (dict, "a table of tables"),
    "denied_words": _TEXTS,
    "max_messages": _COUNT,
    "max_tools": _COUNT,
    "max_media": _COUNT,
    "max_text_characters": _COUNT,
    "max_tokens": (int, "a number above 0"),
}
_CACHE: dict[str, _Check] = {
    "store": (str, '"memory", a redis:// or postgresql:// address or the path of a file'),
    "ttl_s": ((int, float), "a number of seconds above 0"),
    "max_mb": (int, "a number of megabytes above 0"),
    "shared": (bool, "true or false"),
}
_HOOKS: dict[str, _Check] = {
    "use": (list, 'a list of import paths, as "package.module:name"'),
    "unread": (str, '"refuse" or "pass"'),
}
_WEBHOOK: dict[str, _Check] = {
    "url": (str, "an address"),
    "key_env": (str, "the name of a variable"),
    "timeout_s": ((int, float), "a number of seconds above 0"),
    "on_failure": (str, '"refuse" or "allow"'),
    "steps": (list, 'a list of "before" and "after"'),
}
_WORDS = {"on_failure": frozenset({"refuse", "allow"}), "steps": frozenset({"before", "after"})}
_ABOVE_0 = frozenset({"ttl_s", "max_mb", "max_tokens", "timeout_s"})
_NOT_FILLED = frozenset({"messages", "tools", "continues"})
"""Members of a request that are what it asks, not how."""


def read_hooks(content: Table, file: ConfigFile) -> HookSettings:
    """The settings of hooks in the tables of a file.

    Raises: ConfigError, with the line, for what is not known or of the wrong type.
    """
    hooks = _checked(content.get("hooks", {}), file, "hooks", _HOOKS)
    unread = hooks.get("unread", "refuse")
    if unread not in ("refuse", "pass"):
        file.refuse(f"unread in [hooks] is not {_HOOKS['unread'][1]}", "hooks", "unread")
    tables = table_of(content.get("webhooks", {}), file, "", "webhooks")
    cache = _checked(content["cache"], file, "cache", _CACHE) if "cache" in content else None
    policy = _policy(content.get("policy", {}), file)
    webhooks: list[WebhookSettings] = []
    for name, value in tables.items():
        where = f"webhooks.{name}"
        table = _checked(value, file, where, _WEBHOOK)
        for key, words in _WORDS.items():
            choice = table.get(key, [])
            if key in table and not (choice and words.issuperset([choice] if isinstance(choice, str) else choice)):
                file.refuse(f"{key} in [{where}] is not {_WEBHOOK[key][1]}", where, key)
        if not table.get("url", "").startswith(("http://", "https://")):
            file.refuse(f"url in [{where}] is not an http:// or https:// address", where, "url")
        options: dict[str, Any] = {**table, "steps": tuple(table.get("steps", ("before",)))}
        webhooks.append(WebhookSettings(name=name, **options))
    return HookSettings(
        policy=policy,
        use=tuple(hooks.get("use", ())),
        unread=unread,
        webhooks=tuple(webhooks),
        cache=None if cache is None else CacheSettings(**cache),
    )


def _checked(value: object, file: ConfigFile, where: str, keys: dict[str, _Check]) -> Table:
    """A table whose keys are known and whose values have their types."""
    outer, _, last = where.rpartition(".")
    table = table_of(value, file, outer, last)
    for name, entry in table.items():
        if name not in keys:
            file.refuse(f"unknown key {shown(name)} in [{where}]{instead(name, tuple(keys), _GUIDE)}", where, name)
        kind, words_of_kind = keys[name]
        is_wrong = not isinstance(entry, kind) or (isinstance(entry, bool) and kind is not bool)
        if is_wrong or (kind is list and not all(isinstance(one, str) and one for one in cast("list[Any]", entry))):
            file.refuse(f"{name} in [{where}] is not {words_of_kind}", where, name)
        if isinstance(entry, int | float) and (entry < 0 or (name in _ABOVE_0 and not entry > 0)):
            file.refuse(f"{name} in [{where}] is not {words_of_kind}", where, name)
    return table


def _policy(value: object, file: ConfigFile) -> PolicySettings:
    table = _checked(value, file, "policy", _POLICY)
    rewrite = table.get("rewrite", {})
    for name, target in rewrite.items():
        if not isinstance(target, str) or not target or not name:
            file.refuse(f"{shown(name)} in [policy] rewrite is not the name of a model", "policy.rewrite", name)
        if target.endswith("*") and not name.endswith("*"):
            file.refuse(f"{shown(name)} in [policy] rewrite has no `*` for that of {target}", "policy.rewrite", name)
    defaults: dict[str, dict[str, Any]] = {}
    option_names = tuple([one for one in Request.__struct_fields__ if one not in _NOT_FILLED])
    for name, entry in table.get("defaults", {}).items():  # members of a request, read as the options of a call are
        where = f"policy.defaults.{name}"
        filled = table_of(entry, file, "policy.defaults", name)
        for option, filling in filled.items():
            if option not in option_names:
                hint = instead(option, option_names, _GUIDE)
                file.refuse(f"unknown key {shown(option)} in [{where}]{hint}", where, option)
            try:
                settle(Settings(), {option: filling})
            except UsageError as error:
                file.refuse(f"{error.message} in [{where}]", where, option)
        request = settle(Settings(), filled).request
        defaults[name] = {option: getattr(request, option) for option in filled}
    lists = {name: tuple(table[name]) for name in ("models", "denied_words") if name in table}
    options: dict[str, Any] = {**table, **lists, "rewrite": rewrite, "defaults": defaults}
    return PolicySettings(**options)
