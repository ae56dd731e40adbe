"""JSON values that requests share: nobody changes them, and a copy is a plain value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from interlingua.types.shared import ReadOnlyDict, ReadOnlyList, read_only

CHANGES: list[tuple[str, tuple[Any, ...]]] = [
    ("__setitem__", ("a", 1)),
    ("__delitem__", ("a",)),
    ("__ior__", ({"b": 1},)),
    ("clear", ()),
    ("pop", ("a",)),
    ("popitem", ()),
    ("setdefault", ("b", 1)),
    ("update", ({"b": 1},)),
]
LIST_CHANGES: list[tuple[str, tuple[Any, ...]]] = [
    ("__setitem__", (0, 1)),
    ("__delitem__", (0,)),
    ("__iadd__", ([1],)),
    ("__imul__", (2,)),
    ("append", (1,)),
    ("clear", ()),
    ("extend", ([1],)),
    ("insert", (0, 1)),
    ("pop", ()),
    ("remove", (3,)),
    ("reverse", ()),
    ("sort", ()),
]


@pytest.mark.parametrize(("method", "arguments"), CHANGES)
def test_an_object_refuses_to_be_changed(method: str, arguments: tuple[Any, ...]) -> None:
    """By every method that changes a dict."""
    value = ReadOnlyDict({"a": 3})
    with pytest.raises(TypeError, match="share this value"):
        getattr(value, method)(*arguments)
    assert value == {"a": 3}


@pytest.mark.parametrize(("method", "arguments"), LIST_CHANGES)
def test_an_array_refuses_to_be_changed(method: str, arguments: tuple[Any, ...]) -> None:
    """By every method that changes a list."""
    value = ReadOnlyList([3])
    with pytest.raises(TypeError, match="share this value"):
        getattr(value, method)(*arguments)
    assert value == [3]


def test_every_level_is_read_only() -> None:
    """Objects and arrays inside others too; everything else stays as it is."""
    value: Any = read_only({"a": [{"b": "c"}], "d": 1})
    assert value == {"a": [{"b": "c"}], "d": 1}
    assert [type(value), type(value["a"]), type(value["a"][0]), type(value["d"])] == [
        ReadOnlyDict,
        ReadOnlyList,
        ReadOnlyDict,
        int,
    ]


def pickled(value: Any) -> Any:
    """A copy from another process."""
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, pickled])
def test_a_copy_is_plain(copied: Any) -> None:
    """It can be changed."""
    value = copied(read_only(dict[str, Any](a=1)))
    assert type(value) is dict
    items = copied(read_only(list[Any]([1])))
    assert type(items) is list
