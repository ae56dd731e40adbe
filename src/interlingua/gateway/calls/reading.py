"""Bodies of clients: whether one is cheap to read, the one reading of each, and what is decided from that.

Strategy: a body is read once. What is decided before a target is asked is decided from that reading (`Head`), and so is
whether it names other models than its key may ask for.

Rules of reading
- What is wrong with a body is the client's fault, with the status 400 and the place.
- What costs is the number of values far more than the bytes: an object takes about 7 µs to be read, decoded and
  encoded, a megabyte of text 20 ms, and one of escapes 40 ms. So a cheap body takes 80 ms at most, and most of them a
  tenth of that (measured on one of two shared cores, November 2026; `fuzz/shapes.py` has the shapes).
- A bound of the number that is found at once is looked at first. Only where it is beyond, as with program text, what
  stands in strings is left out of the count.

Rules of the head
- Every question to a head is answered from what was read: members by their names, the words of a history or of tools.
  Nothing is looked for in the text.
- A word is the name of a member, or the value of `role` or `type`, outside of data.
- A name is looked at where it stands: the type of a source or of bytes, the format of a sound, the head of a data URL.
- What a dialect itself calls a type is no other name of it (`mp3` in Chat, `audio/mp3` at Google).

Rules of other models
- Only where the key or the policy has a list of models; for others such members are as any that is not known.
- A list of models, or a deployment, is passed on if the key may ask for each; else it is taken out, with an entry. What
  chooses a model or a provider by other means than a name, such as its address, cannot be checked, and is taken out.
- A model anywhere else, as in a tool that the provider runs (also one that the conversation brings, and its settings),
  in how Google routes, or in what our own format writes over a request, is refused (403) if the key may not ask for
  it: to take it out would have another one run. What is said in a conversation is not looked at.

Source: OpenRouter "Model Routing", "Provider Routing", "Transforms", "Server Tools"; LiteLLM "Fallbacks"; OpenAI "Image
generation", "Tool search"; Vertex "RoutingConfig"; LiteLLM "Clientside LLM Credentials"; OpenAI
"WebSocket mode", read 2026-11-23.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import DIALECTS, get_service, services
from interlingua.errors import BadRequestError, DecodeError, LimitExceededError, PermissionDeniedError
from interlingua.types.change import Changes
from interlingua.wire.body import body_rules, body_with, folded, objects_in, read_body
from interlingua.wire.media import media_type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from interlingua.dialects._service import Override, Service
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.change import Change
    from interlingua.wire.body import Body, BodyRules
    from interlingua.wire.json import WireStruct

__all__ = [
    "CHEAP_BYTES",
    "MAX_CONTAINERS",
    "MAX_MODEL_CHARACTERS",
    "MAX_VALUES",
    "PASSED_RULES",
    "Head",
    "body_at_hand",
    "body_of",
    "check_overrides",
    "check_values",
    "checked_model",
    "is_cheap",
    "missing",
    "nothing_said",
    "other_models",
    "overrides",
    "posted_body",
    "read_head",
    "read_object",
    "read_request",
    "respelled",
    "rules_of",
    "spelling_of",
]

CHEAP_BYTES = 65_536
"""Whatever is in a body of that size, it is cheap."""
_MOST_BYTES = 2_097_152
"""A larger body is never cheap."""
_CHEAP_CONTAINERS = 6_000
_CHEAP_VALUES = 100_000
_CHEAP_STRINGS = 50_000
_CHEAP_HALVES = 10_000
"""Halves of surrogate pairs: each that has lost the other one costs 2 µs."""
MAX_CONTAINERS = 50_000
"""How many objects and arrays a body may hold."""
MAX_VALUES = 400_000
"""How many values it may hold, all levels together."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or what is left of one that does not end."""


def is_cheap(body: bytes) -> bool:
    """Whether a body can be read, decoded and encoded on the event loop."""
    if len(body) <= CHEAP_BYTES:
        return True
    if len(body) > _MOST_BYTES:
        return False
    if body.count(b"\\ud") + body.count(b"\\uD") > _CHEAP_HALVES:
        return False
    if _holds(body, _CHEAP_CONTAINERS, _CHEAP_VALUES):
        return True
    strings = (body.count(b'"') - body.count(b'\\"')) // 2
    return strings <= _CHEAP_STRINGS and _holds(_bare(body), _CHEAP_CONTAINERS, _CHEAP_VALUES)


def check_values(body: bytes) -> None:
    """Nothing, for a body within the bounds on its values; what is no JSON may count as anything.

    Raises: LimitExceededError with the status 400.
    """
    if not (_holds(body, MAX_CONTAINERS, MAX_VALUES) or _holds(_bare(body), MAX_CONTAINERS, MAX_VALUES)):
        raise LimitExceededError(
            f"the body holds more than {MAX_CONTAINERS:,} objects and arrays, or {MAX_VALUES:,} values", status=400
        )


def _holds(text: bytes, containers: int, values: int) -> bool:
    """Whether there are no more of them, as far as it shows from commas and brackets."""
    return text.count(b"{") + text.count(b"[") <= containers and text.count(b",") <= values


def _bare(body: bytes) -> bytes:
    """The bytes outside of strings."""
    return _STRING.sub(b"", body)


# One reading


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


def body_at_hand(request: GatewayRequest, dialect: str) -> Body | None:
    """The body of a request in a dialect, if it was read before or is cheap; None for one to be read elsewhere.

    Raises: as `read_request`.
    """
    return body_of(request, dialect) if request.read is not None or is_cheap(request.body) else None


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


# Events of WebSockets


_CREATE = "response.create"
"""The event of a WebSocket that asks for a response."""
_EDITS: dict[str, bytes | None] = {"type": None, "generate": None, "stream": b"true", "stream_options": None}
_ONE_AFTER_THE_OTHER = "responses come one after the other here: open a connection for each conversation"


def posted_body(event: Body) -> Body:
    """The body of a POST that asks what an event of a client asks.

    Raises: BadRequestError for any other event than `response.create`, and for what is not served over a WebSocket.
    """
    kind = event.get("type")
    if kind != _CREATE:
        shown = f"{kind[:60]!r} is" if isinstance(kind, str) else "an event without a type is"
        raise BadRequestError(
            f"/type: {shown} not known here; `{_CREATE}` asks for a response", status=400, code="unknown_event"
        )
    if event.get("stream_id") is not None:
        raise BadRequestError(f"/stream_id: {_ONE_AFTER_THE_OTHER}", status=400, code="unsupported_parameter")
    if event.get("background"):
        raise BadRequestError(
            "/background: an answer in the background is asked for by POST, not over a WebSocket",
            status=400,
            code="unsupported_parameter",
        )
    return body_with(event, _EDITS)


# The head of a request: decisions from the one reading of its body


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
        if name in self._words:
            return self._words[name]
        if name in self.body.shaped:
            words = SHAPES[self.dialect][name].words(self.body.shaped[name])
        elif name in self.body:
            objects = self.objects(name)
            values = [node.get(name) for node in objects for name in ("role", "type")]
            words = frozenset([value for value in values if type(value) is str]).union(*objects)
        else:
            words = frozenset[str]()
        self._words[name] = words
        return words

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


MAX_RESPELLINGS = 8
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
    for word, standard in list(spellings)[:MAX_RESPELLINGS]:
        changes.add("media_type_corrected", path, f"{word[:_LONGEST_HEAD]} is {standard}")
    return changes.done()


# Members that can have another model asked than the one that a body names
#
# Some services let a request name models beside `model`: to fall back to, to route to, to run a tool with. A key that
# may ask for some models only must reach no other one that way.


LISTS = ("models", "fallbacks")
"""Members that list models, by name or as objects with `model`."""
CHOOSERS = frozenset({"route", "provider", "transforms", "preset", "router", "apibase", "baseurl"})
"""Members that choose who answers by other means, whatever their case and underscores."""
CONVERSATIONS = frozenset({"messages", "input", "contents", "system", "instructions", "prompt"})
"""Members that hold what is said; a model that is named there is a word, except in a tool that stands there."""
_NAMES = frozenset({"modelname", "modelid", "fallbackmodels"})
"""Further members that name models, whatever their case and underscores."""
_AT_TOP = frozenset({*LISTS, *_NAMES, "engine", "deployment", "deploymentid", "modellist"})
"""Members that name models at the top of a body, in the same way; a tool's engine is none."""
_INSIDE = frozenset({"model", *LISTS, *_NAMES, "routingconfig", "modelconfig", "modelselectionconfig"})
"""Members that name or choose a model below the top, in the same way."""
_OFFERED = frozenset({"function", "custom", "tool"})
"""Tools whose parameters are a schema; those of a tool that a provider runs are its settings."""


def other_models(body: Body, rules: BodyRules, dialect: str, may_use: Callable[[str], bool]) -> tuple[Change, ...]:
    """The members to be taken out of a body, one entry each, whose path ends in the name of the member.

    Raises: PermissionDeniedError for a model in another place that may not be asked for.
    """
    changes, service = Changes(dialect, "decode_request"), get_service(dialect)
    data = rules.data - {"extra", "additionalModelRequestFields"}  # they are written over a request
    for name in body.members:
        if name in body.shaped:
            continue  # a usual form has no room for a model
        is_list_of_models = folded(name) in _AT_TOP
        if _chooses(name, service) or (is_list_of_models and _names_other(name, body.get(name), may_use)):
            changes.add("parameter_unsupported", f"/extra/{dialect}/{name}", "this key may not choose other models")
        elif name not in data and not is_list_of_models and isinstance(body.get(name), dict | list):
            is_gathered = body.rules is rules and data == rules.data and name in body.objects
            nodes = body.objects[name] if is_gathered else objects_in(body.get(name), data)
            groups = [nodes]
            if name in CONVERSATIONS:  # the tools that are offered in the middle of one
                groups = [objects_in(node["tools"], data) for node in nodes if is_list(node.get("tools"))]
            for group in groups:
                _check(group, name, data, may_use)
    for place, _, members, _ in overrides(body, service):
        if any([_chooses(name, service) or _names_other(name, value, may_use) for name, value in members.items()]):
            raise PermissionDeniedError(f"{place}: this key may not choose other models", status=403)
    return changes.done()


def _chooses(name: str, service: Service) -> bool:
    """Whether a member chooses a model by other means than a list."""
    return folded(name) in CHOOSERS or name in service.choosers


def _names_other(name: str, value: object, may_use: Callable[[str], bool]) -> bool:
    """Whether a member at the top of a body names a model that may not be asked for."""
    return folded(name) in _AT_TOP and not _may_all(value, may_use)


def _may_all(models: object, may_use: Callable[[str], bool]) -> bool:
    """Whether a name, or a list of names, is of models that may be asked for, and of nothing else."""
    listed = models if is_list(models) else [] if models is None else [models]
    names = [model.get("model") if is_object(model) and len(model) == 1 else model for model in listed]
    return all([isinstance(name, str) and may_use(name) for name in names])


def _check(nodes: list[dict[str, Any]], member: str, data: frozenset[str], may_use: Callable[[str], bool]) -> None:
    for node in nodes:
        for name, value in node.items():
            if folded(name) in _INSIDE and not _may_all(value, may_use):
                raise PermissionDeniedError(
                    f"/{member}: this key may not ask for the {name} that is named there: {str(value)[:100]!r}",
                    status=403,
                )
        kind = node.get("type")
        if isinstance(kind, str) and kind not in _OFFERED:
            _check(objects_in(node.get("parameters"), data), member, data, may_use)


# Members that are written over a request in one dialect
#
# Keys, limits and budgets are checked by what a request says in its own words. A model, a limit, a number of answers, a
# stream or a tier of service in one of these members is refused (400), however it is spelled: a target would obey it.


_DECIDED = frozenset({"model", "stream", "servicetier"})
"""Members of every dialect that decide on the model, the stream and the price."""
_NESTED = frozenset({"extra", "continues"})
"""Members that our own format would write over a request in its turn."""
_NOTHING: frozenset[str] = frozenset()


def overrides(body: Body, service: Service) -> Iterator[Override]:
    """The members of a body that are written over its request in another dialect."""
    return iter(()) if service.overrides is None else service.overrides(body)


def check_overrides(body: Body, service: Service) -> None:
    """Raises: DecodeError with the status 400 for a member that says again what the request says itself."""
    for place, dialect, members, refused in overrides(body, service):
        top, holders, limits = _decided_in(dialect) if dialect in DIALECTS else (_DECIDED, _NOTHING, _NOTHING)
        for name, value in members.items():
            if folded(name) in top or folded(name) in refused:
                raise _decided(f"{place}/{name}")
            for inner in value if folded(name) in holders and is_object(value) else ():
                if folded(inner) in limits:
                    raise _decided(f"{place}/{name}/{inner}")


@cache
def _decided_in(dialect: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names at the top of a body, the objects that hold limits, and the names in these, as they read folded."""
    service = get_service(dialect)
    fields = service.limits
    limits = frozenset([folded(name) for name in (*fields.names, *fields.choices)])
    own = _DECIDED if service.overrides is None else _DECIDED | _NESTED
    return own | limits, frozenset([folded(name) for name in fields.holders]), limits


def _decided(path: str) -> DecodeError:
    reason = "the model, `stream`, `service_tier`, `n`, the limit and the messages are said by the request itself"
    return DecodeError(f"{path}: {reason}", path=path, status=400)
