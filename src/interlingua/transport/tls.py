"""The TLS context of a transport: system trust unless told otherwise, HTTP/1.1 by ALPN."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError

if TYPE_CHECKING:
    from interlingua.transport.options import HttpOptions

__all__ = ["tls_context"]


def tls_context(options: HttpOptions) -> ssl.SSLContext:
    """A client context; it takes tens of milliseconds to make, so a transport makes one.

    `SSL_CERT_FILE` and `SSL_CERT_DIR` work, because OpenSSL reads them for the system's trust.

    Raises: ConfigError when `ca_file` cannot be read or holds no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
    except OSError as error:
        reason = error.strerror or "no certificate in it"
        raise ConfigError(f"ca_file {options.ca_file}: {reason.lower()}; expected a PEM file of authorities") from None
    context.set_alpn_protocols(["http/1.1"])
    if not options.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
