"""Writes the locked requirements beside this file: pins, each with the hashes of its files.

Only pip is needed, and its own settings name the index. Of the pins of `dev.txt` the lock `dev` holds all, `gateway`
those that the gateway runs with, `build` those that make its wheel; any other lock holds the pins of the file of its
name. `python requirements/lock.py release` writes that one alone. Kept are the hashes of the source archive and of the
wheels for the platforms of `PLATFORMS` and the Pythons of `PYTHONS`; pip refuses any other file.

It reads pages of the index through pip's own session, which is no public interface: written for pip 23 to 26.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from pip._internal.commands import create_command
from pip._internal.index.collector import parse_links
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

HERE = Path(__file__).parent
PYTHONS = {"py2", "py3", "cp311", "cp312", "cp313", "cp314"}
PLATFORMS = re.compile(r"any|(?:many|musl)linux.*_(?:x86_64|aarch64)|macosx_.*|win_(?:amd64|arm64)")
LOCKS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "dev": {"dev": None, "gateway": ("interlingua[gateway,postgres,redis]",), "build": ("hatchling", "build")},
    "release": {"release": None},
    "docs": {"docs": None},
    "scale": {"scale": None},
}
"""The locks of each file of pins, with the names each begins with; None is every pin."""
NOTE = """\
# Made from {}.txt by `make lock`, which needs the network; not edited by hand. pip takes no file but these.
"""


def main(files: list[str]) -> int:
    """Write every lock, or those of the files that are named; 1 where a pin has no file."""
    return max([write_locks(file) for file in files or LOCKS])


def write_locks(file: str) -> int:
    """Write the locks of one file of pins; 1 where a pin has no file."""
    pins = read_pins(HERE / f"{file}.txt")
    hashes = index_hashes(pins)
    for name in (missing := sorted(pins.keys() - hashes.keys())):
        print(f"{pins[name]}: the index has no file of it", file=sys.stderr)
    for lock, roots in LOCKS[file].items():
        names = sorted(pins if roots is None else closure(roots) & pins.keys())
        blocks = [" \\\n    ".join([pins[name], *hashes.get(name, [])]) for name in names]
        (HERE / f"{lock}.lock").write_text(NOTE.format(file) + "\n".join(blocks) + "\n", encoding="utf-8")
    return 1 if missing else 0


def read_pins(file: Path) -> dict[str, str]:
    """The lines of a file of pins by canonical name."""
    lines = [line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines()]
    return {canonicalize_name(Requirement(line).name): line for line in lines if line}


def closure(roots: tuple[str, ...]) -> set[str]:
    """The names of everything that is needed for `roots` here, without themselves where they are not pinned."""
    found: set[str] = set()
    waiting = [Requirement(root) for root in roots]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (key := f"{name}[{','.join(sorted(wanted.extras))}]") in found:
            continue
        found |= {name, key}
        for line in needs(wanted.name):
            needed = Requirement(line)
            marker = needed.marker
            if "extra" not in str(marker) or any(marker.evaluate({"extra": extra}) for extra in wanted.extras or ("",)):
                waiting.append(needed)  # on whichever system: what is pinned has its own marker
    return found


def needs(name: str) -> list[str]:
    """What a package says that it needs; nothing for one that is not installed here, since only others need it."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def index_hashes(pins: dict[str, str]) -> dict[str, list[str]]:
    """The hashes of the files of each pin that are kept, as options of a line."""
    command: Any = create_command("download")
    options, _ = command.parse_args(["-"])
    options.extra_index_urls, options.find_links = (
        [],
        [],
    )  # of what lies on one machine alone, no other one has the file
    found: dict[str, list[str]] = {}
    with command.main_context():
        collector = command._build_package_finder(options, command.get_default_session(options))._link_collector
        for name, line in pins.items():
            version = Requirement(line).specifier
            sources = collector.collect_sources(name, candidates_from_page=lambda _: ()).index_urls
            pages = [collector.fetch_response(source.link) for source in sources if source is not None]
            links = [link for page in pages if page is not None for link in parse_links(page)]
            kept = {link.hash for link in links if link.hash_name == "sha256" and is_kept(link.filename, version)}
            if kept:
                found[name] = [f"--hash=sha256:{one}" for one in sorted(kept)]
    return found


def is_kept(file: str, version: Any) -> bool:
    """Whether a file is of a version, and for one of our platforms and Pythons."""
    try:
        if not file.endswith(".whl"):
            return parse_sdist_filename(file)[1] in version
        _, found, _, tags = parse_wheel_filename(file)
    except ValueError:  # a name of the days before names had rules
        return False
    return found in version and any(
        PLATFORMS.fullmatch(tag.platform)
        and (tag.interpreter in PYTHONS or (tag.abi == "abi3" and tag.interpreter.startswith("cp3")))
        and not tag.abi.endswith("t")
        for tag in tags
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
