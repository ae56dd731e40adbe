"""Authentication: keys, the place that a request comes from, and the name under which the gateway was asked.

Rules
- Without keys only clients on the same machine are served.
- A key is accepted as `Authorization: Bearer`, `x-api-key`, `api-key`, `x-goog-api-key`, or `key` in the query, as
  Google's clients send it. Only digests are kept; the comparison takes the same time wherever keys differ. A key that
  has expired or was revoked says so: who has it may know.
- Without keys, a `Host` that is no address, no `localhost` and not configured is refused: a page of a site whose name
  was pointed at this machine asks under that name. A foreign `Origin` is refused as well, and what a browser sends
  without one for a page elsewhere (`Sec-Fetch-Site`): pictures, scripts, frames, links. Only routes that tell nothing
  are open to those. With keys a page has none to send, and `Host` is checked when names are configured. No answer has
  CORS headers.
- Behind an application that checks its users itself (`is_open`), whoever reaches the gateway is served.
- What a client sends as a key goes no further: a provider gets the key that is configured for it.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from interlingua.errors import AuthenticationError, InternalServerError, PermissionDeniedError
from interlingua.gateway.keys.keyring import KeyRing
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.settings import GatewayKey, GatewaySettings
    from interlingua.wire.http import Headers

__all__ = ["Guard", "Welcome", "best_pattern", "day_time", "hash_key", "key_of", "renamed"]

KEY_HEADERS = ("x-api-key", "api-key", "x-goog-api-key")
_ELSEWHERE = frozenset({"cross-site", "same-site"})
"""Values of `Sec-Fetch-Site` for a page of another origin, or another port or a sibling of the name (`same-site`)."""
_LOOPBACK = re.compile(r"127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3}|")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]")
_HOST = re.compile(r"(?P<name>\[[^\]]*\]|[^:]*)(?::\d{0,5})?")


def hash_key(key: str) -> str:
    """The stored form of a key: `sha256:` and the digest."""
    return f"sha256:{sha256(key.encode()).hexdigest()}"


def day_time(at_s: float) -> str:
    """A time in UTC, for people."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_s))


def key_of(request: GatewayRequest) -> str | None:
    """The key that a request brings, in any of the places where clients put it; None when it brings none."""
    for name, value in request.headers:
        if name == "authorization":
            scheme, _, key = value.partition(" ")
            if scheme.lower() == "bearer" and key.strip():
                return key.strip()
        elif name in KEY_HEADERS and value.strip():
            return value.strip()
    if "key=" in request.query:
        return next((value for name, value in parse_qsl(request.query) if name == "key"), None)
    return None


class Welcome(NamedTuple):
    """That requests with the same head may ask."""

    keys: dict[str, GatewayKey]
    """The keys that were known then: another table as soon as keys or settings are others."""
    peer: str
    """The address of its peer."""
    key: GatewayKey | None
    """The key that it brought; None where no key is wanted."""


class Guard:
    """Screens requests by the settings of a gateway."""

    def __init__(
        self,
        settings: GatewaySettings,
        keys: KeyRing | None = None,
        *,
        now: Callable[[], float] = time.time,
        targets_of: Callable[[str], str] = str,
    ) -> None:
        """A guard that knows the digests of the keys, those of the settings by default.

        `now` gives Unix seconds, `targets_of` a name or a pattern of targets as those are called, as `google/*` for
        `gemini/*`.
        """
        self._now = now
        self._targets_of = targets_of
        self._last_digest: tuple[Headers, str, str | None] = ((), "", None)
        self.set_up(settings, KeyRing(settings.keys, clock=time.monotonic) if keys is None else keys)

    def set_up(self, settings: GatewaySettings, keys: KeyRing) -> None:
        """Go on with these settings and a new ring of keys: its table is another one, so all are asked again."""
        self.keys: KeyRing = keys
        """The keys that are taken."""
        self._is_open = settings.is_open
        self._policy = settings.hooks.policy
        self._names_hosts = bool(settings.hosts)
        self._hosts = frozenset(host.lower().rstrip(".") for host in ("localhost", *settings.hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in settings.origins)

    def lists_models(self, key: GatewayKey | None) -> bool:
        """Whether the policy, or the key, lists the models that may be asked for."""
        return bool(self._policy.models) or (key is not None and bool(key.models))

    def check(self, request: GatewayRequest, *, is_open: bool = False) -> None:
        """Nothing, for who may ask; `is_open` says that no key is wanted.

        Raises: PermissionDeniedError for a foreign host or origin, and for a distant client where there are no keys;
        AuthenticationError for a missing or unknown key.
        """
        if self._is_open or self.welcome(request) is not None:
            return
        table, wants_key = self.keys.table, bool(self.keys)
        if self._names_hosts or not wants_key:
            self._check_host(request.header("host"))
        if not wants_key:
            self._check_origin(request)
        if is_open:
            return
        if not wants_key:
            _check_site(request)
        if not wants_key and not _LOOPBACK.fullmatch(request.peer):
            raise PermissionDeniedError(
                "this gateway has no keys, so it serves its own machine only; give it keys (il serve --key, or [keys] "
                "of its file), or set is_open where the application around it checks who asks",
                status=403,
            )
        key = self._checked_key(self._digest(request)) if wants_key else None
        if not self.keys.is_unsure:
            # the keys of before, so that whoever needed none is asked again where there are some meanwhile
            request.facts.welcome = Welcome(table, request.peer, key)

    def welcome(self, request: GatewayRequest) -> Welcome | None:
        """That a request may ask, as far as it was found before of one with the same head and still holds."""
        cached = request.facts.welcome
        if cached is None or cached.peer != request.peer:
            return None
        key = cached.key
        if key is not None and key.expires_s is not None and self._is_over(key):
            return None
        return cached if cached.keys is self.keys.table else None

    def _is_over(self, key: GatewayKey) -> bool:
        return key.expires_s is not None and key.expires_s <= self._now()

    def _digest(self, request: GatewayRequest) -> str | None:
        """The digest of the key that a request brings; one request is asked for it several times in a row."""
        headers, query, digest = self._last_digest
        if headers is not request.headers or query != request.query:
            secret = key_of(request)
            digest = None if secret is None else hash_key(secret)
            self._last_digest = request.headers, request.query, digest
        return digest

    def _checked_key(self, digest: str | None) -> GatewayKey:
        if digest is None:
            raise AuthenticationError(
                "this gateway needs a key: `Authorization: Bearer`, `x-api-key`, `api-key` or `x-goog-api-key`",
                status=401,
            )
        key = self.keys.find(digest)
        if key is None and self.keys.is_unsure:
            raise InternalServerError(
                "this gateway began without the store that has its keys, and knows this one not yet; ask again",
                status=503,
            )
        if key is None:
            raise AuthenticationError("this key is not known here", status=401)
        if key.revoked_s is not None:
            raise AuthenticationError(f"the key {key.name} was revoked", status=401)
        if key.expires_s is not None and self._is_over(key):
            raise AuthenticationError(f"the key {key.name} expired at {day_time(key.expires_s)}", status=401)
        return key

    def name_of(self, request: GatewayRequest) -> str:
        """The name of the key that a request brings; empty where there are no keys, or it is unknown."""
        key = self.key(request)
        return "" if key is None else key.name

    def key_for(self, request: GatewayRequest, model: str) -> GatewayKey | None:
        """The key that a request brings, which may ask for a model name; None where no key is wanted.

        Raises: PermissionDeniedError where it may not.
        """
        welcome = request.welcome or self.welcome(request)
        key = self.key(request) if welcome is None else welcome.key
        if key is None:
            is_let = welcome is not None or self.lets(None, model)
        else:
            models = key.models
            is_let = not models or _are_ours[models, model] or self._are_called_ours(models, model)
        if not is_let and self._policy.rewrite and key is not None:
            is_let = self._lets(key, renamed(self._policy.rewrite, model))
        if is_let and self._policy.models and not self._is_allowed(model):
            raise PermissionDeniedError(
                f"the policy of this gateway does not allow the model {model[:100]!r}", status=403
            )
        if not is_let:
            raise PermissionDeniedError(f"this key may not ask for the model {model[:100]!r}", status=403)
        return key

    def may_use(self, request: GatewayRequest, model: str) -> bool:
        """Whether the key of a request may ask for a model name; of a chain, for every element."""
        return self.lets(self.key(request), model)

    def lets(self, key: GatewayKey | None, model: str) -> bool:
        """Whether a key that `key` has given may ask for a model name."""
        if self._policy.models and not self._is_allowed(model):
            return False
        if key is None:
            return self._is_open or not self.keys  # a key that was taken away meanwhile may nothing any more
        rewrite = self._policy.rewrite
        return self._lets(key, model) or (bool(rewrite) and self._lets(key, renamed(rewrite, model)))

    def _is_allowed(self, model: str) -> bool:
        """Whether the policy lets anybody ask for a name, as it is or as it is put."""
        models = self._policy.models
        names = (model, renamed(self._policy.rewrite, model))
        return any([_are_ours[models, name] or self._are_called_ours(models, name) for name in names])

    def _lets(self, key: GatewayKey, model: str) -> bool:
        models = key.models
        return not models or _are_ours[models, model] or self._are_called_ours(models, model)

    def _are_called_ours(self, patterns: tuple[str, ...], model: str) -> bool:
        """Whether a pattern lets a target's own name pass (`provider/model`); no alias has a slash."""
        if "/" not in model:
            return False
        called = tuple([self._targets_of(pattern) for pattern in patterns])
        return _are_ours[called, ",".join([self._targets_of(name.strip()) for name in model.split(",")])]

    def key(self, request: GatewayRequest) -> GatewayKey | None:
        """The key that a request brings; None where there are no keys, or it is unknown."""
        welcome = self.welcome(request)
        if welcome is not None:
            return welcome.key
        if not self.keys:
            return None
        digest = self._digest(request)
        return None if digest is None else self.keys.find(digest)

    def _check_host(self, host: str | None) -> None:
        if host is None:
            return
        name, is_address = _names[host]
        if not is_address and name not in self._hosts:
            raise PermissionDeniedError(
                f"asked under the name {host[:100]!r}, which is not configured; add it to [server] hosts", status=403
            )

    def _check_origin(self, request: GatewayRequest) -> None:
        origin, host = request.header("origin"), request.header("host")
        if origin is None or origin.lower().rstrip("/") in self._origins:
            return
        with suppress(ValueError):  # an origin that is no address
            if host is not None and urlsplit(origin).netloc.lower() == host.lower():
                return
        raise PermissionDeniedError(
            f"a page of {origin[:100]!r} may not ask here; add it to [server] origins", status=403
        )


def _check_site(request: GatewayRequest) -> None:
    """Nothing, unless a browser says that a page elsewhere made it ask, and not which one: that would be `Origin`.

    Source: W3C "Fetch Metadata Request Headers", section 2.3; programs that are no browser send no such header.
    """
    site = (request.header("sec-fetch-site") or "").strip().lower()
    if site in _ELSEWHERE and request.header("origin") is None:
        raise PermissionDeniedError(
            f"a page of another site may not ask here (Sec-Fetch-Site: {site}); give the gateway keys, or open the "
            "address itself",
            status=403,
        )


def _name_of(host: str) -> tuple[str, bool]:
    """The name in a `Host`, and whether it is an address; clients say the same one again and again."""
    match = _HOST.fullmatch(host)
    name = match["name"].lower().rstrip(".") if match else ""
    return name, _ADDRESS.fullmatch(name) is not None


_names = ByteCache(200_000, _name_of)


# Names of models, and patterns of them


def best_pattern(patterns: dict[str, Any], name: str) -> str | None:
    """The pattern that fits a name best: the name itself, else the longest that it begins with; None for none."""
    if name in patterns:
        return name
    fitting = [pattern for pattern in patterns if pattern.endswith("*") and name.startswith(pattern[:-1])]
    return max(fitting, key=len, default=None)


def renamed(rewrite: dict[str, str], model: str) -> str:
    """The name, or chain of names, under which a client's model is looked up; each is put under another one once."""
    if not rewrite:
        return model
    names = [name.strip() for name in model.split(",")]
    for place, name in enumerate(names):
        pattern = best_pattern(rewrite, name)
        if pattern is not None:
            target = rewrite[pattern]
            is_prefix = target.endswith("*") and pattern.endswith("*")
            names[place] = target[:-1] + name[len(pattern) - 1 :] if is_prefix else target
    return ",".join(names)


def _fit_all(key: tuple[tuple[str, ...], str]) -> bool:
    """Whether every element of a chain fits one of the patterns; clients name the same ones again and again."""
    patterns, model = key
    return all(any(_fits(pattern, name.strip()) for pattern in patterns) for name in model.split(","))


_are_ours = ByteCache(1_000_000, _fit_all)


def _fits(pattern: str, model: str) -> bool:
    return model.startswith(pattern[:-1]) if pattern.endswith("*") else model == pattern
