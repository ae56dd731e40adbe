"""The gateway's part of the configuration file: `[server]`, `[keys.<name>]` and `[teams.<name>]`.

Shape: `[server]` holds `SERVER_KEYS`; `[keys.team-a]` holds `hash`, `models`, `rpm`, `tpm`, `concurrency`, `budget`,
`max_body_bytes`, `default_max_tokens`, `expires` and `team`; `[teams.research]` holds `rpm`, `tpm`, `concurrency` and
`budget`.

Rules
- Unknown keys are errors with the line; so is what has the wrong type.
- A key stands there as its digest alone, `sha256:` and 64 hexadecimal digits; its name is one that `il keys` takes.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast, get_args

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.hooks import HOOK_SECTIONS, NO_HOOKS
from interlingua.gateway.keys.terms import Terms, read_budget, read_count, read_end
from interlingua.gateway.records.log import LogForm
from interlingua.gateway.records.observing import MetricsAccess, Observing
from interlingua.gateway.settings import MAX_PORT, GatewayKey, GatewaySettings
from interlingua.registry.config import parse_file, read_file, table_of
from interlingua.registry.spec import instead, shown
from interlingua.transport.base import Timeouts
from interlingua.types.capability import Capability

if TYPE_CHECKING:
    from interlingua.registry.config import ConfigFile, Table

__all__ = ["SERVER_KEYS", "ServerConfig", "read_server_config"]

_GUIDE = "docs/guides/gateway.md"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_Check: TypeAlias = "tuple[type | tuple[type, ...], str]"
_TEXTS: _Check = (list, "a list of texts")
_NUMBER: _Check = ((int, float), "a number of seconds")
_FLAG: _Check = (bool, "true or false")
_SERVER: dict[str, _Check] = {
    "host": (str, "an address"),
    "port": (int, "a number"),
    "hosts": _TEXTS,
    "origins": _TEXTS,
    "providers": _TEXTS,
    "open": _FLAG,
    "timeout_s": _NUMBER,
    "first_byte_s": _NUMBER,
    "idle_s": _NUMBER,
    "keep_alive_s": _NUMBER,
    "notice_s": _NUMBER,
    "drain_s": _NUMBER,
    "workers": (int, "a number"),
    "max_body_bytes": (int, "a number of bytes"),
    "max_receiving_bytes": (int, "a number of bytes"),
    "max_connections": (int, "a number"),
    "receive_s": _NUMBER,
    "send_s": _NUMBER,
    "allow": _TEXTS,
    "strict": _FLAG,
    "allow_fetch": _FLAG,
    "console": _FLAG,
    "console_content": _FLAG,
    "operators": _TEXTS,
    "id_secret_env": (str, "the name of a variable"),
    "id_secret_file": (str, "the path of a file"),
    "shared_ids": _TEXTS,
    "keys": (str, "the path of a file"),
}
_COUNT: _Check = ((int, str), 'a number, as 60 or "200k"')
_TERMS: dict[str, _Check] = {
    "rpm": _COUNT,
    "tpm": _COUNT,
    "concurrency": _COUNT,
    "budget": ((str, list), 'a budget, as "50 USD/month", or a list of them'),
}
_KEY: dict[str, _Check] = {
    "hash": (str, "a text"),
    "models": _TEXTS,
    **_TERMS,
    "max_body_bytes": _COUNT,
    "default_max_tokens": _COUNT,
    "context_tokens": _COUNT,
    "expires": ((str, date), "a date, as 2027-01-31"),
    "team": (str, "the name of a team"),
}
_OBSERVING: dict[str, _Check] = {
    "log": (str, '"json", "text" or "off"'),
    "log_content": _FLAG,
    "metrics": (str, '"off", "keys" or "open"'),
    "store": (str, "the name of a file"),
    "store_days": ((int, float), "a number of days"),
    "store_mb": (int, "a number of megabytes"),
    "record": (str, "the name of a directory"),
    "record_mb": (int, "a number of megabytes"),
    "otel": _FLAG,
}
SERVER_KEYS = (*_SERVER, *_OBSERVING)
"""Keys that may stand in `[server]`."""
_CHOICES: dict[str, tuple[str, ...]] = {"log": get_args(LogForm), "metrics": get_args(MetricsAccess)}
_MORE_THAN_0 = frozenset({
    "timeout_s", "first_byte_s", "idle_s", "keep_alive_s", "workers", "max_body_bytes", "max_connections",
    "max_receiving_bytes", "receive_s", "send_s", "store_days", "store_mb", "record_mb",
})  # fmt: skip
_FROM_0 = frozenset({"notice_s", "drain_s", "port"})
_TIMEOUTS = {"timeout_s": "total_s", "first_byte_s": "first_byte_s", "idle_s": "idle_s"}
_AS_IT_IS = (
    "keep_alive_s",
    "notice_s",
    "drain_s",
    "max_body_bytes",
    "max_receiving_bytes",
    "max_connections",
    "receive_s",
    "send_s",
    "strict",
    "allow_fetch",
    "console",
    "console_content",
    "id_secret_env",
    "id_secret_file",
)


class ServerConfig(NamedTuple):
    """The settings of the gateway in a file."""

    settings: GatewaySettings
    """How it is set up."""
    host: str | None
    """Where it listens; None where the file does not say."""
    port: int | None
    """On which port."""
    workers: int | None = None
    """How many processes serve."""


def read_server_config(path: str | Path) -> ServerConfig:
    """The settings of the gateway in a TOML file; providers, aliases and limits are read elsewhere.

    Raises: ConfigError, with the line, for a file that cannot be read and for what is not known or of the wrong type.
    """
    file = read_file(Path(path).expanduser())
    content = parse_file(file)
    server = _server(content.get("server", {}), file)
    teams = table_of(content.get("teams", {}), file, "", "teams")
    hooks = NO_HOOKS
    if not HOOK_SECTIONS.isdisjoint(content):
        from interlingua.gateway.hooks_config import read_hooks  # who has no hooks pays nothing

        hooks = read_hooks(content, file)
    gateway_keys = _keys(content.get("keys", {}), file)
    terms_of_teams = {
        name: _terms(_checked(value, file, "teams", name, _TERMS), file, f"teams.{name}")
        for name, value in teams.items()
    }
    capabilities: tuple[Capability, ...] = get_args(Capability)
    allow: list[str] = server.get("allow", [])
    for kind in allow:
        if kind not in capabilities:
            file.refuse(f"allow in [server] knows {', '.join(capabilities)}, not {shown(kind)}", "server", "allow")
    for name, choices in _CHOICES.items():
        if name in server and server[name] not in choices:
            listing = ", ".join([f'"{choice}"' for choice in choices])
            file.refuse(f"{name} in [server] is one of {listing}, not {shown(server[name])}", "server", name)
    settings = GatewaySettings(
        keys=gateway_keys,
        teams=terms_of_teams,
        key_file=server.get("keys", ""),
        hosts=tuple(server.get("hosts", ())),
        origins=tuple(server.get("origins", ())),
        providers=tuple(server.get("providers", ())),
        operators=tuple(server.get("operators", ())),
        shared_ids=frozenset(server.get("shared_ids", ())),
        is_open=server.get("open", False),
        timeouts=Timeouts(**{name: server[key] for key, name in _TIMEOUTS.items() if key in server}),
        allow=frozenset([kind for kind in capabilities if kind in allow]),
        observing=Observing(**{name: server[name] for name in _OBSERVING if name in server}),
        hooks=hooks,
        **{name: server[name] for name in _AS_IT_IS if name in server},
    )
    return ServerConfig(settings, server.get("host"), server.get("port"), server.get("workers"))


def _checked(value: object, file: ConfigFile, section: str, key: str, keys: dict[str, _Check]) -> Table:
    """A table whose keys are known and whose values have their types."""
    where = f"{section}.{key}" if section else key
    table = table_of(value, file, section, key)
    for name, entry in table.items():
        if name not in keys:
            file.refuse(f"unknown key {shown(name)} in [{where}]{instead(name, tuple(keys), _GUIDE)}", where, name)
        kind, words = keys[name]
        if not isinstance(entry, kind) or (isinstance(entry, bool) and kind is not bool):
            file.refuse(f"{name} in [{where}] is not {words}", where, name)
        if kind is list and not all(isinstance(item, str) for item in cast("list[Any]", entry)):
            file.refuse(f"{name} in [{where}] is not {words}", where, name)
    return table


def _server(value: object, file: ConfigFile) -> Table:
    """The table `[server]`, its numbers within their bounds."""
    table = _checked(value, file, "", "server", _SERVER | _OBSERVING)
    for name, number in table.items():
        if name in _MORE_THAN_0 and not number > 0:  # what is no number at all is refused, too
            file.refuse(f"{name} in [server] is more than 0", "server", name)
        if name in _FROM_0 and not number >= 0:
            file.refuse(f"{name} in [server] is 0 or more", "server", name)
    if table.get("port", 0) > MAX_PORT:
        file.refuse(f"port in [server] is at most {MAX_PORT}", "server", "port")
    if table.get("id_secret_env") and table.get("id_secret_file"):
        file.refuse("[server] names a secret twice: id_secret_env or id_secret_file", "server", "id_secret_file")
    return table


def _keys(value: object, file: ConfigFile) -> tuple[GatewayKey, ...]:
    """The keys of a file: each with a name that can be shown, and none twice."""
    from interlingua.gateway.keys.database import check_name  # only who has keys needs it

    names: dict[str, str] = {}
    keys: list[GatewayKey] = []
    for name, entry in table_of(value, file, "", "keys").items():
        where = f"keys.{name}"
        table = _checked(entry, file, "keys", name, _KEY)
        digest = table.get("hash", "")
        if not _DIGEST.fullmatch(digest):
            file.refuse(f"hash in [{where}] is not `sha256:` and 64 hexadecimal digits", where, "hash")
        if "models" in table and not any(table["models"]):
            file.refuse(f"models in [{where}] names none; a key without it may ask for any", where, "models")
        terms = _terms(table, file, where)
        expires_s = None
        if "expires" in table:
            try:
                expires_s = read_end(table["expires"])
            except ConfigError as error:
                file.refuse(f"{error.message} in [{where}]", where, "expires")
        models, team = tuple(table.get("models", ())), table.get("team", "")
        keys.append(GatewayKey(name=name, hash=digest, models=models, terms=terms, team=team, expires_s=expires_s))
    for key in keys:
        try:
            check_name(key.name)
        except UsageError as error:
            file.refuse(error.message, "keys", key.name)
        if key.hash in names:
            file.refuse(f"[keys.{key.name}] has the hash of [keys.{names[key.hash]}]", f"keys.{key.name}", "hash")
        names[key.hash] = key.name
    return tuple(keys)


def _terms(table: Table, file: ConfigFile, where: str) -> Terms:
    options: dict[str, Any] = {}
    for name in (*_TERMS, "max_body_bytes", "default_max_tokens", "context_tokens"):
        if name not in table:
            continue
        try:
            if name == "budget":
                budget: str | list[object] = table[name]
                texts = budget if isinstance(budget, list) else [budget]
                options["budgets"] = tuple([read_budget(str(text)) for text in texts])
            else:
                options[name] = read_count(table[name], name)
        except ConfigError as error:
            file.refuse(f"{error.message} in [{where}]", where, name)
    return Terms(**options)
