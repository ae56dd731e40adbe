from __future__ import annotations

import ast

from mutants.operators import find_mutants
from tests.support.cells import cells


def faults(source: str) -> list[tuple[str, str]]:
    """Operator and text of every mutant of a source."""
    return [(mutant.operator, mutant.text) for mutant in find_mutants(source, "m")[1]]


def mutated(source: str, place: int) -> str:
    """The source with one fault in it."""
    tree, found = find_mutants(source, "m")
    found[place].apply()
    return ast.unparse(tree)


@cells(
    ("source", "texts"),
    [
        ("x = a == b", ["x = a != b"]),
        ("x = a < b <= c", ["x = a <= b <= c", "x = a < b < c"]),
        ("x = a is b", ["x = a is not b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = a + b", ["x = a - b"]),
        ("x = isinstance(a, B | C)", []),
        ("x = a if b else c", ["x = c if b else a"]),
        ("x = 1", ["x = 2"]),
        ("x = 'a'", ["x = 'a?'"]),
        ("x = b'a'", ["x = b'a?'"]),
        ("x = True", ["x = False"]),
        ("x = None", []),
        ("x = f'{a} and {b}'", []),
        ("x = {a: b, **c}", ["x = {**c}", "x = {a: b}"]),
        ("x = [a, b]", ["x = [b]", "x = [a]"]),
        ("x = ('a', a)", ["x = ('a?', a)"]),
        ("x = f(a, b=c)", ["x = f(a)"]),
        ("x = [a for a in b if a]", ["x = [a for a in b if not a]"]),
        ("f(a)", ["pass"]),
        ("x += a", ["pass", "x -= a"]),
        ("x.y = a", ["pass"]),
        ("raise E('words')", ["pass"]),
        ("if a:\n    pass", ["if not a:\n    pass"]),
        ("if a == b:\n    pass", ["if a != b:\n    pass"]),
        ("while a:\n    break", ["while not a:\n    break", "while a:\n    continue"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("def f(a=1):\n    return True", ["def f(a=2):\n    return True", "def f(a=1):\n    return False"]),
        ("match a:\n    case 1:\n        b\n    case _:\n        c", None),
    ],
)
def test_each_kind_of_fault(source: str, texts: list[str] | None) -> None:
    """Every operator changes its one place and nothing else."""
    if texts is None:
        texts = ["match a:\n    case _:\n        c", "match a:\n    case 1:\n        b"]
    assert [mutated(source, place) for place in range(len(faults(source)))] == texts


def test_what_nobody_runs_is_left_alone() -> None:
    """Docstrings, annotations, names for import, and what only type checkers read have no faults."""
    source = '''"""Words."""
from __future__ import annotations
__all__ = ["f"]
if TYPE_CHECKING:
    x = 1
T = TypeVar("T")
Name: TypeAlias = "str"
class C:
    """Words."""
    __slots__ = ("a",)
    a: Literal["b"]
    """Words."""
def f(a: Literal["b"]) -> Literal["c"]:
    match a:
        case "b":
            pass
        case _:
            assert_never(a)
'''
    assert faults(source) == [("drop case", "case 'b'")]


def test_a_mutant_knows_its_place() -> None:
    """Lines are those of the statement, of a compound one those of its head; defaults run at import."""
    source = "class C:\n    def f(self, a=1):\n        if (\n            a\n        ):\n            return 2\n"
    found = find_mutants(source, "m")[1]
    assert [(m.where, m.line, m.end_line, m.at_import) for m in found] == [
        ("C", 2, 2, True),
        ("C.f", 3, 5, False),
        ("C.f", 6, 6, False),
        ("C.f", 6, 6, False),
    ]


def test_twins_are_numbered() -> None:
    """Two faults that read alike have names of their own."""
    assert [mutant.name for mutant in find_mutants("x = [1, 1]", "m")[1]] == [
        "m:: drop element: [1, 1] -> 1",
        "m:: drop element: [1, 1] -> 1 #2",
        "m:: constant: 1 -> 2",
        "m:: constant: 1 -> 2 #2",
    ]
