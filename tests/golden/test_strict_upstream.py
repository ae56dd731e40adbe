"""Every golden request, written for the dialect's own provider, is what that provider takes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import HistoryError, UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge, judge_body
from interlingua.wire.http import HttpRequest

FOLDER = Path(__file__).parent
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock")
BASES = {
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/v1",
    "google": "/v1beta",
    "ollama": "",
    "cohere": "/v2",
    "bedrock": "",
}
CASES = [
    (dialect, path.parent.name) for dialect in DIALECTS for path in sorted((FOLDER / dialect).glob("*/request.json"))
]

NOT_OURS: dict[tuple[str, str], str] = {
    ("openai-chat", "cache-marks"): "`cache_control` is for servers that know it; a client's own marks pass through",
    ("openai-chat", "reasoning-details"): "a member of another server of the dialect passes through",
    ("openai-chat", "unknown-members"): "what nobody knows passes through in the same dialect",
    ("openai-responses", "choice-hosted"): "a choice that is newer than the types",
    ("openai-responses", "compaction"): "an item that nobody knows passes through in the same dialect",
    ("openai-responses", "unknown-members"): "what nobody knows passes through in the same dialect",
    ("anthropic", "later-system"): "a block of a beta whose header the case does not name",
    ("cohere", "documents-alone"): "a document of an older form passes through in the same dialect",
    ("cohere", "odd-choice"): "words and types that nobody knows pass through in the same dialect",
    ("cohere", "unknown-members"): "what nobody knows passes through in the same dialect",
    ("bedrock", "media"): "a bucket with a name that is too short passes through in the same dialect",
    ("bedrock", "unknown-members"): "what nobody knows passes through in the same dialect",
    ("google", "unknown-members"): "what nobody knows passes through in the same dialect",
}
"""Cases that speak to another server of the dialect, or that keep what only another one takes."""


def _problems(dialect: str, case: str) -> list[str]:
    folder = FOLDER / dialect / case
    meta = tomllib.loads((folder / "META.toml").read_text(encoding="utf-8"))
    asked = HttpRequest(url=meta.get("url", "http://test/"), body=(folder / "request.json").read_bytes())
    decoded = get_dialect(dialect).decode_request(asked, DecodeOptions())
    model = decoded.model or meta.get("model", "m")
    facts = facts_for(dialect, dialect, model)
    target = Target(model=model, provider=dialect, quirks=ROWS[dialect].quirks, facts=facts)
    encoded = get_dialect(dialect).encode_request(decoded.request, EncodeOptions(target=target, stream=decoded.stream))
    headers = (("anthropic-version", "2023-06-01"), *encoded.headers)
    verdict = judge_body(dialect, encoded.body, model=model, path=BASES[dialect] + encoded.path, headers=headers)
    return list(map(str, verdict.problems))


@pytest.mark.parametrize(("dialect", "case"), CASES, ids=[f"{dialect}-{case}" for dialect, case in CASES])
def test_a_golden_request_is_taken(dialect: str, case: str) -> None:
    """The request of the case, told for the provider's own row, breaks no rule of the provider."""
    try:
        found = _problems(dialect, case)
    except (HistoryError, UnsupportedError) as error:
        pytest.skip(f"refused before it is sent: {error.message}")
    assert bool(found) == ((dialect, case) in NOT_OURS), found


OFFICIAL = {name: row for name, row in ROWS.items() if name in {*DIALECTS, "openai", "ollama-cloud", "azure"}}


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_request_of_a_row_is_taken(name: str) -> None:
    """What the snapshots of the official rows send is what those services take, headers and address included."""
    made: dict[str, Any] = json.loads((FOLDER / "provider-requests" / f"{name}.json").read_text(encoding="utf-8"))
    for sent in made.values():
        headers = tuple((key, value) for key, _, value in (line.partition(": ") for line in sent["headers"]))
        url = sent["url"].replace("some/model", "some-model").replace("some%2Fmodel", "some-model")
        request = HttpRequest(url=url, headers=headers, body=json.dumps(sent["body"]).encode())
        verdict = judge(OFFICIAL[name].dialects[0], request)
        assert verdict.ok, str(verdict)
