"""The faults that are put into a module: one place of its syntax tree each.

Rules
- A mutant knows its place in the tree that it was found in; `apply` changes that tree.
- Left alone: docstrings, annotations, `__all__`, `__slots__`, what only type checkers read, and sentences for people
  (the words of an exception and of f-strings), since prose is shown and never parsed.
- Its name holds no line number, so that it stays the same when code above it changes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

__all__ = ["Mutant", "find_mutants"]


class Mutant(NamedTuple):
    """One fault."""

    module: str
    """The module's full name."""
    where: str
    """The function or class around it; empty at the top."""
    operator: str
    """What kind of fault it is."""
    text: str
    """What stood there, and what stands there now."""
    line: int
    """The first line of the statement that it changes."""
    end_line: int
    """The last line of that statement, of a compound one that of its head."""
    at_import: bool
    """Whether the place runs when the module is imported."""
    apply: Callable[[], None]
    """Puts the fault into the tree."""

    @property
    def name(self) -> str:
        """What tells it from every other mutant; twins in one function are numbered."""
        return f"{self.module}:{self.where}: {self.operator}: {self.text}"


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES_LEFT_ALONE = frozenset({"__all__", "__slots__"})
TYPING_CALLS = frozenset({"TypeVar", "NewType", "cast", "assert_never"})


def find_mutants(source: str, module: str) -> tuple[ast.Module, list[Mutant]]:
    """The tree of a module, and every fault that can be put into it, in the order of the text."""
    tree = ast.parse(source)
    finder = _Finder(module)
    finder.block(tree, "body")
    seen: Counter[str] = Counter()
    numbered: list[Mutant] = []
    for mutant in finder.found:
        seen[mutant.name] += 1
        twin = seen[mutant.name]
        numbered.append(mutant if twin == 1 else mutant._replace(text=f"{mutant.text} #{twin}"))
    return tree, numbered


class _Finder:
    """Walks the statements of a module and notes every place that can be changed."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.found: list[Mutant] = []
        self.scope: list[str] = []
        self.in_function = False
        self.statement: ast.stmt = ast.Pass()

    def note(self, operator: str, text: str, apply: Callable[[], None]) -> None:
        """One more fault in the statement at hand."""
        statement = self.statement
        lines = statement.lineno, _end_of_head(statement)
        self.found.append(
            Mutant(self.module, ".".join(self.scope), operator, text, *lines, not self.in_function, apply)
        )

    # Statements

    def block(self, owner: ast.AST, field: str) -> None:
        """The statements of one body."""
        body: list[ast.stmt] = getattr(owner, field)
        for place, statement in enumerate(body):
            if not _left_alone(statement):
                self.one(statement, body, place)

    def one(self, statement: ast.stmt, body: list[ast.stmt], place: int) -> None:
        """One statement: what replaces it as a whole, then what is inside."""
        before, self.statement = self.statement, statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.definition(statement)
        else:
            self.whole(statement, body, place)
            self.expressions(statement)
            for field in ("body", "orelse", "finalbody"):
                if getattr(statement, field, None):
                    self.block(statement, field)
            for handler in getattr(statement, "handlers", ()):
                self.block(handler, "body")
            if isinstance(statement, ast.Match):
                self.cases(statement)
        self.statement = before

    def definition(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A function or class: its defaults run where it is defined, its body elsewhere."""
        if not isinstance(statement, ast.ClassDef):
            for holder in (statement.args.defaults, statement.args.kw_defaults):
                for index, default in enumerate(holder):
                    if default is not None:
                        self.expression(default, _setter(holder, index))
        outer = self.in_function
        self.scope.append(statement.name)
        self.in_function = outer or not isinstance(statement, ast.ClassDef)
        self.block(statement, "body")
        self.in_function = outer
        self.scope.pop()

    def whole(self, statement: ast.stmt, body: list[ast.stmt], place: int) -> None:
        """What may stand in the place of a whole statement."""
        set_here = _setter(body, place)
        match statement:
            case ast.Return(value=value) if value is not None and not _is_none_or_bool(value):
                self.note("return nothing", _text(statement), lambda: set_here(ast.Return(ast.Constant(None))))
            case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
                changed = ARITHMETIC[type(op)]
                self.note("drop statement", _text(statement), lambda: set_here(ast.Pass()))
                self.note(
                    "arithmetic",
                    f"{_text(statement)} -> {_symbol(changed)}",
                    lambda: setattr(statement, "op", changed()),
                )
            case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.Raise():
                self.note("drop statement", _text(statement), lambda: set_here(ast.Pass()))
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                self.note("drop statement", _text(statement), lambda: set_here(ast.Pass()))
            case ast.Break():
                self.note("continue for break", "break", lambda: set_here(ast.Continue()))
            case ast.Continue():
                self.note("break for continue", "continue", lambda: set_here(ast.Break()))
            case _:
                pass

    def cases(self, statement: ast.Match) -> None:
        """The cases of a match: each may be missing."""
        for index, case in enumerate(statement.cases):
            before, self.statement = self.statement, case.body[0]
            if len(statement.cases) > 1 and not _ends_unreachable(case.body):
                head = f"case {ast.unparse(case.pattern)}"
                self.note("drop case", head, _remover(statement.cases, index))
            if case.guard is not None:
                self.expression(case.guard, lambda new, case=case: setattr(case, "guard", new))
            self.statement = before
            self.block(case, "body")

    # Expressions

    def expressions(self, statement: ast.stmt) -> None:
        """The expressions of one statement, but not of the statements inside it."""
        prose = isinstance(statement, ast.Raise)
        for field, value in ast.iter_fields(statement):
            if field in ("body", "orelse", "finalbody", "handlers", "cases", "annotation", "targets", "target"):
                continue
            if isinstance(value, ast.expr):
                self.expression(value, lambda new, field=field: setattr(statement, field, new), prose=prose)
            for item in _items(value):
                if isinstance(item, ast.withitem):
                    self.expression(item.context_expr, lambda new, item=item: setattr(item, "context_expr", new))
        test = getattr(statement, "test", None)
        if isinstance(statement, ast.If | ast.While) and test is not None:
            self.negate(test, lambda new: setattr(statement, "test", new))

    def expression(self, node: ast.expr, put: Callable[[ast.expr], None], *, prose: bool = False) -> None:
        """An expression and those inside it; in prose no constant is changed."""
        if isinstance(node, ast.JoinedStr) or _is_typing(node):
            return
        self.here(node, put, prose=prose)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                self.expression(value, lambda new, field=field: setattr(node, field, new), prose=prose)
            else:
                items = _items(value)
                for index, item in enumerate(items):
                    self.item(item, items, index, prose=prose)

    def item(self, item: object, holder: list[Any], index: int, *, prose: bool) -> None:
        """One member of a list inside an expression."""
        if isinstance(item, ast.expr):
            self.expression(item, _setter(holder, index), prose=prose)
        elif isinstance(item, ast.keyword):
            self.expression(item.value, lambda new: setattr(item, "value", new), prose=prose)
        elif isinstance(item, ast.comprehension):
            self.expression(item.iter, lambda new: setattr(item, "iter", new))
            for place, condition in enumerate(item.ifs):
                self.expression(condition, _setter(item.ifs, place))
                self.negate(condition, _setter(item.ifs, place))

    def here(self, node: ast.expr, put: Callable[[ast.expr], None], *, prose: bool) -> None:
        """The faults of one node."""
        for operator, after, apply in _faults(node, put, prose=prose):
            self.note(operator, f"{_text(node)} -> {after}" if after else _text(node), apply)

    def negate(self, test: ast.expr, put: Callable[[ast.expr], None]) -> None:
        """A condition turned round; `not` and single comparisons have faults of their own that do this."""
        single = isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _NEGATING
        if not single and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            self.note("negate condition", _text(test), lambda: put(ast.UnaryOp(ast.Not(), test)))


_NEGATING = {ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn}
_Put = Callable[[ast.expr], None]
_Fault = tuple[str, str, Callable[[], None]]


def _faults(node: ast.expr, put: _Put, *, prose: bool) -> Iterator[_Fault]:
    """Every fault of one node: the operator's name, what stands there now, and what puts it there."""
    if isinstance(node, ast.Constant):
        if not prose:
            yield from _constants(node, node.value)
    elif isinstance(node, ast.Compare):
        yield from (_comparison(node, index) for index in range(len(node.ops)))
    elif isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple | ast.Call):
        yield from _members(node)
    else:
        yield from _operations(node, put)


def _operations(node: ast.expr, put: _Put) -> Iterator[_Fault]:
    match node:
        case ast.BoolOp(op=op):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            yield "and, or", _symbol(other), lambda: setattr(node, "op", other())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "drop not", "", lambda: put(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "drop minus", "", lambda: put(operand)
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _is_type_union(node):
            changed = ARITHMETIC[type(op)]
            yield "arithmetic", _symbol(changed), lambda: setattr(node, "op", changed())
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "swap branches", "", lambda: put(ast.IfExp(test, orelse, body))
        case _:
            return


def _members(node: ast.Dict | ast.Set | ast.List | ast.Tuple | ast.Call) -> Iterator[_Fault]:
    match node:
        case ast.Dict(keys=keys, values=values):
            for index, (key, value) in enumerate(zip(keys, values, strict=True)):
                yield "drop entry", _entry(key, value), _dict_remover(node, index)
        case ast.Call(keywords=keywords):
            for index, keyword in enumerate(keywords):
                if keyword.arg is not None:
                    yield "drop argument", keyword.arg, _remover(keywords, index)
        case ast.Tuple(elts=elements) if not all(isinstance(element, ast.Constant) for element in elements):
            return  # a tuple of values is a record: without one of them it is another type
        case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements) if len(elements) > 1:
            for index, element in enumerate(elements):
                yield "drop element", _text(element), _remover(elements, index)
        case _:
            return


def _comparison(node: ast.Compare, index: int) -> _Fault:
    changed = COMPARISONS[type(node.ops[index])]

    def apply() -> None:
        node.ops[index] = changed()

    return "comparison", _symbol(changed), apply


def _constants(node: ast.Constant, value: object) -> Iterator[_Fault]:
    match value:
        case bool():
            changed: object = not value
        case int() | float():
            changed = value + 1
        case "utf-8":
            return  # a codec is found by its letters and digits alone
        case str():
            changed = f"{value}?"
        case bytes():
            changed = value + b"?"
        case _:
            return
    yield "constant", repr(changed), lambda: setattr(node, "value", changed)


# Looking at nodes


def _items(value: object) -> list[Any]:
    """The list in a field of a node; no list where there is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def _end_of_head(statement: ast.stmt) -> int:
    """The last line of a statement, without the statements inside it."""
    inner = [*getattr(statement, "body", ()), *getattr(statement, "cases", ())]
    if not inner:
        return statement.end_lineno or statement.lineno
    first = inner[0].pattern if isinstance(inner[0], ast.match_case) else inner[0]
    return max(statement.lineno, first.lineno - 1)


def _left_alone(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True  # a docstring, or the string under a field
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Nonlocal():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in NAMES_LEFT_ALONE or _is_typing(statement.value)
        case ast.AnnAssign(value=None) | ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Expr(value=ast.Call() as call):
            return _is_typing(call)
        case _:
            return False


def _is_typing(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TYPING_CALLS


def _is_type_union(node: ast.BinOp) -> bool:
    """Whether `A | B` names types, as in `isinstance(part, TextPart | ThinkingPart)`."""
    ends = (node.left, node.right)
    return isinstance(node.op, ast.BitOr) and all(
        isinstance(end, ast.BinOp) or (isinstance(end, ast.Name) and (end.id[:1].isupper() or end.id in _BUILTIN_TYPES))
        for end in ends
    )


_BUILTIN_TYPES = {"int", "str", "float", "bytes", "bool", "list", "dict", "tuple"}


def _is_none_or_bool(node: ast.expr) -> bool:
    """Whether nothing in its place would mean the same, or what another fault says better."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _ends_unreachable(body: list[ast.stmt]) -> bool:
    last = body[-1]
    return isinstance(last, ast.Expr) and _is_typing(last.value)


def _text(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 100 else line[:97] + "..."


def _entry(key: ast.expr | None, value: ast.expr) -> str:
    return f"**{_text(value)}" if key is None else _text(key)


def _symbol(kind: type[ast.AST]) -> str:
    return kind.__name__


# Changing nodes


def _setter(holder: list[Any], index: int) -> Callable[[ast.AST], None]:
    def put(new: ast.AST) -> None:
        holder[index] = new

    return put


def _remover(holder: list[Any], index: int) -> Callable[[], None]:
    def remove() -> None:
        del holder[index]

    return remove


def _dict_remover(node: ast.Dict, index: int) -> Callable[[], None]:
    def remove() -> None:
        del node.keys[index]
        del node.values[index]

    return remove
