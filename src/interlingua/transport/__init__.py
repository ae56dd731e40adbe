"""Transports: whatever carries an `HttpRequest` to a model and brings its reply back.

`base` is the seam, `sync` and `aio` are the HTTP/1.1 transports, `library` is an HTTP library behind the same seam,
`replay` answers from a script, `fault` spoils what another transport does, `default` holds one transport per process.
"""

from __future__ import annotations

__all__: list[str] = []
