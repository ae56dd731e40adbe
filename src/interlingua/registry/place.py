"""Addresses that are not the row's own: those of vendors' variables, of `base_url=`, and what a gateway leaves out.

Rules
- An address is read as the vendor's SDK reads it: `OPENAI_BASE_URL` holds the whole base, `ANTHROPIC_BASE_URL` lacks
  the `/v1` that the SDK adds, `OLLAMA_HOST` may be a host alone.
- A host that listens everywhere (`0.0.0.0`, `[::]`) is called by its loopback address.
- A key of the row's own variables goes where the variable or the argument points, as in the SDK; a key that stands in
  a DSN goes to the DSN's address alone.
- An error never holds the address, which may have a credential in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from interlingua.errors import ConfigError, UsageError
from interlingua.providers.row import Auth, Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.secret import Secret

if TYPE_CHECKING:
    from interlingua.transport.base import Carrier

__all__ = [
    "DATE",
    "Argument",
    "Environ",
    "Keyed",
    "Place",
    "base_url_of",
    "dated_row",
    "keyed_row",
    "located",
    "origin_of",
    "placed",
    "row_at",
    "unsaid",
    "with_headers",
]

Environ: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the environment, so that it is looked at only when a key is needed."""

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - they are replaced, nothing listens there
_HOST = r"[\w.-]+|[0-9a-f:.]+"
DATE = r"[0-9]{4}-[0-9]{2}-"
"""How a version of an API begins that is a date."""
_PORTS = {"http": 80, "https": 443}
_VALUE = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
"""A part of a host between two dots."""
LOOPBACK = r"127\.\d+\.\d+\.\d+|::1|(.+\.)?localhost"


class Keyed(Struct, frozen=True):
    """A provider together with its credential."""

    provider: Provider
    """The row."""
    credential: Secret
    """Where its key comes from."""
    origin: str = "built in"
    """Where it was configured: `built in`, `code`, `LLM_WORK`, `OPENAI_BASE_URL`, a file, a package."""
    carrier: Carrier | None = None
    """The carrier of its requests, where it is code in this process."""
    is_bound: bool = False
    """Whether the credential is for this address alone, as that of a DSN is."""
    key_auth: Auth | None = None
    """Where a key goes, where the credential is a token and goes elsewhere."""
    login: object = None
    """The login that stands in for the key: its name, or an object of the caller's; None where there is none."""


def keyed_row(row: Provider, environ: Environ, *, origin: str = "built in") -> Keyed:
    """A row with the key that its own variables hold."""
    return Keyed(row, Secret.of_environment(environ, row.key_env), origin)


class Place(Struct, frozen=True):
    """Where a server listens."""

    host: str
    """Lower case, without brackets; every loopback name is `localhost`."""
    port: int
    """The port."""


class Argument(Struct, frozen=True):
    """The arguments of `il.model` for the one provider of its spec."""

    api_key: Secret | None = None
    """The key; None leaves it to where the provider has its own from."""
    base_url: str | None = None
    """The address, as the vendor's SDK takes it; None leaves it to where the provider has its own from."""
    login: object = None
    """The login, by name or as an object, in place of a key; None leaves it to where the provider has its own from."""

    def applied(self, keyed: Keyed) -> Keyed:
        """The provider with this key, at this address.

        Raises: ConfigError for what is no address; UsageError for a provider that has none.
        """
        row = keyed.provider
        if not row.remote and row.auth == "none":
            raise UsageError(f"{row.name} runs in this process: it takes no api_key, no login and no base_url")
        credential = self.api_key or keyed.credential
        login = None if self.api_key else self.login or keyed.login
        if self.base_url is not None:
            added = row.address_env[0][1] if row.address_env else ""
            base_url = base_url_of(self.base_url, row, added, "base_url")
            is_elsewhere = origin_of(base_url) != origin_of(row.base_url)
            if keyed.is_bound and not self.login and is_elsewhere:
                login = None
            if keyed.is_bound and not self.api_key and login is None and is_elsewhere:
                credential = Secret.of_key("", f"{keyed.origin}, which is for another address; give an api_key, too,")
            row = placed(row, base_url)
        if self.api_key:
            row = replace(row, key_env=(), auth=keyed.key_auth or row.auth)
        return Keyed(row, credential, "base_url" if self.base_url is not None else keyed.origin, login=login)


def base_url_of(text: str, row: Provider, added: str, where: str) -> str:
    """The base URL that an address stands for; `added` is the path that the vendor's SDK puts behind it.

    Raises: ConfigError, which names `where` and holds nothing of the text.
    """
    from urllib.parse import urlsplit

    text = text.strip()
    port = None
    if row.plain_loopback and "://" not in text:
        is_bare = text.count(":") > 1 and not text.startswith("[")
        text, port = f"http://{f'[{text}]' if is_bare else text}", urlsplit(row.base_url).port
    try:
        parts = urlsplit(text)
        port = parts.port or port
    except ValueError:
        _refuse(where, "not an address")
    host = parts.hostname or ("127.0.0.1" if row.plain_loopback else "")
    if parts.scheme not in _PORTS or not re.fullmatch(_HOST, host):
        _refuse(where, "not an address")
    if "@" in parts.netloc:
        _refuse(where, "a credential stands in the address; a key has a variable of its own")
    if "?" in text or "#" in text or re.search(r"[\x00-\x20\x7f]", text):
        _refuse(where, "a query, a fragment or a space in the address")
    host = _ANYWHERE.get(host, host)
    path = parts.path.rstrip("/")
    path = path if not added or path.endswith(added) else f"{path}{added}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}{path}"


def _refuse(where: str, why: str) -> NoReturn:
    raise ConfigError(f"{where}: {why} (expected http://host[:port][/path] or https://…)")


def row_at(row: Provider, host: str) -> tuple[Provider, bool]:
    """The row that a server on `host` is described by, and whether that is the row's own host."""
    from urllib.parse import urlsplit

    own = (row.base_url, *[address for variable in row.variables for _, address in variable.addresses])
    at_home = row.needs_host or any(_is_made_like(urlsplit(url).hostname or "", host) for url in own)
    return (row if at_home or not row.elsewhere else ROWS[row.elsewhere]), at_home


def placed(row: Provider, base_url: str) -> Provider:
    """`row` at another address, with its own name and key variables; its key is required on its own host alone."""
    from urllib.parse import urlsplit

    described, at_home = row_at(row, urlsplit(base_url).hostname or "")
    return replace(
        described,
        name=row.name,
        base_url=base_url,
        key_env=row.key_env,
        auth=row.auth,
        key_required=row.key_required and at_home,
        address_env=row.address_env,
        headers=(*described.headers, *[pair for pair in row.headers if pair not in described.headers]),
        elsewhere="",
        family=described.family or described.name,
    )


def with_headers(row: Provider, read: Callable[[str], str | None]) -> Provider:
    """`row` with the headers that its vendor's SDK makes of its variables.

    Raises: ConfigError for a value that no header can carry.
    """
    headers: list[tuple[str, str]] = []
    for variable, name in row.header_env:
        value = (read(variable) or "").strip()
        if value and not re.fullmatch(r"[\x20-\x7e]+", value):
            raise ConfigError(f"{variable} holds a character that a header cannot carry")
        headers += [(name, value)] if value else []
    return replace(row, headers=(*row.headers, *headers), header_env=())


def dated_row(row: Provider, version: str) -> Provider:
    """`row` in the version of its API that its vendor's variable names: a date stands for the older API."""
    query = (("api-version", version),)
    if not row.dated or not re.match(DATE, version):
        return replace(row, query=query, version_env="")
    older = ROWS[row.dated]
    path = older.base_url.partition("{host}")[2]
    return replace(
        older,
        name=row.name,
        query=query,
        address_env=tuple([(variable, path) for variable, _ in row.address_env]),
        key_env=row.key_env,
        token_env=row.token_env,
        auth=row.auth,
        login=row.login,
    )


def located(row: Provider, template: str, options: Mapping[str, str], read: Callable[[str], str | None]) -> Provider:
    """`row` with the parts of its address that only its user knows, as far as somebody says them.

    `template` is the address of the row as it is built in, which tells what an address that was given in full says.

    Raises: ConfigError for a value that no address can have a part of.
    """
    base_url, scope = row.base_url, row.login_scope
    parts, values = dict[str, str](), dict[str, str]()
    # An address says its parts as far as its host, and then its path, are made like those of the row's.
    for pattern, half in zip(_halves(template), _halves(base_url), strict=True):
        if "{" in pattern and (match := re.match(_expression(pattern), half)):
            parts |= match.groupdict()
    for variable in row.variables:
        value = options.get(variable.name) or parts.get(variable.name)
        value = value or next((text.strip() for name in variable.env if (text := read(name))), variable.default)
        if not value:
            continue
        is_of_host = f"{{{variable.name}}}" in _halves(base_url)[0]
        if not re.fullmatch(_LABEL if is_of_host else _VALUE, value):
            raise ConfigError(f"{row.name}: the {variable.name} holds a character that an address cannot have")
        if is_of_host:
            base_url = dict(variable.addresses).get(value, base_url)
        values[variable.name] = value
    for name, value in values.items():
        base_url, scope = (text.replace(f"{{{name}}}", value) for text in (base_url, scope))
    return replace(row, base_url=base_url, login_scope=scope)


def _expression(pattern: str) -> str:
    """The regular expression of texts that are made like a pattern with words between braces."""
    return re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/{}]+)", re.escape(pattern))


def _is_made_like(pattern: str, host: str) -> bool:
    return host == pattern or ("{" in pattern and re.fullmatch(_expression(pattern), host) is not None)


def _halves(base_url: str) -> tuple[str, str]:
    host, slash, path = base_url.partition("://")[2].partition("/")
    return host, slash + path


def unsaid(keyed: Keyed) -> str:
    """The advice on the first part of a provider's address that nobody has said; empty where it is whole."""
    row = keyed.provider
    missing = re.search(r"\{(\w+)\}", row.base_url if keyed.login is None else f"{row.base_url} {row.login_scope}")
    variable = next((each for each in row.variables if missing and each.name == missing[1]), None)
    if variable is None:
        return ""
    names = " or ".join(variable.env)
    return f"no {variable.name}; set {names}{' or ' if names else ''}?{variable.name}= in its DSN"


def origin_of(base_url: str) -> Place:
    """Where the server of an address listens."""
    from urllib.parse import urlsplit

    parts = urlsplit(base_url)
    host = (parts.hostname or "").removesuffix(".")  # the root of all names
    return Place("localhost" if re.fullmatch(LOOPBACK, host) else host, parts.port or _PORTS.get(parts.scheme, 0))
