"""The repository speaks of the project alone, its indexes are complete, and its commands are all there."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.contract.source import ROOT
from tests.support.cells import cells

SOMEBODYS_PATH = r"(?<![\w.])/(?:work|root|home|Users|farm|tmp)/\w"
"""Where somebody's checkout or scratch files lie."""

REGISTRY = r"[p]ypi\.org|python[h]osted|registry\.[n]pmjs|[d]eb\.debian|[c]rates\.io"
"""Hosts of package registries: where packages come from is the business of whoever installs them."""

ALIEN = re.compile(f"{SOMEBODYS_PATH}|{REGISTRY}", re.IGNORECASE)

NAMED_ON_PURPOSE = re.compile(r"^(\.venv/|tests/(golden|corpus)/|LICENSE$)")
"""Recorded bytes and the licence say what they say; environments have a test of their own."""

TARGETS = {
    "setup",
    "lock",
    "demo",
    "test",
    "check",
    "test-agents",
    "test-clients",
    "test-comply",
    "test-js",
    "test-local-tools",
    "fuzz",
    "mutants",
    "sabotage",
    "scoreboard",
    "soak",
    "bench",
    "bench-full",
    "golden-update",
    "dist",
    "check-workflows",
    "docs",
    "docs-serve",
}

DECISIONS = ROOT / "docs" / "decisions"

RECORDS = sorted(path for path in DECISIONS.glob("[0-9]*.md") if not path.name.startswith("0000"))
"""Every record; 0000 is the form to fill in."""

SECTIONS = ("## Context", "## Decision", "## Consequences", "## Alternatives")


def _tracked() -> list[str]:
    """Every file of the repository; outside a checkout, every file that a checkout would hold."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return [name for name in listed.split("\0") if name]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and ".venv" not in path.parts]


def _text(path: Path) -> str | None:
    """The text of a file, or None for what is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError):
        return None


def test_no_alien_words() -> None:
    """No file names a path of somebody's machine or a package registry."""
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in _tracked()
        if not NAMED_ON_PURPOSE.match(name) and (text := _text(ROOT / name)) is not None
        for number, line in enumerate(text.splitlines(), 1)
        if ALIEN.search(line)
    ]
    assert found == []


def test_environments_and_weights_are_not_tracked() -> None:
    """Nothing that a tool makes or downloads is in the repository."""
    kept = re.compile(r"(^|/)(\.venv|__pycache__|node_modules|\.env)(/|$)|\.(gguf|pyc|whl)$")
    assert {name.split("/")[0] for name in _tracked() if kept.search(name)} == set()


def test_every_decision_is_listed() -> None:
    """The index of decisions names every record, once, with its title, in order."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\d{4})\]\(([\w-]+\.md)\) \| (.+?) \|", index, re.MULTILINE)
    assert [(path.name[:4], path.name, _title(path)) for path in RECORDS] == listed


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix(f"# {path.name[:4]} ").strip()


@cells("path", RECORDS, ids=lambda path: path.stem)
def test_decisions_have_their_sections(path: Path) -> None:
    """A record gives a status and a date, context, decision, consequences and alternatives, in that order."""
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^(Accepted|Superseded by \d{4}), [A-Z][a-z]+ \d{4}\.", text, re.MULTILINE)
    places = [text.find(section) for section in SECTIONS]
    assert -1 not in places
    assert places == sorted(places)


def _rules() -> dict[str, str]:
    """Each target of the Makefile with its recipe."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([a-z][a-z-]*):[^\n]*\n((?:\t[^\n]*\n)*)", text, re.MULTILINE)
    return dict(found)


def test_every_make_target_exists() -> None:
    """Every promised target is there, and is phony."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) >= TARGETS
    assert _rules().keys() >= TARGETS - {"setup"}


def _documents() -> list[Path]:
    return [ROOT / name for name in _tracked() if name.endswith(".md") and not NAMED_ON_PURPOSE.match(name)]


def test_links_inside_the_repository_lead_somewhere() -> None:
    """A relative link in a document names a file or folder that is there."""
    dead = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in _documents()
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert dead == []


def test_ci_is_executable() -> None:
    """CI's one entry can be run as it is."""
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


@pytest.mark.parametrize("folder", ["docs/guides", "examples"])
def test_every_guide_and_example_is_linked(folder: str) -> None:
    """From the list of guides, which the page that people see first leads to, so that none is left to chance."""
    index = ROOT / "docs" / "guides" / "README.md"
    assert "](docs/guides/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", index.read_text(encoding="utf-8"))
    linked = {(index.parent / link).resolve() for link in links}
    files = {path for path in (ROOT / folder).iterdir() if path.suffix in (".md", ".py")} - {index}
    assert sorted(path.name for path in files - linked) == []


def test_pins_cover_every_dependency() -> None:
    """What the package needs to run is pinned for development, so that a run can be repeated."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", pins, re.MULTILINE))
    needed = {re.split(r"[^\w-]", name)[0].replace("_", "-").lower() for name in project["dependencies"]}
    assert needed <= pinned


HASHED = re.compile(r"(?P<pin>[^\\\n]+?)(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


LOCKS = sorted(path.stem for path in (ROOT / "requirements").glob("*.lock"))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_pin_has_hashes(lock: str) -> None:
    """So that pip installs no other file; each pin is that of its file of pins, and no host of an index is named."""
    folder = ROOT / "requirements"
    own = folder / f"{lock}.txt"
    file = own if own.exists() else folder / "dev.txt"
    pins = [line for line in file.read_text(encoding="utf-8").splitlines() if line[:1].isalnum()]
    text = (folder / f"{lock}.lock").read_text(encoding="utf-8").partition("\n")[2]
    assert HASHED.sub("", text) == "", "there is nothing but pins with their hashes"
    locked = [found["pin"] for found in HASHED.finditer(text)]
    assert set(locked) <= set(pins)
    assert file != own or sorted(locked) == sorted(pins)


def test_the_lock_of_the_gateway_is_what_it_runs_with() -> None:
    """The package's own needs and those of its extras for a gateway, with all that these bring along."""
    lines = [line for line in requires("interlingua") or () if "extra" not in line or re.search("gateway|redis", line)]
    needed = {re.split(r"[^\w-]", line)[0].replace("_", "-").lower() for line in lines}
    text = (ROOT / "requirements" / "gateway.lock").read_text(encoding="utf-8")
    assert needed <= set(re.findall(r"^([\w-]+)==", text, re.MULTILINE))


def test_the_changelog_keeps_its_grammar() -> None:
    """Every version has known headings only, in the order of the reader's interest."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    order = ["Removed", "Deprecated", "Added", "Changed", "Fixed"]
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert versions
    for version in versions:
        headings = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert headings == sorted(headings, key=order.index)
