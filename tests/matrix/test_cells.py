"""Every cell of the matrix: what is sent, what is answered, what is lost, judged and as it was written down."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import Dialect, Encoded, EncodeOptions, ServerContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error, InternalServerError
from interlingua.testing.framed import stream_bytes, stream_text
from interlingua.testing.upstream import judge
from interlingua.testing.upstream.door import DOORS
from interlingua.types.request import Request
from interlingua.wire.http import HttpReply
from tests.matrix import cases
from tests.matrix.cases import CASES, CELLS, ERRORS, SPOKEN, Cell
from tests.matrix.official import JUDGED, answer_problems, request_problems, stream_problems
from tests.matrix.play import Played, play
from tests.matrix.snapshot import LostError, read, sections, unwritten, write
from tests.support.cells import cells
from tests.support.codecs import losing

ORDER = (*CASES, *ERRORS)


def _problems(cell: Cell, played: Played, *, streamed: bool) -> list[str]:
    """What the strict upstream and the official SDKs have against what was sent and answered."""
    found: list[str] = []
    if played.sent is not None:
        found += [f"sent {one}" for one in request_problems(cell.target, played.sent.body)]
        found += [f"refused {one}" for one in _refusals(cell, played.sent, streamed=streamed)]
    if played.answered is not None and played.answered.status < 400:
        found += [f"answered {one}" for one in answer_problems(cell.source, played.answered.body)]
    if played.streamed is not None:
        found += [f"streamed {one}" for one in stream_problems(cell.source, played.streamed)]
    return found


def _refusals(cell: Cell, sent: Encoded, *, streamed: bool) -> list[str]:
    """Why the strict upstream would refuse a request; sealed Chat goes to a server that it does not imitate."""
    if cell.target not in DOORS or cases.is_sealed_chat(cell.target, cell.case):
        return []
    request = cases.endpoint(cell.target, cell.case).http_request(sent, stream=streamed)
    return [str(problem) for problem in judge(cell.target, request).problems]


@cells("cell", CELLS, by=lambda cell: f"{cell.source}->{cell.target}")
def test_a_cell(cell: Cell, golden_update: bool) -> None:
    """No fact is lost in silence, the services and SDKs of both ends take what we say, and the snapshot holds it."""
    whole, streamed = play(cell, streamed=False), play(cell, streamed=True)
    lost = [*whole.lost, *streamed.lost]
    made = sections(whole, streamed)
    if golden_update:
        assert "PYTEST_XDIST_WORKER" not in os.environ, "two workers cannot write one file: update without -n"
        write(cell, made, lost, ORDER)
    assert lost == []
    assert [*_problems(cell, whole, streamed=False), *_problems(cell, streamed, streamed=True)] == []
    assert made == read(cell)


def test_every_dialect_is_in_the_matrix() -> None:
    """A dialect that is in the table has a row and a column."""
    assert set(SPOKEN) >= set(DIALECTS)
    assert {(cell.source, cell.target) for cell in CELLS} == {(one, other) for one in DIALECTS for other in DIALECTS}


def test_only_a_document_cannot_be_asked_by_everyone() -> None:
    """The one request that a client cannot make: Ollama's dialect has no documents, Cohere's has texts alone."""
    missing = {(one, case) for one in DIALECTS for case in ORDER} - {(cell.source, cell.case) for cell in CELLS}
    assert missing == {("ollama", "document"), ("cohere", "document")}


def test_nothing_is_left_over() -> None:
    """No snapshot stands there of a cell that is no more."""
    assert unwritten(CELLS) == []


# The judges are judged


CELL = Cell("openai-chat", "anthropic", "parallel")
GET_DIALECT = "tests.matrix.play.get_dialect"


def _losing(name: str) -> Dialect:
    return losing(get_dialect(name))


def test_a_loss_in_silence_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A codec that loses a call and does not say so: the update refuses the cell, and the file stays as it was."""
    good = sections(play(CELL, streamed=False), play(CELL, streamed=True))
    write(CELL, good, (), ORDER, tmp_path)
    monkeypatch.setattr(GET_DIALECT, _losing)
    whole, streamed = play(CELL, streamed=False), play(CELL, streamed=True)
    assert any("/calls" in one for one in whole.lost)
    assert any("/calls" in one for one in streamed.lost)
    with pytest.raises(LostError, match="openai-chat->anthropic-parallel is not written"):
        write(CELL, sections(whole, streamed), whole.lost, ORDER, tmp_path)
    assert read(CELL, tmp_path) == good


def test_a_loss_in_a_request_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same codec on a history with two calls: what is sent says less than what was asked."""
    monkeypatch.setattr(GET_DIALECT, _losing)
    lost = play(CELL._replace(case="results"), streamed=False).lost
    assert any(one.startswith("request read /calls") for one in lost)


def test_an_option_that_is_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that the client set and the service is not told of is a loss."""
    real = get_dialect("openai-chat")

    def forgetful(request: Request, options: EncodeOptions) -> Encoded:
        return real.encode_request(msgspec.structs.replace(request, max_tokens=None), options)

    def dialect(name: str) -> Dialect:
        return msgspec.structs.replace(get_dialect(name), encode_request=forgetful)

    monkeypatch.setattr(GET_DIALECT, dialect)
    lost = play(Cell("openai-chat", "openai-chat", "text"), streamed=False).lost
    assert lost == ("request /max_tokens: 400 != None",)


def test_another_class_of_error_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that reaches the client as another one is a loss, too."""
    real = get_dialect("anthropic")

    def wrong(error: Error, context: ServerContext) -> HttpReply:
        return real.encode_error(InternalServerError("Oops."), context)

    def dialect(name: str) -> Dialect:
        return msgspec.structs.replace(get_dialect(name), encode_error=wrong)

    monkeypatch.setattr(GET_DIALECT, dialect)
    [lost] = play(Cell("anthropic", "anthropic", "error-429"), streamed=False).lost
    assert lost.startswith("the error's class RateLimitError is ")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Each section comes back byte for byte, one that several cases have, too, in whatever order they are written."""
    made = {"sent: POST /x": '{"a": 1}', "streamed": "data: {}\n\ndata: [DONE]\n\n", "changed": "nothing"}
    other = {**made, "sent: POST /x": '{"a": 2}'}
    for case, sections_of in (("turns", other), ("text", made), ("image", made)):
        write(CELL._replace(case=case), sections_of, (), ORDER, tmp_path)
    assert [read(CELL._replace(case=case), tmp_path) for case in ("text", "turns", "image")] == [made, other, made]
    [path] = tmp_path.rglob("*.txt")
    assert path.read_text().count("[DONE]") == 1
    assert unwritten([CELL._replace(case="text")], tmp_path) == [("anthropic.txt", "turns"), ("anthropic.txt", "image")]


@pytest.mark.parametrize("dialect", [name for name in SPOKEN if name in DOORS])
def test_the_strict_upstream_judges_requests(dialect: str) -> None:
    """A request whose conversation is a number is one that the service refuses."""
    cell = Cell("openai-chat", dialect, "text")
    sent = play(cell, streamed=False).sent
    assert sent is not None
    assert _refusals(cell, sent, streamed=False) == []
    body = {**json.loads(sent.body), "messages": 3, "contents": 3, "input": 3}
    assert _refusals(cell, msgspec.structs.replace(sent, body=json.dumps(body).encode()), streamed=False) != []


@pytest.mark.parametrize(
    ("dialect", "members"),
    [
        ("openai-chat", {"top_k": 4}),
        ("openai-responses", {"max_tokens": 4}),
        ("anthropic", {"max_tokens": "many"}),
        ("google", {"temperature": 1}),
        ("ollama", {"format": 3}),
        ("cohere", {"max_tokens": "many"}),
    ],
)
def test_the_sdks_judge_requests(dialect: str, members: dict[str, Any]) -> None:
    """A member that the SDK does not know, or of a wrong type, is a problem."""
    body = json.loads(cases.request(dialect, "text", streamed=False).body) | members
    assert request_problems(dialect, json.dumps(body).encode()) != []


@pytest.mark.parametrize("dialect", JUDGED)
def test_the_sdks_judge_answers(dialect: str) -> None:
    """An unknown member is a problem, whole or in an event of a stream."""
    body = json.loads(cases.reply(dialect, "text").body) | {"surprise": 1}
    assert any("surprise" in problem for problem in answer_problems(dialect, json.dumps(body).encode()))
    told = cases.stream(dialect, "text")
    assert told is not None
    text = stream_text(dialect, told)
    spoiled = stream_bytes(dialect, re.sub(r'(: ?|^)\{"(?=\w+":[^{])', r'\1{"surprise":1,"', text, count=1))
    assert any("surprise" in problem for problem in stream_problems(dialect, spoiled))
