"""What is decided from the one reading of a request's body, before it is passed on or translated.

Rules
- Every question is answered from what was read: members by their names, the words of a history or of tools. Nothing is
  looked for in the text.
- A word is the name of a member, or the value of `role` or `type`, outside of data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import get_service
from interlingua.errors import DecodeError
from interlingua.gateway.calls.reading import checked_model, rules_of
from interlingua.gateway.calls.spellings import respelled, spelling_of
from interlingua.wire.body import objects_in

if TYPE_CHECKING:
    from interlingua.dialects._service import Service
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.change import Change
    from interlingua.wire.body import Body

__all__ = ["Head", "missing", "nothing_said", "read_head"]

_OUR_ID = re.compile(r"_il[a-z0-9]{22}")
"""What tells that a turn of the history came from another dialect: our own ids."""
_ID_NAMES = ("id", "call_id", "tool_call_id", "tool_use_id")
_ACTING = re.compile(
    r"(?:web_?search|web_fetch|file_?search|code_interpreter|code_?execution|image_generation|mcp|computer_use|"
    r"google_?search|google_?maps|url_?context|tool_search)\w*",
    re.IGNORECASE,
)
"""What among the words of tools tells of one that the provider runs."""
_STATE = frozenset({"previous_response_id", "conversation", "cachedContent", "cached_content", "mcp_servers"})
"""Members that let a provider act, or keep something."""


class Head(msgspec.Struct, frozen=True, eq=False):
    """A request of which the body was read, and nothing was translated."""

    dialect: str
    """The dialect that it is in."""
    service: Service
    """What is to be known of that beside its bodies."""
    model: str
    """The model that the client names."""
    stream: bool
    """Whether it wants a stream."""
    json_array: bool
    """Whether it wants the stream as one JSON array."""
    body: Body
    """The body."""
    _words: dict[str, frozenset[str]] = {}

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered."""
        return self._says("tools")

    @property
    def says_something(self) -> bool:
        """Whether there is anything to say to the model."""
        return any([self._says(name) for name in self.service.said_in])

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        for name in self.service.said_in:
            if name in self.body.shaped:
                ids = SHAPES[self.dialect][name].ids(self.body.shaped[name])
            else:
                objects = self.objects(name)
                is_foreign = self.service.is_foreign
                if is_foreign is not None and any(map(is_foreign, objects)):
                    return True
                ids = [node[name] for node in objects for name in _ID_NAMES if type(node.get(name)) is str]
            if ids and _OUR_ID.search("\n".join(ids)) is not None:
                return True
        return False

    @property
    def is_committed(self) -> bool:
        """Whether the request lets the provider act or keep something, so that it must not run twice."""
        members = self.body.members
        if "store" in members and self.body.get("store") is True:
            return True
        if not _STATE.isdisjoint(members) and any([self._says(name) for name in _STATE]):
            return True
        return "tools" in members and any([_ACTING.fullmatch(word) is not None for word in self.words("tools")])

    @property
    def is_normal(self) -> bool:
        """Whether a provider of the dialect takes the body as it is written.

        Where it is not, the writer of the dialect says the same in a form that is taken.
        """
        body, is_unusual = self.body, self.service.is_unusual
        if body.repeats_in_data:
            return False
        history = self.service.said_in[0]
        if history in body.shaped:
            return True
        nodes = self.objects(history)
        if is_unusual is not None and any(map(is_unusual, nodes)):
            return False
        return not any([spelling_of(node) is not None for node in nodes])

    @property
    def respelled(self) -> tuple[Change, ...]:
        """What is said where media types stand under other names, and the body is therefore written anew."""
        history = self.service.said_in[0]
        return () if history in self.body.shaped else respelled(self.objects(history), self.dialect, "/messages")

    def objects(self, name: str) -> list[dict[str, Any]]:
        """The objects in a member, as reading has gathered them where it had the rules of this dialect."""
        body, rules = self.body, rules_of(self.dialect)
        if body.rules is rules and name in body.objects:
            return body.objects[name]
        return objects_in(body.get(name), rules.data)

    def words(self, name: str) -> frozenset[str]:
        """The words of a member, gathered the first time that somebody asks."""
        if name not in self._words:
            self._words[name] = self._gathered_words(name)
        return self._words[name]

    def _gathered_words(self, name: str) -> frozenset[str]:
        if name in self.body.shaped:
            return SHAPES[self.dialect][name].words(self.body.shaped[name])
        if name not in self.body:
            return frozenset()
        objects = self.objects(name)
        values = [node.get(name) for node in objects for name in ("role", "type")]
        return frozenset([value for value in values if type(value) is str]).union(*objects)

    def _says(self, name: str) -> bool:
        """Whether a member holds something."""
        shaped = self.body.shaped
        return bool(shaped[name] if name in shaped else self.body.get(name))


def read_head(http: GatewayRequest, name: str, body: Body) -> Head:
    """The head of a request in the dialect `name`, whose body was read.

    Raises: DecodeError with the place.
    """
    service = get_service(name)
    if service.read_path is not None:
        path = service.read_path(f"{http.path}?{http.query}")
        if path is None:
            end = service.asked_at.replace("{model}", "NAME").split("/", 2)[2]
            raise DecodeError(f"the path names no model: it must end in /{end}", status=400)
        return Head(name, service, checked_model(path.model), path.streams, path.json_array, body)
    stream = _member(body, "stream", bool)
    streams = service.streams if stream is None else stream
    return Head(name, service, checked_model(_member(body, "model", str) or ""), streams, False, body)


def _member(body: Body, name: str, kind: type) -> Any:
    """The value of a member; None where it says nothing."""
    value = body.get(name)
    if value is None or type(value) is kind:
        return value
    path, got = f"/{name}", type(value).__name__
    raise DecodeError(f"{path}: expected `{kind.__name__} | null`, got `{got}`", path=path, status=400)


def missing(member: str, hint: str) -> DecodeError:
    """The error of a body that lacks a member."""
    return DecodeError(f"/{member}: it is missing or empty; {hint}", path=f"/{member}", status=400)


def nothing_said(name: str) -> DecodeError:
    """The error of a body in the dialect `name` that says nothing to the model."""
    return missing(get_service(name).said_in[0], "there is nothing to say to the model")
