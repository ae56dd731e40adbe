"""The shared state of the steps that fit a schema: the schema at hand, its place, and its rewrites."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from interlingua.schema.convert import Items, JsonText, Members, Union
from interlingua.wire.json import encode, pointer

if TYPE_CHECKING:
    from interlingua.schema.convert import Step
    from interlingua.schema.subset import Subset
    from interlingua.schema.walk import Schema

__all__ = ["Place", "Rewrite", "Walker", "Work", "annotated", "any_value", "kinds_of"]

LONGEST_TOLD = 300
"""Characters of a keyword's value that a description tells."""


class Rewrite(NamedTuple):
    """One thing that was rewritten."""

    path: str
    """RFC 6901 pointer into the caller's schema."""
    why: str
    """The keyword that the target does not take, or the change, in one clause."""


class Place(NamedTuple):
    """Where a schema stands."""

    path: str = ""
    """RFC 6901 pointer into the caller's schema."""
    refs: tuple[str, ...] = ()
    """The references on the way that were written out."""
    depth: int = 0
    """How deep it nests."""
    root: bool = False
    """Whether it is the whole schema."""

    def below(self, *steps: str | int) -> Place:
        """The place of a schema below this one."""
        return Place(f"{self.path}{pointer(*steps)}", self.refs, self.depth + 1)


class Walker(Protocol):
    """The walker of the schema."""

    subset: Subset
    """The subset that the target takes."""
    rewrites: list[Rewrite]
    """The rewrites so far."""
    converts: bool
    """Whether any value looks different on the wire."""
    root: Schema
    """The caller's whole schema."""
    definitions: dict[str, Schema]
    """The definitions, as they are sent."""

    @property
    def sent_root(self) -> Schema:
        """A schema in which the references that are sent lead to what the caller's do."""
        ...

    def below(self, form: object, place: Place, *steps: str | int) -> tuple[Schema, Step | None]:
        """A schema that stands `steps` below a place as it is sent, and what becomes of its values."""
        ...

    def node(self, form: object, place: Place) -> tuple[Schema, Step | None]:
        """One schema as it is sent, and what becomes of its values."""
        ...


class Work:
    """One schema under rewriting."""

    __slots__ = ("node", "notes", "place", "step", "walker")

    def __init__(self, walker: Walker, node: Schema, place: Place) -> None:
        """The work on `node`."""
        self.walker: Walker = walker
        """The walker of the schema."""
        self.node: Schema = node
        """The schema, as far as it is rewritten."""
        self.place: Place = place
        """Where it stands."""
        self.notes: list[str] = []
        """The notes for its description."""
        self.step: Step | None = None
        """The conversion of its values."""

    @property
    def subset(self) -> Subset:
        """The subset that the target takes."""
        return self.walker.subset

    def rewrote(self, why: str, *steps: str | int) -> None:
        """Record that something was rewritten."""
        self.walker.rewrites.append(Rewrite(f"{self.place.path}{pointer(*steps)}", why))

    def tell(self, keyword: str, value: object) -> None:
        """Tell in the description what no keyword says."""
        text = encode(value).decode()
        self.notes.append(f"{keyword} {text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + '…'}")

    def convert(self, step: Step) -> None:
        """Say what becomes of the values."""
        if not isinstance(step, Items | Members | Union) or (isinstance(step, Members) and step.optional):
            self.walker.converts = True
        self.step = step

    def below(self, form: object, *steps: str | int) -> tuple[Schema, Step | None]:
        """A schema below this one as it is sent, and what becomes of its values."""
        return self.walker.below(form, self.place, *steps)


def annotated(work: Work, sentence: str = "") -> Schema:
    """The schema, with everything that is to be told in its description."""
    constraints = f"Constraints: {', '.join(work.notes)}." if work.notes else ""
    texts = [text for text in (work.node.get("description"), sentence, constraints) if isinstance(text, str) and text]
    if sentence or constraints:
        work.node["description"] = "\n".join(texts)
    return work.node


def any_value(work: Work, sentence: str) -> tuple[Schema, Step | None]:
    """A string that holds a value as JSON text, for what the target cannot describe."""
    work.rewrote("a value that the target cannot describe travels as JSON text")
    for keyword, value in work.node.items():
        if keyword not in ("type", "title", "description", "additionalProperties", "$schema", "$id", "$defs"):
            work.tell(keyword, value)
    annotations = {keyword: work.node[keyword] for keyword in ("title", "description") if keyword in work.node}
    work.node = {"type": "string", **annotations}
    work.convert(JsonText())
    return annotated(work, sentence), work.step


def kinds_of(schema: Schema) -> list[str]:
    """The types that a schema names."""
    types = schema.get("type")
    return [types] if isinstance(types, str) else list(types or ())
