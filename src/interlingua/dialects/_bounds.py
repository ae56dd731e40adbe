"""The bounds of knobs, tools and names at the vendors' services: one table for each, and how a value is made to fit.

Rules
- A value beyond a bound becomes the nearest one, with an entry; what has no nearest one is refused in its place.
- A bound stands here where an official type, or a refusal of the vendor's own, states it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.schema.names import map_names
from interlingua.wire.json import pointer

if TYPE_CHECKING:
    from interlingua.types.change import Changes

__all__ = ["ANTHROPIC", "ANY", "GOOGLE", "OPENAI", "Bounds"]

LIMITS = frozenset({"max_tokens", "top_k"})
"""Limits that are none when they are below nothing, as servers of open models read them."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The bounds of a service; None where no bound is known."""

    knobs: Mapping[str, tuple[float, float]] = {}
    """The least and the most of a number; one that is not here is sent as it is."""
    stops: int | None = None
    """How many stop sequences."""
    blank_stops: bool = True
    """Whether a stop sequence may be empty, or nothing but white space."""
    choices: int | None = None
    """How many choices."""
    bias: tuple[float, float] | None = None
    """The least and the most of the bias of one token."""
    pairs: tuple[int, int, int] | None = None
    """How many pairs of metadata, and how many characters of a name and of a value."""
    cache_key: int | None = None
    """How many characters of the key for the prompt cache."""
    tools: int | None = None
    """How many tools."""
    unique_names: bool = False
    """Whether no two tools may have one name."""

    def within(self, name: str, value: Any, changes: Changes) -> Any:
        """The value of a knob, or the nearest one that is taken; None for one that stands for nothing."""
        match name:
            case "logit_bias":
                if self.bias is None:
                    return value
                least, most = self.bias
                bounded = {token: min(max(bias, least), most) for token, bias in value.items()}
                for token, bias in bounded.items():
                    if bias != value[token]:
                        which = "lowest" if bias == least else "highest"
                        changes.add("parameter_adjusted", pointer("logit_bias", token), f"{bias:.10g} is the {which}")
                return bounded
            case "metadata":
                return self._fitted_pairs(value, changes)
            case "cache_key":
                # A key for the prompt cache that is too long ends in a hash, so that no two keys become one.
                if self.cache_key is None or len(value) <= self.cache_key:
                    return value
                fitted = map_names((value,), "openai")[value]
                which = f"sent as {fitted!r}, of {self.cache_key} characters"
                changes.add("parameter_adjusted", "/cache_key", which)
                return fitted
            case _:
                pass
        least, most = self.knobs.get(name, (None, None))
        if least is None or most is None or not isinstance(value, int | float) or not (value < least or value > most):
            return value
        if name in LIMITS and value < 0:
            changes.add("parameter_unsupported", f"/{name}", f"{value} stands for no limit")
            return None
        nearest, which = (least, "lowest") if value < least else (most, "highest")
        changes.add("parameter_adjusted", f"/{name}", f"{nearest:.10g} is the {which}")
        return nearest

    def _fitted_pairs(self, pairs: dict[str, Any], changes: Changes) -> dict[str, Any]:
        """Metadata: of too many pairs the first ones, of too long a value its beginning; a name cannot be cut."""
        if self.pairs is None:
            return pairs
        most, name_chars, value_chars = self.pairs
        fitted: dict[str, Any] = {}
        for name, value in pairs.items():
            place = pointer("metadata", name)
            if len(name) > name_chars:
                changes.add("parameter_unsupported", place, f"a name has {name_chars} characters at most")
            elif len(fitted) == most:
                changes.add("parameter_unsupported", place, f"there are {most} pairs at most")
            elif isinstance(value, str) and len(value) > value_chars:
                changes.add("parameter_adjusted", place, f"the first {value_chars} of {len(value)} characters")
                fitted[name] = value[:value_chars]
            else:
                fitted[name] = value
        return fitted


ANY = Bounds()
"""A service of which nothing is known."""
OPENAI = Bounds(
    knobs={
        "max_tokens": (1, inf),
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "presence_penalty": (-2.0, 2.0),
        "frequency_penalty": (-2.0, 2.0),
        "logprobs": (0, 20),
        "n": (1, inf),
    },
    stops=4,
    choices=128,
    bias=(-100.0, 100.0),
    pairs=(16, 64, 512),
    cache_key=64,
)
"""OpenAI's own services; other servers of its dialects have other bounds. How many tools they take is not stated."""
ANTHROPIC = Bounds(
    knobs={"temperature": (0.0, 1.0), "top_p": (0.0, 1.0), "top_k": (0, inf)}, blank_stops=False, unique_names=True
)
"""Messages, wherever it is served."""
GOOGLE = Bounds(
    knobs={
        "max_tokens": (1, inf),
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "top_k": (0, inf),
        "seed": (-(2**31), 2**31 - 1),
        "presence_penalty": (-2.0, 2.0),
        "frequency_penalty": (-2.0, 2.0),
        "logprobs": (0, 20),
        "n": (1, inf),
    },
    stops=5,
    choices=8,
    tools=512,
    unique_names=True,
)
"""Google's own services."""
