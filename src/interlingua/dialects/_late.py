"""Dialects whose functions are loaded when they are used: who only wants the facts of a dialect loads no more.

The names of the modules and functions in a dialect's folder are the same in every dialect.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._contract import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._service import Service

__all__ = ["late", "late_dialect", "late_pair"]


def late(module: str, name: str) -> Callable[..., Any]:
    """The function of `module` called `name`, imported at its first call."""
    function: Callable[..., Any] | None = None

    def call(*arguments: Any) -> Any:
        nonlocal function
        if function is None:
            function = cast("Callable[..., Any]", getattr(import_module(module), name))
        return function(*arguments)

    return call


def late_pair(module: str, name: str) -> Callable[[Any, Any], Any]:
    """A function of two arguments, imported at its first call: without the cost of `*arguments` for each answer."""
    function: Callable[[Any, Any], Any] | None = None

    def call(one: Any, other: Any) -> Any:
        nonlocal function
        if function is None:
            function = cast("Callable[[Any, Any], Any]", getattr(import_module(module), name))
        return function(one, other)

    return call


def late_dialect(name: str, package: str, service: Service, *, stream_decoder: str, stream_encoder: str) -> Dialect:
    """The dialect in `package`: its facts as given, everything else late; streams by the names of their classes."""
    return Dialect(
        name=name,
        encode_request=late_pair(f"{package}.client", "encode_request"),
        decode_response=late_pair(f"{package}.client", "decode_response"),
        decode_error=late_pair(f"{package}.client", "decode_error"),
        stream_decoder=late(f"{package}.client_stream", stream_decoder),
        decode_request=late_pair(f"{package}.server", "decode_request"),
        encode_response=late_pair(f"{package}.server", "encode_response"),
        encode_error=late(f"{package}.server", "encode_error"),
        stream_encoder=late(f"{package}.server_stream", stream_encoder),
        frame_check=late(f"{package}.passing", "Frames"),
        is_normal=late(f"{package}.passing", "is_normal"),
        normal_form=late(f"{package}.normal", "normal_form"),
        service=service,
    )
