from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlingua.cli.loading import load_schema, load_tools
from interlingua.errors import UsageError

SOURCE = '''
"""A module of the user's."""
from dataclasses import dataclass
from os.path import join
import interlingua as il

@dataclass
class Thing:
    n: int

class Box:
    @staticmethod
    def open(name: str) -> str:
        return name

def one(a: int) -> int:
    return a

def _two() -> None: ...

three = il.tool(lambda: 3, name="three")
'''


@pytest.fixture(autouse=True)
def modules(tmp_path: Path) -> Iterator[None]:
    """A module in the current directory, forgotten afterwards."""
    (tmp_path / "mine_for_loading.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "bad_for_loading.py").write_text("raise ImportError('nothing here')\n", encoding="utf-8")
    (tmp_path / "needy_for_loading.py").write_text("import gone.deeper\n", encoding="utf-8")
    (tmp_path / "empty_for_loading.py").write_text("x = 1\n", encoding="utf-8")
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if "for_loading" in name:
            del sys.modules[name]


@pytest.mark.parametrize("place", ["mine_for_loading", "mine_for_loading.py"])
def test_a_function_is_a_tool(place: str) -> None:
    """By module and by file, one function by name."""
    assert [tool.name for tool in load_tools(f"{place}:one")] == ["one"]
    assert [tool.name for tool in load_tools(f"{place}:Box.open")] == ["open"]
    assert [tool.name for tool in load_tools(f"{place}:three")] == ["three"]


@pytest.mark.parametrize("place", ["mine_for_loading", "mine_for_loading.py"])
def test_a_module_is_all_its_tools(place: str) -> None:
    """Without a name, every public function that the module itself defines, and its tools."""
    assert [tool.name for tool in load_tools(place)] == ["one", "three"]


def test_a_type_is_a_schema() -> None:
    """By module and by file."""
    for place in ("mine_for_loading", "mine_for_loading.py"):
        assert getattr(load_schema(f"{place}:Thing"), "__name__", "") == "Thing"


def test_a_path_may_hold_a_colon(tmp_path: Path) -> None:
    """Only what could be a name is taken off a path."""
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "mine_for_loading.py").write_text(SOURCE, encoding="utf-8")
    assert [tool.name for tool in load_tools(str(folder / "mine_for_loading.py"))] == ["one", "three"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mine_for_loading:once", "--tool mine_for_loading:once: mine_for_loading has no once; did you mean one?"),
        ("gone.py:one", "--tool gone.py:one: there is no file gone.py"),
        ("gone:one", "--tool gone:one: there is no module gone, in this folder or installed"),
        ("gone.deeper:one", "--tool gone.deeper:one: there is no module gone, in this folder or installed"),
        ("needy_for_loading", "--tool needy_for_loading: needy_for_loading imports gone, which is not installed"),
        (
            "bad_for_loading.py",
            "--tool bad_for_loading.py: bad_for_loading.py cannot be loaded: ImportError: nothing here",
        ),
        (
            "empty_for_loading",
            "--tool empty_for_loading: it defines no public function; name one, as in empty_for_loading:get_weather",
        ),
    ],
)
def test_what_is_no_tool(text: str, said: str) -> None:
    """Each failure names the option, the place and the way out."""
    with pytest.raises(UsageError) as caught:
        load_tools(text)
    assert caught.value.message == said


@pytest.mark.parametrize(
    ("text", "content", "said"),
    [
        ("s.json", None, "--schema s.json: cannot be read: No such file or directory"),
        ("s.json", "[]", "--schema s.json: a JSON Schema is an object"),
        ("s.json", "{", "--schema s.json: "),
        ("mine_for_loading", None, "--schema mine_for_loading: name a type, as in mine_for_loading:Invoice, or a"),
        ("int", None, "--schema int: name where the type is, as in builtins:int, models:Invoice or a .json file"),
    ],
)
def test_what_is_no_schema(tmp_path: Path, text: str, content: str | None, said: str) -> None:
    """The same for types and schema files."""
    if content is not None:
        (tmp_path / text).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_schema(text)
    assert caught.value.message.startswith(said)
