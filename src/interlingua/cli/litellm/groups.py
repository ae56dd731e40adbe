"""`model_list` as providers, aliases and limits.

Strategy: the deployments of one name are a pool; a name is its pool, then the pools of its fallbacks and of theirs,
each once, so that names which fall back on each other make no circle.

Rules
- A name with a slash is provider/model here. Where a provider of that name can be told, clients go on asking for it;
  else the alias has hyphens for slashes, and the report says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from interlingua.cli.litellm.deployment import Account, Deployment, clean_model
from interlingua.providers.rows import ROWS
from interlingua.registry.allowance import MAX_ALLOWED

if TYPE_CHECKING:
    from interlingua.cli.litellm.report import Report

__all__ = ["Alias", "Models", "Names", "build_models", "chains", "count_of"]

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9.-]*")
_VAGUE = frozenset({"api", "www", "llm", "gateway", "proxy", "models"})
_LIMITS = {"rpm": "rpm", "tpm": "tpm", "max_parallel_requests": "concurrency"}
_NO_ACCOUNT = "another entry has that provider's name for another address or key"


class Alias(NamedTuple):
    """One alias of the new file."""

    targets: tuple[str, ...]
    """Specs and further aliases."""
    policy: str = "ordered"
    """In which order they are asked."""
    weights: tuple[float, ...] = ()
    """One for each, or none."""
    source: str = ""
    """Where it comes from, for the comment."""


class Models(NamedTuple):
    """The models of `model_list`."""

    providers: dict[str, Account]
    """Tables of providers, by name."""
    pools: dict[str, Alias]
    """The pool of each name of the old file, without its fallbacks."""
    inner: dict[str, Alias]
    """Aliases that stand in others alone."""
    limits: dict[str, dict[str, int]]
    """Target -> what it allows."""
    prefixes: set[str]
    """Providers that were asked for by a wildcard."""
    accounts: dict[str, Account]
    """Every provider that is used, also those that need no table."""


class Names:
    """Which provider of the new file stands for an account."""

    def __init__(self) -> None:
        """None yet."""
        self.accounts: dict[str, Account] = {}
        """Every name that was given, built-in ones too."""

    def reserve(self, name: str, account: Account) -> bool:
        """Whether the account has that name, now or since earlier."""
        return bool(_PROVIDER.fullmatch(name)) and self.accounts.setdefault(name, account) == account

    def of(self, account: Account) -> str:
        """The name of an account: the row's where it is the row, else one of its own."""
        for name, other in self.accounts.items():
            if other == account:
                return name
        if account.is_built_in and self.reserve(account.scheme, account):
            return account.scheme
        # The name tells the account from the row, by its host or its key.
        host = re.split(r"[/:$]", account.address.removeprefix("["))[0]
        labels = host.split(".")
        label = labels[0] if len(labels) > 2 and labels[0] not in _VAGUE and not labels[-1].isdigit() else host
        if not label:
            usual = ROWS[account.scheme].key_env
            label = account.address.removeprefix("$") or (account.key if account.key not in usual else "own")
        slug = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") or "own"
        stem, count = slug if slug.startswith(account.scheme) else f"{account.scheme}-{slug}", 1
        name = stem
        while name in self.accounts or name in ROWS:
            count += 1
            name = f"{stem}-{count}"
        self.accounts[name] = account
        return name


def count_of(value: object) -> int | None:
    """A whole number from 1 on, also one in quotes; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() and 1 <= number <= MAX_ALLOWED else None


def build_models(deployments: list[Deployment], strategy: str, report: Report) -> Models:
    """The providers, pools and limits of all deployments."""
    names, models = Names(), Models({}, {}, {}, {}, set(), {})
    plain = [one for one in deployments if not _is_wildcard(one) and not _take_slash(one, deployments, names, report)]
    for one in deployments:
        if _is_wildcard(one):
            _take_wildcard(one, names, models, report)
    groups: dict[str, list[Deployment]] = {}
    group_names = {one.name for one in plain}
    for one in plain:
        name = _alias_name(one, group_names, report)
        if name:
            groups.setdefault(name, []).append(one)
    for one in deployments:
        if not _is_wildcard(one):
            _limit(one, f"{names.of(one.account)}/{one.model}", models, report)
    models.pools.update(dict.fromkeys(groups, Alias(())))  # the names are taken before any is made up
    for name, members in groups.items():
        models.pools[name] = _pool(name, members, strategy, names=names, models=models, report=report)
    models.accounts.update(names.accounts)
    models.providers.update({name: account for name, account in names.accounts.items() if _needs_table(name, account)})
    return models


def _needs_table(name: str, account: Account) -> bool:
    return not (account.is_built_in and name == account.scheme)


# Names


def _is_wildcard(one: Deployment) -> bool:
    return one.model.endswith("*")


def _take_wildcard(one: Deployment, names: Names, models: Models, report: Report) -> None:
    """`openai/*`: a provider of that name; anything else with a star at both ends has no place."""
    prefix, slash, rest = one.name.partition("/")
    if one.name == one.model == "*":
        report.say(one.path, "needless", "provider/model reaches every provider by itself; bare names need an alias")
        return
    if not slash or rest != "*" or one.model != "*":
        report.drop(one.path, "an alias that ends with * stands for one spec; it puts nothing into another name")
        return
    if not names.reserve(prefix, one.account):
        report.drop(one.path, f"not served: {_NO_ACCOUNT}, or the name can be no provider's")
        return
    models.prefixes.add(prefix)
    if _needs_table(prefix, one.account):
        _say_model(one, "becomes", f"[providers.{prefix}], asked for as {prefix}/…", report)
    else:
        _say_model(one, "needless", f"{prefix}/… reaches that provider by itself", report)
    _limit(one, f"{prefix}/*", models, report)


def _take_slash(one: Deployment, deployments: list[Deployment], names: Names, report: Report) -> bool:
    """Whether a name with a slash can stay as it is: its one deployment is that provider's model of that name."""
    prefix, slash, rest = one.name.partition("/")
    alone = [other.name for other in deployments].count(one.name) == 1
    if not slash or not alone or rest != one.model or not names.reserve(prefix, one.account):
        return False
    _say_model(one, "becomes", f"provider/model, asked for as {one.name}", report)
    return True


def _alias_name(one: Deployment, group_names: set[str], report: Report) -> str:
    """The alias for a name; empty where it can be none."""
    name = one.name.strip().replace("/", "-")
    if not clean_model(name) or ".." in name or "*" in name[:-1]:
        report.drop(one.path, "not served: the name can be no alias (no comma, a * at the end only)")
        return ""
    if name != one.name and name in group_names:
        report.drop(one.path, f'not served: it would be the alias "{name}", which another entry has')
        return ""
    if name != one.name:
        word = f'[aliases] "{name}", which clients ask for: a name with a slash is provider/model here'
        _say_model(one, "nearly", word, report)
    return name


def _say_model(one: Deployment, fate: str, word: str, report: Report) -> None:
    for path in (f"{one.path}.model_name", one.params["model"].path):
        report.say(path, "becomes" if fate == "becomes" else "nearly" if fate == "nearly" else "needless", word)


# Pools and limits


def _pool(
    name: str, members: list[Deployment], strategy: str, *, names: Names, models: Models, report: Report
) -> Alias:
    source = ", ".join(dict.fromkeys(one.path for one in members))
    tiers: dict[float, list[Deployment]] = {}
    for one in members:
        _say_model(one, "becomes", f'[aliases] "{name}"', report)
        tiers.setdefault(_order(one, name, report), []).append(one)
    layers = [_balanced(tiers[place], strategy, names, source, report) for place in sorted(tiers)]
    if len(layers) == 1:
        return layers[0]
    parts: list[str] = []
    for place, layer in enumerate(layers, 1):
        if len(layer.targets) == 1:
            parts.append(layer.targets[0])
        else:
            part = f"{name.rstrip('*').rstrip('-')}-order-{place}".lstrip("-")
            while part in models.pools or part in models.inner:
                part += "-more"
            models.inner[part] = layer
            parts.append(part)
    return Alias(tuple(parts), source=source)


def _order(one: Deployment, name: str, report: Report) -> float:
    param = one.params.get("order")
    if param is None:
        return float("inf")
    if isinstance(param.value, bool) or not isinstance(param.value, int | float):
        report.say(param.path, "missing", "no number")
        return float("inf")
    report.say(param.path, "becomes", f'the order of the targets of "{name}"')
    return float(param.value)


def _balanced(members: list[Deployment], strategy: str, names: Names, source: str, report: Report) -> Alias:
    """The deployments of equal rank; equal targets are one, with the sum of their weights."""
    weighed = next((key for key in ("weight", "rpm", "tpm") if any(key in one.params for one in members)), "")
    weights: dict[str, float] = {}
    for one in members:
        target = f"{names.of(one.account)}/{one.model}"
        weights[target] = weights.get(target, 0) + _weight(one, weighed)
        if "weight" in one.params:
            param = one.params["weight"]
            number = (
                not isinstance(param.value, bool) and isinstance(param.value, int | float) and 0 <= param.value < 10**12
            )
            if not number:
                report.say(param.path, "missing", "no number from 0 on")
            elif len(members) == 1:
                report.say(param.path, "needless", "there is nothing beside it")
            elif strategy != "weighted":
                report.say(param.path, "missing", f'weights go with policy "weighted", not with "{strategy}"')
            else:
                report.say(param.path, "becomes", "weights of the alias")
    if len(weights) == 1:
        return Alias(tuple(weights), source=source)
    usable = strategy == "weighted" and any(weights.values()) and len(set(weights.values())) > 1
    return Alias(tuple(weights), strategy, tuple(weights.values()) if usable else (), source)


def _weight(one: Deployment, weighed: str) -> float:
    value = one.params[weighed].value if weighed in one.params else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**12:
        return 0
    return value


def _limit(one: Deployment, target: str, models: Models, report: Report) -> None:
    for name, ours in _LIMITS.items():
        if name not in one.params:
            continue
        param, number = one.params[name], count_of(one.params[name].value)
        if number is None:
            report.say(param.path, "missing", "no whole number from 1 on")
            continue
        limits = models.limits.setdefault(target, {})
        earlier = limits.get(ours)
        limits[ours] = max(number, earlier or 0)
        if earlier is None or earlier == number:
            report.say(param.path, "becomes", f'[limits."{target}"] {ours}')
        else:
            report.say(
                param.path, "nearly", f'[limits."{target}"] {ours}: one limit for all names, the largest that was said'
            )


# Fallbacks


def chains(
    pools: dict[str, Alias], falls: dict[str, list[str]], spec_of: dict[str, str]
) -> tuple[dict[str, Alias], dict[str, Alias]]:
    """The aliases that clients ask for, and the pools that stand in several of them."""
    inner: dict[str, Alias] = {}
    outer: dict[str, Alias] = {}
    for name, pool in pools.items():
        steps = _steps(name, falls, [])
        if len(steps) == 1:
            outer[name] = pool
            continue
        parts: list[str] = []
        for step in steps:
            stage = pools.get(step)
            if stage is None:
                parts.append(spec_of[step])
            elif stage.policy == "ordered":
                parts += stage.targets
            else:
                part = f"{step.rstrip('*').rstrip('-')}-pool".lstrip("-")
                while part in pools or inner.get(part, stage) != stage:
                    part += "-pool"
                inner[part] = stage
                parts.append(part)
        outer[name] = Alias(tuple(dict.fromkeys(parts)), source=pool.source)
    return outer, inner


def _steps(name: str, falls: dict[str, list[str]], visited: list[str]) -> list[str]:
    """A name and what it falls back on, depth first, each once."""
    if name not in visited:
        visited.append(name)
        for other in falls.get(name, ()):
            _steps(other, falls, visited)
    return visited
