"""`python -m interlingua.testing.upstream.recorded FILE.jsonl.gz…`: is the strict upstream as strict as the real one?

Recorded requests to the vendors' own hosts are judged: what was answered has to be taken, what was refused with 400 has
to be refused, unless the reason shows in no request. The exit status is 1 when one was settled otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import Exchange
from interlingua.testing.upstream.judge import judge_body

__all__ = ["HOSTS", "Settled", "main", "settle"]

HOSTS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("api.openai.com",),
    "openai-responses": ("api.openai.com",),
    "anthropic": ("api.anthropic.com",),
    "google": ("generativelanguage.googleapis.com",),
    "cohere": ("api.cohere.com",),
    "ollama": ("localhost:11434", "ollama.com"),
    "bedrock": ("bedrock-runtime.us-east-1.amazonaws.com", "bedrock-runtime.us-east-2.amazonaws.com"),
}
"""The hosts that are the real service."""
HEADERS: tuple[tuple[str, str], ...] = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "any"))
"""Recordings have no headers: they may all have named a beta."""
NOT_SHOWN = (
    *("does not exist", "model identifier is invalid"),
    *("Error while downloading", "API key not valid", "invalid_grant"),
)
"""Recorded refusals for reasons that no request shows: models, downloads, credentials."""


class Settled(msgspec.Struct, kw_only=True):
    """How one service's recorded requests were settled."""

    dialect: str
    """The service."""
    answered: int = 0
    """How many were answered with 2xx."""
    refused: int = 0
    """How many were refused with 400, for a reason that a request shows."""
    refused_here: dict[str, str] = {}
    """Of the answered, those that are refused here, with the reason."""
    taken_here: dict[str, str] = {}
    """Of the refused, those that are taken here, with what the service said."""

    @property
    def ok(self) -> bool:
        """Whether every request was settled as the real service settled it."""
        return not self.refused_here and not self.taken_here

    def __str__(self) -> str:
        """Both counts in one line."""
        return (
            f"{self.dialect}: {self.answered} answered, {len(self.refused_here)} of them refused here; "
            f"{self.refused} refused with 400, {len(self.taken_here)} of them taken here"
        )


def settle(files: Iterable[Path]) -> list[Settled]:
    """How the recorded requests of each service are settled here."""
    services = {name: Settled(dialect=name) for name in HOSTS}
    for exchange in [exchange for path in files for exchange in read_exchanges(path)]:
        dialect = exchange.dialect
        if exchange.host in HOSTS.get(dialect, ()) and isinstance(exchange.request, dict):
            _settle(services[dialect], exchange)
    return [service for service in services.values() if service.answered or service.refused]


def _settle(service: Settled, exchange: Exchange) -> None:
    path = f"/{(exchange.url or '').partition('/')[2]}"
    status, reply = exchange.status or 200, str(exchange.response)
    if status >= 300 and (status != 400 or any(reason in reply for reason in NOT_SHOWN)):
        return
    verdict = judge_body(service.dialect, msgspec.json.encode(exchange.request), path=path, headers=HEADERS)
    if status < 300:
        service.answered += 1
        if not verdict.ok:
            service.refused_here[exchange.id] = str(verdict)
    else:
        service.refused += 1
        if verdict.ok:
            service.taken_here[exchange.id] = reply[:200]


def main(arguments: Sequence[str] | None = None, write: Callable[[str], object] = print) -> int:
    """The exit status of the command; `write` takes its lines."""
    parser = argparse.ArgumentParser("python -m interlingua.testing.upstream.recorded")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl.gz")
    services = settle(parser.parse_args(arguments).files)
    for service in services:
        for name, reason in (*service.refused_here.items(), *service.taken_here.items()):
            write(f"{service.dialect} {name}: {reason}")
    for service in services:
        write(str(service))
    return 0 if services and all(service.ok for service in services) else 1


if __name__ == "__main__":
    sys.exit(main())
