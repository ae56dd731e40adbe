"""The one table of dialects: names, spellings and the folders they live in; imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from interlingua.errors import ConfigError, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeContext, Dialect, Encoded, EncodeOptions, StreamDecoder
    from interlingua.dialects._service import Service
    from interlingua.dialects._vectors import EmbedDialect, RerankDialect
    from interlingua.types.response import Response
    from interlingua.wire.http import HttpReply

__all__ = [
    "DEFAULT_DIALECT",
    "DIALECTS",
    "OWN_DIALECT",
    "SPELLINGS",
    "get_dialect",
    "get_embedding",
    "get_reranking",
    "get_service",
    "is_dialect",
    "services",
    "store_dialect",
    "stream_type",
]

T = TypeVar("T")

DIALECTS: dict[str, str] = {
    "openai-chat": "interlingua.dialects.openai_chat",
    "openai-responses": "interlingua.dialects.openai_responses",
    "anthropic": "interlingua.dialects.anthropic",
    "google": "interlingua.dialects.google",
    "ollama": "interlingua.dialects.ollama",
    "cohere": "interlingua.dialects.cohere",
    "unified": "interlingua.dialects.unified",
    "bedrock": "interlingua.dialects.bedrock",
}
"""Dialect name -> the module that holds its `DIALECT`."""
SPELLINGS: dict[str, str] = {"gemini": "google"}
"""Other spellings of dialect names."""
DEFAULT_DIALECT = "openai-chat"
"""The dialect of a client or a body that says nothing of it."""
OWN_DIALECT = "unified"
"""Our own format: that of routes of ours, and of no vendor."""


@cache
def get_service(name: str) -> Service:
    """The facts of the dialect of that name beside its bodies, for a server and a caller.

    Raises: ConfigError, with the names there are.
    """
    return get_dialect(name).service


def services() -> dict[str, Service]:
    """The facts of each dialect beside its bodies, by its name."""
    return {name: get_service(name) for name in DIALECTS}


@cache
def store_dialect() -> str:
    """The dialect whose clients go on from answers by their ids; empty for none."""
    return next((name for name, service in services().items() if service.store is not None), "")


def stream_type(name: str, *, json_array: bool = False) -> str:
    """The media type of a stream of that dialect; `json_array` says that its client wants it as one JSON array."""
    return "application/json" if json_array else get_service(name).stream_type


@cache
def get_dialect(name: str) -> Dialect:
    """The dialect of that name: one of ours, or one that an installed package offers.

    Raises: ConfigError, with the names there are; and for what a package offers that is no dialect of that name.
    """
    module = DIALECTS.get(SPELLINGS.get(name, name))
    return _converting(_of_package(name) if module is None else cast("Dialect", import_module(module).DIALECT))


@cache
def get_embedding(name: str) -> EmbedDialect | None:
    """How providers of the dialect of that name make vectors; None where they make none."""
    service = get_service(name)
    if not service.embeds:
        return None
    form: EmbedDialect = import_module(f"{DIALECTS[service.embeds]}.embeddings").EMBEDDING
    return replace(form, encode_request=_rooted(form.encode_request, service)) if service.vector_root else form


@cache
def get_reranking(name: str) -> RerankDialect | None:
    """How providers of the dialect of that name put documents in order; None where they do not."""
    service = get_service(name)
    if not service.reranks:
        return None
    form: RerankDialect = import_module(f"{DIALECTS[service.reranks]}.rerank").RERANKING
    return replace(form, encode_request=_rooted(form.encode_request, service)) if service.vector_root else form


def _rooted(
    encode_request: Callable[[T, EncodeOptions], Encoded], service: Service
) -> Callable[[T, EncodeOptions], Encoded]:
    """A writer of requests whose path begins where the server has those of vectors."""

    def encode(request: T, options: EncodeOptions) -> Encoded:
        encoded = encode_request(request, options)
        return replace(encoded, path=f"{service.vector_root}{encoded.path}")

    return encode


def is_dialect(name: str) -> bool:
    """Whether there is a dialect of that name."""
    if name in DIALECTS:
        return True
    from interlingua.dialects._installed import installed_names  # only who asks for another name looks for packages

    return name in installed_names("interlingua.dialects")


def _of_package(name: str) -> Dialect:
    from interlingua.dialects._contract import Dialect
    from interlingua.dialects._installed import find_installed

    installed = find_installed("interlingua.dialects", name)
    if installed is None:
        raise ConfigError(f"no dialect {name!r}; there are: {', '.join(sorted(DIALECTS))}")
    dialect = installed.value
    if not isinstance(dialect, Dialect) or dialect.name != name:
        description = f"the dialect {dialect.name}" if isinstance(dialect, Dialect) else kind_of(dialect)
        raise ConfigError(f"{installed.origin} offers the dialect {name}, and that is {description}")
    return dialect


def _converting(dialect: Dialect) -> Dialect:
    """The dialect, whose decoders turn answers back into the form that the caller asked for."""
    decode = dialect.decode_response

    def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
        response, undo = decode(reply, context), context.undo
        if not (undo.arguments or undo.output or undo.fenced):  # it is in the caller's own form
            return response
        from interlingua.dialects._own_form import turned_back  # only whose schemas or JSON mode were rewritten pays

        return turned_back(response, undo, dialect.name)

    def stream_decoder(context: DecodeContext) -> StreamDecoder:
        decoder, undo = dialect.stream_decoder(context), context.undo
        if not (undo.arguments or undo.output or undo.fenced):
            return decoder
        from interlingua.dialects._own_form import ConvertingDecoder  # as above

        return ConvertingDecoder(decoder, undo)

    return replace(dialect, decode_response=decode_response, stream_decoder=stream_decoder)
