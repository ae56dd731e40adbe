"""Decisions on a request from the one reading of its body, before it is passed on or translated.

Rules
- Every question is answered from what was read: members by their names, the words of a history or of tools. Nothing is
  looked for in the text.
- A word is the name of a member, or the value of `role` or `type`, outside of data.
- A name is looked at where it stands: the type of a source or of bytes, the format of a sound, the head of a data URL.
- What a dialect itself calls a type is no other name of it (`mp3` in Chat, `audio/mp3` at Google).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import DIALECTS, get_service, services
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.gateway.offload.cost import is_cheap
from interlingua.types.change import Changes
from interlingua.wire.body import body_rules, objects_in, read_body
from interlingua.wire.media import media_type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._service import Service
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.change import Change
    from interlingua.wire.body import Body, BodyRules
    from interlingua.wire.json import WireStruct

__all__ = [
    "MAX_MODEL_CHARACTERS",
    "PASSED_RULES",
    "Head",
    "body_of",
    "checked_model",
    "missing",
    "nothing_said",
    "read_head",
    "read_object",
    "read_request",
    "respelled",
    "rules_of",
    "spelling_of",
]

_OUR_ID = re.compile(r"_il[a-z0-9]{22}")
"""The mark of a turn of the history from another dialect: our own ids."""
_ID_NAMES = ("id", "call_id", "tool_call_id", "tool_use_id")
_ACTING = re.compile(
    r"(?:web_?search|web_fetch|file_?search|code_interpreter|code_?execution|image_generation|mcp|computer_use|"
    r"google_?search|google_?maps|url_?context|tool_search)\w*",
    re.IGNORECASE,
)
"""Words of tools that the provider runs."""
_STATE = frozenset({"previous_response_id", "conversation", "cachedContent", "cached_content", "mcp_servers"})
"""Members that let a provider act, or keep something."""


class Head(msgspec.Struct, frozen=True, eq=False):
    """A request of which the body was read, and nothing was translated."""

    dialect: str
    """The dialect that it is in."""
    service: Service
    """The facts of that dialect beside its bodies."""
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
        return any([self._says(name) for name in self.service.message_members])

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        for name in self.service.message_members:
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
        history = self.service.message_members[0]
        if history in body.shaped:
            return True
        nodes = self.objects(history)
        if is_unusual is not None and any(map(is_unusual, nodes)):
            return False
        return not any([spelling_of(node) is not None for node in nodes])

    @property
    def respelled(self) -> tuple[Change, ...]:
        """The changes where media types stand under other names, and the body is therefore written anew."""
        history = self.service.message_members[0]
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
    return missing(get_service(name).message_members[0], "there is nothing to say to the model")


# Names of media types that a provider of the client's dialect does not take


MAX_TOLD = 8
"""How many names are told of one request."""
_TYPES = ("media_type", "mimeType", "mime_type")
_URLS = ("url", "image_url", "file_data", "document_url")
_LONGEST_HEAD = 128
_OWN = frozenset[str]().union(*[service.media_names for service in services().values()])


def spelling_of(node: dict[str, Any]) -> tuple[str, str] | None:
    """The other name of a media type that an object has, and the one that is taken; None where it has none."""
    for name in _TYPES:
        word = node.get(name)
        if type(word) is str and (standard := media_type_of(word)) != word and word not in _OWN:
            return word, standard
    word = node.get("format")
    if type(word) is str and "data" in node and word not in _OWN:
        plain = word if "/" in word else f"audio/{word}"
        standard = media_type_of(plain)
        return (word, standard) if standard != plain or "/" in word else None
    for name in _URLS:
        url = node.get(name)
        if type(url) is str and url.startswith("data:"):
            word = url[5:_LONGEST_HEAD].partition(",")[0].partition(";")[0]
            if (standard := media_type_of(word)) != word:
                return word, standard
    return None


def respelled(nodes: Iterable[dict[str, Any]], dialect: str, path: str) -> tuple[Change, ...]:
    """An entry for each other name that the objects of a history have."""
    changes = Changes(dialect, "decode_request")
    spellings = dict.fromkeys([spelling for node in nodes if (spelling := spelling_of(node)) is not None])
    for word, standard in list(spellings)[:MAX_TOLD]:
        changes.add("media_type_corrected", path, f"{word[:_LONGEST_HEAD]} is {standard}")
    return changes.done()


# Bodies of clients, each read once: what is wrong with one is the client's fault, with the status 400


MAX_MODEL_CHARACTERS = 1_024
"""How long the name of a model may be, a chain included."""
_DATA = ("arguments", "env", "headers", "labels", "logit_bias", "logprobs", "metadata", "parameters", "schema")
"""Members whose inside is somebody else's in any dialect."""
PASSED_RULES: BodyRules = body_rules(("model",), _DATA)
"""The rules for bodies of which the name of the model alone is read."""


@cache
def rules_of(dialect: str) -> BodyRules:
    """How the request bodies of a dialect are read: the members it defines, those that hold data, and usual forms."""
    wire: type[WireStruct] = import_module(f"{DIALECTS[dialect]}.wire").RequestWire
    shapes = {name: shape.kind for name, shape in SHAPES.get(dialect, {}).items()}
    return body_rules(wire.__struct_encode_fields__, (*_DATA, *get_service(dialect).data), shapes)


def read_request(body: bytes, dialect: str) -> Body:
    """The body of a request in a dialect; of any other request where that is empty.

    Raises: DecodeError, LimitExceededError with the status 400, and the place of what is ambiguous.
    """
    return read_body(body, rules_of(dialect) if dialect else PASSED_RULES)


def body_of(request: GatewayRequest, dialect: str) -> Body:
    """The body of a request in a dialect, read once.

    Raises: as `read_request`.
    """
    return read_request(request.body, dialect) if request.read is None else request.read


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is, on a route that takes no conversation.

    Raises: as `read_request`, and LimitExceededError with the status 413 for a body that would take long.
    """
    if not is_cheap(body):
        raise LimitExceededError("the body is too large, or holds too many values, for this path", status=413)
    return read_body(body).value


def checked_model(name: str) -> str:
    """The name of a model, which is short enough to be looked up and remembered.

    Raises: DecodeError with the status 400.
    """
    if len(name) > MAX_MODEL_CHARACTERS:
        raise DecodeError(f"/model: a name has at most {MAX_MODEL_CHARACTERS} characters", path="/model", status=400)
    return name
