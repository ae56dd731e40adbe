"""The cache that is bounded in bytes."""

from __future__ import annotations

import sys

import msgspec
import pytest

from interlingua.wire.cache import ENTRY_BYTES, ByteCache, weight_of


class _Pair(msgspec.Struct):
    left: str
    right: bytes


def test_a_value_is_computed_once() -> None:
    """A second look-up of a key gives the value of the first one."""
    computed: list[str] = []

    def upper(key: str) -> str:
        computed.append(key)
        return key.upper()

    cache = ByteCache(10_000, upper)
    assert (cache["a"], cache["a"], cache["b"]) == ("A", "A", "B")
    assert computed == ["a", "b"]


def test_an_error_is_not_kept() -> None:
    """A key whose computation fails is computed again."""
    cache = ByteCache[str, int](10_000, int)
    with pytest.raises(ValueError, match="invalid literal"):
        cache["a"]
    assert (len(cache), cache.size_bytes) == (0, 0)


def test_dos_02_keys_and_values_count() -> None:
    """The size is that of keys, values and places; at the bound everything is forgotten, and never is it exceeded."""
    cache = ByteCache[bytes, bytes](4_000, weigh=lambda key, value: len(key) + len(value))
    for number in range(13):
        cache.put(b"%04d" % number, bytes(196))
    assert cache.size_bytes == 13 * (200 + ENTRY_BYTES) == 3_900
    cache.put(b"0013", bytes(196))
    assert (list(cache), cache.size_bytes) == ([b"0013"], 300)


def test_dos_02_a_large_entry_is_not_kept() -> None:
    """An entry beyond an eighth of the bound is computed each time and pushes nothing out."""
    cache = ByteCache[str, int](8_000, len, weigh=lambda key, value: len(key) + value)
    assert cache["a"] == 1
    assert cache["b" * 450] == 450
    assert list(cache) == ["a", "b" * 450]
    assert cache["c" * 451] == 451
    assert list(cache) == ["a", "b" * 450]


def test_a_cache_without_a_function_is_filled_by_put() -> None:
    """Without a function a key that is not there is a KeyError, and `get` gives None."""
    cache = ByteCache[str, str](10_000)
    with pytest.raises(KeyError):
        cache["a"]
    assert cache.get("a") is None
    cache.put("a", "")
    assert cache.get("a") == ""
    cache.clear()
    assert (len(cache), cache.size_bytes) == (0, 0)


def test_the_weight_goes_into_containers() -> None:
    """Texts in tuples, lists, dicts and structs count with their containers."""
    text = "x" * 1_000
    size = sys.getsizeof(text)  # 1,049 bytes, and 1,041 since Python 3.13
    assert weight_of(text) == size
    assert weight_of((text,)) == size + weight_of(()) + 8
    assert weight_of({text: [text]}) > 2 * size
    assert weight_of(_Pair(text, b"y" * 1_000)) > size + 1_033
    assert weight_of(frozenset({text})) > size
    assert weight_of() == 0


def test_the_weight_ends_at_a_depth() -> None:
    """Values that nest without end are weighed as far as sixteen levels."""
    endless: list[object] = []
    endless.append(endless)
    assert weight_of(endless) == 17 * sys.getsizeof(endless)
