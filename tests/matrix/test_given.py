"""The hand-written files are what the real services take and give: else the matrix would prove nothing."""

from __future__ import annotations

import json

import pytest

from interlingua.dialects.table import DIALECTS
from interlingua.testing.facts import first_difference, reader_for
from interlingua.testing.framed import stream_text
from interlingua.testing.upstream import judge_body
from interlingua.testing.upstream.door import DOORS
from tests.matrix import cases
from tests.matrix.cases import CASES, ERRORS
from tests.matrix.official import answer_problems, request_problems, stream_problems
from tests.support.cells import cells

REQUESTS = sorted({case.request for case in CASES.values()})
ANSWERS = sorted({case.answer for case in CASES.values()})
BROKEN = ("error-429", "error-500", "error-529")
"""The errors that also come in the middle of a stream."""
UNSAID = {("ollama", "document"), ("cohere", "document")}
"""What a dialect cannot ask: one has no documents, the other documents of text alone."""
ASKED = [
    (dialect, name, streamed)
    for dialect in DIALECTS
    for name in REQUESTS
    for streamed in (False, True)
    if (dialect, name) not in UNSAID
]


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """The name of a dialect."""
    return request.param


@cells(("dialect", "name", "streamed"), ASKED)
def test_a_request_is_one_of_the_official_sdk(dialect: str, name: str, streamed: bool) -> None:
    """The vendor's own types take the client's request, the strict upstream too, and its calls and results pair."""
    asked = cases.request(dialect, name, streamed=streamed)
    assert request_problems(dialect, asked.body) == []
    assert reader_for(dialect).faults(json.loads(asked.body)) == []
    if dialect in DOORS and not cases.is_sealed_chat(dialect, name):
        assert judge_body(dialect, asked.body, model="gemini-3-pro").problems == ()


@cells("name", ANSWERS)
def test_an_answer_is_one_of_the_official_sdk(dialect: str, name: str) -> None:
    """The vendor's own types take the answer, whole and streamed."""
    assert answer_problems(dialect, cases.reply(dialect, name).body) == []
    told = cases.stream(dialect, name)
    assert told is not None
    assert stream_problems(dialect, told) == []


@cells("name", ANSWERS)
def test_a_stream_says_what_the_whole_answer_says(dialect: str, name: str) -> None:
    """Both files of an answer have the same facts."""
    told = cases.stream(dialect, name)
    assert told is not None
    streamed = reader_for(dialect).stream(stream_text(dialect, told))
    assert (streamed.end, streamed.error) == ("done", None)
    whole = reader_for(dialect).response(json.loads(cases.reply(dialect, name).body))
    assert first_difference(whole, streamed.facts) is None


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_has_its_status(dialect: str, name: str) -> None:
    """Each error comes with the status that it is named after."""
    assert cases.reply(dialect, name).status == int(name.removeprefix("error-"))


@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_breaks(dialect: str, name: str) -> None:
    """The stream of an error says something, then the error."""
    told = cases.stream(dialect, name)
    assert told is not None
    streamed = reader_for(dialect).stream(stream_text(dialect, told))
    assert streamed.end == "error"
    assert streamed.facts["choices"][0]["text"] == "Tøns"


def test_every_case_has_the_same_facts_in_every_dialect() -> None:
    """The clients ask the same thing: texts, tools, calls, results and media are alike from dialect to dialect."""
    for name in REQUESTS:
        found = [_asked(dialect, name) for dialect in DIALECTS if (dialect, name) not in UNSAID]
        assert [first_difference(found[0], other) for other in found[1:]] == [None] * (len(found) - 1)


def _asked(dialect: str, name: str) -> object:
    facts = reader_for(dialect).request(json.loads(cases.request(dialect, name, streamed=False).body), None)
    return {fact: facts[fact] for fact in ("messages", "calls", "results", "media", "tool_choice")}
