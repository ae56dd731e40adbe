"""Replies of a target that are no answers: a redirect, a page, nothing, or a text that is no JSON.

Mostly the address is wrong, or a proxy spoke for the target; so the sentence says who sent it, and how it begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._errors.bodies import beginning
from interlingua.errors import DecodeError, WireError
from interlingua.wire.http import header
from interlingua.wire.json import decode_any
from interlingua.wire.sse import sniff

if TYPE_CHECKING:
    from interlingua.wire.http import HttpReply

__all__ = ["misplaced", "unreadable"]

_EXCERPT = 120


def misplaced(spec: str, reply: HttpReply) -> DecodeError | None:
    """The error of a whole reply that cannot be an answer of the target `spec`; None for one that can."""
    if 300 <= reply.status < 400:
        place = (header(reply.headers, "location") or "nowhere").partition("?")[0]
        sentence = f"{spec} answered with a redirect to {place[:_EXCERPT]}, and keys are sent to no other address"
        return DecodeError(f"{sentence}; is the base URL right?")
    body = reply.body.strip()
    if not body:
        return DecodeError(f"{spec} answered with status {reply.status} and an empty body")
    form = sniff(header(reply.headers, "content-type"), body)
    if form != "html" and body.startswith((b"{", b"[")):
        return None
    kind = {"html": "a web page", "sse": "a stream that nobody asked for"}.get(form) or _kind_of_text(body)
    return DecodeError(f"{spec} answered with {kind}; is the base URL right? It begins: {_start(body)}")


def unreadable(spec: str, reply: HttpReply, error: WireError) -> WireError:
    """The error of a reply that could not be read, with who sent it and how it begins where no place in it is named."""
    if type(error) is not DecodeError or error.path:
        return error
    return DecodeError(f"{spec} answered with what cannot be read: {error.message}. It begins: {_start(reply.body)}")


def _kind_of_text(body: bytes) -> str:
    try:
        decode_any(body)
    except WireError:
        return "a text that is no JSON"
    return "JSON that is no object"


def _start(body: bytes) -> str:
    return beginning(" ".join(body[: 2 * _EXCERPT].decode(errors="replace").split()), _EXCERPT)
