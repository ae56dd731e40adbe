"""Other people's clients: the lines that lead each to a gateway, read from `clients.toml`.

Rules
- A key stands in a variable of the environment, never in code.
- One table for `il connect`, for the gallery, which runs these very lines, and for the guide that the gallery writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Access", "Client", "Surface", "clients", "lines"]

Language: TypeAlias = Literal["python", "js", "shell"]


class Access(NamedTuple):
    """The address, key and model that a client gets."""

    url: str
    """The gateway's address."""
    key: str
    """The key that it takes, or the words by which a shell finds it."""
    model: str
    """The model."""

    def put_into(self, text: str) -> str:
        """The text with all three in their places."""
        return text.replace("{url}", self.url).replace("{key}", self.key).replace("{model}", self.model)


class Surface(NamedTuple):
    """How a client is led to the gateway in one dialect."""

    variables: Mapping[str, str]
    """Variables of its environment."""
    code: str = ""
    """Lines of its own language."""
    file: str = ""
    """A file that it reads; `code` is what stands in it."""
    note: str = ""
    """A note for its users."""


class Client(NamedTuple):
    """One client."""

    title: str
    """Its name for people."""
    language: Language
    """The language that it is written for."""
    packages: tuple[str, ...]
    """The packages, in the versions that were tried."""
    surfaces: Mapping[str, Surface]
    """The dialects that it speaks, the best one first."""
    in_gallery: bool = True
    """Whether the gallery runs it; the official SDKs are run by the tests."""


def clients() -> dict[str, Client]:
    """Every client by its name."""
    import tomllib
    from importlib.resources import files

    table = tomllib.loads(files("interlingua.cli").joinpath("clients.toml").read_text(encoding="utf-8"))
    made: dict[str, Client] = {}
    for name, row in table.items():
        surfaces = {dialect: Surface(**facts) for dialect, facts in row.items() if isinstance(facts, dict)}
        packages = tuple(row["packages"])
        made[name] = Client(row["title"], row["language"], packages, surfaces, row.get("in_gallery", True))
    return made


def lines(surface: Surface, access: Access) -> list[str]:
    """The lines that a user types and writes: variables for the shell, then code or a file."""
    notes = [f"# {surface.note}"] if surface.note else []
    exports = [f"export {name}={access.put_into(value)}" for name, value in surface.variables.items()]
    code = access.put_into(surface.code).strip().splitlines()
    head = [f"# {surface.file}"] if surface.file else []
    return [*notes, *exports, *(["", *head, *code] if code else [])]
