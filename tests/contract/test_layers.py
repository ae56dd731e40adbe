"""The import graph: imports go down, the pure layers do no I/O, nothing imports the testing kit."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.contract.source import MODULES, SOURCE, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS: dict[str, int] = {
    "errors": 0,
    "types": 0,
    "wire.json": 0,  # a call's arguments are parsed by `types`, with the one JSON parser there is; its helpers follow
    "wire._bounds": 0,
    "wire._depth": 0,
    "wire._text_slots": 0,
    "wire._repairs": 0,
    "wire.cache": 0,
    "wire._leaves": 0,
    "wire.arguments": 0,
    "wire.media": 0,
    "wire._parser": 0,
    "wire._pointer": 0,
    "wire._prefix": 0,
    "wire._shape": 0,
    "wire._surrogates": 0,
    "wire._unknown": 0,
    "wire._writer": 0,
    "wire": 1,
    "stream": 1,
    "schema": 2,
    "dialects": 2,
    "providers": 3,
    "tools.result": 3,  # pure, and what handlers give is JSON in the same way as what is kept of typed answers
    "tools.tool": 3,  # pure, and a function among the tools of a call becomes one in `client`
    "registry": 4,
    "transport": 4,
    "media": 4,
    "codec": 4,  # what it writes for a provider has its media fitted; a dialect alone needs the pure layers only
    "routing": 5,
    "local": 6,
    "client": 6,
    "tools": 7,
    "agent": 7,
    "gateway": 8,
    "compat": 8,
    "cli": 9,
    "testing": 10,
}
"""Layer of each package or module under `interlingua`; the longest name that fits a module decides."""

FACES = frozenset({"__init__", "aio", "__main__", "ray", "dask", "spark"})
"""Modules that only gather names; they may reach everything but the testing kit."""

HIGHEST_PURE_LAYER = 3

FIRST_LAYER_OF_USERS = 8
"""From here on the code uses the library as anyone would, so it may import the public face."""

IMPURE = frozenset(
    {
        "aiohttp",
        "asyncio",
        "concurrent",
        "ctypes",
        "http",
        "httptools",
        "httpx",
        "io",
        "logging",
        "multiprocessing",
        "os",
        "pathlib",
        "queue",
        "random",
        "secrets",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "urllib.request",
        "uuid",
    }
)
"""What gives a socket, an event loop, a clock, randomness, the environment, files or a logger."""

ONLY_HERE: dict[str, frozenset[str]] = {
    "json": frozenset({"wire.arguments", "wire.body"}),  # it alone tells which name repeats, and where
    "msgspec.json": frozenset({"wire.json"}),
    "jsonschema_rs": frozenset({"schema.validate"}),
}
"""Packages that one module alone may touch, so that their traps are handled once."""

BEYOND_THE_PURE_LAYERS = frozenset({"json", "msgspec.json"})
"""Of these, the ones whose rule binds only the pure layers' own code."""


@cache
def _imports(module: Module) -> tuple[tuple[str, int], ...]:
    """Each imported module or name, dotted, with its line."""
    return tuple(_imported(module.tree))


def _imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in _nodes(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield alias.name, node.lineno
            case ast.ImportFrom(module=str(origin), names=names, level=0):
                for alias in names:
                    yield f"{origin}.{alias.name}", node.lineno
            case _:
                pass


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs; what stands under `if TYPE_CHECKING` does not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _nodes(node)


def _layer(name: str) -> int | None:
    """The layer of `wire.json`, or of the longest prefix that the table knows; None for the faces and their names."""
    parts = name.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((LAYERS[prefix] for prefix in prefixes if prefix in LAYERS), None)


def _names(imported: str, packages: frozenset[str]) -> str | None:
    """The entry of `packages` that `imported` is or lies in."""
    return next((package for package in packages if imported == package or imported.startswith(f"{package}.")), None)


def _ours(module: Module) -> Iterator[tuple[str, int]]:
    """What a module imports of interlingua, without that first word, with the line."""
    for imported, line in _imports(module):
        package, _, name = imported.partition(".")
        if package == "interlingua":
            yield name, line


def _here(module: Module) -> str:
    return module.name.removeprefix("interlingua.")


def _folder_of_dialect(name: str) -> str | None:
    """`anthropic` of `dialects.anthropic.wire`; None of the modules that dialects share."""
    room, _, rest = name.partition(".")
    folder = rest.partition(".")[0]
    return folder if room == "dialects" and (SOURCE / "dialects" / folder).is_dir() and folder[:1].isalpha() else None


def _is_pure(module: Module) -> bool:
    layer = _layer(_here(module))
    return layer is not None and layer <= HIGHEST_PURE_LAYER


def test_every_room_has_a_layer() -> None:
    """A new package or module under `interlingua` needs a place in the table."""
    homeless = {_here(module) for module in MODULES if _layer(_here(module)) is None}
    assert homeless - FACES == set()


def test_imports_go_down() -> None:
    """A module imports its own layer or a lower one, and no library module goes through a face."""
    upward = [
        f"{module.path}:{line} imports {name or 'interlingua'}"
        for module in MODULES
        if (own := _layer(_here(module))) is not None
        for name, line in _ours(module)
        if ((layer := _layer(name)) is None and own < FIRST_LAYER_OF_USERS) or (layer is not None and layer > own)
    ]
    assert upward == []


def test_nothing_imports_the_testing_kit() -> None:
    """Only the testing kit itself imports `interlingua.testing`."""
    others = [module for module in MODULES if module.room != "testing"]
    kit = frozenset({"testing"})
    assert [f"{module.path}:{line}" for module in others for name, line in _ours(module) if _names(name, kit)] == []


def test_no_dialect_rests_on_another() -> None:
    """What two dialects share lies in `dialects/_*`: a dialect's folder can go without breaking another's."""
    rests = [
        f"{module.path}:{node.lineno} imports {node.module}"
        for module in MODULES
        if (own := _folder_of_dialect(_here(module)))
        for node in module.nodes
        if isinstance(node, ast.ImportFrom)
        and _folder_of_dialect((node.module or "").removeprefix("interlingua.")) not in {None, own}
    ]
    assert rests == []


def test_pure_layers_do_no_io() -> None:
    """Layers 0-3 import nothing that gives a socket, loop, clock, randomness, environment, file or logger."""
    pure = [module for module in MODULES if _is_pure(module)]
    impure = [
        f"{module.path}:{line} imports {name}"
        for module in pure
        for name, line in _imports(module)
        if _names(name, IMPURE)
    ]
    opened = [
        f"{module.path}:{line} calls {name}"
        for module in pure
        for name, line in _calls(module)
        if name in {"open", "input", "print"}
    ]
    assert impure + opened == []


def _calls(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node.lineno


def test_packages_with_traps_have_one_door() -> None:
    """JSON is parsed by `wire.json` alone in the pure layers; `schema.validate` alone calls jsonschema-rs anywhere."""
    found = [
        f"{module.path}:{line} imports {name}"
        for module in MODULES
        for name, line in _imports(module)
        if (package := _names(name, frozenset(ONLY_HERE)))
        and _here(module) not in ONLY_HERE[package]
        and (_is_pure(module) or package not in BEYOND_THE_PURE_LAYERS)
    ]
    assert found == []


def test_no_two_modules_import_each_other() -> None:
    """Module-level imports inside the package form no cycle."""
    graph = {module.name: _module_level(module) for module in MODULES}
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            pytest.fail(" -> ".join((*trail[trail.index(name) :], name)))
        if name not in done:
            for target in sorted(graph[name]):
                walk(target, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        walk(name, ())


def _module_level(module: Module) -> set[str]:
    """Modules of ours that are loaded when `module` is, whatever is called later."""
    known = {other.name for other in MODULES}
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found |= submodules or {node.module}
    return (found & known) - {module.name}


def test_relative_imports_are_not_used() -> None:
    """Every import names its module in full, so that a reader can follow it."""
    relative = [
        f"{module.path}:{node.lineno}"
        for module in MODULES
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_every_package_has_an_init() -> None:
    """A folder with modules is a package: none is left to the implicit kind, which a wheel may lose."""
    folders = {module.path.parent for module in MODULES}
    missing = sorted(str(folder.relative_to(SOURCE)) for folder in folders if not (folder / "__init__.py").is_file())
    assert missing == []
