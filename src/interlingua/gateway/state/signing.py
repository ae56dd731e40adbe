"""Signed ids: an id under which a provider keeps something, as a client gets it.

A signed id says whose it is and which provider keeps what it names, so that any process with the secret can check it
without state. It does not show the provider's own id.

Shape: `<prefix><form><hint><tag><text>`. `prefix` is the vendor's (`resp_`, `file-`, `files/`; empty where the id has
none), `form` one letter, `hint` 3 characters that find the provider, `tag` 16 characters (80 bits) of an HMAC-SHA256
over owner, provider and id, `text` the rest of the id, enciphered. Form, hint and tag are lower-case letters and
digits.

The secret is named in `[server]`, or made once and kept beside the keys.

Rules
- A secret that is named (`id_secret_env`, `id_secret_file`) is used as it is; nothing is written then.
- In a file it stands beside the database of keys, its owner's alone; whoever comes first makes it, in one step, so that
  all workers and every start have the same one. Replicas have it in Redis (`keys/shared_secret`).
- The secret stands in no log, no error and no `repr`.
- Signing is deterministic: an id has one signed form for each owner and provider, and only that form is accepted.
- The enciphering is that of a synthetic initialization vector: the tag is the nonce of the key stream.
- 20 characters are added. Hexadecimal digits are packed, so that OpenAI's `resp_` and 50 digits become 59 characters;
  an id of up to 44 characters stays within 64, a longer one grows by 20.
"""

from __future__ import annotations

import hmac
import logging
import os
import re
import secrets
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from hashlib import shake_256
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import ConfigError
from interlingua.registry.home import state_directory
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from interlingua.gateway.settings import GatewaySettings

__all__ = [
    "MAX_ID_CHARACTERS",
    "MIN_SECRET_CHARACTERS",
    "Opened",
    "Signer",
    "kept_secret",
    "make_secret",
    "named_secret",
    "place_of",
    "read_secret",
    "secret_for",
    "signer_of",
]

MAX_ID_CHARACTERS = 256
"""The longest id of a provider that is signed."""
MIN_SECRET_CHARACTERS = 32
"""The shortest secret that is taken."""
HINT_CHARACTERS = 3
TAG_CHARACTERS = 16
_HEAD_CHARACTERS = 1 + HINT_CHARACTERS + TAG_CHARACTERS
_PREFIX = re.compile(r"[A-Za-z]{1,16}[_/-]|")
"""The prefix of an id; shorter than form, hint and tag, which hold no separator, so that it is found again."""
_URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"
_PLACES = {symbols: {symbol: place for place, symbol in enumerate(symbols)} for symbols in (_URL_SAFE, _LOWER)}


def _packed(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _unpacked(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _hex_packed(text: str) -> str:
    return _packed(bytes.fromhex(text))


def _hex_unpacked(text: str) -> str:
    return _unpacked(text).hex()


def _text_packed(text: str) -> str:
    return _packed(text.encode())


def _text_unpacked(text: str) -> str:
    return _unpacked(text).decode()


class _Form(NamedTuple):
    """How the rest of an id is written in a signed one."""

    fits: re.Pattern[str]
    """The texts that it can write."""
    symbols: str
    """The characters that it writes with."""
    write: Callable[[str], str]
    """The text in those characters."""
    read: Callable[[str], str]
    """The text back; raises ValueError for what was never written so."""


_FORMS = {
    "h": _Form(re.compile(r"(?:[0-9a-f]{2}){16,}"), _URL_SAFE, _hex_packed, _hex_unpacked),
    "l": _Form(re.compile(r"[a-z0-9]*"), _LOWER, str, str),
    "t": _Form(re.compile(r"[A-Za-z0-9_-]*"), _URL_SAFE, str, str),
    "b": _Form(re.compile(r".*", re.DOTALL), _URL_SAFE, _text_packed, _text_unpacked),
}
"""The forms by their letters; the first that fits is taken. Google's ids stay lower case, as its clients expect."""
_SIGNED = re.compile(rf"(?P<form>[hltb])(?P<hint>[a-z2-7]{{{HINT_CHARACTERS}}})(?P<tag>[a-z2-7]{{{TAG_CHARACTERS}}})")


class Opened(NamedTuple):
    """The content of a signed id."""

    provider: str
    """The name of the provider that keeps what it names."""
    id: str
    """The provider's own id."""


class Signer:
    """Signs and opens ids with one secret."""

    def __init__(self, secret: str) -> None:
        """A signer with `secret`, from which its three keys are derived."""
        self._tags, self._hints, self._stream = [
            hmac.digest(secret.encode(), f"interlingua ids {use}".encode(), "sha256")
            for use in ("tags", "hints", "stream")
        ]
        self._hint_of: dict[str, str] = {}
        self._providers: Iterable[str] = ()
        self._by_hint: dict[str, list[str]] = {}

    def __repr__(self) -> str:
        """Nothing of the secret."""
        return "Signer(***)"

    def sign(self, owner: str, provider: str, own_id: str) -> str:
        """The signed form of the id `own_id` of a provider; an id that is too long, or empty, as it is."""
        if not own_id or len(own_id) > MAX_ID_CHARACTERS:
            return own_id
        prefix, rest = _parted(own_id)
        letter, form = next((letter, form) for letter, form in _FORMS.items() if form.fits.fullmatch(rest))
        tag = self._tag(owner, provider, own_id)
        text = self._shifted(form.write(rest), form.symbols, tag, 1)
        return f"{prefix}{letter}{self._hint(provider)}{tag}{text}"

    def open(self, owner: str, providers: Iterable[str], signed: str) -> Opened | None:
        """The content of an id that was signed for `owner` and one of `providers`; None for every other text."""
        if len(signed) > 2 * MAX_ID_CHARACTERS:
            return None
        prefix, rest = _parted(signed)
        head = _SIGNED.fullmatch(rest[:_HEAD_CHARACTERS])
        if head is None:
            return None
        if providers is not self._providers:  # they are mostly asked for with the same object
            self._providers, self._by_hint = providers, {}
            for provider in providers:
                self._by_hint.setdefault(self._hint(provider), []).append(provider)
        candidates = self._by_hint.get(head["hint"])
        if not candidates:
            return None
        text = self._text(head["form"], head["tag"], rest[_HEAD_CHARACTERS:])
        if text is None:
            return None
        own_id = f"{prefix}{text}"
        for provider in candidates:
            if hmac.compare_digest(self._tag(owner, provider, own_id), head["tag"]):
                return Opened(provider, own_id)
        return None

    def _text(self, letter: str, tag: str, text: str) -> str | None:
        """The rest of an id that was written in a form; None for what is never written so."""
        form = _FORMS[letter]
        if not _PLACES[form.symbols].keys() >= set(text):
            return None
        plain = self._shifted(text, form.symbols, tag, -1)
        try:
            rest = form.read(plain)
        except ValueError:
            return None
        is_first = next(one for one in _FORMS.values() if one.fits.fullmatch(rest)) is form
        return rest if is_first and form.write(rest) == plain else None

    def _tag(self, owner: str, provider: str, own_id: str) -> str:
        digest = hmac.digest(self._tags, encode((owner, provider, own_id)), "sha256")
        return b32encode(digest[: TAG_CHARACTERS * 5 // 8]).decode().lower()

    def _hint(self, provider: str) -> str:
        hint = self._hint_of.get(provider)
        if hint is None:
            digest = hmac.digest(self._hints, provider.encode(), "sha256")
            hint = self._hint_of[provider] = b32encode(digest[:2]).decode().lower()[:HINT_CHARACTERS]
        return hint

    def _shifted(self, text: str, symbols: str, tag: str, way: int) -> str:
        """A text of `symbols` with the key stream of a tag added, or taken away where `way` is -1."""
        stream = shake_256(self._stream + tag.encode()).digest(len(text))
        places, count = _PLACES[symbols], len(symbols)
        return "".join(
            [symbols[(places[symbol] + way * step) % count] for symbol, step in zip(text, stream, strict=True)]
        )


def _parted(own_id: str) -> tuple[str, str]:
    """An id's prefix and the rest of it."""
    match = _PREFIX.match(own_id)
    end = 0 if match is None else match.end()
    return own_id[:end], own_id[end:]


# The secret by which ids are signed


MAX_SECRET_BYTES = 4_096
"""A file of a secret may be this long."""


def signer_of(settings: GatewaySettings, environ: Mapping[str, str]) -> Signer:
    """The signer of a gateway that shares nothing by Redis.

    Raises: as `secret_for`.
    """
    return Signer(secret_for(settings, environ))


def secret_for(settings: GatewaySettings, environ: Mapping[str, str]) -> str:
    """The secret of a gateway that shares nothing by Redis.

    Where none can be kept, it is one of this process alone, and the log says so.
    Raises: ConfigError for a secret that is named and cannot be read, or is too short.
    """
    named = named_secret(settings, environ)
    if named is not None:
        return named
    try:
        return kept_secret(place_of(settings))
    except ConfigError as error:
        logging.getLogger("interlingua.gateway").warning(
            "%s; ids of stored responses, files and batches hold for this process alone", error.message
        )
        return make_secret()


def named_secret(settings: GatewaySettings, environ: Mapping[str, str]) -> str | None:
    """The secret that the settings name; None where they name none.

    Raises: ConfigError for one that cannot be read, or is too short.
    """
    if settings.id_secret_env:
        where, text = f"the variable {settings.id_secret_env}", environ.get(settings.id_secret_env, "")
    elif settings.id_secret_file:
        where = f"the file {settings.id_secret_file}"
        return read_secret(Path(settings.id_secret_file).expanduser(), where)
    else:
        return None
    return _checked(text, where)


def place_of(settings: GatewaySettings) -> Path:
    """Where the secret lies that goes with the settings: beside the database of keys, else where state lies.

    Raises: ConfigError where there is no such place.
    """
    if settings.key_file:
        path = Path(settings.key_file).expanduser()
        return path.with_name(f"{path.name}.id-secret")
    return state_directory() / "id-secret"


def kept_secret(path: Path, secret: str = "") -> str:
    """The secret in a file; one that is not there is made: `secret`, or a new one.

    Raises: ConfigError for a file that can be neither read nor made.
    """
    where = f"the secret of ids in {path.name}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _put(path, secret or make_secret())
    except OSError as error:
        raise ConfigError(f"{where} cannot be made: {os.strerror(error.errno or 0)}") from None
    return read_secret(path, where)


def _put(path: Path, secret: str) -> None:
    """Make the file whole and with its content, unless another process was first."""
    number, made = mkstemp(prefix=f"{path.name}.", dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(number, "w") as file:
            file.write(f"{secret}\n")
            file.flush()
            os.fsync(number)
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        Path(made).unlink()


def read_secret(path: Path, where: str) -> str:
    """The secret in a file that errors call `where`.

    Raises: ConfigError for a file that cannot be read, or holds none.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SECRET_BYTES).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is no text") from None
    except OSError as error:
        raise ConfigError(f"{where} cannot be read: {os.strerror(error.errno or 0)}") from None
    return _checked(text, where)


def _checked(text: str, where: str) -> str:
    secret = text.strip()
    if len(secret) < MIN_SECRET_CHARACTERS:
        raise ConfigError(f"{where} holds no secret of at least {MIN_SECRET_CHARACTERS} characters")
    return secret


def make_secret() -> str:
    """A new secret: 256 random bits as hexadecimal digits."""
    return secrets.token_hex(32)
