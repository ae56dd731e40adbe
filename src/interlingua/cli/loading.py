"""Things of the user's own, named on the command line: `module:name` or `file.py:name`.

Rules
- The current directory is where modules are looked for first.
- What goes wrong in the user's module is one line that names the module and the reason.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import UsageError, WireError

if TYPE_CHECKING:
    from types import ModuleType

    from interlingua.types.tool import Tool

__all__ = ["load_schema", "load_tools"]


def load_schema(text: str) -> object:
    """The type that `module:TYPE` names, the JSON Schema of a `.json` file, or that of fields like `name, age int`.

    Raises: UsageError for what is not there, is no JSON or no field.
    """
    if text.endswith(".json"):
        from interlingua.wire.json import decode_any

        path = Path(text).expanduser()
        try:
            schema = decode_any(path.read_bytes())
        except OSError as error:
            raise UsageError(f"--schema {path}: cannot be read: {error.strerror}") from None
        except WireError as error:
            raise UsageError(f"--schema {path}: {error.message}") from None
        if not isinstance(schema, dict):
            raise UsageError(f"--schema {path}: a JSON Schema is an object")
        return cast("dict[str, Any]", schema)
    if "," in text or len(text.split()) > 1:
        return _schema_of_fields(text)
    if text in _PLAIN:
        raise UsageError(
            f"--schema {text}: name where the type is, as in builtins:{text}, models:Invoice or a .json file"
        )
    module, name = _module(text, "--schema ")
    if not name:
        raise UsageError(f"--schema {text}: name a type, as in {text}:Invoice, or a .json file")
    return _attribute(module, name, text, "--schema ")


_PLAIN = frozenset({"bool", "dict", "float", "int", "list", "str"})
"""Types that people name as if they were modules."""


_FIELD = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s+(?P<type>\w+)(?P<list>\[\])?)?(?:\s*:\s*(?P<about>.+))?", re.ASCII)
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def _schema_of_fields(text: str) -> dict[str, Any]:
    """The schema of an object: fields apart by commas or, where descriptions hold commas, by lines.

    A field is a name, a type (`str` unless another stands: `int`, `float`, `bool`; `[]` makes a list) and `: about`.
    """
    properties: dict[str, Any] = {}
    for field in [piece.strip() for piece in re.split("\n" if "\n" in text.strip() else ",", text) if piece.strip()]:
        match = _FIELD.fullmatch(field)
        if match is None or (match["type"] or "str") not in _TYPES:
            raise UsageError(
                f"--schema: {field} is no field; write a name and {', '.join(_TYPES)}, as in 'name, age int'"
            )
        schema: dict[str, Any] = {"type": _TYPES[match["type"] or "str"]}
        if match["list"]:
            schema = {"type": "array", "items": schema}
        properties[match["name"]] = schema | ({"description": match["about"]} if match["about"] else {})
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def load_tools(text: str, option: str = "--tool ") -> list[Tool]:
    """The tool that `module:name` names; every public function that a module defines, when no name is given.

    `option` is what stands before `text` on the command line.
    Raises: UsageError for what is not there or makes no tool.
    """
    from types import FunctionType

    from interlingua.tools.tool import tool
    from interlingua.types.tool import Tool

    module, name = _module(text, option)
    if name:
        return [tool(_attribute(module, name, text, option))]
    public = [value for key, value in vars(module).items() if not key.startswith("_")]
    # A function that the module imports is not its own; a tool may come from anywhere.
    own: list[Any] = [
        value
        for value in public
        if isinstance(value, Tool) or (isinstance(value, FunctionType) and value.__module__ == module.__name__)
    ]
    tools = [value if isinstance(value, Tool) else tool(value) for value in own]
    if not tools:
        raise UsageError(f"{option}{text}: it defines no public function; name one, as in {text}:get_weather")
    return tools


def _module(text: str, option: str) -> tuple[ModuleType, str]:
    """The module of `module:name`, loaded, and the name."""
    place, colon, name = text.rpartition(":")
    if not colon or not all(step.isidentifier() for step in name.split(".")):
        place, name = text, ""  # a path may hold a colon of its own
    is_file = place.endswith(".py")
    if is_file and not Path(place).expanduser().is_file():
        raise UsageError(f"{option}{text}: there is no file {place}")
    try:
        if is_file:
            from importlib.util import module_from_spec, spec_from_file_location

            path = Path(place).expanduser()
            _look_in(str(path.resolve().parent))  # its neighbours can be imported by it
            # The name is nobody's: the file may be `json.py`.
            spec = spec_from_file_location(f"il_file_{path.stem}", path)
            assert spec is not None, "a .py file has a loader"  # noqa: S101 - an invariant
            assert spec.loader is not None, "a .py file has a loader"  # noqa: S101 - an invariant
            module = module_from_spec(spec)
            sys.modules[module.__name__] = module  # dataclasses and annotations look their module up there
            spec.loader.exec_module(module)
            return module, name
        _look_in(str(Path.cwd()))
        return import_module(place), name
    except ModuleNotFoundError as error:
        # What is not there is the module that was named, or one that it imports.
        is_own = error.name is not None and f"{place}.".startswith(f"{error.name}.")
        why = f"{place} imports {error.name or 'a module'}, which is not installed"
        if is_own:
            why = f"there is no module {error.name}, in this folder or installed"
        raise UsageError(f"{option}{text}: {why}") from error
    except Exception as error:  # the user's own module may raise anything while it is loaded
        raise UsageError(f"{option}{text}: {place} cannot be loaded: {type(error).__name__}: {error}") from error


def _look_in(directory: str) -> None:
    with suppress(ValueError):
        sys.path.remove("")
    if directory not in sys.path:
        sys.path.insert(0, directory)


def _attribute(module: ModuleType, name: str, text: str, option: str) -> Any:
    value: Any = module
    for step in name.split("."):
        value = getattr(value, step, None)
    if value is None:
        from interlingua.registry.spec import near

        names = tuple(key for key in vars(module) if not key.startswith("_"))
        raise UsageError(f"{option}{text}: {module.__name__} has no {name}{near(name, names)}")
    return value
