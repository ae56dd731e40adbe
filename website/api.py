"""The reference of the public API, made from the docstrings of the modules that define it; nothing is imported.

Each name of `interlingua.__all__` becomes a section: its signature, its docstring, its fields with their texts, and its
public methods. Docstrings are prose and Markdown, so they stand as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

SOURCE = Path(__file__).resolve().parents[1] / "src" / "interlingua"
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
CHAPTERS: dict[str, tuple[str, ...]] = {
    "models": (
        "client.model",
        "client.keywords",
        "client.stream",
        "client.plan",
        "client.prompt",
        "client.embed",
        "client.setup",
        "client.capabilities",
        "client.call",
        "media",
        "transport",
        "types.capab",
    ),
    "tools": ("agent", "tools", "types.tool", "types.context", "types.run"),
    "scale": (
        "client.item",
        "client.batch",
        "client.meter",
        "client.observe",
        "client.health",
        "client.state",
        "client.hooks",
        "client.telemetry",
        "client.web",
        "client.websockets",
        "routing",
        "registry",
        "providers",
    ),
    "values": ("types", "stream", "errors"),
}
"""The pages of the reference, with the beginnings of the modules whose names stand there; the first that fits."""


def places() -> dict[str, str]:
    """The module, without `interlingua.`, that defines each public name."""
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_NAMES")], value=table):
                names: dict[str, str] = ast.literal_eval(table)
                return {name: module for module, text in names.items() for name in text.split()}
            case _:
                pass
    raise AssertionError("interlingua/__init__.py has no table _NAMES")


def chapter(name: str) -> str:
    """The sections of one page of the reference, in the order of the alphabet."""
    entries = {public: module for public, module in places().items() if _chapter_of(module) == name}
    ordered = sorted(entries.items(), key=lambda entry: entry[0].lower())
    return "\n\n".join([_section(public, module) for public, module in ordered])


def _chapter_of(module: str) -> str:
    for name, beginnings in CHAPTERS.items():
        if module.startswith(beginnings):
            return name
    return "values"


def _section(name: str, module: str) -> str:
    """One public name: its signature, docstring, fields and methods."""
    path = SOURCE / (module.replace(".", "/") + ".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    heading = f"## `{name}` {{ #{name} }}\n\n"
    for node, following in pairwise([*body, ast.Pass()]):
        match node:
            case ast.ClassDef() if node.name == name:
                return heading + _class(node, name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == name:
                return heading + _code(_signature(node, f"il.{name}")) + _text(ast.get_docstring(node))
            case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name and value is not None:
                return heading + _code(f"{name} = {ast.unparse(value)}") + _text(_string(following))
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return heading + _code(f"{name} = {ast.unparse(value)}") + _text(_string(following))
            case _:
                pass
    return heading + f"Defined in `interlingua.{module}`."


def _class(node: ast.ClassDef, name: str) -> str:
    bases = [text for base in node.bases if (text := ast.unparse(base)) not in ("Protocol", "msgspec.Struct")]
    pieces = [_code(f"class {name}({', '.join(bases)})" if bases else f"class {name}"), _text(ast.get_docstring(node))]
    if fields := list(_fields(node)):
        pieces.append("| field | type | |\n|---|---|---|\n" + "\n".join(fields) + "\n\n")
    for method in node.body:
        if isinstance(method, _Function) and not method.name.startswith("_"):
            pieces.append(f"### `{name}.{method.name}` {{ #{name}.{method.name} }}\n\n")
            is_value = any(ast.unparse(one).endswith(("property", "setter")) for one in method.decorator_list)
            returned = f": {ast.unparse(method.returns)}" if method.returns else ""
            pieces.append(_code(f"{method.name}{returned}" if is_value else _signature(method, method.name)))
            pieces.append(_text(ast.get_docstring(method)))
    return "".join(pieces)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """A line for each public field that has a text."""
    for field, following in pairwise([*node.body, ast.Pass()]):
        match field:
            case ast.AnnAssign(target=ast.Name(id=found)) if not found.startswith("_") and (text := _string(following)):
                kind = ast.unparse(field.annotation).replace("|", "\\|")
                default = "" if field.value is None else f" = {ast.unparse(field.value)}".replace("|", "\\|")
                one_line = re.sub(r"\s+", " ", text).replace("|", "\\|")
                yield f"| `{found}` | `{kind}{default}` | {one_line} |"
            case _:
                pass


def _signature(node: _Function, name: str) -> str:
    """One line, or one line for each parameter where it would be long."""
    before = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(node.args))
    line = f"{before}{name}({arguments}){returned}"
    if len(line) <= 100:
        return line
    copy = ast.parse(f"def name({arguments}): ...").body[0]
    assert isinstance(copy, ast.FunctionDef)
    return f"{before}{name}(\n    " + ",\n    ".join(_parameters(copy.args)) + f",\n){returned}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Each parameter as it is written."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    for parameter, default in zip(plain, defaults, strict=True):
        yield _parameter(parameter, default)
    if arguments.vararg:
        yield "*" + ast.unparse(arguments.vararg)
    elif arguments.kwonlyargs:
        yield "*"
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(parameter, default)
    if arguments.kwarg:
        yield "**" + ast.unparse(arguments.kwarg)


def _parameter(parameter: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(parameter) + ("" if default is None else f" = {ast.unparse(default)}")


def _string(node: ast.AST) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
        case _:
            return ""


def _code(text: str) -> str:
    return f"```python no-run\n{text}\n```\n\n"


def _text(text: str | None) -> str:
    """A docstring as Markdown: the headings of its sections bold, its argument lists as they are."""
    if not text:
        return ""
    text = re.sub(r"^(Args|Returns|Raises|Yields|Example|Rules):?$", r"**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^    (\*{0,2}\w+): ", r"- `\1`: ", text, flags=re.MULTILINE)
    text = re.sub(r"^#+ (.+)$", r"**\1**", text, flags=re.MULTILINE)
    return text.strip() + "\n\n"
