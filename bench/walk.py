"""The way of a conversation through the gateway, as a static walk: modules entered, and returns to modules left.

Strategy: from the handler of conversations each function that is named or called is followed once, in the order of the
text, as far as imports and annotations tell which one it is. A return is a pair of modules: the first calls a function,
not followed before, of the second, which the walk had entered and left.

Rules
- Only modules of the gateway count; the client, dialects and transports are other rooms.
- A function that is handed on (`partial(answer, …)`) is followed where it is named.
- A method of another room may call any method of the class that has it: those of a class of the gateway are followed.

Run: `python -m bench.walk [SOURCE]`.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple, TypeAlias

__all__ = ["Found", "walk"]

SOURCE = Path(__file__).parents[1] / "src" / "interlingua"
START = ("gateway.calls.exchange", "Conversations.converse")
ROOM = "gateway"
Name: TypeAlias = tuple[str, str]
"""A module, and a name in it."""
Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Found(NamedTuple):
    """What a walk came by."""

    modules: list[str]
    """The modules, in the order in which they were entered."""
    returns: list[tuple[str, str]]
    """Pairs of a module and one, left before, that it calls."""


class _Function(NamedTuple):
    module: str
    owner: str
    node: Node

    @property
    def is_property(self) -> bool:
        names = [each.id for each in self.node.decorator_list if isinstance(each, ast.Name)]
        return not {"property", "cached_property"}.isdisjoint(names)


class _Package:
    """The functions, classes and imports of a package."""

    def __init__(self, source: Path) -> None:
        self.functions: dict[Name, _Function] = {}
        self.classes: dict[Name, ast.ClassDef] = {}
        self._imports: dict[Name, Name] = {}
        self._attributes: dict[tuple[Name, str], ast.expr] = {}
        for path in sorted(source.rglob("*.py")):
            module = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
            self._read(module, ast.parse(path.read_text(encoding="utf-8")))

    def _read(self, module: str, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("interlingua."):
                origin = str(node.module).partition(".")[2]
                self._imports |= {(module, each.asname or each.name): (origin, each.name) for each in node.names}
        for node in tree.body:
            if isinstance(node, Node):
                self.functions[module, node.name] = _Function(module, "", node)
            elif isinstance(node, ast.ClassDef):
                self.classes[module, node.name] = node
                self._members(module, node)

    def _members(self, module: str, owner: ast.ClassDef) -> None:
        for node in owner.body:
            if isinstance(node, Node):
                self.functions[module, f"{owner.name}.{node.name}"] = _Function(module, owner.name, node)
        for node in ast.walk(owner):
            match node:
                case ast.AnnAssign(target=ast.Attribute(attr=name) | ast.Name(id=name), annotation=annotation):
                    self._attributes.setdefault(((module, owner.name), name), annotation)
                case _:
                    pass

    def resolve(self, name: Name) -> Name:
        """Where a name is defined."""
        while name in self._imports and name not in self.functions and name not in self.classes:
            name = self._imports[name]
        return name

    def class_in(self, module: str, annotation: ast.expr | None) -> Name | None:
        """The class that an annotation names."""
        match annotation:
            case ast.BinOp(left=left, right=right):
                return self.class_in(module, left) or self.class_in(module, right)
            case ast.Name(id=name):
                found = self.resolve((module, name))
                return found if found in self.classes else None
            case _:
                return None

    def method(self, owner: Name, name: str) -> _Function | None:
        """A method of a class or of its bases."""
        own = self.functions.get((owner[0], f"{owner[1]}.{name}"))
        return own or next((found for base in self._bases(owner) if (found := self.method(base, name))), None)

    def methods(self, owner: Name) -> list[_Function]:
        """The methods that a class defines itself."""
        return [each for each in self.functions.values() if (each.module, each.owner) == owner]

    def attribute(self, owner: Name, name: str) -> Name | None:
        """The class of an attribute that a class or one of its bases declares."""
        if (owner, name) in self._attributes:
            return self.class_in(owner[0], self._attributes[owner, name])
        return next((found for base in self._bases(owner) if (found := self.attribute(base, name))), None)

    def _bases(self, owner: Name) -> list[Name]:
        bases = [self.class_in(owner[0], base) for base in self.classes[owner].bases]
        return [base for base in bases if base is not None]


class _Walk:
    """One walk."""

    def __init__(self, package: _Package) -> None:
        self._package = package
        self._followed: set[tuple[str, str, str]] = set()
        self._stack: list[str] = []
        self.modules: dict[str, None] = {}
        self.returns: dict[tuple[str, str], None] = {}

    def enter(self, function: _Function) -> None:
        """Follow a function, where it is one of the room and was not followed before."""
        module, key = function.module, (function.module, function.owner, function.node.name)
        if not module.startswith(ROOM) or key in self._followed:
            return
        if module in self.modules and module not in self._stack:
            self.returns[self._stack[-1], module] = None
        self._followed.add(key)
        self.modules[module] = None
        self._stack.append(module)
        _Body(self, self._package, function).follow()
        self._stack.pop()


class _Body:
    """The body of one function: its variables, with their classes as far as they are known."""

    def __init__(self, walk: _Walk, package: _Package, function: _Function) -> None:
        self._walk, self._package, self._module = walk, package, function.module
        self._node = function.node
        given = function.node.args
        self._classes: dict[str, Name | None] = {
            each.arg: package.class_in(self._module, each.annotation)
            for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)
        }
        if function.owner:
            self._classes["self"] = (self._module, function.owner)

    def follow(self) -> None:
        """Follow what the body names and calls, in the order of the text."""
        for statement in self._node.body:
            self._visit(statement)

    def _visit(self, node: ast.AST) -> Name | None:
        """Follow one node; gives the class of its value."""
        match node:
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=value, attr=name):
                return self._member(self._visit(value), name)
            case ast.Call():
                return self._call(node)
            case ast.Await(value=value):
                return self._visit(value)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                found = self._classes[name] = self._visit(value)
                return found
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._classes[name] = self._visit(value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                classes = [self._visit(value) for value in values]
                pairs = zip(names, classes, strict=False)
                self._classes |= {target.id: found for target, found in pairs if isinstance(target, ast.Name)}
            case _:
                for child in ast.iter_child_nodes(node):
                    self._visit(child)
        return None

    def _name(self, name: str) -> Name | None:
        if name in self._classes:
            return self._classes[name]
        function = self._package.functions.get(self._package.resolve((self._module, name)))
        if function is not None:
            self._walk.enter(function)
        return None

    def _member(self, owner: Name | None, name: str) -> Name | None:
        if owner is None:
            return None
        method = self._package.method(owner, name)
        if method is None:
            return self._package.attribute(owner, name)
        if not method.module.startswith(ROOM):
            for own in self._package.methods(owner):
                self._walk.enter(own)
        self._walk.enter(method)
        return self._package.class_in(method.module, method.node.returns) if method.is_property else None

    def _call(self, node: ast.Call) -> Name | None:
        """Follow a call: its arguments first, then what is called."""
        for argument in (*node.args, *[keyword.value for keyword in node.keywords]):
            self._visit(argument)
        match node.func:
            case ast.Name(id=name):
                self._name(name)
                called = self._package.resolve((self._module, name))
                if called in self._package.classes:
                    self._member(called, "__init__")
                    return called
                function = self._package.functions.get(called)
            case ast.Attribute(value=value, attr=name):
                owner = self._visit(value)
                self._member(owner, name)
                function = None if owner is None else self._package.method(owner, name)
            case other:
                self._visit(other)
                function = None
        return None if function is None else self._package.class_in(function.module, function.node.returns)


def walk(source: Path = SOURCE) -> Found:
    """The modules that a conversation enters, and the returns to those that it had left."""
    package = _Package(source)
    steps = _Walk(package)
    steps.enter(package.functions[START])
    return Found(list(steps.modules), list(steps.returns))


def main() -> None:
    """Print the walk."""
    found = walk(Path(sys.argv[1])) if len(sys.argv) > 1 else walk()
    for module in found.modules:
        backs = [target for origin, target in found.returns if origin == module]
        print(f"{module}{' -> ' if backs else ''}{', '.join(backs)}")
    print(f"{len(found.modules)} modules, {len(found.returns)} returns")


if __name__ == "__main__":
    main()
