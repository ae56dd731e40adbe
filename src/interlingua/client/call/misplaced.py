"""Replies of a target that are no answers: a redirect, a page, nothing, or a text that is no JSON.

Mostly the address is wrong, or a proxy spoke for the target; so the sentence says who sent it, and how it begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._errors.bodies import beginning
from interlingua.errors import DecodeError
from interlingua.wire.http import header
from interlingua.wire.sse import sniff

if TYPE_CHECKING:
    from interlingua.wire.http import HttpReply

__all__ = ["misplaced"]

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
    kind = {"html": "a web page", "sse": "a stream that nobody asked for"}.get(form, "a text that is no JSON")
    text = " ".join(body[: 2 * _EXCERPT].decode(errors="replace").split())
    return DecodeError(f"{spec} answered with {kind}; is the base URL right? It begins: {beginning(text, _EXCERPT)}")
