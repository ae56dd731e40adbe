"""`il logs`: what the requests of a gateway came to, from the file that it keeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from interlingua.cli.numbers import COUNT
from interlingua.cli.table import table
from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.gateway.records.logbook import Row

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
A gateway writes this file with `il serve --store FILE`, or `store` in [server]. It has no prompts and no answers.

examples:
  il logs --store log.db                          the last 50 requests
  il logs --config gateway.toml --since 1h --status 5xx
  il logs --store log.db --key team-a --model 'claude-*' --json | jq .cost_usd
  il logs --store log.db --id req_il… --json      all fields of one request, by the id in its reply
  il logs --store log.db --follow                 shows new requests, too
"""
FOLLOW_S = 0.5
"""How often it is looked for what has come."""
_HEAD = ("time", "status", "key", "model", "target", "tokens", "cost", "first", "took", "end", "id")
_WIDTHS = (24, 6, 12, 28, 28, 13, 10, 8, 8, 22, 0)


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--store", metavar="FILE", help="the log file of the gateway")
    parser.add_argument("--config", metavar="FILE", help="a TOML file whose [server] names that file")
    parser.add_argument(
        "-n", dest="most", type=COUNT, default=50, metavar="N", help="maximum number of requests (default: 50)"
    )
    parser.add_argument("--id", metavar="ID", help="only the request with this id (x-request-id)")
    parser.add_argument("--key", metavar="NAME", help="only requests of this key")
    parser.add_argument("--model", metavar="NAME", help="only requests for this model; NAME* matches a prefix")
    parser.add_argument("--target", metavar="SPEC", help="only requests answered by this target; * matches a prefix")
    parser.add_argument("--status", metavar="STATUS", help="only requests with this status, such as 429 or 5xx")
    parser.add_argument("--since", metavar="TIME", help="only requests of the last 30s, 10m, 2h or 1d")
    parser.add_argument("--follow", "-f", action="store_true", help="follow new requests until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")


def run(options: Namespace) -> int:
    """List them."""
    from interlingua.cli.duration import seconds_of
    from interlingua.gateway.records.logbook import Filter, read_rows

    path = _path(options)
    since = None if options.since is None else time.time() - seconds_of(options.since, "--since")
    query = Filter(options.key, options.model, options.target, options.status, since, id=options.id)
    rows = read_rows(path, query, options.most)
    if options.json:
        _write_json(rows)
    elif rows and not options.follow:
        write(table(_HEAD, [_cells(row.facts) for row in rows]))
    elif options.follow:
        write(f"{_line(_HEAD)}\n")
        _write_lines(rows)
    if not rows and not options.follow:
        note("no request matches")
    while options.follow:
        last = rows[-1].number if rows else query.after
        query = query._replace(after=last)
        time.sleep(FOLLOW_S)
        rows = read_rows(path, query, 10_000)
        (_write_json if options.json else _write_lines)(rows)
    return 0


def _path(options: Namespace) -> str:
    if options.store:
        return options.store
    if options.config:
        from interlingua.gateway.config import read_server_config

        path = read_server_config(options.config).settings.observing.store
        if path:
            return path
        raise UsageError(f"logs: {options.config} names no store in [server], so its gateway keeps none")
    raise UsageError("logs: which file? --store FILE, as the gateway was given it, or --config FILE")


def _write_json(rows: list[Row]) -> None:
    import json

    from interlingua.gateway.records.log import time_told

    for row in rows:
        write(f"{json.dumps({**row.facts, 'at': time_told(row.facts['at'])})}\n")


def _write_lines(rows: list[Row]) -> None:
    for row in rows:
        write(f"{_line(_cells(row.facts))}\n")


def _line(cells: tuple[str, ...]) -> str:
    return "  ".join([cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)]).rstrip()


def _cells(facts: dict[str, Any]) -> tuple[str, ...]:
    from interlingua.gateway.records.log import time_told

    tokens = (facts["input_tokens"], facts["output_tokens"])
    return (
        time_told(facts["at"]),
        str(facts["status"]),
        _shown(facts["key"]),
        _shown(facts["model"]),
        _shown(facts["target"]),
        "-" if tokens == (None, None) else "+".join(["?" if count is None else str(count) for count in tokens]),
        "-" if facts["cost_usd"] is None else f"${facts['cost_usd']:.6f}",
        "-" if facts["first_s"] is None else f"{facts['first_s']:.2f} s",
        f"{facts['total_s']:.2f} s",
        " ".join([*([facts["error"]] if facts["error"] else []), *(["aborted"] if facts["aborted"] else [])]) or "-",
        _shown(facts["id"]),
    )


def _shown(text: str) -> str:
    """A text that clients may have written, on one line."""
    return "".join([character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text]) or "-"
