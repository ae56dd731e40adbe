"""Texts as vectors, and documents in the order of their relevance: what is asked, and what is answered.

Rules
- Inputs keep their order: vector `n` belongs to input `n`.
- `vectors` has one type, lists of floats, whatever the wire has. Packed numbers are unpacked when somebody reads them.
- Vectors of two models do not compare, so an answer is of one model alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from sys import byteorder
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from interlingua.errors import ConfigError, UsageError
from interlingua.types.change import Change
from interlingua.types.content import OpaquePart
from interlingua.types.response import Attempt
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = [
    "EmbedInput", "EmbedRequest", "Embeddings", "InputType", "Packed", "Ranked", "Ranking", "RerankRequest",
    "floats_of", "packed_of",
]  # fmt: skip

InputType: TypeAlias = Literal["query", "document", "similarity", "classification", "clustering"]
"""The purpose of an embedded text: to search with, to be found, or to be compared, sorted or grouped with others."""
EmbedInput: TypeAlias = str | OpaquePart
"""A text, or an input that only the dialect understands in which it came: tokens, a picture."""
Packed: TypeAlias = list[float] | bytes
"""A vector as it came: numbers, or packed 32-bit floats, little-endian."""


def floats_of(packed: Packed) -> list[float]:
    """The numbers of a vector."""
    if isinstance(packed, list):
        return packed
    numbers = array("f", packed)
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def packed_of(vector: Packed) -> bytes:
    """A vector as packed 32-bit floats, little-endian."""
    if isinstance(vector, bytes):
        return vector
    numbers = array("f", vector)
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


class EmbedRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """Texts that are to become vectors."""

    inputs: tuple[EmbedInput, ...]
    """The inputs to embed, one vector each."""
    dimensions: int | None = None
    """How many numbers a vector has; None: as many as the model gives."""
    input_type: InputType | None = None
    """The purpose of the texts, where the model makes a difference."""
    user: str | None = None
    """A stable id of the end user, for the provider's abuse checks."""
    extra: dict[str, dict[str, Any]] = {}
    """Further wire members, by dialect, sent as they are to that dialect only."""


class Embeddings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, eq=False, dict=True):
    """The vectors of an `EmbedRequest`, in the order of its inputs."""

    packed: tuple[Packed, ...] = ()
    """The vectors as they came; `vectors` gives them in one form."""
    usage: Usage = Usage()
    """Tokens that were read; nothing is written."""
    model: str = ""
    """The target that served, `provider/model`; the wire's own string from a pure decoder."""
    wire_model: str | None = None
    """The provider's own model id."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    changes: tuple[Change, ...] = ()
    """The changes that translation made, there and back."""
    attempts: tuple[Attempt, ...] = ()
    """Every try, of all requests that it took."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""

    @property
    def vectors(self) -> list[list[float]]:
        """The vectors, each a list of floats; unpacked when they are asked for the first time."""
        vectors = vars(self).get("vectors")
        if vectors is None:
            vectors = vars(self)["vectors"] = [floats_of(each) for each in self.packed]
        return vectors

    @property
    def vector(self) -> list[float]:
        """The vector of the only input.

        Raises: UsageError where there are several, or none.
        """
        if len(self.packed) != 1:
            raise UsageError(f"there are {len(self.packed)} vectors: `vectors` has them all")
        return self.vectors[0]

    @property
    def dimensions(self) -> int:
        """How many numbers each vector has; 0 where there is none."""
        if not self.packed:
            return 0
        first = self.packed[0]
        return len(first) if isinstance(first, list) else len(first) // 4

    def numpy(self) -> NDArray[float32]:
        """The vectors as a NumPy array of 32-bit floats, one row each.

        Raises: ConfigError where NumPy is not installed.
        """
        try:
            import numpy  # noqa: ICN001 - an extra, loaded when it is used
        except ImportError:
            raise ConfigError("vectors as an array need NumPy: pip install 'interlingua[numpy]'") from None
        joined = b"".join(map(packed_of, self.packed))
        return numpy.frombuffer(joined, dtype="<f4").astype("float32").reshape(len(self.packed), self.dimensions)

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, place: int) -> list[float]:
        """The vector of one input."""
        return self.vectors[place]

    def __iter__(self) -> Iterator[list[float]]:
        return iter(self.vectors)

    def __repr__(self) -> str:
        """How many vectors of how many numbers, and by whom."""
        return f"<Embeddings {len(self.packed)} x {self.dimensions} {self.model}>".replace(" >", ">")


class RerankRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """Documents that are to be put in the order of their relevance."""

    query: str
    """The text to search for."""
    documents: tuple[str, ...]
    """The documents."""
    top_n: int | None = None
    """How many of the best are wanted; None for all."""
    extra: dict[str, dict[str, Any]] = {}
    """Further wire members, by dialect, sent as they are to that dialect only."""


class Ranked(msgspec.Struct, frozen=True):
    """One document in its place."""

    index: int
    """Which of the documents it is, from 0."""
    score: float
    """How relevant it is: more is better, and only scores of one answer compare."""
    document: str = ""
    """The document itself."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Documents by their relevance, the best first."""

    results: tuple[Ranked, ...] = ()
    """The documents, the best first."""
    usage: Usage = Usage()
    """Tokens that were read, where the provider counts them."""
    model: str = ""
    """The target that served, `provider/model`; the wire's own string from a pure decoder."""
    wire_model: str | None = None
    """The provider's own model id."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    changes: tuple[Change, ...] = ()
    """The changes that translation made, there and back."""
    attempts: tuple[Attempt, ...] = ()
    """Every try."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Ranked:
        """The document in a place; 0 is the best."""
        return self.results[place]

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.results)
