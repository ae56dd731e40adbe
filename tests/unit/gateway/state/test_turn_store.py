"""Where turns are kept: bounded, apart by owner, and in memory the same as in a store."""

from __future__ import annotations

import asyncio

from hypothesis import example, given
from hypothesis import strategies as st

from interlingua.gateway.state.store import OVERHEAD_BYTES, MemoryStore
from interlingua.gateway.state.turn_store import MemoryTurns, StoredTurns
from interlingua.gateway.state.turns import ModelTurn, Turn, packed, unpacked
from interlingua.types.content import ImagePart, Sealed, TextPart, ToolCall


class Clock:
    """A clock that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time that it shows."""
        return self.now_s


def _turn(text: str, *ids: str, key: str = "k") -> Turn:
    return Turn(key, (TextPart(text), *[ToolCall(one, "f", "{}") for one in ids]), {})


def _size_bytes(*turns: Turn) -> int:
    """What turns take, without their names."""
    return sum(len(packed(turn)) for turn in turns)


def _turns(clock: Clock | None = None, *, max_bytes: int = 100_000, max_entries: int = 10) -> MemoryTurns:
    return MemoryTurns(max_bytes=max_bytes, max_entries=max_entries, keep_s=60.0, clock=clock or Clock())


def _find(turns: MemoryTurns | StoredTurns, *ids: str, key: str = "", owner: str = "") -> list[str]:
    """The texts of the turns that these ids, else this key, lead to."""
    found = asyncio.run(turns.find(owner, [ModelTurn(0, 1, ids, key)]))
    return [part.text for turn in found[0] for part in turn.parts if isinstance(part, TextPart)]


def _put(turns: MemoryTurns | StoredTurns, turn: Turn, owner: str = "") -> None:
    asyncio.run(turns.put(owner, turn))


def test_a_turn_is_found_by_ids_else_by_its_key() -> None:
    """Each of its ids, and the digest of its conversation; ids go before the key."""
    turns = _turns()
    _put(turns, _turn("x", "1", "2", key="a"))
    _put(turns, _turn("y", "3", key="b"))
    assert (_find(turns, "1"), _find(turns, "2"), _find(turns, key="a")) == (["x"], ["x"], ["x"])
    assert _find(turns, "3", key="a") == ["y"]
    assert _find(turns, "1", "2", "3") == ["x", "y"]
    assert _find(turns, "4", key="b") == ["y"]
    assert _find(turns, "4", key="c") == []


def test_the_later_turn_of_one_key_counts() -> None:
    """The earlier one stays under its ids, and goes in its time with all of its names."""
    clock = Clock()
    turns = _turns(clock)
    first, second = _turn("x", "1"), _turn("y")
    _put(turns, first)
    clock.now_s += 30.0
    _put(turns, second)
    assert (_find(turns, "1"), _find(turns, key="k")) == (["x"], ["y"])
    assert (turns.size_bytes, len(turns)) == (_size_bytes(first, second) + 3 * OVERHEAD_BYTES, 3)
    clock.now_s += 30.0
    assert (_find(turns, "1"), _find(turns, key="k")) == ([], ["y"])
    assert (turns.size_bytes, len(turns)) == (_size_bytes(second) + OVERHEAD_BYTES, 1)


def test_a_turn_is_kept_its_time_and_no_longer() -> None:
    """However often it is asked for; then nothing of its owner is left."""
    clock = Clock()
    turns = _turns(clock)
    assert turns.lacks("")
    _put(turns, _turn("x", "1"))
    assert (turns.lacks(""), turns.lacks("a")) == (False, True)
    clock.now_s += 59.9
    assert _find(turns, "1") == ["x"]
    clock.now_s += 0.1
    assert _find(turns, key="k") == []
    assert (len(turns), turns.size_bytes, turns.lacks("")) == (0, 0, True)


def test_the_one_that_was_not_asked_for_the_longest_goes_first() -> None:
    """Names are bounded, and a turn goes with all of its own."""
    turns = _turns(max_entries=6)
    _put(turns, _turn("x", "1", "2", key="a"))
    _put(turns, _turn("y", "3", key="b"))
    assert _find(turns, "1") == ["x"]
    _put(turns, _turn("z", "4", key="c"))
    assert [_find(turns, "1"), _find(turns, "2"), _find(turns, "3"), _find(turns, "4")] == [["x"], ["x"], [], ["z"]]


def test_bytes_are_bounded_at_the_edge() -> None:
    """What fits exactly stays, one byte more drops the oldest; what takes more than an eighth is not kept."""
    size = _size_bytes(_turn("x", key="1"))
    turns = _turns(max_bytes=2 * (OVERHEAD_BYTES + size))
    _put(turns, _turn("x", key="1"))
    _put(turns, _turn("y", key="2"))
    assert (_find(turns, key="1"), _find(turns, key="2")) == (["x"], ["y"])
    _put(turns, _turn("zz", key="3"))
    assert (_find(turns, key="1"), _find(turns, key="2"), _find(turns, key="3")) == ([], [], ["zz"])
    longest = "l" * ((OVERHEAD_BYTES + size) // 4 - _size_bytes(_turn("l" * 99, key="4")) + 99)
    _put(turns, _turn(longest, key="4"))
    assert (_find(turns, key="4"), _find(turns, key="3")) == ([longest], [])
    _put(turns, _turn(f"{longest}l", key="5"))
    assert (_find(turns, key="5"), _find(turns, key="4"), len(turns)) == ([], [longest], 1)


def test_what_is_too_large_takes_the_place_of_what_had_its_key() -> None:
    """The earlier turn is out of date, though the later one is not kept."""
    turns = _turns()
    _put(turns, _turn("x"))
    _put(turns, _turn("y" * 12_500))
    assert (_find(turns, key="k"), turns.size_bytes) == ([], _size_bytes(_turn("x")) + OVERHEAD_BYTES)


def test_owners_ids_and_keys_are_apart() -> None:
    """The same name is another one for another owner, and as an id."""
    turns = _turns()
    _put(turns, _turn("x", "1"), "a")
    assert (_find(turns, "1", owner="b"), _find(turns, key="k", owner="b")) == ([], [])
    assert (_find(turns, "k", owner="a"), _find(turns, key="1", owner="a")) == ([], [])


def test_a_turn_that_was_packed_is_the_same_turn() -> None:
    """Whatever is in it: bytes, free JSON, and numbers that only JSON has room for."""
    call = ToolCall("1", "f", "{}", extra={"openai-chat": {"index": 2**70, "share": 1.0}})
    parts = (TextPart("Hm.", sealed=Sealed("google", {"n": [None, -0.5]})), ImagePart(b"\xff", "image/png"))
    for turn in (Turn("k", parts, {"1": "a"}), Turn("k", (*parts, call), {})):
        assert unpacked(packed(turn)) == turn


IDS = [f"{place}{number}" for place in range(4) for number in range(2)]


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 2), st.sampled_from("cd")), max_size=4),
    st.lists(st.sampled_from(IDS), max_size=3, unique=True),
    st.sampled_from("cd"),
)
@example([("x", 1, "c"), ("x", 1, "c")], ["00", "10"], "c")
def test_turns_in_memory_are_what_they_are_in_a_store(
    puts: list[tuple[str, int, str]], ids: list[str], key: str
) -> None:
    """Whatever is put, under ids that no other turn has, is found the same."""
    clock = Clock()
    memory = _turns(clock, max_bytes=10_000_000, max_entries=10_000)
    stored = StoredTurns(MemoryStore(max_bytes=10_000_000, max_entries=10_000, keep_s=60.0, clock=clock))
    for place, (text, calls, digest) in enumerate(puts):
        turn = _turn(text, *[f"{place}{number}" for number in range(calls)], key=digest)
        _put(memory, turn)
        _put(stored, turn)
    assert _find(memory, key=key) == _find(stored, key=key)
    assert _find(memory, *ids, key=key) == _find(stored, *ids, key=key)
