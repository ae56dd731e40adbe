"""The table of models against recorded traffic: it refuses nothing that was answered, and its evidence exists."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS, Exchange
from interlingua.testing.upstream.judge import law_of
from interlingua.testing.upstream.recorded import HOSTS
from interlingua.testing.wirefacts.values import members, objects
from interlingua.wire.model_table import MODEL_TABLE, ModelRow, model_row

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
VENDORS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "openrouter": "openrouter",
    "cohere": "cohere",
}
"""Whose models a file of recordings holds; at a host of many vendors the model says it (`openai/gpt-5-mini`). What Groq
serves is in no row of the table."""
OTHER_HOSTS = ("openrouter.ai", "resource.openai.azure.com")
"""Hosts that are not the vendor's own, and serve its models."""
UNSAID = {"aiplatform": {"penalties", "mixed_tools"}, "openrouter.ai": {"effort"}}
"""What the rows do not say of other hosts: Vertex has rules of its own; OpenRouter tells efforts as budgets."""
KNOBS = ("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logit_bias", "top_logprobs")
NEUTRAL = {"presence_penalty": 0, "frequency_penalty": 0, "top_logprobs": 0}


class Asked(NamedTuple):
    """A recorded request to a model that the table knows."""

    exchange: Exchange
    row: ModelRow
    dialect: str
    body: dict[str, Any]

    def refused(self) -> list[str]:
        """The members that the row refuses, as far as it is about this host."""
        unsaid = [names for host, names in UNSAID.items() if host in (self.exchange.host or "")]
        refused = _refused(self.row, self.dialect, self.body)
        return [name for name in refused if not any(name in names for names in unsaid)]


@cache
def _recorded(name: str) -> tuple[Asked, ...]:
    """What was recorded of the vendor's own host, and of others that serve its models."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    exchanges = [exchange for exchange in read_exchanges(path) if isinstance(exchange.request, dict)]
    return tuple([asked for exchange in exchanges for asked in _asked(name, exchange)])


def _asked(name: str, exchange: Exchange) -> Iterator[Asked]:
    dialect, body = APIS.get(exchange.api, ""), members(exchange.request)
    host, model = exchange.host or "", str(body.get("model") or exchange.model).removeprefix("models/")
    vendor = VENDORS[name]
    if "/" in model:
        vendor, _, model = model.partition("/")
        model = re.sub(r"(?<=\d)\.(?=\d)", "-", model) if vendor == "anthropic" else model
    row = model_row(vendor, model)
    if row is not None and (host in HOSTS.get(dialect, ()) or host in OTHER_HOSTS or "aiplatform" in host):
        yield Asked(exchange, row, dialect, law_of(dialect).body(body))


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
    if row.vendor == "google":
        return _refused_of_gemini(row, body)
    effort, form, limit = _effort(body), members(body.get("thinking")).get("type"), body.get("max_tokens")
    choice, messages = body.get("tool_choice"), objects(body.get("messages"))
    choice = choice if row.vendor == "cohere" else members(choice).get("type")
    claude = dialect == "anthropic"
    roles = [message.get("role") for message in messages] if claude else []
    kinds = {part.get("type") for message in messages for part in objects(message.get("content"))}
    refusals = {
        "effort": row.efforts is not None and effort is not None and effort not in row.efforts,
        "thinking": row.thinking is not None and form is not None and form not in (row.thinking or ("disabled",)),
        "tool_choice": row.forced_choice is False and choice in ("any", "tool", "REQUIRED", "NONE"),
        "prefill": row.prefill is False and roles[-1:] == ["assistant"],
        "system": row.system_messages is False and "system" in roles,
        "format": row.output_schema is False and members(body.get("output_config")).get("format") is not None,
        "max_tokens": row.max_output_tokens is not None and isinstance(limit, int) and limit > row.max_output_tokens,
        "tools": row.tools_on_chat is False and dialect == "openai-chat" and body.get("tools") and effort != "none",
        "stop": row.stop is False and bool(body.get("stop")),
        "audio": row.audio is False and "input_audio" in kinds,
    }
    return [*_refused_knobs(row, body), *[name for name, refused in refusals.items() if refused]]


def _refused_of_gemini(row: ModelRow, body: dict[str, Any]) -> list[str]:
    """The members of a generateContent that the row of its model refuses."""
    config = members(body.get("generationConfig"))
    thinking, tools = members(config.get("thinkingConfig")), objects(body.get("tools"))
    level, budget = thinking.get("thinkingLevel"), thinking.get("thinkingBudget")
    least, most = row.budgets or (0, sys.maxsize)
    offers = any(tool.get("functionDeclarations") for tool in tools)
    parts = [part for content in objects(body.get("contents")) for part in objects(content.get("parts"))]
    # Whether the call that lacks its signature begins the current step is known to the strict upstream alone.
    refusals = {
        "thinking": row.thinking == frozenset() and bool(thinking),
        "effort": row.efforts is not None and level is not None and str(level).lower() not in row.efforts,
        "budgets": isinstance(budget, int) and budget > 0 and not least <= budget <= most,
        "disabled": budget == 0 and "disabled" not in (row.thinking or {"disabled"}),
        "penalties": row.penalties is False
        and any(config.get(name) for name in ("presencePenalty", "frequencyPenalty")),
        "output_schema_with_tools": row.output_schema_with_tools is False
        and offers
        and config.get("responseMimeType") == "application/json",
        "result_media": row.result_media is False
        and any(members(part.get("functionResponse")).get("parts") for part in parts),
        "mixed_tools": row.mixed_tools is False
        and offers
        and any(set(tool) - {"functionDeclarations"} for tool in tools),
    }
    return [name for name, refused in refusals.items() if refused]


def _by_row(name: str, *, answered: bool) -> Iterator[tuple[Asked, list[str]]]:
    """The recorded 2xx, or else 400, of models that the table knows, with what it refuses of each."""
    for asked in _recorded(name):
        status = asked.exchange.status or 200
        if status < 300 if answered else status == 400:
            yield asked, asked.refused()


@pytest.mark.parametrize("name", VENDORS)
def test_the_table_refuses_nothing_that_was_answered(name: str) -> None:
    """No recorded 2xx uses what the row of its model refuses, at the vendor's own host and at others."""
    judged = [(asked.exchange.id, refused) for asked, refused in _by_row(name, answered=True)]
    assert [one for one in judged if one[1]] == []
    assert len(judged) > (15 if name == "cohere" else 40)


def test_refusals_of_models_are_in_the_table_or_listed() -> None:
    """Of the recorded 400, those that say that a model does not take something, and the table does not."""
    taken = {
        asked.exchange.id
        for name in VENDORS
        for asked, refused in _by_row(name, answered=False)
        if re.search(r"not supported with|does not support|expected to be either", str(asked.exchange.response))
        and not refused
    }
    # Rules of the strict upstream know them: search, and the roles of o1-mini.
    assert sorted(taken) == ["07a79f4f05bc", "a1d947ab38e5", "d30db358da6d"]


def test_evidence_was_recorded_as_the_table_says() -> None:
    """Every id of the table is an exchange with a model of its row: answered, or refused where it says so."""
    recorded = {asked.exchange.id: asked for name in VENDORS for asked in _recorded(name)}
    for row in MODEL_TABLE:
        for refused, name in re.findall(r"(refused )?\b([0-9a-f]{12})\b", row.source):
            assert recorded[name].row is row, name
            assert ((recorded[name].exchange.status or 200) == 400) is bool(refused), name


MEDIA = {
    "images": ("images", r'"(image_url|input_image|image)"|"image/'),
    "sound": ("audio", r'"audio/|"input_audio"'),
    "documents": ("documents", r'"(input_file|document|file)"|"application/pdf"'),
}
"""What the evidence calls a medium: the kind in the table, and how it looks in a request."""


def test_media_that_a_family_takes_were_recorded() -> None:
    """Each kind of a row has an exchange that was answered, and whose request holds it; no other kind has one."""
    recorded = {asked.exchange.id: asked for name in VENDORS for asked in _recorded(name)}
    found = 0
    for row in MODEL_TABLE:
        evidence = dict(re.findall(r"\b(images|sound|documents) ([0-9a-f]{12})\b", row.source))
        assert row.media == {MEDIA[word][0] for word in evidence}, row.models
        for word, name in evidence.items():
            found += 1
            assert (recorded[name].exchange.status or 200) == 200
            assert re.search(MEDIA[word][1], json.dumps(recorded[name].exchange.request)), name
    assert found == 18


def test_a_refusal_that_traffic_contradicts_is_noticed() -> None:
    """Rows that refused what recorded exchanges used would fail on them."""
    recorded = {asked.exchange.id: asked for name in VENDORS for asked in _recorded(name)}

    def refused(name: str, **fields: Any) -> list[str]:
        asked = recorded[name]
        return _refused(structs.replace(asked.row, **fields), asked.dialect, asked.body)

    assert refused("937a5b448aab", sampling_efforts=frozenset()) == ["temperature"]
    assert refused("733e04480735", sampling_pair=False) == ["top_p"]
    assert refused("8bc45a8b013b", stop=False) == ["stop"]
    assert refused("6820750c7e1f", budgets=(1, 100)) == ["budgets"]
    assert refused("a4f79e1867d5", output_schema_with_tools=False) == ["output_schema_with_tools"]
    assert refused("21d6d38d7c1a", mixed_tools=False) == ["mixed_tools"]
    assert refused("06de294ae27e", result_media=False) == ["result_media"]
    assert refused("f002507b199a") == ["penalties"]
