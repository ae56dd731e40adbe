"""The new file as text: TOML with comments, and the report as lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.cli.litellm.deployment import Account
    from interlingua.cli.litellm.groups import Alias
    from interlingua.cli.litellm.report import Entry, Report
    from interlingua.cli.litellm.settings import Server

__all__ = ["report_lines", "toml_text", "variable_of_dsn"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADS = {
    "becomes": "becomes",
    "nearly": "nearly the same",
    "needless": "needs no setting here",
    "secret": "secret, not copied",
    "missing": "has no place here",
    "unknown": "not known",
}
_PORT = (
    "port = 4000                       # where a LiteLLM proxy listens unless it is told otherwise; without this, 8787",
    '# host = "0.0.0.0"                # a LiteLLM proxy listens on every address; here that needs a key',
)


def variable_of_dsn(name: str) -> str:
    """The variable that holds the DSN of a provider whose address stands in a variable."""
    word = re.sub("[^A-Z0-9]", "_", name.upper())
    return f"{'LLM_' if word[0].isdigit() else ''}{word}_DSN"


def toml_text(
    source: str,
    providers: dict[str, Account],
    aliases: tuple[dict[str, Alias], dict[str, Alias]],
    limits: dict[str, dict[str, int]],
    server: Server,
) -> str:
    """The file."""
    parts = [[f"# Made from {_comment(source)} by `il migrate litellm`. No key stands here: the variables are named."]]
    for name, account in sorted(providers.items()):
        is_variable = account.address.startswith("$")
        dsn = f"dsn_env = {_text(variable_of_dsn(name))}" if is_variable else f"dsn = {_text(account.dsn)}"
        parts.append([f"[providers.{_key(name)}]", dsn])
    outer, inner = aliases
    if outer or inner:
        lines = [line for name, alias in outer.items() for line in _alias(name, alias)]
        own = [line for name, alias in inner.items() for line in _alias(name, alias)]
        parts.append(["[aliases]", *lines, *(["# what stands in the aliases above", *own] if own else [])])
    for pattern, allowed in limits.items():
        parts.append(
            [f"[limits.{_text(pattern)}]", *[f"{name} = {number}" for name, number in sorted(allowed.items())]]
        )
    members = [f"{f'{name} = {value}':<33} # {_comment(path)}" for name, (value, path) in server.members.items()]
    parts.append(["[server]", *_PORT, *members])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _alias(name: str, alias: Alias) -> list[str]:
    targets = f"[{', '.join(map(_text, alias.targets))}]"
    if alias.policy != "ordered":
        weights = f", weights = [{', '.join(map(_number, alias.weights))}]" if alias.weights else ""
        value = f"{{ targets = {targets}, policy = {_text(alias.policy)}{weights} }}"
    else:
        value = targets if len(alias.targets) != 1 else targets[1:-1]
    return [*([f"# {_comment(alias.source)}"] if alias.source else []), f"{_key(name)} = {value}"]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _comment(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def report_lines(entries: list[Entry], report: Report, command: str) -> list[str]:
    """The report: what became of every setting, the variables to set, and how the gateway is started."""
    lines: list[str] = []
    for fate, head in _HEADS.items():
        of_fate = [entry for entry in entries if entry.fate == fate]
        if not of_fate:
            continue
        width = min(60, max(len(_comment(entry.path)) for entry in of_fate))
        lines += [
            f"{head}:",
            *[f"  {_comment(entry.path):<{width}}  {_comment(entry.detail)}" for entry in of_fate],
            "",
        ]
    if report.variables:
        width = max(len(name) for name in report.variables)
        variables = [
            f"  {name:<{width}}  {_comment(variables)}" for name, variables in sorted(report.variables.items())
        ]
        lines += ["variables to set:", *variables, ""]
    counts = [(sum(entry.fate == fate for entry in entries), head) for fate, head in _HEADS.items()]
    lines += [f"{len(entries)} settings: {'; '.join(f'{head}: {count}' for count, head in counts if count)}"]
    return [*lines, f"start it: {' '.join([command, *report.flags])}"]
