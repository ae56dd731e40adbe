"""The source of the site: every file of `docs/`, the files they link to, and the texts made from the code.

Rules: a page keeps its path, so that its links work in the repository and on the site. A link that leaves `docs/` leads
to a copy under `project/`. A link to a folder leads to the README.md in it, or to a list of its files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from website.generated import GENERATED
from website.llms import full_text, overview

ROOT = Path(__file__).resolve().parents[1]
"""The top of the checkout."""
DOCS = ROOT / "docs"
LINK = re.compile(r"(?P<before>\]\()(?!https?:|mailto:|#)(?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?(?P<after>\))")
"""A relative link of Markdown."""
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"^<!-- generated: (?P<name>[a-z-]+) -->\n.*?^<!-- /generated -->$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^<!-- /?[a-z]+(?:[:-].*?)? -->\n", re.MULTILINE)
"""Markers of tables that are made from the code; Markdown would take the table below for a part of the comment."""
FLAGS = re.compile(r"^( *```\w+) no-run$", re.MULTILINE)
"""What a fence says to the tests; MkDocs would not take it for a fence."""
LANGUAGES = {".py": "python", ".toml": "toml", ".conf": "nginx", ".yaml": "yaml", ".service": "ini", ".json": "json"}
RANKS = {
    "decisions/": 0.1,
    "dialects/": 0.1,
    "project/": 0.1,
    "reference/": 0.3,
    "guides/embeddings.md": 20,
    "guides/": 1,
    "how-to/index.md": 1,
    "how-to/own-provider.md": 16,
    "how-to/": 8,
}
"""The weight of pages in a search, by the beginning of their path; the first that fits: tasks first, records last."""


def assemble() -> dict[str, bytes]:
    """The files of the site's source by path."""
    texts = {path.relative_to(DOCS).as_posix(): path.read_bytes() for path in sorted(DOCS.rglob("*")) if path.is_file()}
    outside: dict[str, str] = {}
    waiting = [name for name in texts if name.endswith(".md")]
    pages: dict[str, str] = {name: texts[name].decode() for name in waiting}
    while waiting:
        name = waiting.pop()
        pages[name] = _page(name, pages[name], outside)
        for source, page in outside.items():
            if page.endswith((".png", ".svg")):
                texts[page] = (ROOT / source).read_bytes()
            elif page not in pages:
                pages[page] = _project_page(source)
                waiting.append(page)
    # `llms.txt` lists the pages as they are read, without what is only for the search
    extra = {"llms.txt": overview(pages), "llms-full.txt": full_text(pages)}
    ready = {name: _with_rank(name, text) for name, text in pages.items()}
    return texts | {name: text.encode() for name, text in (ready | extra).items()}


def write(files: dict[str, bytes], folder: Path) -> int:
    """Write files into a folder, remove all others from it, and give back the number of changes."""
    changed = 0
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder).as_posix() not in files:
            path.unlink()
            changed += 1
    for name, data in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            changed += 1
    return changed


def _page(name: str, text: str, outside: dict[str, str]) -> str:
    """One page with its generated texts, its comments for programs removed, and its links as they are on the site."""
    text = PLACE.sub(lambda match: GENERATED[match["name"]](), text)
    text = FLAGS.sub(r"\1", COMMENT.sub("", text))
    return _outside_fences(text, lambda prose: LINK.sub(lambda match: _link(name, match, outside), prose))


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """A text whose prose is changed and whose blocks of code are not."""
    pieces: list[str] = []
    end = 0
    for fence in FENCE.finditer(text):
        pieces += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, change(text[end:])])


def _link(page: str, match: re.Match[str], outside: dict[str, str]) -> str:
    """A link as it is on the site; the file it names, if outside of `docs/`, is noted in `outside`."""
    source = _source_of(page, outside)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["target"]))
    path = ROOT / target
    if path.is_dir() and (path / "README.md").is_file():
        target = f"{target}/README.md"
    if target.startswith("docs/") and (ROOT / target).is_file():
        place = target.removeprefix("docs/")
    elif (ROOT / target).exists():
        place = outside.setdefault(target, _project_name(target))
    else:
        return match[0]
    relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{match['before']}{relative}{match['anchor'] or ''}{match['after']}"


def _source_of(page: str, outside: dict[str, str]) -> str:
    """The file in the repository that a page was made of."""
    return next((source for source, name in outside.items() if name == page), f"docs/{page}")


def _project_name(source: str) -> str:
    """The page of a file outside of `docs/`."""
    return f"project/{source if source.endswith(('.md', '.png', '.svg')) else source + '.md'}"


def _project_page(source: str) -> str:
    """A file outside of `docs/` as a page."""
    path = ROOT / source
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
        return f"# `{source}/`\n\n" + "\n".join([f"- [`{name}`]({path.name}/{name})" for name in names]) + "\n"
    text = path.read_text(encoding="utf-8")
    if source.endswith(".md"):
        return text
    language = LANGUAGES.get(PurePosixPath(source).suffix, "text")
    return f"# `{PurePosixPath(source).name}`\n\n`{source}` in the repository.\n\n```{language}\n{text}```\n"


def _with_rank(name: str, text: str) -> str:
    """A page with its weight in a search, unless it has front matter of its own."""
    rank = next((rank for beginning, rank in RANKS.items() if name.startswith(beginning)), 1)
    if rank == 1 or text.startswith("---\n"):
        return text
    return f"---\nsearch:\n  boost: {rank}\n---\n\n{text}"
