"""The strict upstream against recorded traffic: what a provider took it takes, what a provider refused it refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS, Exchange
from interlingua.testing.upstream import Verdict, judge_body

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
HOSTS = {
    "openai-chat": ("api.openai.com",),
    "openai-responses": ("api.openai.com",),
    "anthropic": ("api.anthropic.com",),
    "google": ("generativelanguage.googleapis.com",),
    "ollama": ("localhost:11434", "ollama.com"),
}
"""The hosts that are the real service."""
HEADERS = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "any"))
"""Recordings have no headers: they may all have named a beta."""

TAKEN_ALL_THE_SAME = {
    "unknown_member": {
        "beefb0e5e89f": "messages with `parsed`, from the client's own helper",
        "9a8f443b6776": "a tool with a second name",
    },
    "nameless_result": {"8a86b90100d3": "a template without names"},
}
"""Requests that were answered although the judge refuses them, one of each kind, by rule."""
MOST_EXCEPTIONS = {"openai-chat": 7, "ollama": 1}

REFUSALS_NOT_OURS = (
    "does not exist",
    "Error while downloading",
    "file type you uploaded",
    "API key not valid",
    "invalid_grant",
)
"""Recorded refusals for reasons that no request shows: models, downloads, credentials."""


def _exchanges(name: str) -> Iterator[tuple[Exchange, str]]:
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    for exchange in read_exchanges(path):
        host, _, tail = (exchange.url or "").partition("/")
        if exchange.api in APIS and host in HOSTS[APIS[exchange.api]] and isinstance(exchange.request, dict):
            yield exchange, f"/{tail}"


def _verdict(exchange: Exchange, path: str) -> Verdict:
    request: dict[str, Any] = exchange.request
    return judge_body(APIS[exchange.api], request, path=path, headers=HEADERS)


@pytest.mark.parametrize("name", HOSTS)
def test_what_was_answered_is_taken(name: str) -> None:
    """Every request that the real service answered with 2xx is taken, but for a counted few."""
    refused = {
        exchange.id: verdict.rules
        for exchange, path in _exchanges(name)
        if (exchange.status or 200) < 300 and not (verdict := _verdict(exchange, path)).ok
    }
    assert {rule for rules in refused.values() for rule in rules} <= set(TAKEN_ALL_THE_SAME)
    assert len(refused) == MOST_EXCEPTIONS.get(name, 0), refused


@pytest.mark.parametrize("name", HOSTS)
def test_what_was_refused_is_refused(name: str) -> None:
    """Every request that the real service refused with 400 is refused, unless no request could show why."""
    taken = {
        exchange.id: str(exchange.response)[:200]
        for exchange, path in _exchanges(name)
        if exchange.status == 400
        and _verdict(exchange, path).ok
        and not any(reason in str(exchange.response) for reason in REFUSALS_NOT_OURS)
    }
    assert taken == {}
