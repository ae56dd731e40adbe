"""`il batches`: the batches that providers have of this account, listed, shown and cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.numbers import COUNT
from interlingua.cli.outcome import FAILED
from interlingua.cli.table import table
from interlingua.cli.terminal import note, write
from interlingua.errors import ConfigError, Error, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.dialects._batches import BatchInfo

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
`il extract --batch` and `model.map(…, batch=True)` submit batches. They continue after the program ends; the same call
with the same journal fetches their results.

examples:
  il batches                              the newest ones of every provider with batches and a key
  il batches list openai --limit 100      of one provider
  il batches show anthropic msgbatch_…    its progress
  il batches cancel openai batch_…        keeps the answers so far
  il batches list openai --json           for scripts
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "show", "cancel"), default="list", help="list is the default"
    )
    parser.add_argument(
        "provider", nargs="?", metavar="PROVIDER", help="the provider; for list, all providers by default"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="for show and cancel: the id of the batch")
    parser.add_argument(
        "--limit", type=COUNT, default=20, metavar="N", help="maximum number of batches to list (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="a JSON array instead of a table")


def run(options: Namespace) -> int:
    """List, show or cancel."""
    if options.action == "list":
        if options.id is not None:
            raise UsageError("batches list: it takes a provider alone; `il batches show PROVIDER ID` shows one batch")
        return _list(options)
    if options.provider is None or options.id is None:
        raise UsageError(f"batches {options.action}: which one? `il batches {options.action} PROVIDER ID`")
    from interlingua.client.batch.listing import cancel_batch, shown_batch

    if options.action == "cancel":
        cancel_batch(options.provider, options.id)
        note(f"{options.provider}: {options.id} is being cancelled")
        return 0
    _print([(options.provider, shown_batch(options.provider, options.id))], as_json=options.json)
    return 0


def _list(options: Namespace) -> int:
    from interlingua.client.batch.listing import listed_batches

    if options.provider is not None:
        batches, problem = listed_batches(options.provider, options.limit)
        _print([(options.provider, batch) for batch in batches], as_json=options.json)
        if problem:
            note(f"{options.provider}: {problem}")
        return 0
    rows: list[tuple[str, BatchInfo]] = []
    names, failures = _with_keys(), 0
    for name in names:
        try:
            batches, problem = listed_batches(name, options.limit)
            rows += [(name, batch) for batch in batches]
            if problem:
                note(f"{name}: {problem}")
        except Error as error:
            note(f"{name}: {error}")
            failures += 1
    _print(rows, as_json=options.json)
    if not names:
        note("no provider with batches has a key here; `il providers` lists the key variables")
    return FAILED if failures else 0


def _with_keys() -> list[str]:
    """The providers that have batches and whose key is here; one name for each address."""
    from interlingua.client.batch.batch import batches_at
    from interlingua.registry.resolve import default_registry

    registry = default_registry()
    names: dict[str, str] = {}
    for row in registry.providers():
        if row.key in ("", "missing") or row.problem:
            continue
        try:
            endpoint = registry.resolve(f"{row.name}/batches")[0]
        except ConfigError:  # a row without an address yet, which `il providers` tells of
            continue
        if batches_at(endpoint) is not None:
            names.setdefault(endpoint.base_url, row.name)
    return list(names.values())


def _print(rows: list[tuple[str, BatchInfo]], *, as_json: bool) -> None:
    if as_json:
        import json

        members = ("id", "state", "status", "done", "total", "created_at", "mark", "message")
        listed = [{"provider": name, **{member: getattr(batch, member) for member in members}} for name, batch in rows]
        write(f"{json.dumps(listed, indent=2, ensure_ascii=False)}\n")
        return
    if rows:
        from datetime import UTC, datetime

        head = ("provider", "id", "status", "done", "requests", "created", "mark")
        cells: list[tuple[str, ...]] = []
        for provider, batch in rows:
            counts = ["-" if count is None else f"{count:,}" for count in (batch.done, batch.total)]
            moment = batch.created_at
            created = "-" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"
            cells.append((provider, batch.id, batch.status, *counts, created, batch.mark or "-"))
        write(table(head, cells))
    for provider, batch in rows:
        if batch.message:
            note(f"{provider}: {batch.id}: {batch.message}")
