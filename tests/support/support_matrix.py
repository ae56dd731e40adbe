"""The support matrix, made from the table of change codes and from what the code of each dialect can record.

A dialect can record a code when the code's name stands where changes are made: in its own folder, or in a shared module
that it is built on. Of a shared class, such as the writer of requests, only the methods count that the dialect calls.
`python -m tests.support.docs_tables` writes docs/support.md and the short form in README.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import get_args

from interlingua.dialects._contract import Quirks
from interlingua.dialects.table import DIALECTS, services
from interlingua.types.capability import Capability
from interlingua.types.change import CODES, Action
from interlingua.types.request import Request
from tests.contract.source import ROOT, SOURCE
from tests.support.capabilities import ANSWERS, REQUESTS, STREAMS, Level, Probe, outcome

PAGE = ROOT / "docs" / "support.md"
README = ROOT / "README.md"

COMMON = (
    *(SOURCE / "stream" / name for name in ("build.py", "calls.py")),
    *(SOURCE / "wire" / name for name in ("_parser.py", "json.py")),
    *(SOURCE / "media" / name for name in ("convert.py", "plan.py")),
)
"""What every dialect is built on, and the fitting of media, which comes before all of them."""

ROOM = SOURCE / "dialects"
"""Where the modules lie that several dialects share: `_*`."""

MAKERS = frozenset({"add", "record", "fault"})
"""Methods whose first argument is a code."""

AMBIGUOUS = frozenset(
    {*(code for code in CODES if "_" not in code), *Request.__struct_fields__, *Quirks.__struct_fields__}
)
"""Words that name wire members or fields, too: for these only the places count where a code is certainly meant."""

GROUPS: dict[Action, tuple[str, str]] = {
    "refused": ("Impossible", "The request is not sent: `UnsupportedError` names all losses."),
    "approximated": ("Approximated", "Sent in another form with nearly the same meaning; refused under `strict=True`."),
    "dropped": ("Dropped", "A setting or a detail that is left out; refused under `strict=True`."),
    "repaired": ("Repaired", "Broken input that was corrected."),
}
"""Action -> its heading, and what it means for a request."""

_PLACE = re.compile(r"(<!-- support-matrix -->\n).*?(<!-- /support-matrix -->)", re.DOTALL)


@cache
def recorded_codes(dialect: str) -> frozenset[str]:
    """The change codes that the code of a dialect, or what it is built on, can record."""
    folder = SOURCE.parent / Path(*DIALECTS[dialect].split("."))
    own = sorted(folder.glob("*.py"))
    shared = [node for path in _built_on(own) for node in _tree(path).body]
    classes = [node for node in shared if isinstance(node, ast.ClassDef)]
    counted = [*map(_tree, (*COMMON, *own)), *(node for node in shared if not isinstance(node, ast.ClassDef))]
    return frozenset(code for node in (*counted, *_called_methods(classes, counted)) for code in _codes_in(node))


def _built_on(paths: list[Path]) -> list[Path]:
    """The shared modules that these modules import, and those that they import."""
    found: dict[Path, None] = {}
    waiting = list(paths)
    while waiting:
        for name in _imported(_tree(waiting.pop())):
            path = ROOM / Path(*name.removeprefix("interlingua.dialects.").split(".")).with_suffix(".py")
            if name.startswith("interlingua.dialects._") and path not in found:
                found[path] = None
                waiting.append(path)
    return sorted(found)


def _imported(tree: ast.AST) -> list[str]:
    return [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]


def _called(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _called_methods(classes: list[ast.ClassDef], callers: Sequence[ast.AST]) -> list[ast.FunctionDef]:
    """The methods that the callers call by name, or that such a method calls."""
    methods = [node for kind in classes for node in kind.body if isinstance(node, ast.FunctionDef)]
    reached = {name for caller in callers for name in _called(caller)}
    while grown := {name for method in methods if method.name in reached for name in _called(method)} - reached:
        reached |= grown
    return [method for method in methods if method.name in reached]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _codes_in(tree: ast.AST) -> frozenset[str]:
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
    anew = " and ".join([f"`{name}`" for name, service in services().items() if not service.passes])
    head = [
        "# Support matrix: the abilities of each dialect, and the changes of a translation",
        "",
        "Made from the code by `python -m tests.support.docs_tables`; a test compares it.",
        "",
        f"Dialects: {known}.",
        "",
        *_at_a_glance(),
        "",
        *_abilities(),
        "",
        "### Formats that the gateway always translates or does not serve",
        "",
        f"If client and provider speak one dialect, the gateway passes the bytes on, except in {anew}: there it",
        "decodes and encodes both directions, as between two dialects, with its own call ids. Frames of",
        "Bedrock are cut by length and have checksums",
        "([record](decisions/0095-bedrock-imitation.md)). The gateway has no path for Bedrock's",
        "`InvokeModel`: it uses that form for vectors of Titan and Cohere, and clients request them in",
        "[one of the forms that are served](guides/embeddings.md).",
        "",
        "## What a translation can change",
        "",
        "A row is one code of the closed table in `types/change.py`; a column says whether the code of a dialect can",
        "record it. A loss without a code is a bug. The changes field by field are in the",
        "[field maps](dialects/README.md).",
    ]
    return "\n".join([*head, *(line for action in GROUPS for line in _group(action)), ""])


SIGNS: dict[Level, str] = {"native": "●", "approximated": "◐", "dropped": "○", "impossible": "✕"}
"""How well a dialect says something, where a cell has room for one sign."""
TITLES = {"Requests": REQUESTS, "Answers": ANSWERS, "Streams": STREAMS}


def _abilities() -> list[str]:
    """What each dialect can say: every capability, by what becomes of it."""
    lines = [
        "## Abilities of each dialect",
        "",
        "Each cell is one test: a request to the dialect's own service (single models may refuse more; encrypted",
        "reasoning in Chat is OpenRouter's), or an answer to a client of the dialect, with its entries in `changes`.",
        "**native**: sent unchanged. *approximated*: sent in another form. *dropped*: left out. *impossible*: refused,",
        "unless `allow=` permits the loss. With `strict=True` everything but native is refused.",
    ]
    for title, probes in TITLES.items():
        columns = ["", "ability", *(f"`{name}`" for name in DIALECTS)]
        rows = [_line([probe.requirement, probe.what, *(_told(probe, name) for name in DIALECTS)]) for probe in probes]
        lines += ["", f"### {title}", "", _line(columns), _line(["---"] * len(columns)), *rows]
    return lines


def _told(probe: Probe, dialect: str) -> str:
    found = outcome(probe, dialect)
    codes = " ".join([f"`{code}`" if code in CODES else f"({code})" for code in found.codes])
    return "**native**" if found.level == "native" else f"*{found.level}* {codes}".strip()


def _group(action: Action) -> list[str]:
    title, meaning = GROUPS[action]
    allowed = action == "refused"
    columns = ["code", "meaning", *(["permitted by"] if allowed else []), *(f"`{name}`" for name in DIALECTS)]
    rows = [_row(code, allowed=allowed) for code, row in CODES.items() if row.action == action]
    return ["", f"### {title}", "", meaning, "", _line(columns), _line(["---"] * len(columns)), *rows]


def _row(code: str, *, allowed: bool) -> str:
    way_out = f'`allow={{"{code}"}}`' if code in get_args(Capability) else "–"
    marks = ["yes" if code in recorded_codes(name) else "–" for name in DIALECTS]
    return _line([f"`{code}`", CODES[code].meaning, *([way_out] if allowed else []), *marks])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


SHORT = (
    "tool definitions",
    "results of parallel calls",
    "structured output",
    "images",
    "documents (PDF)",
    "audio (WAV)",
    "reasoning effort",
    "sealed reasoning",
    "prompt caching",
    "citations of another provider",
    "choice of one tool",
    "a cut stream is an error",
)
"""The capabilities that the README names: those that one asks for first, whether all dialects have them or not."""


def signs_table(probes: Sequence[Probe]) -> list[str]:
    """The lines of a table with a sign for each cell."""
    columns = ["", *(f"`{name}`" for name in DIALECTS)]
    return [_line(columns), _line(["---"] * len(columns)), *[_line([probe.what, *_signs(probe)]) for probe in probes]]


def short_table() -> str:
    """The rows of the README."""
    probes = {probe.what: probe for group in TITLES.values() for probe in group}
    return "\n".join(signs_table([probes[what] for what in SHORT]))


def _at_a_glance() -> list[str]:
    """The capabilities that some dialect has not, in signs, then those that all have."""
    probes = [probe for group in TITLES.values() for probe in group]
    mixed = [probe for probe in probes if _signs(probe) != [SIGNS["native"]] * len(DIALECTS)]
    everywhere = ", ".join(probe.what for probe in probes if probe not in mixed)
    meaning = (
        "● unchanged · ◐ in another form · ○ left out, with an entry in `changes` · ✕ refused with `UnsupportedError`"
    )
    return ["## At a glance", "", meaning, "", *signs_table(mixed), "", f"● everywhere: {everywhere}."]


def _signs(probe: Probe) -> list[str]:
    return [SIGNS[outcome(probe, name).level] for name in DIALECTS]


def rendered_readme(text: str) -> str:
    """The README with its short table made anew."""
    return _PLACE.sub(lambda place: f"{place[1]}{short_table()}\n{place[2]}", text)


def write() -> None:
    """Write the page and the README's table anew."""
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(rendered_readme(README.read_text(encoding="utf-8")), encoding="utf-8")
