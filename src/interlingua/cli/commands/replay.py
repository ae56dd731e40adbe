"""`il replay`: a request that a gateway recorded, once more: offline, in any dialect, or sent to a gateway."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from interlingua.cli.outcome import FAILED
from interlingua.cli.terminal import note
from interlingua.errors import Error, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.gateway.records.cassettes import Played
    from interlingua.gateway.records.replay import Replayed

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
A gateway records requests with `il serve --record DIR`. Without --url nothing is sent: the recorded replies of the
providers are used again. Exit code 1 means that the answer differs from the recorded one.

examples:
  il replay cassettes/20261122T120000-req_il….json
  il replay FILE --dialect anthropic               the answer for a client of Anthropic
  il replay FILE --url http://127.0.0.1:8787       sends the request to a running gateway
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("file", metavar="FILE", help="the cassette")
    parser.add_argument("--dialect", metavar="DIALECT", help="use this dialect instead of the client's own")
    parser.add_argument("--url", metavar="URL", help="send the request to the gateway at this address")
    parser.add_argument("--key-env", metavar="NAME", help="the variable that holds the key of that gateway")


def run(options: Namespace) -> int:
    """Ask again."""
    from interlingua.dialects.table import get_dialect
    from interlingua.gateway.records.cassettes import read_cassette
    from interlingua.gateway.records.replay import replayed

    played = read_cassette(options.file)
    dialect = get_dialect(options.dialect).name if options.dialect else played.client
    came = _sent(played, dialect, options) if options.url else asyncio.run(replayed(played, dialect))
    sys.stdout.buffer.write(came.body)
    sys.stdout.buffer.flush()
    for name, value in came.headers:
        if name.startswith("x-interlingua-"):
            note(f"{name}: {value}", faint=True)
    note(f"{came.status} in {dialect}; recorded was {played.status} in {played.client}")
    lines = list(_differences(played, came, dialect))
    for line in lines:
        note(line)
    return FAILED if lines else 0


def _sent(played: Played, dialect: str, options: Namespace) -> Replayed:
    """The reply of a gateway that runs.

    Raises: TransportError; UsageError for an empty variable.
    """
    import os

    from interlingua.gateway.records.replay import Replayed, request_in
    from interlingua.transport.base import Timeouts
    from interlingua.transport.default import default_transport
    from interlingua.wire.http import HttpRequest

    key = os.environ.get(options.key_env, "").strip() if options.key_env else ""
    if options.key_env and not key:
        raise UsageError(f"--key-env {options.key_env}: that variable is empty or not set")
    request = request_in(played, dialect)
    query = f"?{request.query}" if request.query else ""
    reply = default_transport().open(
        HttpRequest(
            method=request.method,
            url=f"{options.url.rstrip('/')}{request.path}{query}",
            headers=(*request.headers, *([("authorization", f"Bearer {key}")] if key else [])),
            body=request.body,
        ),
        Timeouts(),
    )
    pieces: list[bytes] = []
    while piece := reply.read():
        pieces.append(piece)
    return Replayed(reply.status, reply.headers, b"".join(pieces), ())


def _differences(played: Played, came: Replayed, dialect: str) -> list[str]:
    """In what another answer came; ids and times are always others."""
    if came.status != played.status:
        return [f"the status is {came.status} instead of {played.status}"]
    from interlingua.gateway.records.replay import meaning_of

    content = played.content
    try:
        before = meaning_of(played.client, played.status, content.reply_headers, content.reply_body)
        now = meaning_of(dialect, came.status, came.headers, came.body)
    except Error as error:
        return [f"one of the two answers cannot be read: {error.message}"]
    if isinstance(before, Error) or isinstance(now, Error):
        same = isinstance(before, Error) and isinstance(now, Error)
        return [] if same else [f"{type(now).__name__} instead of {type(before).__name__}"]
    pairs = {
        "text": (before.text, now.text),
        "calls": tuple([[(call.name, call.arguments_json) for call in one.tool_calls] for one in (before, now)]),
        "finish": (before.finish_reason, now.finish_reason),
    }
    return [
        f"another {name}: {this!r:.100} instead of {other!r:.100}"
        for name, (other, this) in pairs.items()
        if other != this
    ]
