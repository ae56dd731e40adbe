"""`__all__` says what is there: no name too many, none too few, and the twins agree."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from types import ModuleType

import pytest

from tests.contract.source import MODULES, SOURCE, Module
from tests.support.cells import cells

PUBLIC = [module for module in MODULES if module.public and module.path.stem != "__main__"]

ONLY_SYNC = frozenset({"aio"})
"""Names of `interlingua` that its asyncio twin does not repeat."""

ONLY_ASYNC = frozenset({"WebStreams"})
"""Names of `interlingua.aio` alone."""


def _load(name: str) -> ModuleType:
    """The module `name`; a test that needs an extra which is not installed is skipped."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("interlingua"):
            raise
        pytest.skip(f"{name} needs {error.name}, which is not installed")


def _defined(module: Module, loaded: ModuleType) -> set[str]:
    """Public functions and classes that the module itself defines."""
    return {
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and getattr(value, "__module__", None) == module.importable
    }


def test_no_public_module_lists_a_name_twice() -> None:
    """An `__all__` is made of literals, without repetition."""
    listed = {module.name: module.exported or () for module in PUBLIC}
    assert [name for name, exported in listed.items() if len(set(exported)) < len(exported)] == []


@cells("module", PUBLIC, by=lambda module: module.room)
def test_all_is_reality(module: Module) -> None:
    """Every listed name exists, and every public function or class that a module defines is listed."""
    loaded = _load(module.importable)
    listed = module.exported or ()
    assert [name for name in listed if not hasattr(loaded, name)] == []
    assert _defined(module, loaded) - set(listed) == set()


@pytest.mark.parametrize("name", ["interlingua", "interlingua.aio"])
def test_the_faces_resolve(name: str) -> None:
    """Every name of a face can be had, `dir` shows it, and an unknown one is an AttributeError."""
    if not _face_exists(name):
        pytest.skip(f"{name} is not written yet")
    face = _load(name)
    exported: list[str] = list(face.__all__)
    assert exported == sorted(set(exported), key=exported.index)
    assert [entry for entry in exported if not hasattr(face, entry)] == []
    assert set(exported) <= set(dir(face))
    with pytest.raises(AttributeError, match="no_such_name") as caught:
        _ = face.no_such_name
    # Of these two Python makes its "Did you mean".
    assert (caught.value.name, caught.value.obj) == ("no_such_name", face)


@pytest.mark.parametrize("name", ["codec", "testing"])
def test_a_room_that_is_not_loaded_says_how(name: str) -> None:
    """Its name is not an export, and what is missing is an import."""
    program = f"import interlingua as il\ntry:\n    il.{name}\nexcept AttributeError as error:\n    print(error)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == f"module 'interlingua' has no attribute '{name}' yet: `import interlingua.{name}` loads it\n"


def test_twins_have_the_same_names() -> None:
    """`interlingua.aio` offers what `interlingua` offers, under the same names."""
    if not (_face_exists("interlingua") and _face_exists("interlingua.aio")):
        pytest.skip("the twins are not written yet")
    sync, awaited = set(_load("interlingua").__all__), set(_load("interlingua.aio").__all__)
    assert sync - awaited == ONLY_SYNC & sync
    assert awaited - sync == ONLY_ASYNC & awaited


def _face_exists(name: str) -> bool:
    path = SOURCE / ("__init__.py" if name == "interlingua" else "aio.py")
    return path.is_file()
