"""Law of the one codec: its branch for the usual shape says what its branch for anything says."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.branches import check_answer, check_request, check_writing, check_writing_answer, golden_bodies
from tests.support.encodings import answers, requests
from tests.support.roads import conversations
from tests.support.usual import ANSWERS


@pytest.mark.parametrize("name", DIALECTS)
def test_requests_said_otherwise_are_the_same(name: str) -> None:
    """Other order, white space, and a member that nobody knows in one message, part, call or function at a time."""
    checked = sum([check_request(name, url, body) for url, body in golden_bodies(name, "request")])
    url = next(golden_bodies(name, "request"))[0]
    checked += sum([check_request(name, url, body) for body in conversations(name)])
    assert checked > 10


@pytest.mark.parametrize("name", DIALECTS)
def test_answers_said_otherwise_are_the_same(name: str) -> None:
    """Those of the goldens, and usual ones."""
    assert sum([check_answer(name, body) for _, body in golden_bodies(name, "response")]) > 10


def test_requests_with_a_stranger_beside_a_part_are_written_alike() -> None:
    """A member of a dialect that nobody speaks changes no byte of what any other is told."""
    assert sum([check_writing(request) for _, request, _ in requests()]) > 300


def test_answers_with_a_stranger_beside_a_part_are_written_alike() -> None:
    """The same of answers, of all kinds and of usual ones."""
    assert sum([check_writing_answer(response) for _, response in answers()]) > 20
    for name in DIALECTS:
        for body in ANSWERS[name]:
            reply = HttpReply(status=200, body=encode(body))
            check_writing_answer(get_dialect(name).decode_response(reply, DecodeContext()))
