"""Bodies and values that say the same, and take the branch for anything instead of that for the usual shape.

A member that no dialect knows leads every exact shape to its general branch; so does one of another dialect beside a
canonical part where it is written. Another order of members and white space between them may or may not. None of these
changes what is said, so that the value and the bytes have to stay as they are, the stranger aside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.google.spelling import is_in_snake_case
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS
from interlingua.types.change import Change
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.usual import ANSWERS

__all__ = [
    "check_answer", "check_request", "check_writing", "check_writing_answer", "golden_bodies", "recorded_bodies",
    "with_stranger",
]  # fmt: skip

STRANGER = "stranger"
"""A member of nobody."""
MOST_PLACES = 4
"""In how many places of a body the stranger stands in turn."""
GOLDEN = Path(__file__).parents[1] / "golden"
HELD_APART = frozenset({"extra_foreign", "seal_foreign"})
"""Changes that tell of the stranger itself, which stands among the sealed members of an item of Responses."""
_WHOLE = (("toolResult",), ("citationsContent",))
"""What holds a list whose only element is a plain text."""
_UNASKED = frozenset({"documents", "safetySettings", "labels", "mcp_servers", "context_management", "include"})
"""Members of a body that are nobody's messages, parts, calls or tools."""


def golden_bodies(name: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Bodies of the golden cases of a dialect with the addresses they were sent to; `kind` is request or response."""
    for path in sorted((GOLDEN / name).glob(f"*/{kind}.json")):
        body = _object(path.read_bytes())
        if body is not None:
            yield _url(name, path.parent), body
    if kind == "response":
        for answer in ANSWERS[name]:
            yield "", answer


def _url(name: str, folder: Path) -> str:
    url = [
        line.split('"')[1]
        for line in (folder / "META.toml").read_text(encoding="utf-8").splitlines()
        if line.startswith("url =")
    ]
    return url[0] if url else "https://api.example/v1/models/m:generateContent" if name == "google" else "http://test/"


def recorded_bodies(path: Path, kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The dialect, address and body of each recorded exchange of a file."""
    for one in read_exchanges(path):
        body = one.request if kind == "request" else one.response
        if one.api in APIS and isinstance(body, dict):
            yield APIS[one.api], f"https://{one.url}", cast("dict[str, Any]", body)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


# The same said otherwise


def _verbatim(name: str) -> frozenset[str]:
    """The members whose inside is somebody else's, or is told in words, where the order of it is seen."""
    own: frozenset[str] = getattr(import_module(f"{DIALECTS[name]}.normal"), "VERBATIM", frozenset[str]())
    return own | {"action", "arguments", "raw"}


def written_otherwise(value: Any, verbatim: frozenset[str]) -> str:
    """A body as text with its members in the opposite order and white space around them.

    What is somebody else's stays as it is: its text is kept.
    """
    if isinstance(value, list):
        return f"[ {' ,'.join(written_otherwise(item, verbatim) for item in cast('list[Any]', value))}\n]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    members: list[str] = []
    for key, member in reversed(cast("dict[str, Any]", value).items()):
        is_kept = _is_kept(key, member, verbatim)
        members.append(f"{json.dumps(key)} : {_compact(member) if is_kept else written_otherwise(member, verbatim)}")
    return f"{{\n{' , '.join(members)} }}"


def _is_kept(key: str, member: Any, verbatim: frozenset[str]) -> bool:
    """Whether a member is somebody else's, as is the object that a server's tool gave for content."""
    return key in verbatim or (key == "content" and isinstance(member, dict))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def with_stranger(body: dict[str, Any], verbatim: frozenset[str], random: Random) -> Iterator[dict[str, Any]]:
    """The body with a member that nobody knows in one of its messages, parts, calls or functions at a time."""
    places = list(_places(body, verbatim))
    for path in random.sample(places, min(MOST_PLACES, len(places))):
        copy = json.loads(json.dumps(body))
        holder = copy
        for step in path:
            holder = holder[step]
        holder[STRANGER] = 1
        yield copy


def _places(value: Any, verbatim: frozenset[str], path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to the objects in lists, those aside that a stranger makes say something else.

    System text with one would be told in another place, an entry of functions of Google's would be a tool by itself,
    neighbouring messages of one role are one only where they have the same members, and the one block of a result or
    of a cited text of Bedrock's is a plain text only without one.
    """
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if members.get("role") in ("system", "developer"):
            return
        is_tool = "name" in members or "type" in members
        if path and type(path[-1]) is int and (is_tool or path[-2] != "tools"):
            yield path
        for key, member in members.items():
            if key in verbatim or key in _UNASKED:
                continue
            lone = path[-1:] in _WHOLE and key == "content" and isinstance(member, list) and len(member) == 1  # pyright: ignore[reportUnknownArgumentType]  # any JSON
            if not lone:
                yield from _places(member, verbatim, (*path, key))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        roles = [cast("dict[str, Any]", item).get("role") if isinstance(item, dict) else None for item in items]
        for place, item in enumerate(items):
            if roles[place] is None or roles[place] not in (*roles[:place][-1:], *roles[place + 1 :][:1]):
                yield from _places(item, verbatim, (*path, place))


def without_stranger(value: Any) -> Any:
    """A plain value without the member, and without objects that hold nothing."""
    if isinstance(value, list | tuple):
        return [without_stranger(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members: dict[str, Any] = {}
    for key, found in cast("dict[str, Any]", value).items():
        member = without_stranger(found) if isinstance(found, (dict, list, tuple)) else found
        if key == STRANGER or member == {} or (key == "sealed" and member is not None and "data" not in member):
            continue
        members[key] = member
    return members


def _plain(value: object) -> Any:
    return without_stranger(msgspec.to_builtins(value, enc_hook=repr))


def _noted(changes: tuple[Change, ...] | list[Change]) -> list[Change]:
    return [entry for entry in changes if entry.code not in HELD_APART]


# The laws


class _Once:
    """What a value is in each dialect, written once in each."""

    def __init__(self, write: Callable[[str, Any], object], value: object) -> None:
        """The value as `write` says it."""
        self._write, self._value = write, value
        self._written: dict[str, object] = {}

    def of(self, dialect: str) -> object:
        """The value in this dialect."""
        if dialect not in self._written:
            self._written[dialect] = self._write(dialect, self._value)
        return self._written[dialect]


def _variants(name: str, body: dict[str, Any]) -> Iterator[bytes]:
    verbatim = _verbatim(name)
    yield written_otherwise(body, verbatim).encode()
    is_repaired = name == "google" and is_in_snake_case(_compact(body).encode())  # together with all that is unknown
    if name != "unified" and not is_repaired:  # which knows no strangers
        for other in with_stranger(body, verbatim, Random(len(_compact(body)))):
            yield _compact(other).encode()


def _decoded(name: str, url: str, body: bytes) -> Any:
    try:
        return get_dialect(name).decode_request(HttpRequest(url=url, body=body), DecodeOptions(history="mend"))
    except Error as error:
        return type(error)


def check_request(name: str, url: str, body: dict[str, Any]) -> int:
    """In how many ways a request was read and written again as it is: the value, the changes, and the bytes."""
    usual = _decoded(name, url, _compact(body).encode())
    if isinstance(usual, type):
        return 0
    number, plain, noted, written = 0, _plain(usual.request), _noted(usual.changes), _Once(_encoded, usual.request)
    for text in _variants(name, body):
        other = _decoded(name, url, text)
        assert not isinstance(other, type), (other, text)
        assert _plain(other.request) == plain, text
        assert _noted(other.changes) == noted, text
        target = list(DIALECTS)[number % len(DIALECTS)]
        assert _encoded(target, other.request) == written.of(target), (target, text)
        number += 1
    return number


def _encoded(name: str, request: Request, target: Target | None = None) -> object:
    options = EncodeOptions(target=target or Target(model="m"), history="mend")
    try:
        encoded = get_dialect(name).encode_request(request, options)
    except Error as error:
        return type(error)
    form = get_dialect(name).normal_form("request", json.loads(encoded.body))
    return encoded.path, without_stranger(form), _noted(encoded.changes), encoded.undo


def check_answer(name: str, body: dict[str, Any]) -> int:
    """The same of an answer."""
    usual = _answer(name, _compact(body).encode())
    if isinstance(usual, type):
        return 0
    number, plain, written = 0, _plain(usual), _Once(_served, usual)
    for text in _variants(name, body):
        other = _answer(name, text)
        assert not isinstance(other, type), (other, text)
        assert _plain(other) == plain, text
        target = list(DIALECTS)[number % len(DIALECTS)]
        assert _served(target, other) == written.of(target), (target, text)
        number += 1
    return number


def _answer(name: str, body: bytes) -> Response[Any] | type:
    try:
        return get_dialect(name).decode_response(HttpReply(status=200, body=body), DecodeContext())
    except Error as error:
        return type(error)


def _served(name: str, response: Response[Any]) -> object:
    """The answer to a client that nobody knows the request of, and to one whose request is known."""
    made: list[object] = []
    for request in (None, Request()):
        changes: list[Change] = []
        context = ServerContext(model="m", make_id=lambda: "a", source="x", request=request, changes=changes)
        try:
            reply = get_dialect(name).encode_response(response, context)
        except Error as error:
            return type(error)
        made += [without_stranger(get_dialect(name).normal_form("response", json.loads(reply.body))), _noted(changes)]
    return made


def _beside(value: Any) -> Any:
    """A message, a part or a result with a member of a dialect that nobody speaks beside it."""
    if hasattr(value, "extra"):
        return msgspec.structs.replace(value, extra={**value.extra, STRANGER: {STRANGER: 1}})
    return value


def check_writing(request: Request, targets: Iterable[Target] = (Target(model="m"),)) -> int:
    """In how many dialects a request is written as it is, with a stranger beside each message and part in turn."""
    number, places = 0, [(name, target) for name in DIALECTS for target in targets]
    written = [_encoded(name, request, target) for name, target in places]
    for other in _requests_beside(request):
        for (name, target), usual in zip(places, written, strict=True):
            assert _encoded(name, other, target) == usual, (name, target, other)
            number += 1
    return number


def _requests_beside(request: Request) -> Iterator[Request]:
    replace = msgspec.structs.replace
    messages = request.messages
    for place, message in enumerate(messages):
        parts = message.parts
        odd = [replace(message, parts=(*parts[:at], _beside(part), *parts[at + 1 :])) for at, part in enumerate(parts)]
        for other in odd:
            yield replace(request, messages=(*messages[:place], other, *messages[place + 1 :]))


def check_writing_answer(response: Response[Any]) -> int:
    """The same of an answer."""
    parts, written = response.parts, _Once(_served, response)
    for at, part in enumerate(parts):
        other = msgspec.structs.replace(response, parts=(*parts[:at], _beside(part), *parts[at + 1 :]))
        for name in DIALECTS:
            assert _served(name, other) == written.of(name), (name, other)
    return len(parts)
