"""The support matrix, made from the table of change codes and from what the code of each dialect can record.

A dialect can record a code when the code's name stands where changes are made: in its own folder, or in the modules
that all dialects share. `python -m tests.support.docs_tables` writes docs/support.md and the short form in README.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from interlingua.client.options import DIALECT_NAMES
from interlingua.dialects._contract import Quirks
from interlingua.dialects.table import DIALECTS
from interlingua.types.capability import Capability
from interlingua.types.change import CODES, Action
from interlingua.types.request import Request
from tests.contract.source import ROOT, SOURCE

PAGE = ROOT / "docs" / "support.md"
README = ROOT / "README.md"

SHARED = (
    *sorted((SOURCE / "dialects").glob("_*.py")),
    SOURCE / "stream" / "build.py",
    SOURCE / "stream" / "calls.py",
    SOURCE / "wire" / "json.py",
)
"""What every dialect is built on."""

MAKERS = frozenset({"add", "record", "fault"})
"""Methods whose first argument is a code."""

AMBIGUOUS = frozenset(
    {*(code for code in CODES if "_" not in code), *Request.__struct_fields__, *Quirks.__struct_fields__}
)
"""Words that name wire members or fields, too: for these only the places count where a code is certainly meant."""

GROUPS: dict[Action, tuple[str, str]] = {
    "refused": ("Impossible", "The request is not sent: `UnsupportedError` names everything found."),
    "approximated": ("Approximated", "Sent in another way that means nearly the same; refused under `strict=True`."),
    "dropped": ("Dropped", "A knob or an ornament that is left out; refused under `strict=True`."),
    "repaired": ("Repaired", "Something broken that came in and was understood all the same."),
}
"""Action -> its heading, and what it means for a request."""

_PLACE = re.compile(r"(<!-- support-matrix -->\n).*?(<!-- /support-matrix -->)", re.DOTALL)


@cache
def recorded_codes(dialect: str) -> frozenset[str]:
    """The change codes that the code of a dialect, or what it is built on, can record."""
    folder = SOURCE.parent / Path(*DIALECTS[dialect].split("."))
    return frozenset(code for path in (*SHARED, *sorted(folder.glob("*.py"))) for code in _codes_in(path))


@cache
def _codes_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    clear = _literals(tree) - AMBIGUOUS
    meant = {code for place in _certain_places(tree) for code in _literals(place)}
    return frozenset((clear | meant) & CODES.keys())


def _literals(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def _certain_places(tree: ast.AST) -> Iterator[ast.AST]:
    """Expressions that can only be codes: the first argument of a maker, a variable `code`, a table of codes."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in MAKERS:
                yield first
            case ast.Assign(targets=[ast.Name(id="code")], value=value):
                yield value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(values=values)) if name.endswith("_CODES"):
                yield from values
            case _:
                pass


def page() -> str:
    """docs/support.md, whole."""
    known = ", ".join(f"`{name}`" for name in DIALECTS)
    head = [
        "# What a translation can change",
        "",
        "Made from the code by `python -m tests.support.docs_tables`; a test compares it. A row is one code of the",
        "closed table in `types/change.py`; a column says whether the code of a dialect can record it. A loss that is",
        "said under none of them is a bug. What happens field by field is in the [field maps](dialects/README.md).",
        "",
        f"Dialects: {known}.{_planned()}",
    ]
    return "\n".join([*head, *(line for action in GROUPS for line in _group(action)), ""])


def _planned() -> str:
    """The dialects that have no code yet, in a sentence."""
    names = sorted(DIALECT_NAMES - DIALECTS.keys())
    return f" Planned: {', '.join(f'`{name}`' for name in names)}." if names else ""


def _group(action: Action) -> list[str]:
    title, meaning = GROUPS[action]
    allowed = action == "refused"
    columns = ["code", "what", *(["let go by"] if allowed else []), *(f"`{name}`" for name in DIALECTS)]
    rows = [_row(code, allowed=allowed) for code, row in CODES.items() if row.action == action]
    return ["", f"## {title}", "", meaning, "", _line(columns), _line(["---"] * len(columns)), *rows]


def _row(code: str, *, allowed: bool) -> str:
    way_out = f'`allow={{"{code}"}}`' if code in get_args(Capability) else "–"
    marks = ["yes" if code in recorded_codes(name) else "–" for name in DIALECTS]
    return _line([f"`{code}`", CODES[code].meaning, *([way_out] if allowed else []), *marks])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def short_table() -> str:
    """The matrix in a few lines: for each dialect the codes of each action."""
    actions: tuple[Action, ...] = ("approximated", "dropped", "refused")
    lines = [_line(["dialect", *actions]), _line(["---"] * (len(actions) + 1))]
    lines += [_line([f"`{name}`", *(_list(name, action) for action in actions)]) for name in DIALECTS]
    return "\n".join([*lines, *(["", _planned().strip()] if _planned() else [])])


def _list(dialect: str, action: Action) -> str:
    codes = recorded_codes(dialect)
    found = [code for code, row in CODES.items() if row.action == action and code in codes]
    return " ".join(f"`{code}`" for code in found) or "–"


def rendered_readme(text: str) -> str:
    """The README with its short table made anew."""
    return _PLACE.sub(lambda place: f"{place[1]}{short_table()}\n{place[2]}", text)


def write() -> None:
    """Write the page and the README's table anew."""
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(rendered_readme(README.read_text(encoding="utf-8")), encoding="utf-8")
