"""The configuration of a LiteLLM proxy, converted.

Rules
- Nothing is read but the text: no variable, no file, no network.
- No value of a key, of a variable, of a header comes into the new file or the report.
- What cannot be served is left out and said; a file that is none of LiteLLM's is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.cli.litellm.deployment import Keys, Param, read_deployment, usual_keys
from interlingua.cli.litellm.groups import Alias, Models, build_models, chains
from interlingua.cli.litellm.reading import leaves, read_yaml, table_of
from interlingua.cli.litellm.report import UNKNOWN, Entry, Report
from interlingua.cli.litellm.settings import read_settings, read_strategy
from interlingua.cli.litellm.writing import report_lines, toml_text, variable_of_dsn
from interlingua.errors import ConfigError
from interlingua.providers.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.cli.litellm.reading import Tree

__all__ = ["Converted", "convert"]

_CONTEXT = "at the chain's end: asked after any failure that goes on, and when the input is too long"
_VERTEX = "LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers"
_HOSTS = {"vertex": f"{_VERTEX}/google", "vertex-anthropic": f"{_VERTEX}/anthropic"}
_FILLED = (
    "with what {} held for HOST, without its https://; tls=0 is one more option where it was http://",
    "with {} for PROJECT/LOCATION",
)


class Converted(NamedTuple):
    """The result of a conversion."""

    toml: str
    """The new file."""
    report: tuple[str, ...]
    """The report, line by line."""
    entries: tuple[Entry, ...]
    """The fate of every leaf of the old file, in its order."""
    variables: dict[str, str]
    """Variables to set, with what each holds."""


def convert(text: str, name: str = "config.yaml", output: str = "gateway.toml") -> Converted:
    """The TOML and the report for a LiteLLM configuration; `output` is what the new file will be called.

    Raises: ConfigError for what is no YAML or no configuration of a LiteLLM proxy, and without the [yaml] extra.
    """
    tree = read_yaml(text, name)
    entries = tree.get("model_list", [])
    if not isinstance(entries, list):
        raise ConfigError(f"{name}: model_list is not a list")
    report = Report()
    listed = cast("list[object]", entries)
    keys = Keys({str(reported) for reported in re.findall(r"os\.environ/(\w+)", text)} | usual_keys(listed), report)
    shared: dict[str, dict[str, Param]] = {}  # the values of the shared credentials, by their names
    credential_list: object = tree.get("credential_list")
    for index, entry in enumerate(cast("list[object]", credential_list) if isinstance(credential_list, list) else []):
        path = f"credential_list[{index}]"
        members = cast("Tree", entry) if isinstance(entry, dict) else {}
        credential_name, values = members.get("credential_name"), members.get("credential_values")
        if not isinstance(credential_name, str) or not isinstance(values, dict):
            report.say(path, "missing", "no credential: it needs a credential_name and credential_values")
            continue
        report.say(f"{path}.credential_name", "becomes", "told at the providers that use it")
        report.say(f"{path}.credential_info", "needless", "a description")
        report.say(path, "missing", "no deployment that is served uses it")
        own = cast("Tree", values).items()
        shared[credential_name] = {key: Param(value, f"{path}.credential_values.{key}") for key, value in own}
    made = [read_deployment(entry, f"model_list[{index}]", shared, keys, report) for index, entry in enumerate(listed)]
    models = build_models([one for one in made if one is not None], read_strategy(tree, report), report)
    falls, spec_of = _fallbacks(tree, models, report)
    outer, inner = chains(models.pools, falls, spec_of)
    server = read_settings(tree, report)
    for section in ("model_list", "router_settings", "litellm_settings", "general_settings", "environment_variables"):
        empty = not tree.get(section)
        report.say(section, "needless" if empty else "unknown", "it is empty" if empty else UNKNOWN)
    inner = {**inner, **models.inner}
    if server.everywhere:
        # Every target has what all of them allow, where it says nothing of its own.
        named = {target for alias in (*outer.values(), *inner.values()) for target in alias.targets if "/" in target}
        for target in sorted(named | models.limits.keys()):
            models.limits[target] = {**server.everywhere, **models.limits.get(target, {})}
    _name_variables(models, keys, report)
    toml = toml_text(name, models.providers, (outer, inner), models.limits, server)
    reported = report.entries(list(leaves(tree)))
    lines = report_lines(reported, report, f"il serve --config {output}")
    return Converted(toml, tuple(lines), tuple(reported), dict(sorted(report.variables.items())))


# Fallbacks


def _fallbacks(tree: Tree, models: Models, report: Report) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The fallbacks of each name, and the specs of names that are no pools."""
    falls: dict[str, list[str]] = {}
    spec_of: dict[str, str] = {}
    aliases: object = table_of(tree, "router_settings").get("model_group_alias", {})
    for name, value in cast("Tree", aliases).items() if isinstance(aliases, dict) else ():
        # One more name for a pool.
        path = f"router_settings.model_group_alias.{name}"
        target = cast("Tree", value).get("model") if isinstance(value, dict) else value
        group = _new_name(target, models) if isinstance(target, str) else None
        if group is None or "/" in name or "," in name or not name.isprintable() or name in models.pools:
            report.say(path, "missing", "it leads to no model that is served here, or the name can be no alias")
            continue
        models.pools[name] = models.pools.get(group, Alias((group,)))._replace(source=path)
        report.say(f"{path}.hidden", "missing", "every alias is in the list of models")
        report.say(path, "becomes", f'[aliases] "{name}"')
    state = (falls, spec_of)
    _chain(tree, "fallbacks", state, models, report)
    named = [name for name in models.pools if name not in falls]
    for section in ("router_settings", "litellm_settings"):
        listed: object = table_of(tree, section).get("default_fallbacks", [])
        for index, other in enumerate(cast("list[object]", listed) if isinstance(listed, list) else []):
            for name in named:
                _fall(name, f"{section}.default_fallbacks[{index}]", other, state, models, report=report)
    _chain(tree, "context_window_fallbacks", state, models, report)
    return falls, spec_of


def _chain(
    tree: Tree, setting: str, state: tuple[dict[str, list[str]], dict[str, str]], models: Models, report: Report
) -> None:
    """Take what one setting says of fallbacks."""
    for path, name, others in _pairs(tree, setting, report):
        source = _new_name(name, models)
        if source is None or source not in models.pools:
            report.say(path, "missing", "no deployment of that name is served under an alias")
            continue
        for place, other in others:
            _fall(source, place, other, state, models, report=report, exact=setting == "fallbacks")


def _fall(
    source: str,
    path: str,
    other: object,
    state: tuple[dict[str, list[str]], dict[str, str]],
    models: Models,
    *,
    report: Report,
    exact: bool = True,
) -> None:
    target = _new_name(other, models) if isinstance(other, str) else None
    if target is None:
        report.say(path, "missing", "no model of that name is served here")
        return
    falls, spec_of = state
    if target not in models.pools:
        spec_of[target] = target
    if target not in falls.setdefault(source, []):
        falls[source].append(target)
    report.say(path, "becomes" if exact else "nearly", "the chain of an alias" if exact else _CONTEXT)


def _new_name(name: str, models: Models) -> str | None:
    """A name of the old file as it is called in the new one: an alias, or a spec; None for one that leads nowhere."""
    alias = name.strip().replace("/", "-")
    if alias in models.pools:
        return alias
    prefix, slash, model = name.partition("/")
    if slash and model and "," not in name and (prefix in models.prefixes or prefix in models.providers):
        return name
    return name if slash and any(name in alias.targets for alias in models.pools.values()) else None


def _pairs(tree: Tree, setting: str, report: Report) -> Iterator[tuple[str, str, list[tuple[str, object]]]]:
    """Each name that falls back, with its place, and each that it falls back on, with its own."""
    for section in ("router_settings", "litellm_settings"):
        listed: object = table_of(tree, section).get(setting, [])
        for index, entry in enumerate(cast("list[object]", listed) if isinstance(listed, list) else []):
            if not isinstance(entry, dict):
                report.say(f"{section}.{setting}[{index}]", "missing", "no mapping of a name to others")
                continue
            for name, others in cast("dict[str, Any]", entry).items():
                path = f"{section}.{setting}[{index}].{name}"
                if not isinstance(others, list):
                    report.say(path, "missing", "no list of names")
                    continue
                items = cast("list[object]", others)
                yield path, name, [(f"{path}[{place}]", other) for place, other in enumerate(items)]


# The rest


def _name_variables(models: Models, keys: Keys, report: Report) -> None:
    """Ask for the variables of the accounts that are used."""
    for name, account in models.accounts.items():
        if account.address.startswith("$"):
            dsn = account._replace(address=_HOSTS.get(account.scheme, "HOST")).dsn
            sentence = f"{dsn}, {_FILLED[account.scheme in _HOSTS]}".format(account.address[1:])
            report.variables.setdefault(variable_of_dsn(name), sentence)
        row, options = ROWS[account.scheme], dict(account.options)
        for variable in row.variables:
            is_used = not account.address or ("login" in options and f"{{{variable.name}}}" in row.login_scope)
            if is_used and not variable.default and variable.name not in options:
                report.variables.setdefault(variable.env[0], f"the {variable.name} of {row.title}")
        if account.key:
            report.variables.setdefault(account.key, keys.notes.get(account.key, "a key"))
