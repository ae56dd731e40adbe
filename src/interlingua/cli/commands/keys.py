"""`il keys`: make a key for a client of the gateway, list keys, revoke one, see what they have used."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.gateway.keys.database import KeyDatabase
    from interlingua.gateway.keys.shared_keys import SharedKeyDatabase
    from interlingua.gateway.keys.terms import Terms
    from interlingua.gateway.settings import GatewayKey, GatewaySettings

    Database: TypeAlias = KeyDatabase | SharedKeyDatabase

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
A key is shown once, on stdout, and never stored: the database has its digest. `il serve` accepts the keys of the
database, and applies changes within a second. A key of the same name in a configuration file wins over the database.
With --state redis://… or postgresql://… (or INTERLINGUA_STATE) keys and their usage are shared by all gateways of that
store.

The limits of a team are in the file: `[teams.research]` with rpm, tpm, concurrency, budget, for all its keys together.

examples:
  il keys create team-a --models smart --rpm 60 --tpm 200k --budget '50 USD/month' --expires 90d
  il keys create ci --concurrency 2 --budget '2M tokens/day' --budget '5 USD/day' --team research
  il keys list --config gateway.toml
  il keys usage team-a
  il keys usage --json --since 2026-11-01
  il keys create team-b --state redis://redis.internal:6379/0
  il keys revoke team-a
"""
ACTIONS = ("create", "list", "revoke", "usage")
_OF_CREATE = (
    "models", "rpm", "tpm", "concurrency", "budget", "max_body", "default_max_tokens", "context_tokens", "expires",
    "team",
)  # fmt: skip
_COUNTS = {
    "rpm": "rpm",
    "tpm": "tpm",
    "concurrency": "concurrency",
    "max_body": "max_body_bytes",
    "default_max_tokens": "default_max_tokens",
    "context_tokens": "context_tokens",
}
"""Options that take a number, and the term that each is."""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", choices=ACTIONS, metavar="|".join(ACTIONS), help="the action")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of a key")
    parser.add_argument("--models", metavar="NAMES", help="aliases and provider/model, with commas; `claude-*`, `*`")
    parser.add_argument("--rpm", metavar="N", help="requests per minute")
    parser.add_argument("--tpm", metavar="N", help="tokens per minute, input and output: 200k")
    parser.add_argument("--concurrency", metavar="N", help="concurrent calls")
    parser.add_argument(
        "--budget",
        action="append",
        metavar="BUDGET",
        help="a budget: '50 USD/month', '2M tokens/day', '100 USD'; may be repeated",
    )
    parser.add_argument("--max-body", metavar="BYTES", help="maximum size of a request body after decompression: 1M")
    parser.add_argument(
        "--default-max-tokens",
        metavar="N",
        help="maximum tokens of an answer for clients that set none, under a limit of tokens or money (default: 8192)",
    )
    parser.add_argument(
        "--context-tokens",
        metavar="N",
        help="tokens to reserve for stored conversations, files and provider tools (default: the model's window)",
    )
    parser.add_argument("--expires", metavar="WHEN", help="expiry: 90d, 12h, or the last day, such as 2027-01-31")
    parser.add_argument(
        "--team", metavar="NAME", help="the team of the key; its limits ([teams.NAME] in the file) apply, too"
    )
    parser.add_argument("--since", metavar="DAY", help="for usage: the first day, such as 2026-11-01 (UTC)")
    parser.add_argument("--keys", metavar="FILE", help="the database (default: keys.sqlite where state is kept)")
    parser.add_argument(
        "--state", metavar="PLACE", help="the shared state, redis://… or postgresql://… (or INTERLINGUA_STATE)"
    )
    parser.add_argument("--config", metavar="FILE", help="use the keys, teams and database of this TOML file")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")


def run(options: Namespace) -> int:
    """Create, list, revoke, or show what was used.

    Raises: UsageError for options that belong to another action; ConfigError for a file that cannot be used.
    """
    of_others = {"since": "usage"} if options.action != "usage" else {}
    of_others |= dict.fromkeys(_OF_CREATE, "create") if options.action != "create" else {}
    for name, action in of_others.items():
        if getattr(options, name) is not None:
            raise UsageError(f"keys {options.action}: --{name.replace('_', '-')} belongs to {action}")
    if options.name is None and options.action in ("create", "revoke"):
        raise UsageError(f"keys {options.action}: which key? il keys {options.action} NAME")
    if options.action == "create":
        _asked_for(options, "")  # refuses what describes no key, before any file is made
    database = _opened(options)
    if database is None:
        write("[]\n" if options.json else "")
        return 0
    with closing(database):
        _ACTIONS[options.action](options, database)
    return 0


def _opened(options: Namespace) -> Database | None:
    """The database that is meant: a file that is named, else the store that gateways share, else the usual file.

    None where there is none, and nothing else to show.

    Raises: ConfigError for what is no such place.
    """
    from interlingua.client.state import shared_link, use_state
    from interlingua.gateway.keys.database import KeyDatabase, default_file

    if options.state:
        use_state(options.state)
    link = None if options.keys else shared_link()
    if link is not None:
        from interlingua.gateway.keys.shared_keys import SharedKeyDatabase

        return SharedKeyDatabase(link, now=time.time)
    if options.state:
        raise UsageError("keys are shared by --state redis://… or postgresql://…; a file of keys is named by --keys")
    path = options.keys or _configured(options).key_file or default_file()
    if not KeyDatabase.exists(path):
        if options.action == "revoke":
            raise UsageError(f"there is no database of keys at {path}")
        if options.action == "create":
            note(f"{path} is new: a gateway that runs began without it, and has to be started again")
        else:
            note(f"there is no database of keys at {path} yet; il keys create NAME makes one")
            if not options.config:
                return None
    return KeyDatabase(path, now=time.time)


def _configured(options: Namespace) -> GatewaySettings:
    from interlingua.gateway.config import read_server_config
    from interlingua.gateway.settings import GatewaySettings

    return read_server_config(options.config).settings if options.config else GatewaySettings()


# create and revoke


def _asked_for(options: Namespace, text: str) -> GatewayKey:
    """The key that the options describe; `text` is what its owner will send.

    Raises: UsageError and ConfigError for options that describe none.
    """
    from interlingua.gateway.keys.auth import hash_key
    from interlingua.gateway.keys.database import check_name
    from interlingua.gateway.keys.terms import Terms, read_budget, read_count, read_end
    from interlingua.gateway.settings import GatewayKey

    models = [name.strip() for name in (options.models or "").split(",")]
    name, digest = check_name(options.name), hash_key(text)
    counts = {
        field: read_count(getattr(options, option), f"--{option.replace('_', '-')}")
        for option, field in _COUNTS.items()
        if getattr(options, option) is not None
    }
    key = GatewayKey(
        name=name,
        hash=digest,
        models=tuple([name for name in models if name]),
        terms=Terms(**counts, budgets=tuple([read_budget(text) for text in options.budget or ()])),
        team=options.team or "",
        expires_s=None if options.expires is None else read_end(options.expires, time.time()),
    )
    if options.models is not None and not key.models:
        raise UsageError("--models names none; a key without it may ask for any")
    if key.expires_s is not None and key.expires_s <= time.time():
        raise UsageError(f"--expires {options.expires} has passed; such a key would never work")
    return key


def _create(options: Namespace, database: Database) -> None:
    from interlingua.gateway.keys.database import make_key
    from interlingua.gateway.keys.terms import terms_texts

    text = make_key()
    key = _asked_for(options, text)
    database.create(key)
    if options.json:
        write(_json({"key": text, **_key_members(key)}))
    else:
        write(f"{text}\n")
        ends = "" if key.expires_s is None else f", until {_time(key.expires_s)}"
        summary = f"models {', '.join(key.models) or '*'}; {', '.join(terms_texts(key.terms)) or 'no limits'}{ends}"
        note(f"that is the key {key.name}: {summary}. It is shown only now; the database stores its digest")
        note("in a configuration file it would be", head="    ")
        for line in _in_file(key):
            note(line, head="      ")
    # What somebody who made a key may not have meant.
    settings = _configured(options)
    if any(of_file.name == key.name for of_file in settings.keys):
        note(f"{options.config} has a key {key.name}, which wins: this one will not be taken")
    if key.team and key.team not in settings.teams:
        where = options.config or "the file that `il serve --config` takes"
        note(f"the team {key.team} has no limits but those that [teams.{_quoted(key.team)}] of {where} gives it")


def _in_file(key: GatewayKey) -> list[str]:
    """A key as the lines of a configuration file."""
    import json

    from interlingua.gateway.keys.terms import budget_text

    terms = key.terms
    members: dict[str, Any] = {
        "hash": key.hash,
        "models": list(key.models),
        "rpm": terms.rpm,
        "tpm": terms.tpm,
        "concurrency": terms.concurrency,
        "budget": [budget_text(budget).replace(",", "_") for budget in terms.budgets],
        "max_body_bytes": terms.max_body_bytes,
        "default_max_tokens": terms.default_max_tokens,
        "context_tokens": terms.context_tokens,
        "expires": None if key.expires_s is None else _time(key.expires_s),
        "team": key.team,
    }
    # Texts, numbers and lists of texts are the same in TOML and JSON.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in members.items() if value]
    return [f"[keys.{_quoted(key.name)}]", *lines]


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'


def _revoke(options: Namespace, database: Database) -> None:
    database.revoke(options.name)
    note(f"the key {options.name} is revoked; a gateway that runs knows it within a second")


# list


def _list(options: Namespace, database: Database) -> None:
    from interlingua.cli.table import table

    stored = [one for one in database.all_keys() if options.name in (None, one.key.name)]
    of_file = [key for key in _configured(options).keys if options.name in (None, key.name)]
    names = {key.name for key in of_file}
    if options.json:
        shown = [{**_key_members(key), "source": "file", "state": _state(key)} for key in of_file]
        shown += [
            {
                **_key_members(one.key),
                "source": database.place,
                "state": _state(one.key, names),
                "created": _time(one.created_s),
            }
            for one in stored
        ]
        write(_json(shown))
    elif of_file or stored:
        rows = [(key.name, "file", _state(key), *_cells(key)) for key in of_file]
        rows += [(one.key.name, database.place, _state(one.key, names), *_cells(one.key)) for one in stored]
        write(table(("key", "from", "state", "models", "limits", "team", "expires"), rows))
    elif options.name:
        raise UsageError(f"there is no key {options.name:.64}")
    else:
        note("there is no key; il keys create NAME makes one")
    for one in stored:
        if one.key.name in names and one.key.revoked_s is None:
            note(f"the key {one.key.name} is in {options.config}, too; the file wins, and this one is not taken")


def _cells(key: GatewayKey) -> tuple[str, str, str, str]:
    from interlingua.gateway.keys.terms import terms_texts

    ends = "-" if key.expires_s is None else _time(key.expires_s)
    return ", ".join(key.models) or "*", ", ".join(terms_texts(key.terms)) or "-", key.team or "-", ends


def _state(key: GatewayKey, of_file: set[str] | None = None) -> str:
    """Whether a key works, and why not."""
    if key.revoked_s is not None:
        return "revoked"
    if of_file and key.name in of_file:
        return "not taken: the file has one"
    return "expired" if key.expires_s is not None and key.expires_s <= time.time() else "works"


def _key_members(key: GatewayKey) -> dict[str, Any]:
    """A key as JSON has it; its digest is nobody's business here."""
    from interlingua.gateway.keys.terms import budget_text

    terms = key.terms
    return {
        "name": key.name,
        "models": list(key.models) or ["*"],
        "rpm": terms.rpm,
        "tpm": terms.tpm,
        "concurrency": terms.concurrency,
        "budgets": [budget_text(budget) for budget in terms.budgets],
        "max_body_bytes": terms.max_body_bytes,
        "default_max_tokens": terms.default_max_tokens,
        "context_tokens": terms.context_tokens,
        "team": key.team or None,
        "expires": None if key.expires_s is None else _time(key.expires_s),
        "revoked": None if key.revoked_s is None else _time(key.revoked_s),
    }


# usage


def _usage(options: Namespace, database: Database) -> None:
    from interlingua.gateway.keys.keyring import merged

    settings = _configured(options)
    since = ""
    if options.since is not None:
        from datetime import date

        try:
            since = date.fromisoformat(options.since).isoformat()
        except ValueError:
            raise UsageError(f"--since takes a day, as 2026-11-01, not {options.since:.40}") from None
    rows = database.usage(options.name or "", since)
    keys = merged(settings.keys, [stored.key for stored in database.all_keys()]).keys.values()
    working = [key for key in keys if key.revoked_s is None and options.name in (None, key.name)]
    if options.name is not None and not rows and not working:
        raise UsageError(f"there is no key {options.name:.64}, and nothing was used under that name")
    budgets = _budgets(working, settings.teams, database)
    if options.json:
        import msgspec

        usage: list[dict[str, Any]] = []
        for row in rows:
            members = {name: getattr(row, name) for name in row.__struct_fields__ if name != "nano_usd"}
            usage.append({**msgspec.to_builtins(members), "cost_usd": row.nano_usd / 1_000_000_000})
        write(_json({"usage": usage, "budgets": budgets}))
        return
    if rows:
        from interlingua.cli.table import table
        from interlingua.gateway.keys.terms import money

        cells: list[tuple[str, ...]] = []
        for row in rows:
            # The cost as far as it is known; with a plus where the price of some calls is not.
            cost = f"{money(row.nano_usd)}{' +' if row.unpriced else ''}"
            if row.unpriced and row.unpriced >= row.requests - row.failed:
                cost = "-"
            counts = [f"{count:,}" for count in (row.requests, row.failed, row.input_tokens, row.output_tokens)]
            cells.append((row.key, row.day, row.model or "-", *counts, cost))
        write(table(("key", "day", "model", "requests", "failed", "input", "output", "cost"), cells))
    else:
        note("nothing was used")
    if budgets:
        write(("\n" if rows else "") + _budget_table(budgets))


def _budgets(keys: list[GatewayKey], teams: dict[str, Terms], database: Database) -> list[dict[str, Any]]:
    """Every budget, with what is used and reserved of it."""
    from interlingua.gateway.keys.accounts import account_of
    from interlingua.gateway.keys.budget import EMPTY, left_of, reset_s, used_of
    from interlingua.gateway.keys.terms import NANO, budget_text

    named = {account_of(key.name): key.terms for key in keys}
    named |= {account_of(key.team, team=True): teams[key.team] for key in keys if key.team in teams}
    accounts = database.accounts(tuple(named))
    lines: list[dict[str, Any]] = []
    for account, terms in named.items():
        used_up, now_s = accounts.get(account, EMPTY), time.time()
        for budget in terms.budgets:
            unit = NANO if budget.unit == "usd" else 1
            used, reserved = used_of(used_up, budget, now_s)
            left, ends_s = left_of(used_up, budget, now_s), reset_s(budget, now_s)
            lines.append(
                {
                    "of": account,
                    "budget": budget_text(budget),
                    "unit": budget.unit,
                    "used": used / unit if unit > 1 else used,
                    "reserved": reserved / unit if unit > 1 else reserved,
                    "left": left / unit if unit > 1 else left,
                    "begins_anew": None if ends_s is None else _time(now_s + ends_s),
                }
            )
    return lines


def _budget_table(budgets: list[dict[str, Any]]) -> str:
    from interlingua.cli.table import table
    from interlingua.gateway.keys.terms import money, nano_usd

    rows = [
        (
            one["of"].replace(":", " "),
            one["budget"],
            *[
                money(nano_usd(one[name])) if one["unit"] == "usd" else f"{one[name]:,}"
                for name in ("used", "reserved", "left")
            ],
            one["begins_anew"] or "never",
        )
        for one in budgets
    ]
    return table(("of", "budget", "used", "reserved", "left", "begins anew"), rows)


def _time(at_s: float) -> str:
    from interlingua.gateway.keys.auth import day_time

    return day_time(at_s)


def _json(value: object) -> str:
    import json

    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"


_ACTIONS = {"create": _create, "list": _list, "revoke": _revoke, "usage": _usage}
