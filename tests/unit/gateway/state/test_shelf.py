"""Where turns are kept: bounded, apart by owner, and in memory the same as in a store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from interlingua.gateway.state.shelf import Lookups, MemoryTurns, StoredTurns
from interlingua.gateway.state.store import OVERHEAD_BYTES, MemoryStore
from interlingua.gateway.state.turns import AFTER, Turn, packed, unpacked
from interlingua.types.content import ImagePart, Sealed, TextPart, ToolCall

WORDS = (f"b{AFTER}a", "b")


class Clock:
    """A clock that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time that it shows."""
        return self.now_s


def _turn(text: str) -> Turn:
    return Turn((TextPart(text),), {})


def _put(turns: MemoryTurns, text: str, ids: Sequence[str] = (), words: Sequence[str] = (), owner: str = "") -> bool:
    return turns.put(owner, _turn(text), ids, words)


def _size_bytes(*texts: str) -> int:
    """What turns of these texts take."""
    return sum(len(packed(_turn(text))) for text in texts)


def _turns(clock: Clock | None = None, *, max_bytes: int = 100_000, max_entries: int = 10) -> MemoryTurns:
    return MemoryTurns(max_bytes=max_bytes, max_entries=max_entries, keep_s=60.0, clock=clock or Clock())


def _found(turns: MemoryTurns | StoredTurns, *ids: str, words: Sequence[str] = (), owner: str = "") -> list[str]:
    """The texts of the turns at one place that has these ids and words."""
    asked = Lookups.of([(0, one) for one in ids], [(0, one) for one in words])
    found = asyncio.run(turns.find(owner, asked)).get(0, ())
    assert not (found and turns.lacks(owner, asked))
    return [part.text for turn in found for part in turn.parts if isinstance(part, TextPart)]


def test_a_turn_is_found_by_ids_else_by_words() -> None:
    """Each of its ids, and what it says; ids go before words."""
    turns = _turns()
    assert _put(turns, "x", ("1", "2"), WORDS) is False
    assert _put(turns, "y", ("3",), ("c",)) is False
    assert (_found(turns, "1"), _found(turns, "2"), _found(turns, words=WORDS[1:])) == (["x"], ["x"], ["x"])
    assert _found(turns, "3", words=WORDS) == ["y"]
    assert _found(turns, "1", "2", "3") == ["x", "y"]
    assert _found(turns, "4", words=("d",)) == []


def test_the_later_turn_of_the_same_words_counts_and_says_so() -> None:
    """The earlier one stays under its ids, and goes in its time with all of its keys."""
    clock = Clock()
    turns = _turns(clock)
    _put(turns, "x", ("1",), WORDS)
    clock.now_s += 30.0
    assert _put(turns, "y", (), WORDS) is True
    assert (_found(turns, "1"), _found(turns, words=WORDS)) == (["x"], ["y"])
    assert (turns.size_bytes, len(turns)) == (_size_bytes("x", "y") + 5 * OVERHEAD_BYTES, 5)
    clock.now_s += 30.0
    assert (_found(turns, "1"), _found(turns, words=WORDS)) == ([], ["y"])
    assert (turns.size_bytes, len(turns)) == (_size_bytes("y") + 2 * OVERHEAD_BYTES, 2)


def test_a_turn_is_kept_its_time_and_no_longer() -> None:
    """However often it is asked for."""
    clock = Clock()
    turns = _turns(clock)
    _put(turns, "x", ("1",), WORDS)
    clock.now_s += 59.9
    assert _found(turns, "1") == ["x"]
    clock.now_s += 0.1
    assert _found(turns, words=WORDS) == []
    assert (len(turns), turns.size_bytes, turns.lacks("", Lookups.of([(0, "1")], []))) == (0, 0, True)


def test_the_one_that_was_not_asked_for_the_longest_goes_first() -> None:
    """Keys are bounded, and a turn goes with all of its own."""
    turns = _turns(max_entries=4)
    _put(turns, "x", ("1", "2"))
    _put(turns, "y", ("3",), ("c",))
    assert _found(turns, "1") == ["x"]
    _put(turns, "z", ("4",))
    assert [_found(turns, "1"), _found(turns, "2"), _found(turns, "3"), _found(turns, "4")] == [["x"], ["x"], [], ["z"]]


def test_bytes_are_bounded_at_the_edge() -> None:
    """What fits exactly stays, one byte more drops the oldest; what takes more than an eighth is not kept."""
    size = _size_bytes("x")
    turns = _turns(max_bytes=2 * (OVERHEAD_BYTES + size))
    _put(turns, "x", ("1",))
    _put(turns, "y", ("2",))
    assert (_found(turns, "1"), _found(turns, "2")) == (["x"], ["y"])
    _put(turns, "zz", ("3",))
    assert (_found(turns, "1"), _found(turns, "2"), _found(turns, "3")) == ([], [], ["zz"])
    longest = "l" * ((OVERHEAD_BYTES + size) // 4 - _size_bytes("l" * 99) + 99)
    _put(turns, longest, ("4",))
    assert (_found(turns, "4"), _found(turns, "3")) == ([longest], [])
    _put(turns, f"{longest}l", ("5",))
    assert (_found(turns, "5"), _found(turns, "4"), len(turns)) == ([], [longest], 1)


def test_what_is_too_large_takes_the_place_of_what_said_the_same() -> None:
    """The earlier turn is out of date, though the later one is not kept."""
    turns = _turns()
    _put(turns, "x", (), WORDS)
    assert _put(turns, "y" * 12_500, (), WORDS) is True
    assert (_found(turns, words=WORDS), turns.size_bytes) == ([], _size_bytes("x") + 2 * OVERHEAD_BYTES)


def test_owners_ids_and_words_are_apart() -> None:
    """The same name is another one for another owner, and as an id."""
    turns = _turns()
    _put(turns, "x", ("1",), WORDS, owner="a")
    assert (_found(turns, "1", owner="b"), _found(turns, words=WORDS, owner="b")) == ([], [])
    assert (_found(turns, "b", owner="a"), _found(turns, words=("1",), owner="a")) == ([], [])


def test_nothing_is_left_of_a_turn_that_nothing_leads_to() -> None:
    """One without calls and words."""
    turns = _turns()
    assert _put(turns, "x") is False
    assert (len(turns), turns.size_bytes) == (0, 0)


def test_a_turn_that_was_packed_is_the_same_turn() -> None:
    """Whatever is in it: bytes, free JSON, and numbers that only JSON has room for."""
    call = ToolCall("1", "f", "{}", extra={"openai-chat": {"index": 2**70, "share": 1.0}})
    parts = (TextPart("Hm.", sealed=Sealed("google", {"n": [None, -0.5]})), ImagePart(b"\xff", "image/png"))
    for turn in (Turn(parts, {"1": "a"}), Turn((*parts, call), {})):
        assert unpacked(packed(turn)) == turn


IDS = [f"{place}{number}" for place in range(4) for number in range(2)]
PUTS = st.lists(
    st.tuples(
        st.sampled_from("xyz"), st.integers(0, 2), st.none() | st.tuples(st.sampled_from("cd"), st.integers(0, 2))
    ),
    max_size=4,
)


@given(PUTS, st.lists(st.sampled_from(IDS), max_size=3), st.sampled_from("cd"), st.integers(0, 2))
@example([("x", 1, None), ("x", 1, None)], ["00", "10"], "c", 0)
def test_turns_in_memory_are_what_they_are_in_a_store(
    puts: list[tuple[str, int, tuple[str, int] | None]], ids: list[str], said: str, after: int
) -> None:
    """Whatever is put, under ids that no other turn has, is found the same, and both know what was said before."""
    clock = Clock()
    memory = _turns(clock, max_bytes=10_000_000, max_entries=10_000)
    stored = StoredTurns(MemoryStore(max_bytes=10_000_000, max_entries=10_000, keep_s=60.0, clock=clock))
    for place, (text, calls, spoken) in enumerate(puts):
        own = [f"{place}{number}" for number in range(calls)]
        words = () if spoken is None else (f"{spoken[0]}{AFTER}{spoken[1]}", spoken[0])
        assert memory.put("", _turn(text), own, words) == asyncio.run(stored.put("", _turn(text), own, words))
    asked = (f"{said}{AFTER}{after}", said)
    assert _found(memory, words=asked) == _found(stored, words=asked)
    assert _found(memory, *ids, words=asked) == _found(stored, *ids, words=asked)
