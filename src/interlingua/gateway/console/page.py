"""The page and its files, as they lie beside this module: no build, nothing from elsewhere, nothing inline.

Rules
- A browser that opens `/` gets the page, by `Accept: text/html`; other clients keep their sign of life.
- The page may load and ask this gateway alone, and can turn no text into HTML: both are enforced by the browser
  (Content-Security-Policy, Trusted Types).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import NotFoundError
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.surfaces import models

if TYPE_CHECKING:
    from interlingua.gateway.console.access import Access
    from interlingua.gateway.http import GatewayRequest

__all__ = ["FILES", "POLICY", "ConsoleFiles"]

FILES = {
    "api.js": "text/javascript; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "keys.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "sides.js": "text/javascript; charset=utf-8",
    "targets.js": "text/javascript; charset=utf-8",
    "try.js": "text/javascript; charset=utf-8",
    "view.js": "text/javascript; charset=utf-8",
}
"""The files of the page, with their media types."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The content security policy of the page."""
_HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-cache"),
)
_PAGE = (("content-type", "text/html; charset=utf-8"), ("vary", "accept"), *_HEADERS)


class ConsoleFiles(msgspec.Struct, frozen=True):
    """The page and its files."""

    access: Access
    """The rights of those who look."""

    async def root(self, request: GatewayRequest) -> GatewayReply:
        """The page for a browser, a sign of life for everybody else."""
        if not self.access.is_on or "text/html" not in (request.header("accept") or ""):
            return await models.greet(request)
        return GatewayReply(headers=_PAGE, body=_read("index.html"))

    async def asset(self, request: GatewayRequest) -> GatewayReply:
        """A file of the page.

        Raises: NotFoundError for what is none, and where there is no console.
        """
        self.access.check_on()
        name = request.path.removeprefix("/console/")
        kind = FILES.get(name)
        if kind is None:
            raise NotFoundError("the console has no such file", status=404)
        return GatewayReply(headers=(("content-type", kind), *_HEADERS), body=_read(name))


@cache
def _read(name: str) -> bytes:
    return (Path(__file__).parent / "files" / name).read_bytes()
