"""Requests that only a provider can answer, passed to it: files, images, audio, batches, caches.

Rules
- Only paths of the table are passed, so that nobody reaches with the gateway's key what is not meant for clients.
- A body that names a model goes to the target that the name stands for, under the target's own name of it; the rest of
  the body, and the whole reply, are the bytes that came. Nothing is translated: a target whose provider does not speak
  the dialect of the path is skipped.
- What names no model goes to the provider that is configured for it (`[server] provider`), and nowhere without one:
  files and batches of a provider belong to everybody who may use its key.
- A part of a form that some reader takes for `model` and another does not is refused, and so is a model in the query
  where the key or the policy has a list of models.
- The client's credential stays here; of its headers only those that the body needs go along.
- A request's body is whole and within the gateway's bound, a reply's body is passed on piece by piece. Of an error the
  whole is read first, so that a key that it repeats can be cut out.
"""

from __future__ import annotations

import re
from asyncio import CancelledError
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, unquote_plus, unquote_to_bytes, urlsplit

import msgspec

from interlingua.client.call.transports import async_transport_for
from interlingua.dialects._contract import Encoded
from interlingua.dialects._service import FOREIGN_LIMITS
from interlingua.dialects.table import DEFAULT_DIALECT, get_service, services
from interlingua.errors import DecodeError, LimitExceededError, NotFoundError, PermissionDeniedError
from interlingua.gateway.calls.reading import PASSED_RULES, checked_model, other_models
from interlingua.gateway.calls.replies import changes_text, visible
from interlingua.gateway.http import Closing, GatewayReply, dialect_by_headers
from interlingua.gateway.keys.admission import UnreadSize
from interlingua.gateway.keys.cap import token_count
from interlingua.gateway.keys.reservation import done, is_late
from interlingua.gateway.state.id_places import root_of
from interlingua.routing.estimate import AUDIO_BYTES, estimate_body
from interlingua.transport.override import answers_alone
from interlingua.wire.body import edited_body
from interlingua.wire.http import SECRET_HEADERS, SHORTEST_SECRET, HttpReply
from interlingua.wire.json import MAX_EVENT_BYTES, encode

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from interlingua import Hook
    from interlingua.dialects._service import ModelReads
    from interlingua.gateway.calls.plan import Targets
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.keys.reservation import CallReservation
    from interlingua.gateway.offload.pool import Offload
    from interlingua.gateway.state.ownership import Ownership
    from interlingua.registry.endpoint import Endpoint
    from interlingua.transport.base import AsyncReply, Timeouts
    from interlingua.types.change import Change
    from interlingua.wire.body import Body
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["Passing", "check_query", "settled_after", "with_model"]

_OWN_HEADERS = [name for service in services().values() for name in service.passed_headers]
REQUEST_HEADERS = ("content-type", "accept", "idempotency-key", "range", *_OWN_HEADERS)
"""How headers of a request begin that go along."""
REPLY_HEADERS = (
    "content-type",
    "content-disposition",
    "content-range",
    "accept-ranges",
    "retry-after",
    "x-should-retry",
    "x-ratelimit-",
    "location",
    *[name for service in services().values() for name in (*service.limit_prefixes, *service.reply_headers)],
)
"""How headers of a reply begin that come back."""
FAILED = 400
"""The least status of an error."""
MAX_REPLY_BYTES = 64 * 1024 * 1024
"""The most of a reply that is read as a whole."""
_BOUNDARY = re.compile(r'boundary=(?:"(?P<quoted>[^"]+)"|(?P<bare>[^\s;"]+))', re.IGNORECASE)
_FORM_LINE = re.compile(rb"content-disposition[ \t]*:(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_FOLD = re.compile(rb"[\r\n]+[ \t]+")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_MARKS = re.compile(rb"\[[^\]]*\]?|[\\_\s]")
"""Characters that a reader may leave out of a field's name: an index, an escape, blanks."""
_MODEL_FIELDS = frozenset({
    b"model", b"models", b"modelname", b"modelid", b"engine", b"deployment", b"deploymentid", b"fallbacks",
    b"fallbackmodels",
})  # fmt: skip
"""Fields of forms and queries that name models, folded."""
_OBJECT = re.compile(rb"\s*\{")
_QUOTES = re.compile(rb'[\s"]')
_STEP = re.compile(r"[\w.:@~+=-]+(?:/[\w.:@~+=-]+)*")
"""The form of the rest of a path; neither a query nor a step back."""


_UNBILLED = frozenset({"files", "uploads", "vector_stores", "containers", "conversations", "moderations"})
"""Operations that no model answers, as the step behind the version; storing is paid for, if at all, by the day."""
_GOOGLE_MODEL = re.compile(r"/v1(?:beta)?/models/(?P<model>.+)(?P<method>:\w+)")


class Passing(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that are passed on."""

    guard: Guard
    """The guard that knows the keys."""
    targets: Targets
    """The targets of names."""
    admission: Admission
    """The admission of calls by the limits of keys."""
    ids: Ownership
    """The owners of state that providers keep."""
    offload: Offload
    """Where costly bodies are read."""
    hooks: tuple[Hook, ...]
    """Hooks that may want to see what is passed on; none where the operator lets it pass."""
    providers: tuple[str, ...]
    """The providers of what names no model."""
    timeouts: Timeouts
    """Deadlines of one request to an upstream."""

    async def answer(self, dialect: str, request: GatewayRequest, reads: ModelReads = "") -> GatewayReply:
        """The reply of a provider to a request of a client of a dialect; `reads` says whether a model gets it at once.

        Raises: as the provider; PermissionDeniedError, NotFoundError, DecodeError.
        """
        client = dialect or dialect_by_headers(request)
        named, rewrite = await self._model_of(request)
        if request.entry is not None:
            request.entry.set_model(named, stream=False)
        endpoint = self._target(request, named, client) if named else self._provider(request, client)
        guard, key = self.guard, self.guard.key(request)
        json_body = _read_of(rewrite)
        if json_body is not None and guard.lists_models(key):
            others = other_models(json_body, PASSED_RULES, DEFAULT_DIALECT, partial(guard.lets, key))
            if others:
                member = others[0].path.rpartition("/")[2]
                raise PermissionDeniedError(f"/{member}: this key may not choose other models", status=403)
        check_query(guard, request)
        path = _path(request, endpoint, named)
        reservation = await self.admission.admit_unread(key, _size(request, json_body, names_model=rewrite is not None))
        edits: dict[str, bytes] = {}
        changes: tuple[Change, ...] = ()
        try:
            if reads and self.hooks:
                from interlingua.gateway.surfaces.unread import Passed, run_hooks  # who has no hooks pays nothing

                edits, changes = await run_hooks(self.hooks, Passed(request, reads, json_body, named, endpoint), key)
            body = None if rewrite is None else rewrite(endpoint.model, **edits)
            reply = await self.pass_on(request, endpoint, path, body)
        except BaseException as error:
            if reservation is not None:
                may_run = is_late(error) or isinstance(error, CancelledError)
                await done(reservation.settle_unread(endpoint.spec, is_failed=not may_run))
            raise
        if changes and (listing := changes_text(changes)):
            reply = msgspec.structs.replace(reply, headers=(*reply.headers, ("x-interlingua-changes", listing)))
        return await settled_after(reply, reservation, endpoint.spec)

    # Who is asked

    async def _model_of(self, request: GatewayRequest) -> tuple[str, Rewrite | None]:
        """The model that a request names in its path or body, and the body with another one in its place.

        Raises: DecodeError, LimitExceededError with the status 400 for a body that cannot be read, or is ambiguous.
        """
        match = _GOOGLE_MODEL.fullmatch(request.path)
        if match is not None:
            model = checked_model(match["model"])
            return model, _model_in_google(await self.offload.body_of(request, ""), model) if request.body else None
        content_type = _type_of(request)
        kind = content_type.partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            return _model_in_form(request.body, content_type)
        if kind != "application/json" or not request.body:
            return "", None
        body = await self.offload.body_of(request, "")
        model = body.get("model")
        if model is not None and type(model) is not str:
            raise DecodeError("/model: the name of a model is a string", path="/model", status=400)
        return (checked_model(model), partial(with_model, body)) if model else ("", None)

    def _target(self, request: GatewayRequest, model: str, dialect: str) -> Endpoint:
        """The first target of a name whose provider answers in the dialect.

        Raises: PermissionDeniedError for a name that the key may not use; UnknownModelError; NotFoundError where no
        target answers such requests.
        """
        if not self.guard.may_use(request, model):
            raise PermissionDeniedError(f"this key may not ask for the model {model[:100]!r}", status=403)
        targets = self.ids.able_targets(self.targets.of(model, dialect, tools=False), request)
        endpoint = next(
            (target.endpoint for target in targets if target.dialect.name in _upstream_dialects(dialect)), None
        )
        if endpoint is None:
            others = ", ".join(target.endpoint.spec for target in targets)
            reason = f"{request.path} is not translated, and {others} does not answer it"
            raise NotFoundError(reason, status=404, code="unknown_url")
        return endpoint

    def _provider(self, request: GatewayRequest, dialect: str) -> Endpoint:
        """The provider that keeps what a request names, else the configured one for requests without a model.

        Raises: NotFoundError where none is configured for the dialect; PermissionDeniedError for a key that may not use
        it.
        """
        for name in request.kept_by or self.providers:
            targets = self.targets.of(f"{name}/*", dialect, tools=False)
            if targets[0].dialect.name in _upstream_dialects(dialect):
                if not self.guard.may_use(request, f"{name}/*"):
                    raise PermissionDeniedError(f"this key may not use the provider {name}", status=403)
                return targets[0].endpoint
        reason = f"{request.path} goes to a provider, and none is configured for it; name one in [server] providers"
        raise NotFoundError(reason, status=404, code="unknown_url")

    # Passing on

    async def pass_on(
        self, request: GatewayRequest, endpoint: Endpoint, path: str, body: bytes | None = None
    ) -> GatewayReply:
        """The reply of a provider to a request, its body as it comes.

        Raises: TransportError; ConfigError for a missing key.
        """
        sent, reply = await _open(self.timeouts, request, endpoint, path, body)
        headers = tuple([pair for pair in reply.headers if pair[0].startswith(REPLY_HEADERS)])
        if reply.status >= FAILED:
            text = (await _without_secrets(sent, reply, endpoint)).decode("latin-1")  # whatever it is, byte by byte
            content = self.ids.sign_text(text, request).encode("latin-1")
        else:
            # Ids are signed in JSON as a whole and in a stream line by line; anything else goes on as it comes.
            sign = self._signing(request, endpoint)
            kind = dict(reply.headers).get("content-type", "").partition(";")[0].strip().lower()
            if sign is not None and kind == "application/json":
                content = sign(await _whole(reply, endpoint))
            elif sign is not None and kind == "text/event-stream":
                content = Closing(_frames(reply, sign), reply.close)
            else:
                content = Closing(_pieces(reply), reply.close)
        served = ("x-interlingua-target", visible(endpoint.spec))
        return GatewayReply(status=reply.status, headers=(*headers, served), body=content)

    async def call_provider(
        self, request: GatewayRequest, endpoint: Endpoint, path: str, body: bytes | None = None
    ) -> HttpReply:
        """The whole reply of a provider to a request.

        Raises: as `pass_on`; LimitExceededError for a reply beyond the bound.
        """
        sent, reply = await _open(self.timeouts, request, endpoint, path, body)
        failed = reply.status >= FAILED
        content = await (_without_secrets(sent, reply, endpoint) if failed else _whole(reply, endpoint))
        sign = self._signing(request, endpoint)
        if sign is not None and not failed:
            content = sign(content)
        return HttpReply(status=reply.status, headers=reply.headers, body=content)

    def _signing(self, request: GatewayRequest, endpoint: Endpoint) -> Callable[[bytes], bytes] | None:
        """The function that signs the ids in a reply; None where nothing is kept: the reply goes on as it comes."""
        return None if root_of(request.path) is None else self.ids.signing(request, endpoint.provider)


def _read_of(rewrite: Rewrite | None) -> Body | None:
    """The body that was read for a rewrite; None for one that is not JSON."""
    return rewrite.args[0] if isinstance(rewrite, partial) else None


def _size(request: GatewayRequest, json_body: Body | None, *, names_model: bool) -> UnreadSize:
    """About how many tokens a request uses."""
    collection = request.path.removeprefix("/upload").split("/", 3)[2:3]  # names of models may hold any word
    if request.method != "POST" or not _UNBILLED.isdisjoint(collection):
        return UnreadSize(0)
    if not names_model:  # a batch, whose requests stand elsewhere
        return UnreadSize(None)
    if "json" not in _type_of(request):
        return UnreadSize(len(request.body) // AUDIO_BYTES or 1, None)
    reads = estimate_body(request.body)
    if json_body is None:
        return UnreadSize(reads, None)
    limits = [token_count(json_body.get(name)) for name in FOREIGN_LIMITS if name in json_body]
    if not limits or None in limits:
        return UnreadSize(reads, None)
    choices = [token_count(json_body.get(name)) or 1 for name in ("n", "best_of", "n_cmpl")]  # of `/v1/completions`
    return UnreadSize(reads, max([limit for limit in limits if limit is not None]) * max(choices))


async def settled_after(reply: GatewayReply, reservation: CallReservation | None, spec: str) -> GatewayReply:
    """The reply of the target `spec`, with its reservation settled when it is over."""
    if reservation is None or not reservation.counts:
        return reply
    body = reply.body
    if isinstance(body, bytes):
        await done(reservation.settle_unread(spec, is_failed=reply.status >= FAILED))
        return reply

    async def close() -> None:
        await body.aclose()
        await done(reservation.settle_unread(spec))

    async def pieces() -> AsyncGenerator[bytes]:
        try:
            async for piece in body:
                yield piece
        finally:
            await close()

    return msgspec.structs.replace(reply, body=Closing(pieces(), close))


# Who is asked


Rewrite: TypeAlias = "Callable[..., bytes]"
"""A body with another name of the model; one in JSON takes other members by their names as well."""


def _type_of(request: GatewayRequest) -> str:
    """The media type of a body. JSON is its default, and what `curl -d` sends under the type of an HTML form."""
    content_type = request.header("content-type") or "application/json"
    is_form = content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded"
    return "application/json" if is_form and _OBJECT.match(request.body) else content_type


def _model_in_google(body: Body, model: str) -> Rewrite:
    """The body of a request for `model`, with another one where it names it.

    Raises: DecodeError for one that names another model than the path.
    """
    if body.get("model") not in (None, model, f"models/{model}"):
        raise DecodeError(f"/model: the path names {model[:100]!r}, and this another model", path="/model", status=400)

    def rewrite(other: str) -> bytes:
        return edited_body(body, {"model": encode(f"models/{other}")} if "model" in body else {})

    return rewrite


def _model_in_form(body: bytes, content_type: str) -> tuple[str, Rewrite | None]:
    """The field `model` of a form; the parts are taken apart as whoever gets them will do it.

    Raises: DecodeError for a form that has it twice, or in another spelling, or no boundary.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise DecodeError("content-type: a form needs a boundary", status=400)
    mark = b"--" + (boundary["quoted"] or boundary["bare"]).encode()
    parts = body.split(mark)
    names = [_field_names(part) for part in parts]
    for name in {name for field in names for name in field if name != b"name=model" and _may_be_model(name)}:
        field = name.decode(errors="replace")[:100]
        raise DecodeError(
            f"/model: a part of the form is named {field!r}, which some take for it", path="/model", status=400
        )
    places = [place for place, field in enumerate(names) if b"name=model" in field]
    if not places:
        return "", None
    head, gap, rest = parts[places[0]].partition(b"\r\n\r\n")
    if len(places) > 1 or not gap or _BLANK_LINE.search(head):
        raise DecodeError("/model: the form has this field twice, or not whole", path="/model", status=400)
    model = checked_model(rest.removesuffix(b"\r\n").decode(errors="replace"))

    def rewrite(other: str) -> bytes:
        field = [*parts]
        field[places[0]] = head + gap + other.encode() + b"\r\n"
        return mark.join(field)

    return model, rewrite


def _field_names(part: bytes) -> list[bytes]:
    """The members `name=…` and `name*…=…` of a part's head, without blanks and quotes; one pass, however long it is."""
    end = _BLANK_LINE.search(part)
    head = _FOLD.sub(b" ", part[: end.start()]) if end else b""
    matches = [_FORM_LINE.match(line) for line in re.split(rb"[\r\n]+", head)]
    members_text = b";".join([line["rest"] for line in matches if line is not None])
    members = [_QUOTES.sub(b"", member) for member in members_text.split(b";")]
    return [b"name" + member[4:] for member in members if member[:5].lower() in (b"name=", b"name*")]


def _may_be_model(name: bytes) -> bool:
    """Whether some reader takes a member that names a field for one that names models; in pieces it may be anything."""
    key, _, value = name.partition(b"=")
    if key.startswith(b"name*") and key != b"name*":
        return True
    return _MARKS.sub(b"", unquote_to_bytes(value.rpartition(b"'")[2]).lower()) in _MODEL_FIELDS


def check_query(guard: Guard, request: GatewayRequest) -> None:
    """Raises: PermissionDeniedError for a model in a query, for a key with a list: it is passed on as it is."""
    if not request.query or not guard.lists_models(guard.key(request)):
        return
    for member in re.split("[&;]", request.query):
        name = unquote_plus(member.partition("=")[0])
        if _MARKS.sub(b"", name.lower().encode()) in _MODEL_FIELDS:
            raise PermissionDeniedError(
                f"the query: this key may not ask for a model there: {name[:100]!r}", status=403
            )


def _upstream_dialects(dialect: str) -> tuple[str, ...]:
    return get_service(dialect).upstream_dialects or (dialect,)


def _path(request: GatewayRequest, endpoint: Endpoint, named: str) -> str:
    """The path behind the base URL of the provider."""
    path = request.path
    match = _GOOGLE_MODEL.fullmatch(path)
    if match is not None and named:
        return f"/models/{quote(endpoint.model, safe='/@-._~')}{match['method']}"
    if path.startswith("/api/"):
        return path
    rest = path.removeprefix("/upload").removeprefix("/v1beta").removeprefix("/v1").removeprefix("/")
    if _STEP.fullmatch(rest) is None or ".." in rest.split("/"):
        raise NotFoundError("this path is not passed on", status=404, code="unknown_url")
    return f"/{quote(rest, safe='/:@-._~+=')}"


def with_model(body: Body, model: str, **edits: bytes) -> bytes:
    """A body with another name of the model, where it has one, and other members; the rest of it is as it came."""
    return edited_body(body, {**edits, "model": encode(model)} if "model" in body else edits)


async def _open(
    timeouts: Timeouts, request: GatewayRequest, endpoint: Endpoint, path: str, body: bytes | None
) -> tuple[HttpRequest, AsyncReply]:
    whole_path = f"{path}?{request.query}" if request.query and "key=" not in request.query else path
    headers: Headers = tuple([pair for pair in request.headers if pair[0].startswith(REQUEST_HEADERS)])
    if request.header("content-type") not in (None, kind := _type_of(request)):
        headers = (*[pair for pair in headers if pair[0] != "content-type"], ("content-type", kind))
    encoded = Encoded(path=whole_path, body=request.body if body is None else body)
    sent = endpoint.http_request(encoded, with_credential=not answers_alone(), headers=headers)
    if request.path.startswith("/upload/"):
        at = urlsplit(sent.url)
        sent = msgspec.structs.replace(sent, url=f"{at.scheme}://{at.netloc}/upload{at.path}?{at.query}".rstrip("?"))
    sent = msgspec.structs.replace(sent, method=request.method)
    return sent, await async_transport_for(sent.url, endpoint.carrier).open(sent, timeouts)


async def _frames(reply: AsyncReply, sign: Callable[[bytes], bytes]) -> AsyncGenerator[bytes]:
    """The whole lines of a stream, as they come."""
    rest = b""
    async for piece in _pieces(reply):
        lines, newline, rest = (rest + piece).rpartition(b"\n")
        if len(rest) > MAX_EVENT_BYTES:
            raise LimitExceededError(f"a line of more than {MAX_EVENT_BYTES} bytes", status=502)
        if newline:
            yield sign(lines + newline)
    if rest:
        yield sign(rest)


async def _whole(reply: AsyncReply, endpoint: Endpoint) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in _pieces(reply):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_REPLY_BYTES:
            await reply.close()
            raise LimitExceededError(f"{endpoint.spec} answered with more than {MAX_REPLY_BYTES} bytes", status=502)
    return b"".join(pieces)


async def _without_secrets(sent: HttpRequest, reply: AsyncReply, endpoint: Endpoint) -> bytes:
    """The whole body of an error without the key that was sent: some services repeat it."""
    body = await _whole(reply, endpoint)
    for name, value in sent.headers:
        secret = value.rpartition(" ")[2].encode()
        if name in SECRET_HEADERS and len(secret) >= SHORTEST_SECRET:
            body = body.replace(secret, b"***")
    return body


async def _pieces(reply: AsyncReply) -> AsyncGenerator[bytes]:
    try:
        while piece := await reply.read():
            yield piece
    finally:
        await reply.close()
