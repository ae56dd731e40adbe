"""The committed support matrix is what the code can do today."""

from __future__ import annotations

import msgspec
import pytest

from interlingua.dialects._contract import Encoded, EncodeOptions
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.types.change import CODES, Change
from interlingua.types.request import Request
from tests.support.capabilities import ANSWERS, REQUESTS, STREAMS, Outcome, outcome
from tests.support.support_matrix import GROUPS, PAGE, README, page, recorded_codes, rendered_readme


def test_the_page_is_up_to_date() -> None:
    """docs/support.md equals the one made now; `python -m tests.support.docs_tables` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_short_table_is_up_to_date() -> None:
    """The README's table equals the one made now, and has its place."""
    text = README.read_text(encoding="utf-8")
    assert text.count("<!-- support-matrix -->") == text.count("<!-- /support-matrix -->") == 1
    assert rendered_readme(text) == text


def test_every_code_is_in_the_matrix() -> None:
    """No code and no action of the closed table is passed over."""
    assert {row.action for row in CODES.values()} == GROUPS.keys()
    assert [code for code in CODES if f"| `{code}` |" not in page()] == []


def test_what_openai_chat_records_is_found() -> None:
    """The scan sees codes wherever they are written: as arguments, in variables, in tables, in shared modules."""
    codes = recorded_codes("openai-chat")
    assert {"name_mapped", "media_refs", "images", "output_schema", "tools", "call_id_made", "lone_surrogate"} <= codes
    assert not {"seal_filler", "empty_part", "messages_merged", "refusal_as_text"} & codes


def test_only_words_of_the_table_are_found() -> None:
    """The scan finds codes, and no other words."""
    assert all(recorded_codes(name) <= CODES.keys() for name in DIALECTS)


PROBES = (*REQUESTS, *ANSWERS, *STREAMS)
ELSEWHERE = {
    "R23": "a row of data for each server: docs/guides/providers.md",
    "R24": "three operations for every dialect: docs/guides/codec.md",
    "R28": "how fragments are put together is no ability of a dialect",
}
"""Requirements of the mapping that are about no single capability, and why."""


def test_r51_every_requirement_of_the_mapping_is_probed() -> None:
    """R51: the capabilities of R12 to R29 are in the matrix, but those that are no matter of a dialect."""
    wanted = {f"R{number}" for number in range(12, 30)} - ELSEWHERE.keys()
    assert wanted - {probe.requirement for probe in PROBES} == set()


def test_r51_the_probes_see_what_a_dialect_cannot() -> None:
    """R51: a native, an approximated, a dropped and an impossible capability, each as its dialect's page says."""
    found = {probe.what: outcome(probe, "ollama") for probe in PROBES}
    assert found["images"] == Outcome("native")
    assert found["choice `required`"] == Outcome("approximated", ("tool_choice_approximated",))
    assert found["no parallel calls"] == Outcome("dropped", ("parameter_unsupported",))
    assert found["documents (PDF)"] == Outcome("impossible", ("documents",))
    assert found["arguments as they come"] == Outcome("approximated", ("told whole",))


def test_r51_every_probe_is_named_once() -> None:
    """R51: no two probes of one group stand for the same thing."""
    for group in (REQUESTS, ANSWERS, STREAMS):
        assert len({probe.what for probe in group}) == len(group)


def test_a_change_in_the_code_changes_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a dialect begins to drop what it said, its cell says so."""
    real = get_dialect("google")
    changed = (Change("dropped", "parameter_unsupported", "/system"),)

    def worse(request: Request, options: EncodeOptions) -> Encoded:
        return msgspec.structs.replace(real.encode_request(request, options), changes=changed)

    [probe] = [probe for probe in REQUESTS if probe.what == "system text"]
    assert probe.find("google") == Outcome("native")
    monkeypatch.setattr(
        "tests.support.capabilities.get_dialect", {"google": msgspec.structs.replace(real, encode_request=worse)}.get
    )
    assert probe.find("google") == Outcome("dropped", ("parameter_unsupported",))
