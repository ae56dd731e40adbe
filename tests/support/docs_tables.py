"""Tables of the guides that are made from the code: `python -m tests.support.docs_tables` writes them anew.

A table stands in its document between `<!-- table:NAME -->` and `<!-- /table -->`. The support matrix, the JSON Schema
of our own HTTP format, the guide of clients and the numbers of the README are made along with them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import msgspec

from bench import growth
from bench.headline import SPEED, speed, with_numbers
from bench.plot import Chart
from gallery.page import PAGE as CLIENTS_PAGE
from gallery.page import page as clients_page
from interlingua.dialects._contract import Quirks
from interlingua.dialects.unified.schema import json_schema
from interlingua.gateway.routes import ROUTES
from interlingua.gateway.surfaces.openapi import describe
from interlingua.providers.media_limits import ROWS as MEDIA_ROWS
from interlingua.providers.media_limits import UNKNOWN, MediaLimits
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from tests.contract.source import ROOT, SOURCE
from tests.support import support_matrix

GUIDES = ROOT / "docs" / "guides"
SCHEMA = ROOT / "docs" / "dialects" / "unified.schema.json"
OPENAPI = ROOT / "docs" / "openapi.json"
"""The description of the gateway."""
README = ROOT / "README.md"
MEASURED = ROOT / "bench" / "results" / "full" / "latest.json"
"""The last whole run of the bench."""
SCOREBOARD = ROOT / "docs" / "scoreboard.md"
"""What `make scoreboard` wrote last."""
_SCORES = re.compile(r"(<!-- scoreboard -->\n).*?(<!-- /scoreboard -->)", re.DOTALL)
_PLACE = re.compile(r"(<!-- table:(?P<name>[a-z-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def providers_table() -> str:
    """Every row: how it is named, where it is, where its key comes from, what it speaks."""
    lines = ["| provider | is | address | key | speaks | note |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_provider_line, ROWS.values())])


def _provider_line(row: Provider) -> str:
    address = f"`{row.base_url}`" if row.remote else "in this process"
    key = " or ".join(f"`{name}`" for name in row.key_env) or ("–" if not row.key_required else "in the DSN")
    optional = " (optional)" if row.key_env and not row.key_required else ""
    return f"| `{row.name}` | {row.title} | {address} | {key}{optional} | {', '.join(row.dialects)} | {row.note} |"


def quirks_table() -> str:
    """Every quirk that an option of a DSN can set: its name, its values, what it says."""
    hints = get_type_hints(Quirks)
    lines = ["| option | values | says |", "|---|---|---|"]
    lines += [f"| `{name}` | {_values(hints[name])} | {text} |" for name, text in _field_texts("Quirks")]
    return "\n".join(lines)


def _values(kind: object) -> str:
    if kind is bool:
        return "`0` `1`"
    choices = get_args(kind)
    if get_origin(kind) is frozenset:
        words = get_args(choices[0])
        return ", ".join([f"`{word}`" for word in words]) or "names, with commas between"
    return " ".join(f"`{choice}`" for choice in choices)


def _field_texts(owner: str) -> Iterator[tuple[str, str]]:
    """The fields of a class of the contract with the string under each."""
    tree = ast.parse((SOURCE / "dialects" / "_contract.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner)
    for node, following in pairwise(body):
        match node, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text
            case _:
                pass


def media_table() -> str:
    """What each target takes of images: formats, sides, files, how many, and what it looks at."""
    lines = [
        "| target | formats | side, px | file | images | request | looks at, px |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = [(f"`{'` `'.join(sorted(row.providers))}`{_of_models(row.models)}", row.limits) for row in MEDIA_ROWS]
    return "\n".join([*lines, *[_media_line(who, limits) for who, limits in (*rows, ("anybody else", UNKNOWN))]])


def _of_models(pattern: str) -> str:
    return "" if pattern == ".*" else " (up to 4.5)"


def _media_line(who: str, limits: MediaLimits) -> str:
    kinds = " ".join(sorted(kind.removeprefix("image/") for kind in limits.image_types))
    still = ", no animation" if limits.animated is False and "gif" in kinds else ""
    side = _count(limits.max_side_px)
    if limits.crowd is not None:
        side += f"; {_count(limits.crowd[1])} beyond {limits.crowd[0]} images"
    if limits.max_pixels is not None:
        side = f"{limits.max_pixels / 1e6:.0f} megapixels"
    cells = (_bytes(limits.max_image_bytes), _count(limits.max_images), _bytes(limits.max_request_bytes))
    return f"| {who} | {kinds}{still} | {side} | {' | '.join(cells)} | {_count(limits.useful_side_px)} |"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _bytes(number: int | None) -> str:
    return "–" if number is None else f"{number / 1e6:.3g} MB"


TABLES: dict[str, Callable[[], str]] = {
    "providers": providers_table,
    "quirks": quirks_table,
    "media-limits": media_table,
}


def rendered(document: str) -> str:
    """The document with every table of it made anew."""
    return _PLACE.sub(lambda place: f"{place[1]}{TABLES[place['name']]()}\n{place[3]}", document)


def schema_text() -> str:
    """The JSON Schema of our own HTTP format, as the file has it."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=1) + "\n"


def openapi_text() -> str:
    """The OpenAPI description of the gateway, as the file has it."""
    return json.dumps(describe(tuple(ROUTES)), ensure_ascii=False, indent=1) + "\n"


def readme_text() -> str:
    """The README with the numbers of the last whole run, and with the summary of the scoreboard."""
    text = with_numbers(README.read_text(encoding="utf-8"), json.loads(MEASURED.read_text(encoding="utf-8")))
    return _SCORES.sub(lambda place: f"{place[1]}{scores()}\n{place[2]}", text)


def pictures() -> dict[Path, str]:
    """The pictures of the last whole run by their files: ours beside others, and how cost grows."""
    run = json.loads(MEASURED.read_text(encoding="utf-8"))
    charts = msgspec.convert(run["growth"], list[Chart])
    return {ROOT / SPEED: speed(run), ROOT / "bench" / "growth.svg": growth.drawn(charts)}


def scores() -> str:
    """The summary of the scoreboard without its settings, and the day of its run."""
    page = SCOREBOARD.read_text(encoding="utf-8")
    rows = page.partition("## Summary\n\n")[2].partition("\n\n")[0].splitlines()
    ran = re.search(r"Run on (\d+ \w+ \d{4})", page)
    assert ran is not None
    return "\n".join([*[f"{row.rsplit(' | ', 1)[0]} |" for row in rows], "", f"Run on {ran[1]}."])


def main() -> None:
    """Write the tables of all guides, the guide of clients, the schemas, the README's figures, the support matrix."""
    for path in sorted(GUIDES.glob("*.md")):
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
    CLIENTS_PAGE.write_text(clients_page(), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    OPENAPI.write_text(openapi_text(), encoding="utf-8")
    README.write_text(readme_text(), encoding="utf-8")
    for path, drawing in pictures().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawing, encoding="utf-8")
    support_matrix.write()


if __name__ == "__main__":
    main()
