"""Where ids of what a provider keeps stand: in paths, queries, bodies and answers, by dialect.

Shape: one `Places` for each dialect, read in both directions, so that an answer and the request that repeats it agree.
A new place is one name in the facts of its dialect, or in a table here where every dialect has it.

Rules
- Members are looked for at any depth, except below members that hold a client's or a model's data: arguments, schemas,
  metadata, headers. `parameters` of a tool that the provider runs are settings of it, and no data.
- Below a root of `ROOTS` a path is an id, a word, an id, and so on.
"""

from __future__ import annotations

import re
from functools import cache
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from interlingua.dialects.table import get_service
from interlingua.wire.body import objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["GOOGLE_NAMES", "QUERY", "ROOTS", "Place", "Places", "Swap", "folded", "places_at", "root_of", "swap_ids"]

_IDS = (
    "approval_request_id", "assistant_id", "batch_id", "container", "container_id", "conversation", "conversation_id",
    "error_file_id", "file_id", "file_ids", "first_id", "input_file_id", "item_id", "last_id", "output_file_id",
    "part_ids", "previous_response_id", "response_id", "run_id", "skill_id", "thread_id", "upload_id",
    "vector_store_id", "vector_store_ids",
)  # fmt: skip
"""Members that hold an id, a list of ids, or an object with one, in every dialect: who takes what is not known."""
_NAMES = ("cachedContent", "cached_content", "fileSearchStoreNames", "fileUri", "file_search_store_names", "file_uri")
"""Members that hold a resource name of Google's, in every dialect."""
_DATA = (
    "arguments", "attributes", "env", "headers", "input_schema", "json_schema", "logit_bias", "logprobs", "metadata",
    "parameters", "schema",
)  # fmt: skip
"""Members whose inside is data."""
_OFFERED = ("", "function", "custom")
"""Types of what has a schema as its `parameters`; those of any other tool are settings."""
GOOGLE_NAMES = ("batches", "cachedContents", "fileSearchStores", "files", "operations")
"""Collections of which Google's resource names are made, as `files/abc`."""


class Places(NamedTuple):
    """Where ids stand in bodies of one kind."""

    ids: frozenset[str]
    """Members that hold an id, a list of ids, or an object, folded; `parent.name` for one in that member alone, `.name`
    at the top."""
    names: frozenset[str]
    """Members that hold a resource name of Google's, or a URI that ends in one, folded."""
    data: frozenset[str]
    """Members whose inside is not looked at."""
    maps: frozenset[str]
    """Members whose own members have names of the client's."""
    inside: tuple[str, ...]
    """Members below which every `id` is one, too."""
    words: frozenset[str]
    """One of them is the name of a member, folded, of every value that has a place."""
    marks: tuple[bytes, ...]
    """One of them stands in every JSON text that has a place, as a provider writes it."""


def folded(name: str) -> str:
    """The name that a reader sees who looks at neither case nor underscores."""
    return name.casefold().replace("_", "")


def _places(
    ids: Iterable[str] = (),
    *,
    names: Iterable[str] = (),
    data: Iterable[str] = (),
    maps: Iterable[str] = (),
    inside: tuple[str, ...] = (),
) -> Places:
    """The places of every dialect, and more."""
    all_ids, all_names = (*_IDS, *ids), (*_NAMES, *names)
    spelled = [name.partition(".")[0] or name[1:] for name in (*all_ids, *all_names, *inside)]  # a parent, or the top
    ends = [next((end for end in ("_id", "_ids") if name.endswith(end)), f'"{name}') for name in spelled]
    return Places(
        frozenset(map(folded, all_ids)),
        frozenset(map(folded, all_names)),
        frozenset({*_DATA, *data}),
        frozenset(maps),
        tuple([f"/{name}/" for name in inside]),
        frozenset([folded(name.partition(".")[0] or name[1:]) for name in (*all_ids, *all_names, *inside)]),
        tuple(dict.fromkeys(f'{end}"'.encode() for end in ends)),
    )


@cache
def places_at(dialect: str, *, is_kept: bool) -> Places:
    """Where ids stand in bodies of a dialect; `is_kept` says that they stand below one of `ROOTS`."""
    service = get_service(dialect)
    own = service.kept_places if is_kept else service.id_places
    return _places(own.ids, names=own.names, data=own.data, maps=own.maps, inside=own.inside)


ROOTS = (
    "/v1/responses",
    "/v1/files",
    "/v1/uploads",
    "/v1/batches",
    "/v1/conversations",
    "/v1/vector_stores",
    "/v1/containers",
    "/v1/messages/batches",
    "/upload/v1beta/files",
    "/upload/v1/files",
    *[f"/{version}/{kind}" for version in ("v1beta", "v1") for kind in ("cachedContents", "operations")],
    "/v1beta/files",
)
"""The paths below which a provider keeps something under ids."""
_ROOT = re.compile(rf"({'|'.join(map(re.escape, ROOTS))})(?:/|\Z)|(/v1(?:beta)?/models/.+:predictLongRunning)\Z")
QUERY = frozenset(map(folded, ("after", "before", "after_id", "before_id", *_IDS)))
"""Parameters of a query that hold an id, folded."""


class Place(NamedTuple):
    """One id, where it stands."""

    path: str
    """The JSON pointer of the member."""
    name: str
    """The name of the member, folded."""
    holder: dict[str, Any]
    """The object that has the member."""
    is_name: bool = False
    """Whether it is a resource name of Google's."""


Swap: TypeAlias = "Callable[[str, Place], str | None]"
"""The id that takes another one's place; None takes the member out."""


def root_of(path: str) -> str | None:
    """The root of `ROOTS` that a path stands at or below; a path that begins an operation is one itself."""
    match = _ROOT.match(path)
    return None if match is None else match[1] or match[2]


def swap_ids(value: object, places: Places, swap: Swap) -> object:
    """A JSON value with the id in every place that `swap` gives; what does not change is the same object."""
    names = frozenset[str]().union(*objects_in(value, places.data - {"parameters"}))
    if places.words.isdisjoint("\n".join(names).casefold().replace("_", "").split("\n")):
        return value
    ends = {place.rpartition(".")[2] for place in (*places.ids, *places.names)} | {"id" for _ in places.inside}
    return _Swapping(places, swap, frozenset([name for name in names if folded(name) in ends])).value(value, "", "")


class _Swapping:
    def __init__(self, places: Places, swap: Swap, names: frozenset[str]) -> None:
        """A walk that looks at members of `names` alone."""
        self._places = places
        self._swap = swap
        self._names = names

    def value(self, value: object, path: str, parent: str) -> object:
        """A value that the member `parent` holds, or a list that it holds."""
        if isinstance(value, list):
            items = cast("list[object]", value)
            others = [self.value(item, f"{path}/{number}", parent) for number, item in enumerate(items)]
            return others if any(map(is_not, others, items)) else items
        if not isinstance(value, dict):
            return value  # a text in a list
        members = cast("dict[str, Any]", value)
        changed: dict[str, Any] = {}
        is_map = parent in self._places.maps
        for name, inner in members.items():
            place = None if is_map or name not in self._names else self._place(name, parent, path, members)
            if place is not None:
                other = self._id(inner, place)
            elif isinstance(inner, dict | list) and (
                is_map
                or name not in self._places.data  # the inside of which is data
                or (name == "parameters" and members.get("type", "") not in _OFFERED)
            ):
                other = self.value(cast("object", inner), f"{path}/{name}", "" if is_map else name)
            else:
                continue
            if other is not inner:
                changed[name] = other
        if not changed:
            return members
        return {
            name: other for name, other in {**members, **changed}.items() if other is not None or name not in changed
        }

    def _place(self, name: str, parent: str, path: str, holder: dict[str, Any]) -> Place | None:
        """The place that a member is, or None."""
        places, plain = self._places, folded(name)
        is_name = plain in places.names
        is_inside = plain == "id" and any([mark in f"{path}/" for mark in places.inside])
        if is_name or is_inside or plain in places.ids or f"{folded(parent)}.{plain}" in places.ids:
            return Place(f"{path}/{name}", plain, holder, is_name)
        return None

    def _id(self, inner: object, place: Place) -> object:
        """The value in a place: an id, a list of ids, or an object that has places of its own."""
        if isinstance(inner, str):
            return self._swap(inner, place) if inner else inner
        if isinstance(inner, list):
            items = cast("list[object]", inner)
            others = [self._id(item, place) for item in items]
            return others if any(map(is_not, others, items)) else items
        return self.value(inner, place.path, place.name)
