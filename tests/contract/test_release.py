"""A build is the same bytes each time, its links lead somewhere from any page, and a tag has to earn its release."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from requirements.release import problems
from tests.contract.source import ROOT

HOOK = ROOT / "hatch_build.py"

BUILT = ["src", "README.md", "LICENSE", "pyproject.toml", "hatch_build.py"]
"""Whatever a wheel is made of."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two wheels, built from two copies of the tree whose files have other times."""
    folder = tmp_path_factory.mktemp("wheels")
    return [_wheel(folder / name) for name in ("first", "second")]


def _wheel(folder: Path) -> Path:
    folder.mkdir()
    for name in BUILT:
        source, target = ROOT / name, folder / name
        if source.is_dir():  # copied without its times
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, copy_function=shutil.copyfile, ignore=ignored)
        else:
            shutil.copyfile(source, target)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return next((folder / "dist").glob("*.whl"))


def test_two_builds_are_the_same_bytes(wheels: list[Path]) -> None:
    """Whoever builds a release again can compare it with the published one."""
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_a_wheel_holds_the_package_alone(wheels: list[Path]) -> None:
    """No test, no document, and the marker of typed packages."""
    names = zipfile.ZipFile(wheels[0]).namelist()
    assert {name.split("/")[0] for name in names} == {"interlingua", "interlingua-0.1.0.dist-info"}
    assert "interlingua/py.typed" in names
    assert [name for name in names if re.search(r"\.(pyc|gguf)$|/test_", name)] == []


def test_the_page_of_the_package_has_links_that_lead_somewhere(wheels: list[Path]) -> None:
    """No link in the text is relative, and each link to a file names one that is in the repository."""
    metadata = message_from_bytes(zipfile.ZipFile(wheels[0]).read("interlingua-0.1.0.dist-info/METADATA"))
    address, text = _address(), str(metadata.get_payload())
    assert re.findall(r"\]\((?!https?:|mailto:|#)[^)]*", text) == []
    files = re.findall(rf"{re.escape(address)}/(?:blob|raw)/v0\.1\.0/([^)#\"\s]+)", text)
    assert [name for name in files if not (ROOT / name).exists()] == []
    assert len(files) > 10
    links = dict(str(value).split(", ", 1) for value in metadata.get_all("Project-URL") or ())
    assert links.keys() >= {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
    assert all(link.startswith(address) for link in links.values())


def test_the_address_of_the_project_stands_in_one_place() -> None:
    """So that a release changes one line."""
    listed = subprocess.run(
        ["git", "grep", "-l", "--", _address()], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert listed.stdout.split() in ([], ["pyproject.toml"])  # none outside a checkout


def _address() -> str:
    found = re.search(r'^address = "(.+?)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def _hook() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", HOOK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[a](docs/a.md#b)", "[a](https://x/blob/v1/docs/a.md#b)"),
        ("![a](bench/growth.png)", "![a](https://x/raw/v1/bench/growth.png)"),
        ('<img src="docs/a.svg">', '<img src="https://x/raw/v1/docs/a.svg">'),
        ("[a](https://b/c)", "[a](https://b/c)"),
        ("[a](#b) [c](mailto:d@e.example)", "[a](#b) [c](mailto:d@e.example)"),
    ],
)
def test_relative_links_become_links_to_a_tag(text: str, link: str) -> None:
    """Pictures are files, everything else is a page; other links stay."""
    assert _hook().absolute(text, "https://x", "v1") == link


PROJECT = '[project]\nversion = "1.2.0"\n[tool.hatch.metadata.hooks.custom]\naddress = "https://host.org/il"\n'


@pytest.mark.parametrize(
    ("tag", "pyproject", "changelog", "lines"),
    [
        ("v1.2.0", PROJECT, "# Changelog\n\n## 1.2.0 (2026-12-01)\n\n### Added\n\n- A.\n", []),
        ("v1.2.0", PROJECT, "## Not released yet\n\n## 1.2.0 (2026-12-01)\n", []),
        (
            "v1.2",
            PROJECT,
            "## 1.2.0 (2026-12-01)\n",
            ["the tag is v1.2, and the version of pyproject.toml is 1.2.0"],
        ),
        (
            "v1.2.0",
            PROJECT.replace("host.org", "host.example"),
            "## Not released yet\n\n### Fixed\n\n- B.\n\n## 1.2.0\n",
            [
                "CHANGELOG.md has no section `## 1.2.0 (YYYY-MM-DD)`",
                "CHANGELOG.md has entries under `## Not released yet`",
                "pyproject.toml: the address of the project is still https://host.example/il",
            ],
        ),
    ],
)
def test_a_tag_earns_its_release(tag: str, pyproject: str, changelog: str, lines: list[str]) -> None:
    """Version, changelog and address have to agree with it."""
    assert problems(tag, pyproject, changelog) == lines


def test_a_source_archive_can_test_itself(tmp_path: Path) -> None:
    """It holds whatever `make setup` and `make test` read."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"Makefile", "hatch_build.py", "requirements/dev.lock", "tests/conftest.py", "docs/support.md"}
