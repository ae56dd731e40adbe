"""Where MCP servers are: a command, an address, or the servers of a `.mcp.json`.

Rules
- What begins with `http://` or `https://` is an address; a path, or a text that ends in `.json`, is a file; anything
  else is a command line.
- In a file `${NAME}` and `${NAME:-default}` stand for environment variables; one that is not set is an error. A server
  with `"disabled": true` is passed over.
- A command sees the few variables of the environment that every program needs, and those given to it; no keys.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from interlingua.errors import ConfigError, DecodeError, Error, UsageError, kind_of
from interlingua.wire.json import decode_any

__all__ = ["Address", "Command", "Place", "places_of"]


class Command(NamedTuple):
    """A server that is started, and spoken to over its standard input and output."""

    name: str
    """The name of the server here."""
    program: str
    """The program to start."""
    arguments: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] | None = None
    """Variables of its environment, beside the few that every program needs."""
    cwd: str | None = None
    """The folder it starts in."""
    is_named: bool = True
    """Whether the caller gave the name, which goes before the server's own."""


class Address(NamedTuple):
    """A server that is reached over HTTP."""

    name: str
    """The name of the server here."""
    url: str
    """The address of the server."""
    headers: dict[str, str]
    """Further headers of each request."""
    is_sse: bool = False
    """Whether it speaks the older transport, with a stream of events of its own."""
    is_named: bool = True
    """Whether the caller gave the name, which goes before the server's own."""


Place: TypeAlias = Command | Address
"""Where a server is."""

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")
_KINDS = {"http": False, "streamable-http": False, "streamable_http": False, "sse": True}


def places_of(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[Place, ...]:
    """The servers that `source` names.

    Raises: ConfigError, for a file that cannot be read or says something else, and for an empty command; UsageError,
    for what is neither a text nor a path.
    """
    if not isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"il.mcp(…) takes a command, an address or the path of a .json file, not {kind_of(source)}")
    if isinstance(source, os.PathLike) or source.endswith(".json"):
        if name or env or cwd or headers:
            raise ConfigError("name, env, cwd and headers of the servers of a file stand in the file")
        return _of_file(Path(source))
    if source.startswith(("http://", "https://")):
        host = re.sub(r"^https?://(?:[^@/]*@)?|[:/?#].*", "", source)
        return (Address(name or host, source, dict(headers or {}), is_named=name is not None),)
    try:
        program, *arguments = shlex.split(source, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(f"the command of an MCP server is empty or has an open quote: {error}") from None
    folder = None if cwd is None else os.fspath(cwd)
    variables = None if env is None else dict(env)
    command = Command(name or Path(program).stem, program, tuple(arguments), variables, folder)
    return (command._replace(is_named=name is not None),)


def _of_file(path: Path) -> tuple[Place, ...]:
    try:
        whole: object = decode_any(path.read_bytes())
    except (OSError, Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: {reason}") from None
    members = cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}
    servers: object = members.get("mcpServers", members.get("servers"))
    if not isinstance(servers, dict):
        raise ConfigError(f"{path}: no object mcpServers")
    places: list[Place] = []
    for name, entry in cast("dict[str, Any]", servers).items():
        try:
            members: dict[str, Any] = _expanded(entry) if isinstance(entry, dict) else {}
            if members.get("disabled") is not True:
                places.append(_of_entry(name, members))
        except DecodeError as error:
            raise ConfigError(f"{path}: server {name}: {error.message}") from None
    return tuple(places)


def _of_entry(name: str, members: dict[str, Any]) -> Place:
    if "url" in members:
        kind = members.get("type", "http")
        if kind not in _KINDS:
            raise DecodeError(f"type {kind!r} is none of {', '.join(_KINDS)}")
        return Address(name, _text(members, "url"), _texts(members, "headers") or {}, is_sse=_KINDS[kind])
    if "command" not in members:
        raise DecodeError("neither a command nor a url")
    arguments = members.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(item, str) for item in cast("list[object]", arguments)):
        raise DecodeError("args is not a list of texts")
    folder = _text(members, "cwd") if "cwd" in members else None
    return Command(name, _text(members, "command"), tuple(cast("list[str]", arguments)), _texts(members, "env"), folder)


def _text(members: dict[str, Any], name: str) -> str:
    value = members[name]
    if not isinstance(value, str) or not value:
        raise DecodeError(f"{name} is not a text")
    return value


def _texts(members: dict[str, Any], name: str) -> dict[str, str] | None:
    value: object = members.get(name)
    if value is None:
        return None
    if not isinstance(value, dict) or not all(
        isinstance(item, str) for item in cast("dict[str, object]", value).values()
    ):
        raise DecodeError(f"{name} is not an object of texts")
    return cast("dict[str, str]", value)


def _expanded(value: Any) -> Any:
    """`value` with the variables in its texts filled in."""
    if isinstance(value, str):
        return _VARIABLE.sub(_variable, value)
    if isinstance(value, list):
        return [_expanded(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _expanded(item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def _variable(match: re.Match[str]) -> str:
    value = os.environ.get(match["name"]) or match["default"]
    if value is None:
        raise DecodeError(f"the environment has no {match['name']}")
    return value
