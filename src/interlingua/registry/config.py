"""The part of the configuration file that concerns the library: providers, aliases, limits and capabilities.

Shape: `[providers.work]` holds `dsn` or `dsn_env`, and `login` in place of a key; `[aliases]` maps a name to a spec, a
list of targets, or a table `{ targets, policy, weights, require }`; `[limits."openai/*"]` holds `concurrency`, `rpm`
and `tpm`; `[capabilities."ollama/gemma3*"]` holds what such models take (`tools = false`). `[keys]`, `[teams]`,
`[server]`, `[policy]`, `[hooks]`, `[webhooks]` and `[cache]` are the gateway's and are not read here.

Rules
- Unknown keys are errors with the line; so is what has the wrong type.
- A DSN is read when its provider is used, or when `load_config` checks them all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

from interlingua.errors import ConfigError, UnknownModelError, UsageError
from interlingua.registry.allowance import Allowance, allowance, check_pattern
from interlingua.registry.declared import declared
from interlingua.registry.ranking import Rule, rule
from interlingua.registry.sources import FileProvider
from interlingua.registry.spec import check_alias_name, parse_spec, shown
from interlingua.types.capabilities import Capabilities

__all__ = ["Config", "ConfigFile", "Table", "parse_file", "read_config", "read_file", "table_of"]

Table: TypeAlias = "dict[str, Any]"
"""A table of a file, parsed."""

SECTIONS = (
    "providers", "aliases", "capabilities", "keys", "limits", "server", "teams", "policy", "hooks",
    "webhooks", "cache",
)  # fmt: skip
_ALIAS_KEYS = ("targets", "policy", "weights", "require")
MAX_FILE_BYTES = 4 * 1024 * 1024


class Config(NamedTuple):
    """The settings of the library in a file."""

    providers: dict[str, FileProvider]
    """Name -> where its DSN is."""
    aliases: dict[str, str]
    """Name -> spec; a name may end with `*`."""
    rules: dict[str, Rule]
    """Name -> in which order its targets are asked, where that was said."""
    limits: dict[str, Allowance]
    """Pattern of targets -> what it allows."""
    capabilities: dict[str, Capabilities] = {}
    """Pattern of targets -> what they take and do not take."""


class ConfigFile(NamedTuple):
    """A configuration file, for errors that name the line."""

    name: str
    """Its name, without the folder."""
    text: str
    """Its text."""

    def refuse(self, why: str, section: str, key: str) -> NoReturn:
        """Raise, with the line of the key, or of its section where the key is missing."""
        outer, _, name = section.rpartition(".")
        line = _line_of(self.text, section, key) or _line_of(self.text, outer, name)
        raise ConfigError(f"{self.name}{f' line {line}' if line else ''}: {why}")


def read_config(path: str | Path) -> Config:
    """The providers, aliases and limits of a TOML file.

    Raises: ConfigError for a file that cannot be read or parsed, unknown keys, wrong types and malformed specs;
        UsageError for what is no path.
    """
    if not isinstance(path, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"a configuration is read from the path of a file, not from {path!r:.60}")
    file = read_file(Path(path).expanduser())
    content = parse_file(file)
    for section in content:
        if section not in SECTIONS:
            file.refuse(f"unknown section {shown(section)}; known: {', '.join(SECTIONS)}", "", section)
    sections = ("providers", "aliases", "limits", "capabilities")
    providers, aliases, limits, capabilities = (
        table_of(content.get(section, {}), file, "", section) for section in sections
    )
    specs = {name: _alias(name, value, file) for name, value in aliases.items()}
    return Config(
        {name: _provider(name, value, file) for name, value in providers.items()},
        specs,
        {name: _rule(name, specs[name], value, file) for name, value in aliases.items()},
        {pattern: _allowance(pattern, value, file) for pattern, value in limits.items()},
        {pattern: _capabilities(pattern, value, file) for pattern, value in capabilities.items()},
    )


def read_file(path: Path) -> ConfigFile:
    """The text of a file.

    Raises: ConfigError for one that cannot be read, is too large or no text.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ConfigError(f"{path.name}: larger than {MAX_FILE_BYTES} bytes")
        return ConfigFile(path.name, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ConfigError(f"{path.name}: not UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


def parse_file(file: ConfigFile) -> Table:
    """The tables of a file.

    Raises: ConfigError for what is no TOML.
    """
    import tomllib

    try:
        return tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file.name}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file.name}: nested too deeply") from None


def table_of(value: object, file: ConfigFile, section: str, key: str) -> Table:
    """The table that stands under a key.

    Raises: ConfigError for anything else.
    """
    if not isinstance(value, dict):
        file.refuse(f"{key} is not a table", section, key)
    return cast("Table", value)


def _provider(name: str, value: object, file: ConfigFile) -> FileProvider:
    section = f"providers.{name}"
    if not name or name != name.strip() or any(sign in name for sign in "/,"):
        file.refuse(
            f"{shown(name)} cannot name a provider (no slash, no comma, no space at its ends)", "providers", name
        )
    table = table_of(value, file, "providers", name)
    for key, text in table.items():
        if key not in {"dsn", "dsn_env", "login"}:
            file.refuse(f"unknown key {shown(key)} in [{section}]; known: dsn, dsn_env, login", section, key)
        if not isinstance(text, str):
            file.refuse(f"{key} in [{section}] is not a string", section, key)
    if len(table.keys() - {"login"}) != 1:
        file.refuse(f"[{section}] needs one of dsn and dsn_env", "", section)
    return FileProvider(f"{file.name} [{section}]", table.get("dsn"), table.get("dsn_env"), table.get("login"))


def _alias(name: str, value: object, file: ConfigFile) -> str:
    try:
        check_alias_name(name)
    except ConfigError as error:
        file.refuse(error.message, "aliases", name)
    targets = value
    if isinstance(value, dict):
        table = cast("Table", value)
        for key in table:
            if key not in _ALIAS_KEYS:
                names = ", ".join(_ALIAS_KEYS)
                file.refuse(f"unknown key {shown(key)} in the alias {shown(name)}; known: {names}", "aliases", name)
        targets = table.get("targets")
    if isinstance(targets, list) and all(isinstance(target, str) for target in cast("list[object]", targets)):
        targets = ",".join(cast("list[str]", targets))
    if not isinstance(targets, str):
        file.refuse(f"the alias {shown(name)} is not a spec, a list of specs or a table", "aliases", name)
    try:
        parse_spec(targets)
    except UnknownModelError as error:
        file.refuse(f"the alias {shown(name)}: {error.message}", "aliases", name)
    return targets


def _allowance(pattern: str, value: object, file: ConfigFile) -> Allowance:
    table = table_of(value, file, "limits", pattern)
    try:
        check_pattern(pattern)
    except ConfigError as error:
        file.refuse(error.message, "limits", pattern)
    for key, number in table.items():
        try:
            allowance({key: number})
        except ConfigError as error:
            file.refuse(f'[limits."{pattern}"]: {error.message}', f"limits.{pattern}", key)
    return allowance(table)


def _capabilities(pattern: str, value: object, file: ConfigFile) -> Capabilities:
    section = f"capabilities.{pattern}"
    table = table_of(value, file, "capabilities", pattern)
    try:
        check_pattern(pattern)
    except ConfigError as error:
        file.refuse(error.message, "capabilities", pattern)
    for key, entry in table.items():
        try:
            declared({key: entry})
        except ConfigError as error:
            file.refuse(f'[capabilities."{pattern}"]: {error.message}', section, key)
    return declared(table).over(Capabilities(), f'{file.name} [capabilities."{pattern}"]')


def _rule(name: str, spec: str, value: object, file: ConfigFile) -> Rule:
    """The rule of an alias; that of one without a table is the usual one."""
    table = cast("Table", value) if isinstance(value, dict) else {}
    policy, weights, require = table.get("policy", "ordered"), table.get("weights"), table.get("require", [])
    if weights is not None and not isinstance(weights, list):
        file.refuse(f"the alias {shown(name)}: weights takes a list of numbers", "aliases", name)
    if not isinstance(require, list):
        file.refuse(f"the alias {shown(name)}: require takes a list of features", "aliases", name)
    try:
        return rule(str(policy), cast("list[float] | None", weights), spec, cast("list[str]", require))
    except ConfigError as error:
        file.refuse(f"the alias {shown(name)}: {error.message}", "aliases", name)


def _line_of(text: str, section: str, key: str) -> int | None:
    """The number of the line that holds `key` in `[section]`, or that opens the table `key`; None when unsure."""
    word = rf"""["']?{re.escape(key)}["']?"""
    pattern = re.compile(rf"\s*(?:{word}\s*[=.]|\[\[?\s*(?:{re.escape(section)}\.)?{word}\s*[\].])")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.fullmatch(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?", line):
            current = header[1].replace('"', "")
        if pattern.match(line) and (header or current in {section, "providers"} or not section):
            return number
    return None
