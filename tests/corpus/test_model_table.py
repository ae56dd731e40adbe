"""The table of models against recorded traffic: it refuses nothing that was answered, and its evidence exists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS, Exchange
from interlingua.testing.upstream.recorded import HOSTS
from interlingua.testing.wirefacts.values import members, objects
from interlingua.types.model_table import MODEL_TABLE, ModelRow, model_row

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
VENDORS = {"openai-chat": "openai", "openai-responses": "openai", "anthropic": "anthropic"}
KNOBS = ("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logit_bias", "top_logprobs")
NEUTRAL = {"presence_penalty": 0, "frequency_penalty": 0, "top_logprobs": 0}


@cache
def _recorded(dialect: str) -> tuple[Exchange, ...]:
    """What was recorded of the vendor's own host."""
    path = RECORDINGS / f"{dialect}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    return tuple(
        exchange
        for exchange in read_exchanges(path)
        if APIS.get(exchange.api) == dialect and exchange.host in HOSTS[dialect] and isinstance(exchange.request, dict)
    )


def _effort(body: dict[str, Any]) -> Any:
    places = (members(body.get("reasoning")), members(body.get("output_config")))
    return body.get("reasoning_effort") or next((place["effort"] for place in places if place.get("effort")), None)


def _refused_knobs(row: ModelRow, body: dict[str, Any]) -> Iterator[str]:
    """The knobs of sampling that the row refuses beside the effort of the request."""
    sent = [name for name in KNOBS if body.get(name) is not None]
    if row.sampling is False and _effort(body) not in row.sampling_efforts:
        neutral = {"temperature": 1, "top_p": 1, **NEUTRAL} if row.vendor == "openai" else {}
        yield from (name for name in sent if body[name] not in ({}, neutral.get(name)))
    if row.sampling_pair is False and {"temperature", "top_p"} <= set(sent):
        yield "top_p"


def _refused(row: ModelRow, dialect: str, body: dict[str, Any]) -> list[str]:
    """The members of a request that the row of its model refuses."""
    effort, form, limit = _effort(body), members(body.get("thinking")).get("type"), body.get("max_tokens")
    choice, messages = members(body.get("tool_choice")).get("type"), objects(body.get("messages"))
    claude = row.vendor == "anthropic"
    roles = [message.get("role") for message in messages] if claude else []
    refusals = {
        "effort": row.efforts is not None and effort is not None and effort not in row.efforts,
        "thinking": row.thinking is not None and form is not None and form not in (row.thinking or ("disabled",)),
        "tool_choice": row.forced_choice is False and choice in ("any", "tool"),
        "prefill": row.prefill is False and roles[-1:] == ["assistant"],
        "system": row.system_messages is False and "system" in roles,
        "format": row.output_schema is False and members(body.get("output_config")).get("format") is not None,
        "max_tokens": row.max_output_tokens is not None and isinstance(limit, int) and limit > row.max_output_tokens,
        "tools": row.tools_on_chat is False and dialect == "openai-chat" and body.get("tools") and effort != "none",
    }
    return [*_refused_knobs(row, body), *[name for name, refused in refusals.items() if refused]]


def _by_row(dialect: str, *, answered: bool) -> Iterator[tuple[Exchange, ModelRow, list[str]]]:
    """The recorded 2xx, or else 400, of models that the table knows, with what it refuses of each."""
    for exchange in _recorded(dialect):
        body = members(exchange.request)
        row, status = model_row(VENDORS[dialect], str(body.get("model"))), exchange.status or 200
        if row is not None and (status < 300 if answered else status == 400):
            yield exchange, row, _refused(row, dialect, body)


@pytest.mark.parametrize("dialect", VENDORS)
def test_the_table_refuses_nothing_that_was_answered(dialect: str) -> None:
    """No recorded 2xx uses what the row of its model refuses."""
    judged = [(exchange.id, refused) for exchange, _, refused in _by_row(dialect, answered=True)]
    assert [one for one in judged if one[1]] == []
    assert len(judged) > 40


def test_refusals_of_models_are_in_the_table_or_listed() -> None:
    """Of the recorded 400, those that say that a model does not take something, and the table does not."""
    taken = {
        exchange.id: re.sub(r"^.*?Unsupported \w+: ", "", str(exchange.response))[:19]
        for dialect in VENDORS
        for exchange, _, refused in _by_row(dialect, answered=False)
        if re.search(r"not supported with|does not support", str(exchange.response)) and not refused
    }
    # Rules of the strict upstream know them: the stop member, search, and the roles of o1-mini.
    assert sorted(taken) == ["07a79f4f05bc", "a1d947ab38e5", "d30db358da6d", "ef691167bd9f"]


def test_evidence_was_recorded_as_the_table_says() -> None:
    """Every id of the table is an exchange with a model of its row: answered, or refused where it says so."""
    exchanges = {exchange.id: exchange for dialect in VENDORS for exchange in _recorded(dialect)}
    for row in MODEL_TABLE:
        for refused, name in re.findall(r"(refused )?\b([0-9a-f]{12})\b", row.source):
            exchange = exchanges[name]
            assert re.fullmatch(row.models, members(exchange.request)["model"]), name
            assert ((exchange.status or 200) == 400) is bool(refused), name


def test_a_refusal_that_traffic_contradicts_is_noticed() -> None:
    """A row that refused sampling at every effort, or both knobs together, would fail on recorded exchanges."""
    bodies = {exchange.id: members(exchange.request) for name in VENDORS for exchange in _recorded(name)}
    sol, sonnet = bodies["937a5b448aab"], bodies["733e04480735"]
    row, older = model_row("openai", sol["model"]), model_row("anthropic", sonnet["model"])
    assert row is not None
    assert older is not None
    assert _refused(row._replace(sampling_efforts=frozenset()), "openai-responses", sol) == ["temperature"]
    assert _refused(older._replace(sampling_pair=False), "anthropic", sonnet) == ["top_p"]
