"""DSNs: `scheme://[token@][host[:port]][/path][?options]`, and the provider that one describes.

Rules
- Token and options are percent-decoded. An `@` counts only before the host; elsewhere it is written `%40`.
- `https`, unless the option `tls=0` says otherwise or a scheme of the Ollama family names a loopback host.
- No host, which only options can follow, means the row's own address: `vertex://?project=my-project`.
- No path means the row's own; `/` alone is the root. No port means the row's own under the same protocol, else the
  protocol's.
- Options: `key_env=NAME`, `key_file=PATH` or `login=aws|azure|google` (instead of a token), the parts of an address
  that a row leaves open (`region`, `project`, `location`, `resource`), `tls=0|1`, `dialect=NAME`, `api_version=DATE`,
  `price_in=USD` and `price_out=USD` for a million tokens (with `price_cached` and `price_cache_write`), what the models
  take (`images=0|1`, `tools=0|1`, `context_tokens=8192` and the others of `registry.declared`), and every flag of
  `Quirks` by its name, such as `max_tokens_field=max_tokens`.
- The row's own key variable goes to the row's own host and nowhere else.
- An error is one sentence after the name of the place; it never holds a value, since any of them may be the token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn, get_args, get_origin, get_type_hints

import msgspec

from interlingua.dialects._contract import Quirks
from interlingua.dialects.table import DIALECTS, SPELLINGS, is_dialect
from interlingua.errors import ConfigError
from interlingua.providers.price import Price
from interlingua.providers.row import LOGINS, Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.declared import DECLARED, declared_text
from interlingua.registry.place import DATE, LOOPBACK, Environ, Keyed, row_at
from interlingua.registry.secret import Secret
from interlingua.registry.spec import instead
from interlingua.types.capabilities import Capabilities

__all__ = ["Dsn", "parse_dsn", "provider_of"]

EXPECTED = "(expected scheme://[token@]host[/path])"
PRICE_OPTIONS = {
    "price_in": "input",
    "price_out": "output",
    "price_cached": "cached",
    "price_cache_write": "cache_write",
}
"""The price of a million tokens in US dollars: the option, and the field of `Price`."""
PLACE_OPTIONS = ("region", "project", "location", "resource")
"""The parts of addresses that rows leave open."""
CONNECTION_OPTIONS = ("key_env", "key_file", "login", "tls", "dialect", "api_version", *PLACE_OPTIONS, *PRICE_OPTIONS)

CAPABILITY_OPTIONS = tuple([name for name in DECLARED if name not in Quirks.__struct_fields__])
"""Options that say what the models take and do not take; `output_schema` is a quirk, which can say more."""
_PARTS = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?]*)(?P<path>/[^?]*)?(?:\?(?P<query>.*))?"
_HOST = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>[0-9]{1,5}))?"
_UNWRITTEN = r"[\x00-\x20\x7f]"
_VARIABLE = r"[A-Z_][A-Z0-9_]*"
_NAME = r"[a-z_]{1,32}"
OPTIONS_GUIDE = "docs/guides/configuration.md"
"""Lists the options of a DSN."""
_DOLLARS = r"[0-9]{1,9}(\.[0-9]{1,12})?"


class Dsn(msgspec.Struct, frozen=True, kw_only=True):
    """One DSN, taken apart."""

    scheme: str
    """Lower case."""
    host: str
    """Lower case; an IPv6 address keeps its brackets; empty: the row's own."""
    port: int | None = None
    """None: the row's own."""
    path: str | None = None
    """Without a slash at its end; None: the row's own."""
    token: Secret | None = None
    """The token before the `@`."""
    options: dict[str, str] = {}
    """Decoded names and values."""

    @property
    def loopback(self) -> bool:
        """Whether the host is this machine."""
        return re.fullmatch(LOOPBACK, self.host.strip("[]")) is not None


def parse_dsn(text: str, *, where: str = "DSN") -> Dsn:
    """The parts of a DSN; `where` names the place in errors.

    Raises: ConfigError, in one sentence that holds nothing of the text.
    """
    text = text.strip()
    if re.search(_UNWRITTEN, text):
        _refuse(where, "a space or control character in the DSN; percent-encode it")
    parts = re.fullmatch(_PARTS, text)
    if parts is None:
        _refuse(where, f"not a DSN {EXPECTED}")
    if any(sign in f"{parts['path'] or ''}{parts['query'] or ''}" for sign in "@#"):
        _refuse(where, "an @ or # after the host; percent-encode / ? # in a token and @ # in a path or option")
    token, _, address = parts["authority"].rpartition("@")
    if address or parts["path"] is not None or not parts["query"]:
        host, port = _host_and_port(address, where)
    else:
        host, port = "", None
    secret = None
    if token:
        secret = Secret.of_key(_decoded(token, where), where)
        secret.reveal()
    return Dsn(
        scheme=parts["scheme"].lower(),
        host=host,
        port=port,
        path=None if parts["path"] is None else parts["path"].rstrip("/"),
        token=secret,
        options=_options(parts["query"] or "", where),
    )


def _refuse(where: str, why: str) -> NoReturn:
    raise ConfigError(f"{where}: {why}")


def _host_and_port(address: str, where: str) -> tuple[str, int | None]:
    if not address:
        _refuse(where, f"no host in the DSN {EXPECTED}")
    parts = re.fullmatch(_HOST, address)
    if parts is None:
        _refuse(where, f"the host in the DSN is not a host name with a port from 1 to 65535 {EXPECTED}")
    port = None if parts["port"] is None else int(parts["port"])
    if port is not None and not 0 < port < 65_536:
        _refuse(where, "the port in the DSN is not from 1 to 65535")
    return parts["host"].lower(), port


def _decoded(text: str, where: str) -> str:
    from urllib.parse import unquote  # here and below: 4 ms that only who has a DSN pays for

    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        _refuse(where, "a percent-encoded byte in the DSN is not UTF-8")


def _options(query: str, where: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for entry in filter(None, query.split("&")):
        name, _, value = (_decoded(side, where) for side in entry.partition("="))
        names = (*CONNECTION_OPTIONS, *CAPABILITY_OPTIONS, *Quirks.__struct_fields__)
        if name not in names:
            named = f" {name}" if re.fullmatch(_NAME, name) else ""
            _refuse(where, f"unknown option{named} in the DSN{instead(named.strip(), names, OPTIONS_GUIDE)}")
        if name in options:
            _refuse(where, f"the option {name} is given twice")
        options[name] = value
    return options


def provider_of(name: str, dsn: Dsn, row: Provider, environ: Environ, *, where: str) -> Keyed:
    """The provider `name` that a DSN of `row`'s scheme describes, with its credential.

    Raises: ConfigError for an option with a value that it cannot have, and for two keys.
    """
    address_env = row.address_env
    if not dsn.host and row.needs_host:
        _refuse(where, f"no host in the DSN {EXPECTED}")
    row, at_home = row_at(row, dsn.host) if dsn.host else (row, True)
    if row.dated and dsn.path is None and re.match(DATE, dsn.options.get("api_version", "")):
        row = ROWS[row.dated]
    credential, key_env, is_own = _credential(dsn, row if at_home else None, environ, where)
    options = dsn.options
    login = options.get("login") or (row.login if at_home and not is_own and credential.origin() is None else "")
    base_url, dialects = _base_url(dsn, row, where), row.dialects
    if "dialect" in options:
        dialect = SPELLINGS.get(options["dialect"], options["dialect"])
        if not is_dialect(dialect):
            _refuse(where, f"dialect takes {_either(tuple(sorted(DIALECTS)))}")
        dialects = (dialect,)
    provider = msgspec.structs.replace(
        row,
        name=name,
        base_url=base_url,
        dialects=dialects,
        key_env=key_env,
        key_required=not login and (is_own or (row.key_required and at_home)),
        quirks=_quirks(row.quirks, options, where),
        query=(("api-version", options["api_version"]),) if "api_version" in options else row.query,
        address_env=address_env,
        elsewhere="",
        family=row.family or row.name,
        capabilities=_capabilities(row, options, where),
        price=_price(options, where) or row.price,
    )
    return Keyed(provider, credential, where, is_bound=True, login=login or None)


def _credential(dsn: Dsn, home: Provider | None, environ: Environ, where: str) -> tuple[Secret, tuple[str, ...], bool]:
    """The credential, the variables to name when it is missing, and whether the DSN itself gives one."""
    options = [name for name in ("key_env", "key_file", "login") if name in dsn.options]
    if len(options) + (dsn.token is not None) > 1:
        _refuse(where, "more than one key; give a token, key_env, key_file or login")
    if dsn.token is not None:
        return dsn.token, (), True
    if options == ["key_file"]:
        return Secret.of_file(dsn.options["key_file"]), (), True
    if options == ["login"]:
        if dsn.options["login"] not in LOGINS:
            _refuse(where, f"login takes {_either(LOGINS)}")
        return Secret.of_key("", where), (), True
    if options == ["key_env"]:
        variable = dsn.options["key_env"]
        if not re.fullmatch(_VARIABLE, variable):
            _refuse(where, "key_env does not name a variable (capitals, digits and underscores)")
        return Secret.of_environment(environ, (variable,)), (variable,), True
    names = home.key_env if home else ()
    return Secret.of_environment(environ, names), names, False


def _base_url(dsn: Dsn, row: Provider, where: str) -> str:
    from urllib.parse import urlsplit

    tls = dsn.options.get("tls")
    if tls not in {None, "0", "1"}:
        _refuse(where, "tls takes 0 or 1")
    plain = tls == "0" or (tls is None and row.plain_loopback and dsn.loopback)
    own = urlsplit(row.base_url)
    scheme = "http" if plain else "https"
    port = dsn.port or (own.port if own.scheme == scheme else None)
    path = own.path if dsn.path is None else dsn.path
    if not dsn.host:
        return f"{scheme}://{own.netloc}{path}"
    return f"{scheme}://{dsn.host}{f':{port}' if port else ''}{path}"


def _capabilities(row: Provider, options: Mapping[str, str], where: str) -> Capabilities:
    capability_options = {name: value for name, value in options.items() if name in CAPABILITY_OPTIONS}
    if not capability_options:
        return row.capabilities
    try:
        return declared_text(capability_options).over(row.capabilities, where)
    except ConfigError as error:
        _refuse(where, error.message)


def _price(options: Mapping[str, str], where: str) -> Price | None:
    prices = {name: options[name] for name in PRICE_OPTIONS if name in options}
    if not prices:
        return None
    if not {"price_in", "price_out"} <= prices.keys():
        _refuse(where, "a price needs both price_in and price_out, US dollars for a million tokens")
    for name, text in prices.items():
        if not re.fullmatch(_DOLLARS, text):
            _refuse(where, f"{name} takes US dollars for a million tokens, such as 0.25")
    return msgspec.convert({PRICE_OPTIONS[name]: float(text) for name, text in prices.items()}, Price)


def _quirks(quirks: Quirks, options: Mapping[str, str], where: str) -> Quirks:
    flags = {name: value for name, value in options.items() if name in Quirks.__struct_fields__}
    if not flags:
        return quirks
    hints = get_type_hints(Quirks)
    return msgspec.structs.replace(quirks, **{name: _flag(name, flags[name], hints[name], where) for name in flags})


def _flag(name: str, value: str, kind: object, where: str) -> object:
    """The value of one quirk, read from text by the type of its field: some words, a list, a number, or yes and no."""
    choices = get_args(kind)
    if get_origin(kind) is frozenset:
        # Words between commas; any, or only known ones.
        known_words = get_args(choices[0])
        words = frozenset(filter(None, value.split(",")))
        if known_words and not words <= set(known_words):
            _refuse(where, f"{name} takes {_either(known_words)}, with commas between them")
        return words
    if kind is int:
        if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
            _refuse(where, f"{name} takes a whole number")
        return int(value)
    allowed: dict[str, object] = {choice: choice for choice in choices} or {"0": False, "1": True}
    if value not in allowed:
        _refuse(where, f"{name} takes {_either(tuple(allowed))}")
    return allowed[value]


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
