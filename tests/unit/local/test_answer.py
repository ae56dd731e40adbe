"""Reading what a local model writes, in pieces cut anywhere."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import DecodeError
from interlingua.local.answer import AnswerReader, ArgumentsPiece, CallStart, Said, TextPiece

TOOLS = ("get_weather", "a b")


def read(pieces: list[str], *, cut: bool = False) -> list[Said]:
    """What a whole answer says."""
    reader = AnswerReader(TOOLS)
    said = [item for piece in pieces for item in reader.feed(piece)]
    reader.finish(cut=cut)
    return said


def joined(said: list[Said]) -> list[Said]:
    """The same, with neighbours of a kind as one."""
    out: list[Said] = []
    for item in said:
        last = out[-1] if out else None
        if isinstance(item, TextPiece) and isinstance(last, TextPiece):
            out[-1] = TextPiece(last.text + item.text)
        elif isinstance(item, ArgumentsPiece) and isinstance(last, ArgumentsPiece):
            out[-1] = ArgumentsPiece(last.text + item.text)
        else:
            out.append(item)
    return out


def cuts(text: str, places: list[int]) -> list[str]:
    """`text` cut at `places`."""
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in itertools.pairwise(edges)]


CALL = '{"name": "get_weather", "arguments": {"city": "Os}lo\\"", "deep": [{"a": {}}]}}'
ARGUMENTS = '{"city": "Os}lo\\"", "deep": [{"a": {}}]}'


def test_a_call_is_its_name_and_its_exact_arguments() -> None:
    """Braces and quotes in strings do not end the arguments."""
    assert read([CALL]) == [CallStart("get_weather"), ArgumentsPiece(ARGUMENTS)]


def test_a_call_in_single_characters_is_the_same_call() -> None:
    """Cuts do not matter, spaces neither."""
    assert joined(read(list(CALL))) == [CallStart("get_weather"), ArgumentsPiece(ARGUMENTS)]
    spaced = ' {\n"name" :"a b",\n "arguments": {} \n}'
    assert joined(read(list(spaced))) == [CallStart("a b"), ArgumentsPiece("{} \n")]


def test_text_comes_as_soon_as_it_is_sure() -> None:
    """A piece gives its text at once; half an escape waits for the rest."""
    reader = AnswerReader(TOOLS)
    assert list(reader.feed('{"reply": "It is')) == [TextPiece("It is")]
    assert list(reader.feed(" 4 \\")) == [TextPiece(" 4 ")]
    assert list(reader.feed("u00b0 \\ud83d")) == [TextPiece("° ")]
    assert list(reader.feed("\\ude00 \\ud83d!")) == [TextPiece("\U0001f600 \ufffd!")]
    assert list(reader.feed('"}')) == []
    reader.finish(cut=False)


@given(st.text(), st.lists(st.integers(0, 500), max_size=12), st.booleans())
def test_every_text_survives_every_cut(text: str, places: list[int], ascii_only: bool) -> None:
    """What JSON escapes is what comes out, however the answer is cut."""
    written = json.dumps({"reply": text}, ensure_ascii=ascii_only)
    assert joined(read(cuts(written, places))) == ([TextPiece(text)] if text else [])


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8),
    st.lists(st.integers(0, 200)),
)
def test_an_output_is_its_exact_text(value: object, places: list[int]) -> None:
    """An output of any JSON type comes through unchanged."""
    written = json.dumps(value)
    assert joined(read(cuts(f'{{"output": {written}}}', places))) == [TextPiece(written)]


@pytest.mark.parametrize(
    ("cut_at", "said"),
    [
        ('{"na', []),
        ('{"name": "get_weather", "arguments": ', []),
        ('{"name": "get_weather", "arguments": {"ci', [CallStart("get_weather"), ArgumentsPiece('{"ci')]),
        ('{"reply": "half a \\u00', [TextPiece("half a ")]),
        ('{"output": [1, ', [TextPiece("[1, ")]),
    ],
)
def test_str_35_a_cut_answer_gives_what_came_and_closes_nothing(cut_at: str, said: list[Said]) -> None:
    """An answer cut by a limit is never completed by us, and a call without arguments is no call."""
    assert read([cut_at], cut=True) == said


@pytest.mark.parametrize(
    "text", ["The weather", '{"other": 1}', '{"name": "unknown", "arguments": {', '{"reply": 4', "```"]
)
def test_text_that_the_grammar_cannot_have_made_is_an_error(text: str) -> None:
    """An engine that did not take the grammar is noticed before anything is given out."""
    with pytest.raises(DecodeError, match="did not keep the grammar"):
        read([text])


def test_an_answer_that_ends_early_without_a_limit_is_an_error() -> None:
    """Only a limit may stop an answer in its middle."""
    with pytest.raises(DecodeError, match="ended before its JSON did"):
        read(['{"reply": "half'])
