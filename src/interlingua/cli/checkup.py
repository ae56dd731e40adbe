"""The chapters of `il doctor`; nothing is sent and no key is read out."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import Error
from interlingua.registry.resolve import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Finding",
    "addresses",
    "aliases",
    "entries",
    "extras",
    "keys",
    "logins",
    "model",
    "state",
    "versions",
    "weights",
]

NAME = re.compile(r"[A-Za-z0-9._-]+")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
MODEL_VARIABLE = "INTERLINGUA_MODEL"


class Finding(NamedTuple):
    """One line."""

    well: bool | None
    """True for what is well, False for what is configured and broken, None for what is just not there."""
    text: str
    """The finding."""


def versions() -> Iterator[Finding]:
    """Python, interlingua and what it needs."""
    yield Finding(True, f"Python {platform.python_version()} on {sys.platform}")
    yield Finding(True, f"interlingua {metadata.version('interlingua')}")
    for name in _requirements().get("", ()):
        version = _version(name)
        yield Finding(version is not None, f"{name} {version or 'is missing: pip install interlingua'}")


def extras() -> Iterator[Finding]:
    """Each extra: there, or the line that brings it."""
    for extra, names in _requirements().items():
        if not extra or extra == "all":
            continue
        missing = [name for name in names if _version(name) is None]
        versions = ", ".join(f"{name} {_version(name)}" for name in names)
        yield (
            Finding(None, f"{extra}: pip install 'interlingua[{extra}]'")
            if missing
            else Finding(True, f"{extra}: {versions}")
        )


def model() -> Iterator[Finding]:
    """The targets of `INTERLINGUA_MODEL`."""
    spec = os.environ.get(MODEL_VARIABLE)
    if not spec:
        yield Finding(None, f"{MODEL_VARIABLE} is not set; -m names a model each time")
        return
    yield _resolved(f"{MODEL_VARIABLE}={spec}", spec)


def keys() -> Iterator[Finding]:
    """The variables that hold a key, whose it is, and where it is sent."""
    variables: dict[str, dict[str, list[str]]] = {}
    unused: dict[str, str] = {}
    environ = default_registry().environment()
    for row in default_registry().providers():
        variable, *others = [name for name in row.key_env if environ.get(name)] or [None]
        if variable and not row.problem:
            unused |= {other: variable for other in others if other and environ[other] != environ[variable]}
            variables.setdefault(variable, {}).setdefault(row.base_url, []).append(row.name)
    for variable, addresses in variables.items():
        places = "; ".join(f"{', '.join(names)} at {address}" for address, names in addresses.items())
        yield Finding(True, f"{variable}: {places}")
    for variable, first in unused.items():
        yield Finding(None, f"{variable}: set, but {first} comes before it")
    if not variables:
        yield Finding(None, "none found; `il providers` names the variable of each provider")


def logins() -> Iterator[Finding]:
    """The providers that are reached by a login, its library, and the variables that choose a credential."""
    from interlingua.registry.logins.table import LIBRARIES, variables_of

    environ = default_registry().environment()
    rows_by_login: dict[str, list[str]] = {}
    for row in default_registry().providers():
        name = row.key.removeprefix("login ")
        if name in LIBRARIES and row.key != name and not row.problem and "{" not in row.base_url:
            rows_by_login.setdefault(name, []).append(row.name)
    for name, rows in rows_by_login.items():
        library = LIBRARIES[name]
        version = _version(library)
        chosen = [variable for variable in variables_of(name) if environ.get(variable)]
        origin = (
            f"from {', '.join(chosen)}" if chosen else "no variable chooses a credential; the library looks for one"
        )
        there = f"{library} {version}" if version else f"pip install 'interlingua[{name}]'"
        yield Finding(version is not None, f"{name} ({there}): {', '.join(rows)}; {origin}")
    if not rows_by_login:
        yield Finding(None, "none; ?login=aws, azure or google in a DSN stands in place of a key")


def addresses() -> Iterator[Finding]:
    """The providers that are asked elsewhere than at their own address, and who says so."""
    moved = [row for row in default_registry().providers() if row.origin not in ("built in", "code")]
    for row in moved:
        if not row.problem:
            yield Finding(True, f"{row.name} at {row.base_url}, from {row.origin}")
    if not moved:
        yield Finding(None, "each provider at its own; OPENAI_BASE_URL and its like, and LLM_<NAME>, name others")


def entries() -> Iterator[Finding]:
    """The providers that `LLM_<NAME>` variables define, and every bad entry."""
    loaded = default_registry().load_env()
    for name in loaded.providers:
        yield Finding(True, f"provider {name}")
    for problem in loaded.problems:
        yield Finding(False, problem)
    if not (loaded.providers or loaded.problems):
        yield Finding(None, "none; LLM_WORK='openai://gateway.example/v1?key_env=WORK_KEY' would make `work/…`")


def aliases() -> Iterator[Finding]:
    """Every alias and where it leads."""
    defined = default_registry().aliases()
    for name, spec in defined.items():
        yield _resolved(f"{name} = {spec}", spec)
    if not defined:
        yield Finding(None, "none; LLM_SMART='openai/gpt-5.6,local/tiny' would make `smart`")


def state() -> Iterator[Finding]:
    """Where the health of targets is kept, and whether that place answers."""
    from interlingua.client.state import STATE_VARIABLE, health_store

    try:
        store = health_store()
        healths = store.snapshot()
    except Error as error:
        yield Finding(False, error.message)
        return
    if store.problem:
        yield Finding(False, f"{STATE_VARIABLE}: {store.problem}")
    elif store.immediate:
        yield Finding(None, f"each process for itself; {STATE_VARIABLE}=file would share it")
    else:
        avoided = [name for name, health in healths.items() if health.state in ("benched", "suspended")]
        yield Finding(True, f"{STATE_VARIABLE} is shared{'; not asked now: ' if avoided else ''}{', '.join(avoided)}")


def weights() -> Iterator[Finding]:
    """The local models that were pulled, and those that could be."""
    from interlingua.local.commands import models

    try:
        rows = models()
    except Error as error:
        yield Finding(None, error.message)
        return
    for row in rows:
        size = f"{row.size_bytes / 1e6:,.0f} MB"
        yield Finding(
            row.pulled or None, f"local/{row.name} ({size}){'' if row.pulled else f': il models pull {row.name}'}"
        )


def _resolved(name: str, spec: str) -> Finding:
    """Whether a spec leads somewhere, with a key for each target."""
    from interlingua.dialects._contract import Encoded

    try:
        for endpoint in default_registry().resolve(spec):
            if not endpoint.credential.dynamic:
                endpoint.http_request(Encoded(path="", body=b""))
    except Error as error:
        return Finding(False, f"{name}: {error.message}")
    return Finding(True, name)


def _requirements() -> dict[str, list[str]]:
    """The names of distributions that interlingua asks for, by extra; the empty extra is the plain install."""
    requirements: dict[str, list[str]] = {}
    for line in metadata.requires("interlingua") or ():
        extra, name = EXTRA.search(line), NAME.match(line)
        if name and not (sys.platform == "win32" and "sys_platform != 'win32'" in line):
            requirements.setdefault(extra[1] if extra else "", []).append(name[0])
    return requirements


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
