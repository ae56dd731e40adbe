"""Declared capabilities of a model: read from the options of a DSN and the tables of a file.

Rules
- A switch is `0` or `1` in a DSN, `false` or `true` in a file; a number of tokens is a whole number from 1 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.errors import ConfigError
from interlingua.registry.spec import shown
from interlingua.types.capabilities import FEATURES, Capabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DECLARED", "declared", "declared_text"]

_NUMBERS = ("context_tokens", "max_output_tokens")
_SWITCHES = tuple([feature for feature in FEATURES if feature != "text"])
DECLARED: tuple[str, ...] = (*_SWITCHES, *_NUMBERS)
"""The fields that a DSN and a file can say."""
_MAX_TOKENS = 1_000_000_000


def declared(members: Mapping[str, object]) -> Capabilities:
    """The capabilities that a table says.

    Raises: ConfigError for another name, for a switch that is no truth value and for a number that is none.
    """
    for name, value in members.items():
        if name not in DECLARED:
            raise ConfigError(f"unknown capability {shown(name)}; known: {', '.join(DECLARED)}")
        if name in _NUMBERS:
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MAX_TOKENS:
                raise ConfigError(f"{name} is a whole number from 1 on, not {shown(str(value))}")
        elif not isinstance(value, bool):
            raise ConfigError(f"{name} is true or false, not {shown(str(value))}")
    capabilities: Any = dict(members)
    return Capabilities(**capabilities)


def declared_text(members: Mapping[str, str]) -> Capabilities:
    """The capabilities that the options of a DSN say.

    Raises: ConfigError as `declared`; it holds nothing of the values.
    """
    values: dict[str, object] = {}
    for name, text in members.items():
        if name in _NUMBERS:
            if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= _MAX_TOKENS):
                raise ConfigError(f"{name} takes a whole number from 1 on")
            values[name] = int(text)
        elif text not in ("0", "1"):
            raise ConfigError(f"{name} takes 0 or 1")
        else:
            values[name] = text == "1"
    return declared(values)
