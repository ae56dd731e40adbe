"""How much may be sent to the targets that a pattern names.

Rules
- A pattern is a target, `openai/gpt-5.6`, or a beginning of targets, `openai/*`; `*` is every target.
- The targets of a pattern share what it allows. An exact pattern wins, then the longest beginning; one applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from interlingua.errors import ConfigError
from interlingua.registry.spec import shown

__all__ = ["FIELDS", "MAX_ALLOWED", "Allowance", "allowance", "check_pattern"]

FIELDS = ("concurrency", "rpm", "tpm")
"""The limits that there are."""
MAX_ALLOWED = 1_000_000_000_000
"""The largest number that is taken for a limit."""


class Allowance(Struct, frozen=True, kw_only=True):
    """The limits of a pattern; None is no limit."""

    concurrency: int | None = None
    """Calls at the same time, from the moment one is sent until its answer is whole."""
    rpm: int | None = None
    """Requests in any 60 seconds."""
    tpm: int | None = None
    """Tokens in any 60 seconds, input and output."""


def allowance(members: Mapping[str, object]) -> Allowance:
    """The allowance with these members.

    Raises: ConfigError for another name, and for what is no whole number from 1 on.
    """
    for name, value in members.items():
        if name not in FIELDS:
            raise ConfigError(f"unknown limit {shown(name)}; known: {', '.join(FIELDS)}")
        if value is not None and (
            not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_ALLOWED
        ):
            raise ConfigError(f"{name} is a whole number from 1 on, not {shown(str(value))}")
    return Allowance(**cast("dict[str, int | None]", dict(members)))


def check_pattern(pattern: str) -> None:
    """Nothing.

    Raises: ConfigError for what is neither a target nor the beginning of targets.
    """
    if not isinstance(pattern, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise ConfigError(f"{shown(str(pattern))} names no target; a limit is for provider/model, provider/* or *")
    stem = pattern.removesuffix("*")
    provider, _, model = stem.partition("/")
    is_target = bool(provider and model) and stem == pattern
    is_beginning = stem != pattern and (bool(provider) or not stem)
    if not (is_target or is_beginning) or "*" in stem or "," in stem or stem != stem.strip():
        raise ConfigError(f"{shown(pattern)} names no target; a limit is for provider/model, provider/* or *")
