"""Owners of state at a provider: ids are signed on their way out, and opened on their way in.

Strategy: every request is looked at in one place, before its handler, with its path, its query and its body; every
reply of a provider is looked at in one place, before it is sent. Both read the same tables (`id_places`).

Rules
- Without keys nothing is signed, and nothing changes.
- An owner is the team of a key, or the key's name where it has none: a rotated key goes on with what is its own.
- An id that is not signed for whoever asks is refused where keys of several owners are known; where there is one
  owner, it goes on as it came. `[server] shared_ids` names ids that every key may use.
- An item of a conversation that says everything itself loses such an id instead, and is sent without it.
- What lists everything that a provider keeps is refused where there are several owners.
- A request that names what a provider keeps goes to that provider alone.
- An id that is signed already for whoever asks is not signed once more: a provider may echo what it was never told.
- Of a body the ids alone are changed; it is read by the strict reader, so that nobody reads another id in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from interlingua.dialects.table import get_service
from interlingua.errors import (
    BadRequestError,
    DecodeError,
    Error,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
)
from interlingua.gateway.calls.reading import body_of, is_cheap
from interlingua.gateway.http import STRICT, dialect_by_headers
from interlingua.gateway.state.id_places import GOOGLE_NAMES, QUERY, Place, Places, folded, places_at, root_of, swap_ids
from interlingua.gateway.state.signing import Signer, signer_of
from interlingua.gateway.state.stored import ID_PATTERN, OWN_RESPONSE, answer_of_item, no_previous, not_found
from interlingua.types.change import Changes
from interlingua.wire.body import edited_body
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.values import CallTarget
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.offload.pool import Offload
    from interlingua.gateway.settings import GatewayKey, GatewaySettings
    from interlingua.gateway.state.signing import Opened
    from interlingua.registry.resolve import Registry
    from interlingua.wire.body import Body

__all__ = ["Ownership"]

LOOK_S = 1.0
"""How old the list of providers may be when an id names one that is not in it."""
ANY_NULLS = 1 << 30
"""For `encode`: what somebody else wrote may hold as many nulls as it likes."""
MOST_REMEMBERED = 1_024
"""So many signed ids of one stream are remembered."""
_NAME = re.compile(rf"(?P<before>(?:[^?#]*/)?)(?P<id>(?:{'|'.join(GOOGLE_NAMES)})/[^/:?#]+)(?P<after>.*)", re.DOTALL)
"""A resource name of Google's, alone or at the end of a URI."""
_URI = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:|\s*//|\s*\\")
_PLAIN_URI = re.compile(r"[a-z][a-z0-9+.-]*://[A-Za-z0-9.:-]+(?:/[!-~]*)?")
"""An address without credentials, white space and other characters that its readers do not take alike."""
_SPACE = b" \t\r\n\xef\xbb\xbf"
_BOUNDARY = re.compile(r'boundary=(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)
_FIELD = re.compile(rb"""\bname\*?\s*=\s*(?:[\w-]*'[^']*')?"?\s*([\w%.\[\]-]*)""", re.IGNORECASE)
"""The name of a field in the head of a part of a form, also where it is encoded."""
_ITEM = re.compile(r"/(?:input|items)/\d+/id")
_SEALED_ITEMS = frozenset({"reasoning", "compaction"})
_WHOLE_ITEMS = frozenset({"message", "function_call", "custom_tool_call"})
"""Items of Responses that say everything themselves; so do results, and sealed items that bring their seal."""


class Ownership:
    """The owners of the state that the providers of one gateway keep."""

    def __init__(
        self,
        settings: GatewaySettings,
        guard: Guard,
        registry: Registry,
        offload: Offload,
        *,
        clock: Callable[[], float],
    ) -> None:
        """Nothing has been asked for: the secret is read when it is needed first."""
        self._guard, self._registry, self._offload, self._clock = guard, registry, offload, clock
        self.set_up(settings)
        self._signer: Signer | None = None
        self._keys: dict[str, GatewayKey] | None = None
        self._has_several = True

    def set_up(self, settings: GatewaySettings) -> None:
        """Go on with these settings; the list of providers, which may have changed with them, is made anew."""
        self._settings = settings
        self._addresses: dict[str, str] = {}
        self._look_at_s = 0.0

    @property
    def is_on(self) -> bool:
        """Whether ids are signed: somebody has a key."""
        return bool(self._guard.keys)

    @property
    def has_several(self) -> bool:
        """Whether there are keys of several owners, those that were revoked or have expired included."""
        ring = self._guard.keys
        table = ring.table
        if table is not self._keys:
            self._keys, self._has_several = table, len({_owner_of(key) for key in table.values()}) > 1
        return self._has_several or ring.is_unsure

    def owner(self, request: GatewayRequest) -> str:
        """The owner whose state a request may go on with; empty where it brought no key."""
        if request.owner is None:
            key = self._guard.key(request) if request.welcome is None else request.welcome.key
            request.owner = "" if key is None else _owner_of(key)
        return request.owner

    def use(self, secret: str) -> None:
        """Sign with a secret from now on."""
        self._signer = Signer(secret)

    @property
    def signer(self) -> Signer:
        """The signer of ids.

        Raises: ConfigError for a secret that the settings name and that cannot be read.
        """
        if self._signer is None:
            self._signer = signer_of(self._settings, self._registry.environment())
        return self._signer

    # Requests

    def opened(self, request: GatewayRequest) -> GatewayRequest:
        """The request with the providers' own ids, and with the providers that keep what they name.

        Raises: NotFoundError, BadRequestError for an id that is not the owner's; PermissionDeniedError for a list of
        everything.
        """
        if not self._guard.keys:
            return request
        return _Opening(self, request).done()

    async def read_costly(self, request: GatewayRequest) -> None:
        """Have the body of a request, if it is costly JSON, read in another process before it is opened.

        Raises: as `Offload.body_of`, where there are several owners; elsewhere whoever answers it reads it again.
        """
        if not self.is_on or is_cheap(request.body) or not _is_json(request):
            return
        try:
            request.read = await self._offload.body_of(request, _read_as(request))
        except (DecodeError, LimitExceededError):
            if self.has_several:
                raise

    def open(self, owner: str, signed: str) -> Opened | None:
        """The content of an id that was signed for an owner."""
        opened = self.signer.open(owner, self._addresses, signed)
        if opened is None and self._look():
            opened = self.signer.open(owner, self._addresses, signed)
        return opened

    def is_signed(self, owner: str, text: str) -> bool:
        """Whether a text is an id that was signed for an owner, at a provider that is known by now."""
        return self.signer.open(owner, self._addresses, text) is not None

    @property
    def is_strict(self) -> bool:
        """Whether what would be left out is refused."""
        return self._settings.strict

    @property
    def shared(self) -> frozenset[str]:
        """The ids that every key may use."""
        return self._settings.shared_ids

    def name_in(self, text: str) -> re.Match[str] | None:
        """The resource name of Google's that a text is, or that the address of a provider ends in."""
        match = _NAME.fullmatch(text)
        return match if match is not None and (not _URI.match(text) or self.is_providers(text)) else None

    def is_providers(self, text: str) -> bool:
        """Whether a text is a URI that a provider resolves with the gateway's own rights."""
        at = urlsplit(text) if _PLAIN_URI.fullmatch(text) else None  # of others each reader makes something else
        if at is None:
            return _URI.match(text) is not None
        if not self._addresses:
            self._look()
        host = (at.hostname or "").rstrip(".")
        if at.scheme in ("gs", "s3") or host == "googleapis.com" or host.endswith(".googleapis.com"):
            return True
        return host in {urlsplit(address).hostname for address in self._addresses.values() if address}

    def _look(self) -> bool:
        """Whether the list of providers was made anew."""
        if self._clock() < self._look_at_s and self._addresses:
            return False
        self._look_at_s = self._clock() + LOOK_S
        self._addresses = {one.name: one.base_url for one in self._registry.providers()}
        return True

    def able_targets(self, targets: tuple[CallTarget, ...], request: GatewayRequest) -> tuple[CallTarget, ...]:
        """The targets at the providers that keep what a request names; all of them where it names nothing.

        Raises: BadRequestError where there is none.
        """
        if not request.kept_by:
            return targets
        able: tuple[CallTarget, ...] = ()
        for target in targets:
            provider, base_url = target.endpoint.provider, target.endpoint.base_url  # by its name, or at its address
            if all([name == provider or base_url == self._addresses.get(name) for name in request.kept_by]):
                able += (target,)
        if not able:
            names = " and ".join(request.kept_by)
            raise BadRequestError(
                f"the request names by its id what {names} keeps, and its model does not lead there", status=400
            )
        return able

    # Replies

    def signing(
        self, request: GatewayRequest, provider: str, *, is_here: bool = False
    ) -> Callable[[bytes], bytes] | None:
        """Signs the ids in JSON texts and frames of a reply; None where nothing is signed.

        What it cannot read stays as it is; so do ids of ours, where the answer `is_here`, kept by this gateway.
        """
        if not self._guard.keys:
            return None
        if provider not in self._addresses:
            self._look()
        places = places_at(_dialect_of(request), is_kept=root_of(request.path) is not None)
        return _Signing(self, self.owner(request), provider, places, is_here=is_here).signed

    def sign_text(self, text: str, request: GatewayRequest) -> str:
        """A text of a provider's error with the ids that its client knows."""
        for own, signed in request.signed_ids.items():
            text = text.replace(own, signed)
        return text


class _Opening:
    """The ids of one request on their way in."""

    def __init__(self, ownership: Ownership, request: GatewayRequest) -> None:
        self._ownership = ownership
        self._request = request
        self._owner = ownership.owner(request)
        self._is_strict = ownership.has_several
        self._dialect = _dialect_of(request)
        self._service = get_service(self._dialect)
        self._root = root_of(request.path)
        self._places = places_at(self._dialect, is_kept=self._root is not None)
        self._kept_by: dict[str, None] = {}
        self._signed_ids: dict[str, str] = {}
        self._changes = Changes(self._dialect, "decode_request")

    def done(self) -> GatewayRequest:
        """The request with the providers' own ids."""
        request = self._request
        path = request.path if self._root is None else self._path(self._root)
        query = self._query() if request.query else ""
        body = self._body() if request.body else b""
        if path == request.path and query == request.query and body is request.body:
            return request
        return msgspec.structs.replace(
            request,
            path=path,
            query=query,
            body=body,
            read=request.read if body is request.body else None,
            kept_by=tuple(self._kept_by),
            signed_ids=self._signed_ids,
            changes=self._changes.done(),
        )

    def _own(self, text: str) -> str | None:
        """The provider's own id of a signed one; None for one that is not the owner's."""
        if text in self._ownership.shared:
            return text
        opened = self._ownership.open(self._owner, text)
        if opened is None:
            return None if self._is_strict else text
        self._kept_by[opened.provider] = None
        self._signed_ids[opened.id] = text
        return opened.id

    def _is_here(self, text: str) -> bool:
        """Whether an id is one of those under which this gateway keeps answers itself, by owner."""
        return self._service.store is not None and _is_ours(text)

    # Path and query

    def _path(self, root: str) -> str:
        request, route = self._request, self._request.facts.route
        if request.path == root:
            if request.method == "GET" and self._is_strict:
                raise PermissionDeniedError(
                    f"{root} lists what every key of this gateway keeps at the provider; ask with the ids that you "
                    "were given",
                    status=403,
                )
            return root
        if route is None or "{" not in route.pattern:
            return request.path
        steps = request.path[len(root) + 1 :].split("/")
        steps[::2] = [self._step(step, root) for step in steps[::2]]
        return "/".join([root, *steps])

    def _step(self, step: str, root: str) -> str:
        """One id in a path."""
        if self._is_here(step):
            return step
        kind = f"{root.rpartition('/')[2]}/" if self._service.names_kept else ""
        name, colon, verb = step.partition(":") if kind else (step, "", "")
        own = self._own(kind + name)
        if own is None:
            if root == "/v1/responses":
                raise not_found(step)
            reason = f"nothing is kept for this key under an id {_shown(step)}"
            raise NotFoundError(reason, status=404, code="id_not_found")
        return f"{own.removeprefix(kind)}{colon}{verb}"

    def _query(self) -> str:
        query = self._request.query
        pairs = parse_qsl(query, keep_blank_values=True)
        opened: list[tuple[str, str]] = []
        for name, value in pairs:
            own: str | None = value
            if value and folded(name) in QUERY and not self._is_here(value):
                own = self._own(value)
                if own is None:
                    raise _unknown(value, name)
            opened.append((name, own))
        return query if opened == pairs else urlencode(opened)

    # The body

    def _body(self) -> bytes:
        """The body, its ids opened; the very bytes that came where it names none.

        Raises: DecodeError, LimitExceededError for JSON that cannot be read, where there are several owners.
        """
        request = self._request
        kind, _, rest = (request.header("content-type") or "").partition(";")
        if kind.strip().lower() == "multipart/form-data":
            self._check_form(rest)
            return request.body
        if not _is_json(request) or (request.read is None and not is_cheap(request.body)):
            return request.body  # or it could not be read: whoever answers it says so
        try:
            body = body_of(request, _read_as(request))
        except (DecodeError, LimitExceededError):
            if not self._is_strict:
                return request.body  # whoever reads it says what is wrong with it
            raise
        usual = body.shaped if self._service.store is None or _has_no_ids(body) else ()
        plain = {name: body.get(name) for name in body.members if name not in usual}
        opened = cast("dict[str, Any]", swap_ids(plain, self._places, self._swap))
        if opened is plain:
            request.read = body
            return request.body
        changed = [name for name, value in plain.items() if opened[name] is not value]
        return edited_body(body, {name: encode(opened[name], nulls=ANY_NULLS) for name in changed})

    def _check_form(self, parameters: str) -> None:
        """Nothing, for a form without a field that may be an id: forms are passed on as they came.

        Raises: DecodeError.
        """
        match = _BOUNDARY.search(parameters)
        if not self._is_strict or match is None:
            return
        for part in self._request.body.split(b"--" + (match[1] or match[2]).encode()):
            for name in _FIELD.findall(part.partition(b"\r\n\r\n")[0]):
                field = folded(name.decode(errors="replace"))
                if field in self._places.words:
                    raise DecodeError(f"/{field}: a form takes no id here; send JSON", path=f"/{field}", status=400)

    def _swap(self, text: str, place: Place) -> str | None:
        if place.is_name:  # a resource name or URI of Google's, which has the id in it
            match = self._ownership.name_in(text)
            if match is None:
                if self._is_strict and self._ownership.is_providers(text):
                    raise _unknown(text, place.path)
                return text
            own = self._own(match["id"])
            if own is None:
                raise _unknown(text, place.path)
            return f"{match['before']}{own}{match['after']}"
        if self._is_here(text) or _is_vendors(text, place):
            return text
        own = self._own(text)
        if own is not None:
            return own
        if not _says_all(place) or self._drops_nothing:
            raise no_previous(text) if place.path == "/previous_response_id" else _unknown(text, place.path)
        self._changes.add("id_foreign", place.path, "the item says everything itself")
        return None

    @property
    def _drops_nothing(self) -> bool:
        return self._ownership.is_strict or self._request.header(STRICT) == "1"


class _Signing:
    """The ids of one reply on their way out."""

    def __init__(self, ownership: Ownership, owner: str, provider: str, places: Places, *, is_here: bool) -> None:
        self._ownership = ownership
        self._signer = ownership.signer
        self._owner = owner
        self._provider = provider
        self._places = places
        self._is_here = is_here
        self._cache: dict[str, str] = {}

    def signed(self, data: bytes) -> bytes:
        """A JSON text, or whole frames of a stream, with signed ids."""
        if not any([mark in data for mark in self._places.marks]):
            return data
        if data[:1] in (b"{", b"["):
            return self._json(data)
        lines = data.split(b"\n")
        for place, line in enumerate(lines):
            if line.startswith(b"data:"):
                lines[place] = b"data: %b%b" % (self._json(line[5:].strip()), b"\r" if line.endswith(b"\r") else b"")
        return b"\n".join(lines)

    def _json(self, text: bytes) -> bytes:
        try:
            value = decode_any(text)
        except (DecodeError, LimitExceededError):
            return text
        other = swap_ids(value, self._places, self._swap)
        return text if other is value else encode(other, nulls=ANY_NULLS)

    def _swap(self, text: str, place: Place) -> str:
        if not place.is_name:
            stays = _is_vendors(text, place) or (self._is_here and _is_ours(text))
            return text if stays else self._sign(text)
        match = self._ownership.name_in(text)
        return text if match is None else f"{match['before']}{self._sign(match['id'])}{match['after']}"

    def _sign(self, text: str) -> str:
        signed = self._cache.get(text)
        if signed is None:
            if len(self._cache) >= MOST_REMEMBERED:
                self._cache.clear()
            is_signed = self._ownership.is_signed(self._owner, text)
            signed = self._cache[text] = text if is_signed else self._signer.sign(self._owner, self._provider, text)
        return signed


def _is_json(request: GatewayRequest) -> bool:
    """Whether a body is read as JSON, by its type or its beginning, as lenient servers do."""
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return False
    if request.path.startswith("/upload/") and "start" not in (request.header("x-goog-upload-command") or "start"):
        return False  # the bytes of a file
    return kind.endswith("json") or request.body[:64].lstrip(_SPACE)[:1] in (b"{", b"[")


def _owner_of(key: GatewayKey) -> str:
    return f"team {key.team}" if key.team else f"key {key.name}"


def _dialect_of(request: GatewayRequest) -> str:
    route = request.facts.route
    return (route.dialect if route is not None else "") or dialect_by_headers(request)


def _read_as(request: GatewayRequest) -> str:
    """The dialect by whose rules a body is read; empty where it holds no conversation."""
    route = request.facts.route
    return route.dialect if route is not None and route.is_conversation else ""


def _has_no_ids(body: Body) -> bool:
    """Whether an input in its usual form names no item: nothing else in members of that form can be an id."""
    items = body.shaped.get("input")
    return items is None or type(items) is str or not any([item.id for item in items])


def _is_ours(text: str) -> bool:
    """Whether an id is one that a gateway made, for an answer or an item of one."""
    return OWN_RESPONSE.fullmatch(text) is not None or answer_of_item(text) is not None


def _is_vendors(text: str, place: Place) -> bool:
    """Whether an id is one of the vendor's own, which everybody may use."""
    return place.name == "skillid" and not text.startswith("skill_")


def _says_all(place: Place) -> bool:
    """Whether an id belongs to an item of a conversation that says everything itself, and can be sent without it."""
    if _ITEM.fullmatch(place.path) is None:
        return False
    item = place.holder
    kind = item.get("type") or ("message" if "role" in item else "")
    if kind in _SEALED_ITEMS:
        return bool(item.get("encrypted_content"))
    return isinstance(kind, str) and (kind in _WHOLE_ITEMS or kind.endswith("_output"))


def _shown(text: str) -> str:
    return text if ID_PATTERN.fullmatch(text) else "of that form"


def _unknown(text: str, path: str) -> Error:
    return DecodeError(f"{path}: nothing is kept for this key under an id {_shown(text)}", path=path, status=400)
