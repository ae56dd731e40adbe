"""JSON that was asked for in words comes without the Markdown fence that a model puts around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, EncodeOptions, Facts, Quirks, Target, Undo
from interlingua.dialects._fences import MAX_BLANKS, Unfencer, unfenced
from interlingua.dialects.table import get_dialect
from interlingua.stream.fold import fold
from interlingua.testing.laws import assert_any_cut
from interlingua.types.content import TextPart
from interlingua.types.event import StreamEnd, TextDelta
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply
from tests.support.messages import START, block, codes, ended

FENCED = '```json\n{"city": "Oslo"}\n```'
BARE = '{"city": "Oslo"}'
OPEN = DecodeContext(undo=Undo(fenced=True))
ANTHROPIC = get_dialect("anthropic")
PIECES = (
    "`", "```", "````", "\n", "\r\n", "\r", " ", "{", "}", "]", "json", "JS", '"', "a", "\t" * 30, "\n" * MAX_BLANKS,
)  # fmt: skip


def cut(text: str, size: int) -> str:
    """A text that comes in pieces of `size`, without its fence."""
    unfencer = Unfencer()
    pieces = [unfencer.feed(text[place : place + size]) for place in range(0, len(text), size)]
    return "".join([*pieces, unfencer.close()])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FENCED, BARE),
        (f"{FENCED}\n", BARE),
        ('  ```JSON\r\n{"a": 1}\r\n```\r\n', '{"a": 1}'),
        ("```\n[1]\n```", "[1]"),
        ("```json[1]```", "[1]"),
        ('```json {"a": "```"} ```', '{"a": "```"}'),
        ('```json\n{"a": "```', '{"a": "```'),
        ('```json\n{"a": 1', '{"a": 1'),
        (f"{FENCED}\nA note.", f"{BARE}\n\nA note."),
    ],
)
def test_srf_03_a_fence_is_taken_out(text: str, told: str) -> None:
    """With `json` or without, on lines of its own or not; backticks in strings and what stands behind it stay."""
    assert unfenced(text) == told


@pytest.mark.parametrize(
    "text",
    [
        BARE, f"{BARE}\n", "", "```", "`", "```python\n{}\n```", "```json\n```", "```jso\n{}\n```", "````\n{}\n````",
        f"Here it is: {FENCED}", f"{BARE}\n```", f"{' ' * (MAX_BLANKS + 1)}{FENCED}",
    ],
)  # fmt: skip
def test_srf_03_what_is_no_fence_is_untouched(text: str) -> None:
    """Bare JSON, other code, words before it, and more blanks than are held back."""
    assert unfenced(text) == text


@given(st.sampled_from(("", "```json\n{", "```[")), st.lists(st.sampled_from(PIECES), max_size=12), st.integers(1, 9))
def test_srf_03_every_cut_gives_the_same(begins: str, pieces: list[str], size: int) -> None:
    """One character at a time, a few, and the whole."""
    text = begins + "".join(pieces)
    assert cut(text, 1) == cut(text, size) == unfenced(text)


def test_srf_03_little_is_held_back() -> None:
    """Text goes out as soon as it can be no fence; what may yet be the closing one waits."""
    unfencer = Unfencer()
    steps = ["``", "`json", '\n{"a"', ": 1}", "\n``", "`", "\n"]
    assert [unfencer.feed(step) for step in steps] == ["", "", '{"a"', ": 1}", "", "", ""]
    assert unfencer.close() == ""
    plain = Unfencer()
    assert [plain.feed(step) for step in ("`", "x", " ", "`")] == ["", "`x", " ", "`"]


def _stream(*texts: str) -> bytes:
    deltas = [json.dumps({"type": "text_delta", "text": text}) for text in texts]
    return START + block(0, '{"type":"text","text":""}', *deltas) + ended()


def test_srf_03_whole_and_streamed_are_the_same() -> None:
    """The same text and the same entry, however the bytes of a stream are cut."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_sequence": None,
        "content": [{"type": "text", "text": FENCED}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 7},
    }  # fmt: skip
    whole = ANTHROPIC.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), OPEN)
    events = assert_any_cut(ANTHROPIC, _stream(*FENCED), OPEN)
    last = events[-1]
    assert isinstance(last, StreamEnd)
    assert whole.parts == last.response.parts == fold(events).parts == (TextPart(BARE),)
    assert whole.changes == last.response.changes
    assert codes(whole.changes) == ["repaired fence_removed /parts/0"]
    assert "".join([event.text for event in events if isinstance(event, TextDelta)]) == BARE


def test_srf_03_an_answer_without_a_fence_has_no_entry() -> None:
    """Nothing was done to it, and every piece of it comes at once."""
    events = assert_any_cut(ANTHROPIC, _stream('{"a"', ": 1}"), OPEN)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ['{"a"', ": 1}"]
    assert fold(events).changes == ()


TOOL = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
SAID = (Message("user", (TextPart("Oslo?"),)),)


@pytest.mark.parametrize(
    ("dialect", "request_", "target", "fenced"),
    [
        ("anthropic", Request(messages=SAID, json_mode=True), Target(), True),
        ("anthropic", Request(messages=SAID), Target(), False),
        ("anthropic", Request(messages=SAID, output_schema={"type": "object"}), Target(), False),
        ("openai-chat", Request(messages=SAID, json_mode=True), Target(), False),
        (
            "google",
            Request(messages=SAID, json_mode=True, tools=(TOOL,)),
            Target(facts=Facts(output_schema_with_tools=False)),
            True,
        ),
        (
            "ollama",
            Request(messages=SAID, json_mode=True),
            Target(quirks=Quirks(output_schema="none")),
            True,
        ),
        ("cohere", Request(messages=SAID, json_mode=True), Target(), False),
        (
            "cohere",
            Request(messages=SAID, json_mode=True, tools=(TOOL,)),
            Target(quirks=Quirks(output_schema_with_tools=False)),
            True,
        ),
    ],
)
def test_srf_03_a_fence_is_expected_where_json_is_asked_for_in_words(
    dialect: str, request_: Request, target: Target, *, fenced: bool
) -> None:
    """Not where the target has a JSON mode, and where no JSON is asked for."""
    encoded = get_dialect(dialect).encode_request(request_, EncodeOptions(target=target))
    assert encoded.undo.fenced is fenced
