"""The written form of a pair of dialects: one file, in it every case with what was sent, answered and changed.

```
=== call                                     a case
--- sent: POST /messages                     the request for the upstream, and headers that its dialect demands
--- sent for a stream: …, with {…}           only what differs: the path, and members that are added or replaced
--- answered: 200                            the whole answer for the client; an error with its headers
--- streamed                                 the streamed answer, byte for byte
--- changed                                  every entry of `changes`, in order
--- changed in a stream                      the same for the streamed way, where it is not the same
```

A carriage return is shown as a sign. A section that an earlier case of the file has word for word is one line:
`--- answered: 200 = text`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlingua.testing.framed import stream_text
from tests.matrix.jsontext import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._contract import Encoded
    from interlingua.types.change import Change
    from interlingua.wire.http import HttpReply
    from tests.matrix.cases import Cell
    from tests.matrix.play import Played

__all__ = ["FOLDER", "LostError", "read", "sections", "write"]

FOLDER = Path(__file__).parent / "snapshots"
RETURN = "\N{SYMBOL FOR CARRIAGE RETURN}"
"""Stands for a carriage return, which nobody would see."""
_SAME = re.compile(r"(?P<title>.*) = (?P<case>[a-z0-9-]+)")


class LostError(AssertionError):
    """A snapshot that is not written, because something was lost in silence."""


# What a cell says


def sections(whole: Played, streamed: Played) -> dict[str, str]:
    """The sections of a cell, by title, in order."""
    made: dict[str, str] = {}
    if whole.sent is not None and streamed.sent is not None:
        made[f"sent: POST {whole.sent.path}"] = _headers(whole.sent.headers) + json_text(json.loads(whole.sent.body))
        made |= _sent_for_a_stream(whole.sent, streamed.sent)
    if whole.answered is not None:
        made |= _answered("answered", whole.answered)
    if streamed.answered is not None and streamed.answered != whole.answered:
        made |= _answered("answered before a stream", streamed.answered)
    if streamed.streamed is not None:
        made["streamed"] = stream_text(streamed.dialect, streamed.streamed).replace("\r", RETURN)
    made["changed"] = _changed(whole.changes)
    if Counter(map(_line, streamed.changes)) != Counter(map(_line, whole.changes)):
        made["changed in a stream"] = _changed(streamed.changes)
    return made


def _sent_for_a_stream(whole: Encoded, streamed: Encoded) -> dict[str, str]:
    """What differs when a stream is asked for."""
    one, other = json.loads(whole.body), json.loads(streamed.body)
    more = {name: member for name, member in other.items() if name not in one or one[name] != member}
    less = {name: None for name in one if name not in other}
    title = f"sent for a stream: POST {streamed.path}"
    headers = _headers(streamed.headers) if streamed.headers != whole.headers else ""
    return {title: headers + ("with " + json_text(more | less) if more or less else "as it is")}


def _answered(title: str, reply: HttpReply) -> dict[str, str]:
    told = tuple(pair for pair in reply.headers if pair[0] != "content-type")
    return {f"{title}: {reply.status}": _headers(told) + json_text(json.loads(reply.body))}


def _headers(headers: Iterable[tuple[str, str]]) -> str:
    return "".join([f"{name}: {value}\n" for name, value in headers])


def _changed(changes: Iterable[Change]) -> str:
    return "\n".join([_line(change) for change in changes]) or "nothing"


def _line(change: Change) -> str:
    detail = f": {change.detail}" if change.detail else ""
    return f"{change.action} {change.code} {change.path} ({change.stage}){detail}"


# Files


def path_of(cell: Cell, folder: Path = FOLDER) -> Path:
    """The file of a cell's pair."""
    return folder / cell.source / f"{cell.target}.txt"


def read(cell: Cell, folder: Path = FOLDER) -> dict[str, str]:
    """The sections that are written of a cell; empty for none."""
    return _read(path_of(cell, folder)).get(cell.case, {})


def _read(path: Path) -> dict[str, dict[str, str]]:
    """Every case of a file, its references followed."""
    return _parsed(path, path.stat().st_mtime_ns) if path.exists() else {}


@cache
def _parsed(path: Path, written_ns: int) -> dict[str, dict[str, str]]:
    del written_ns  # a file that was written anew is read anew
    found: dict[str, dict[str, str]] = {}
    for block in f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")[1:] if path.exists() else []:
        case, *parts = block.rstrip("\n").split("\n--- ")
        found[case] = {}
        for part in parts:
            title, _, text = part.partition("\n")
            same = _SAME.fullmatch(title)
            if same is not None:
                found[case][same["title"]] = found[same["case"]][same["title"]]
            else:
                found[case][title] = text
    return found


def write(cell: Cell, made: dict[str, str], lost: Iterable[str], order: Iterable[str], folder: Path = FOLDER) -> None:
    """Put what a cell says now in the place of what it said.

    Raises: LostError, when facts differ without an entry: then nothing is written.
    """
    if lost := list(lost):
        raise LostError(f"{cell} is not written: " + "; ".join(lost))
    path = path_of(cell, folder)
    cases = {**_read(path), cell.case: made}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_rendered({case: cases[case] for case in order if case in cases}), encoding="utf-8")


def _rendered(cases: dict[str, dict[str, str]]) -> str:
    first: dict[tuple[str, str], str] = {}
    lines: list[str] = []
    for case, made in cases.items():
        lines.append(f"=== {case}")
        for title, text in made.items():
            same = first.setdefault((title, text), case)
            lines += [f"--- {title}", text] if same == case or len(text) < len(title) else [f"--- {title} = {same}"]
        lines.append("")
    return "\n".join(lines)


def unwritten(cells: Iterable[Cell], folder: Path = FOLDER) -> list[Any]:
    """What stands in the folder and belongs to no cell: files, and cases in files."""
    cases: dict[Path, set[str]] = {}
    for cell in cells:
        cases.setdefault(path_of(cell, folder), set()).add(cell.case)
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [(path.name, case) for path in found for case in _read(path) if case not in cases.get(path, set())]
