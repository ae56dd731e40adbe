"""Ids of calls, arguments of calls, and finish reasons that calls decide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlingua.stream.calls import CallIdSource, is_empty_arguments, make_call, note_finish, settle_finish
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, RefusalPart, Sealed, TextPart, ToolCall


@pytest.mark.parametrize("wire_id", [None, "", " ", "null", "None"])
def test_id_made_where_there_is_none(wire_id: str | None) -> None:
    """Numbered on from the calls of the history, past ids that are taken."""
    ids = CallIdSource(first_index=2, used_ids=["call_3"])
    assert [ids.assign(wire_id), ids.assign(wire_id), ids.assign("x"), ids.assign(wire_id)] == [
        ("call_2", "call_id_made"),
        ("call_4", "call_id_made"),
        ("x", None),
        ("call_5", "call_id_made"),
    ]


def test_ids_that_repeat() -> None:
    """A second call of one id gets its own, unless the history is to be judged as it is."""
    ids = CallIdSource(used_ids=["a"])
    assert [ids.assign("a"), ids.assign("b"), ids.assign("b")] == [
        ("call_0", "call_id_duplicate"),
        ("b", None),
        ("call_2", "call_id_duplicate"),
    ]
    keeping = CallIdSource(used_ids=["a"], keeps_repeats=True)
    assert [keeping.assign("a"), keeping.assign("a")] == [("a", None), ("a", None)]


def test_own_ids() -> None:
    """Every call gets one, none twice; whose place it takes is remembered, where the provider had one."""
    made: Iterator[str] = iter(["own_1", "own_1", "own_2", "own_3"])
    pairs: dict[str, str] = {}
    ids = CallIdSource(make=lambda: next(made), pairs=pairs)
    assert [ids.assign("a"), ids.assign(None), ids.assign("null")] == [
        ("own_1", None),
        ("own_2", None),
        ("own_3", None),
    ]
    assert pairs == {"own_1": "a"}
    assert CallIdSource(make=lambda: "own").assign("a") == ("own", None)


@pytest.mark.parametrize(
    ("text", "empty"),
    [("", True), (" ", True), ("null", True), (" null\n", True), ("[]", True), ("{}", False), ("[1]", False)],
)
def test_empty_arguments(text: str, empty: bool) -> None:
    """Nothing, white space, null, and the empty list of PHP."""
    assert is_empty_arguments(text) is empty


@pytest.mark.parametrize(
    ("text", "cut_off", "call"),
    [
        ("{}", False, ToolCall("c", "f", "{}")),
        ("", False, ToolCall("c", "f", "{}")),
        ("null", False, ToolCall("c", "f", "{}")),
        ("", True, BrokenToolCall("c", "f", "", "cut_off")),
        ("null", True, BrokenToolCall("c", "f", "null", "cut_off")),
        ('{"a":', True, BrokenToolCall("c", "f", '{"a":', "cut_off")),
        ('{"a":', False, BrokenToolCall("c", "f", '{"a":', "malformed")),
        ('{"a":1}', True, ToolCall("c", "f", '{"a":1}')),
        ("[]", False, ToolCall("c", "f", "{}")),
        ("[1]", False, BrokenToolCall("c", "f", "[1]", "not_object")),
        ('{"a":1,"a":2}', False, BrokenToolCall("c", "f", '{"a":1,"a":2}', "duplicate_key")),
    ],
)
def test_what_a_text_makes(text: str, cut_off: bool, call: ToolCall | BrokenToolCall) -> None:
    """A call, or a broken one with its reason."""
    assert make_call("c", "f", text, cut_off=cut_off) == call


def test_what_rides_along() -> None:
    """Sealed state stays with a whole call; members and kind with both."""
    sealed, extra = Sealed("google", {"a": 1}), {"google": {"b": 2}}
    assert make_call("c", "f", "{}", freeform=True, sealed=sealed, extra=extra) == ToolCall(
        "c", "f", "{}", True, sealed, extra
    )
    assert make_call("c", "f", "{", freeform=True, sealed=sealed, extra=extra) == BrokenToolCall(
        "c", "f", "{", "malformed", True, extra
    )


CALL = ToolCall("c", "f", "{}")
BROKEN = BrokenToolCall("c", "f", "{", "malformed")


@pytest.mark.parametrize(
    ("reason", "parts", "settled"),
    [
        ("stop", (TextPart("a"),), "stop"),
        ("stop", (CALL,), "tool_calls"),
        ("other", (CALL,), "tool_calls"),
        ("stop", (BROKEN,), "stop"),
        ("length", (CALL,), "length"),
        ("content_filter", (CALL,), "content_filter"),
        ("tool_calls", (TextPart("a"),), "stop"),
        ("tool_calls", (), "stop"),
        ("stop", (RefusalPart("No."),), "refusal"),
        ("stop", (RefusalPart("No."), CALL), "tool_calls"),
        ("length", (RefusalPart("No."),), "length"),
        ("error", (), "error"),
    ],
)
def test_what_an_answer_ended_with(reason: str, parts: tuple[object, ...], settled: str) -> None:
    """Calls turn stop and other into tool_calls, and nothing else."""
    assert settle_finish(reason, parts) == settled  # pyright: ignore[reportArgumentType]  # words of the table


@pytest.mark.parametrize(
    ("reason", "settled", "told"), [("stop", "stop", 0), ("stop", "refusal", 0), ("stop", "tool_calls", 1)]
)
def test_a_contradiction_is_told(reason: str, settled: str, told: int) -> None:
    """With the wire's own word."""
    changes = Changes("google", "decode_response")
    note_finish(reason, settled, "STOP", changes, "/finish_reason")  # pyright: ignore[reportArgumentType]  # as above
    assert [(change.code, change.path, change.detail) for change in changes.entries] == [
        ("finish_reason_derived", "/finish_reason", "the wire says 'STOP'")
    ][:told]
