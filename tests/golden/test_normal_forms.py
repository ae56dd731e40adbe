"""The normal form of every golden body, and of bodies that are spelt in every odd way.

`normal/<dialect>.given.jsonl` are the odd ones, each line a kind and a body; `normal/<dialect>.jsonl` are the normal
forms of both, made by us: `make golden-update` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua.dialects.table import DIALECTS, get_dialect

FOLDER = Path(__file__).parent


def bodies(name: str) -> Iterator[tuple[str, str, Any]]:
    """Where a body comes from, its kind, and the body."""
    for kind in ("request", "response"):
        for path in sorted((FOLDER / name).glob(f"*/{kind}.json*")):
            text = path.read_text(encoding="utf-8")
            if text.startswith(("{", "[")):  # an error may be a page of something in between
                yield f"{path.parent.name}/{path.name}", kind, json.loads(text)
    given = (FOLDER / "normal" / f"{name}.given.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(given):
        kind, body = json.loads(line)
        yield f"given {number}", kind, body


@pytest.mark.parametrize("name", DIALECTS)
def test_each_body_has_its_normal_form(name: str, golden_update: bool) -> None:
    """What two bodies with the same meaning have in common, and nothing more."""
    path = FOLDER / "normal" / f"{name}.jsonl"
    normal_form = get_dialect(name).normal_form
    now = [json.dumps([where, normal_form(kind, body)], ensure_ascii=False) for where, kind, body in bodies(name)]
    if golden_update:
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    assert now == path.read_text(encoding="utf-8").splitlines()
