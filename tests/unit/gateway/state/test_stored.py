"""Stored responses: what is kept, for whom, and how a request that goes on from it says everything itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlingua.errors import BadRequestError, DecodeError, Error
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.state.stored import (
    KeptAnswer,
    KeptElsewhere,
    Prepared,
    StoredResponses,
    answer_of_item,
    as_input,
    compacted,
    listed,
    memory_responses,
    page,
)
from interlingua.wire.json import encode

FIRST = "resp_il" + "a" * 22
SECOND = "resp_il" + "b" * 22
ANSWER: dict[str, Any] = {
    "id": FIRST,
    "output": [
        {"type": "reasoning", "id": f"rs_il{'a' * 22}01", "summary": []},
        {"type": "message", "id": f"msg_il{'a' * 22}02", "role": "assistant", "content": [{"type": "output_text"}]},
    ],
}


def _body(**members: Any) -> bytes:
    return encode({"model": "m", **members}, nulls=10)


def _prepare(stored: StoredResponses, owner: str = "", **members: Any) -> Prepared:
    return asyncio.run(stored.prepare(owner, read_request(_body(**members), "openai-responses")))


def _with_first(owner: str = "team-a", **members: Any) -> StoredResponses:
    stored = memory_responses(lambda: 0.0)
    prepared = _prepare(stored, owner, input="Hello", **members)
    asyncio.run(stored.keep(owner, FIRST, encode(ANSWER), prepared))
    return stored


def _input(prepared: Prepared) -> Any:
    return prepared.body.get("input")


def test_srv_12_a_request_that_goes_on_says_everything_itself() -> None:
    """The earlier input and the answer stand before the new input; ids that no provider knows are gone."""
    prepared = _prepare(
        _with_first(), "team-a", previous_response_id=FIRST, input=[{"role": "user", "content": "More"}]
    )
    assert prepared.body.value == {
        "model": "m",
        "input": [
            {"role": "user", "content": "Hello"},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
            {"role": "user", "content": "More"},
        ],
    }
    assert (prepared.is_changed, prepared.previous, prepared.kept_by) == (True, FIRST, "")


def test_a_conversation_of_several_answers_is_told_from_its_beginning() -> None:
    """Each answer keeps its own input alone and names the one before."""
    stored = _with_first()
    second = _prepare(stored, "team-a", previous_response_id=FIRST, input="More")
    answer = encode({"output": [{"type": "message", "role": "assistant", "content": "There."}]})
    asyncio.run(stored.keep("team-a", SECOND, answer, second))
    held = asyncio.run(stored.find("team-a", SECOND))
    assert held == KeptAnswer(answer, b'"More"', FIRST)
    third = _prepare(stored, "team-a", previous_response_id=SECOND, input="And?")
    assert [item.get("content") for item in _input(third)] == [
        "Hello", None, [{"type": "output_text"}], "More", "There.", "And?",
    ]  # fmt: skip


def test_what_needs_nothing_goes_on_as_it_came() -> None:
    """The very bytes, also where the words of our members only stand in a text."""
    stored = memory_responses(lambda: 0.0)
    body = read_request(b'{"model": "m",  "input": "say \\"previous_response_id\\"", "x": 1.50}', "openai-responses")
    prepared = asyncio.run(stored.prepare("", body))
    assert prepared.body is body
    assert not prepared.is_changed


@pytest.mark.parametrize("owner", ["team-b", ""])
def test_sec_11_an_answer_is_its_owners_alone(owner: str) -> None:
    """Who knows the id of another tenant's answer is told what anybody is told who made one up."""
    stored = _with_first("team-a")
    with pytest.raises(BadRequestError, match="previous_response_id: there is no answer") as caught:
        _prepare(stored, owner, previous_response_id=FIRST, input="More")
    assert (caught.value.status, caught.value.code) == (400, "previous_response_not_found")
    assert asyncio.run(stored.find(owner, FIRST)) is None


@pytest.mark.parametrize(
    "given", ["../../etc/passwd", "resp_1\0", "", "resp_" + "a" * 200, "resp 1", 7, ["resp_1"], "é" * 5]
)
def test_sec_11_an_id_is_restricted_by_a_pattern(given: object) -> None:
    """Nothing is looked up or sent on that cannot be an id."""
    with pytest.raises(DecodeError) as caught:
        _prepare(_with_first(), "team-a", previous_response_id=given, input="More")
    assert (caught.value.path, caught.value.status) == ("/previous_response_id", 400)


def test_srv_13_an_answer_that_its_provider_keeps_is_passed_on() -> None:
    """The state has one owner: the id goes on as it came, and the provider is named where its answer was noted."""
    stored = memory_responses(lambda: 0.0)
    asyncio.run(stored.note("team-a", "resp_68af", "openai/gpt-5.6"))
    prepared = _prepare(stored, "team-a", previous_response_id="resp_68af", input="More")
    assert prepared == Prepared(prepared.original, prepared.original, kept_by="openai/gpt-5.6")
    assert asyncio.run(stored.find("team-a", "resp_68af")) == KeptElsewhere("openai/gpt-5.6")
    assert asyncio.run(stored.find("team-b", "resp_68af")) is None
    assert not _prepare(stored, "team-b", previous_response_id="resp_unknown", input="More").is_changed


def test_srv_11_a_reference_becomes_the_item() -> None:
    """Items of an answer that is kept here stand for themselves, an earlier input too; others stay references."""
    stored = _with_first()
    references: list[dict[str, Any]] = [
        {"type": "item_reference", "id": f"msg_il{'a' * 22}02"},
        {"type": "item_reference", "id": f"msg_il{'a' * 22}i01"},
        {"type": "item_reference", "id": "msg_68af"},
        {"role": "user", "content": "More"},
    ]
    assert _input(_prepare(stored, "team-a", input=references)) == [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Hello"}],
            "status": "completed",
        },
        {"type": "item_reference", "id": "msg_68af"},
        {"role": "user", "content": "More"},
    ]
    for owner, item_id in (("team-b", f"msg_il{'a' * 22}02"), ("team-a", f"msg_il{'a' * 22}09")):
        with pytest.raises(DecodeError, match=f"item_reference: there is no item {item_id}") as caught:
            _prepare(stored, owner, input=[{"type": "item_reference", "id": item_id}])
        assert (caught.value.path, caught.value.status) == ("/input", 400)


def test_a_conversation_with_a_hole_is_refused() -> None:
    """An answer that was forgotten takes along what went on from it; nothing is left out in silence."""
    stored = _with_first()
    second = _prepare(stored, "team-a", previous_response_id=FIRST, input="More")
    asyncio.run(stored.keep("team-a", SECOND, b'{"output": []}', second))
    asyncio.run(stored.forget("team-b", FIRST))
    _prepare(stored, "team-a", previous_response_id=SECOND)
    asyncio.run(stored.forget("team-a", FIRST))
    with pytest.raises(BadRequestError, match=FIRST):
        _prepare(stored, "team-a", previous_response_id=SECOND)


def test_the_store_is_bounded_in_bytes_and_time() -> None:
    """What is too large or too old is not there."""
    now_s = [0.0]
    stored = memory_responses(lambda: now_s[0], max_bytes=8_000, keep_s=60.0)
    prepared = _prepare(stored, input="Hello")
    asyncio.run(stored.keep("", FIRST, b'{"x": "%b"}' % (b"x" * 1_000), prepared))
    assert asyncio.run(stored.find("", FIRST)) is None
    asyncio.run(stored.keep("", FIRST, b"{}", prepared))
    now_s[0] = 59.0
    assert asyncio.run(stored.find("", FIRST)) is not None
    now_s[0] = 60.0
    assert asyncio.run(stored.find("", FIRST)) is None


def test_a_compacted_conversation_is_read_again() -> None:
    """An item of ours is its summary, another provider's stays as it is, a damaged one is named."""
    item = compacted("They agreed on Tuesday.", "cmp_1")
    assert item["type"] == "compaction"
    assert as_input(item) == {
        "role": "user",
        "content": "What was said before, in short:\n\nThey agreed on Tuesday.",
    }
    foreign = {"type": "compaction", "id": "cmp_2", "encrypted_content": "gAAAAB-opaque"}
    assert as_input(foreign) is foreign
    for content in ("il1.e30=", "il1.%%%", "il1.WzFd", "il1.gA=="):
        with pytest.raises(Error, match="damaged"):
            as_input({**item, "encrypted_content": content})
    prepared = _prepare(memory_responses(lambda: 0.0), input=[item, {"role": "user", "content": "When?"}])
    assert [turn["role"] for turn in _input(prepared)] == ["user", "user"]


@pytest.mark.parametrize(
    ("item_id", "answer"),
    [
        (f"msg_il{'a' * 22}01", FIRST),
        (f"fc_il{'a' * 22}i12", FIRST),
        (f"msg_il{'a' * 22}", None),
        ("msg_68af01", None),
        (None, None),
        (f"MSG_il{'a' * 22}01", None),
    ],
)
def test_an_item_of_ours_names_its_answer(item_id: str | None, answer: str | None) -> None:
    """Only ids that the gateway made lead anywhere."""
    assert answer_of_item(item_id) == answer


def test_items_are_listed_as_the_sdk_reads_them() -> None:
    """Each has an id, a type and a status; a text is a list of parts."""
    items = listed([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}], FIRST)
    assert [(item["id"], item["type"], item["status"]) for item in items] == [
        (f"msg_il{'a' * 22}i01", "message", "completed"),
        (f"msg_il{'a' * 22}i02", "message", "completed"),
    ]
    assert [item["content"][0]["type"] for item in items] == ["input_text", "output_text"]


def test_a_list_comes_in_pages() -> None:
    """Newest first unless asked otherwise; a page says whether there is more and how to go on."""
    items = [{"id": f"msg_{number}"} for number in range(5)]
    first = page(items, limit=2)
    assert [item["id"] for item in first["data"]] == ["msg_4", "msg_3"]
    assert (first["first_id"], first["last_id"], first["has_more"]) == ("msg_4", "msg_3", True)
    assert [item["id"] for item in page(items, after="msg_3", limit=9)["data"]] == ["msg_2", "msg_1", "msg_0"]
    assert [item["id"] for item in page(items, order="asc", after="msg_2")["data"]] == ["msg_3", "msg_4"]
    assert page([]) == {"object": "list", "data": [], "first_id": "", "last_id": "", "has_more": False}
