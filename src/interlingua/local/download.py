"""One file over HTTP, going on where an earlier try stopped.

Rules
- What was there is kept and only the rest asked for; a server that sends the whole again is believed.
- Proxies and certificate files are those of the environment, with pip's own settings first.
- What arrives is compared with the digest, if one is known; a wrong file is removed, once tried anew, then refused.

Not responsible for: credentials. Where a server wants some, the caller's fallback has to bring them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from interlingua.errors import ConfigError

__all__ = ["ATTEMPTS", "Interrupted", "digest_of", "download"]

ATTEMPTS = 6
"""How often a broken download goes on before it is given up."""
TIMEOUT_S = 30.0
"""How long a connection may be silent."""
_CHUNK_BYTES = 1 << 18
_PAUSE_S = 0.5
_CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")

Advance = Callable[[int, int | None], None]
"""Told the bytes that are there and the bytes in all."""


class Interrupted(Exception):  # noqa: N818 - it names what happened; callers fall back on it, nobody sees it
    """The download did not get through."""


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    progress: Advance,
    attempts: int = ATTEMPTS,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Put the file at `url` at `target`, going on with what `target.part` holds.

    Raises: Interrupted, when it does not get through; ConfigError, when a whole file has the wrong digest twice.
    """
    if target.exists() and (sha256 is None or digest_of(target) == sha256):
        return
    part = target.with_name(f"{target.name}.part")
    for last in (False, True):
        _fill(url, part, progress, attempts, sleep)
        if sha256 is None or digest_of(part) == sha256:
            part.replace(target)
            return
        part.unlink()
        if last:
            raise ConfigError(f"{target.name.lstrip('.')} does not have the digest that the index gives for it")


def digest_of(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _fill(url: str, part: Path, progress: Advance, attempts: int, sleep: Callable[[float], None]) -> None:
    """Fetch until the file is whole; every try that brings something gives back the patience."""
    if urlsplit(url).scheme == "file":
        shutil.copyfile(url2pathname(urlsplit(url).path), part)
        return
    failures = 0
    while True:
        had = part.stat().st_size if part.exists() else 0
        try:
            if _fetch(url, part, progress):
                return
        except urllib.error.HTTPError as problem:
            if problem.code != 416 or had == 0:  # more is there than the file has: begin anew
                raise Interrupted(f"HTTP {problem.code}") from problem
            part.unlink()
        except (OSError, HTTPException):
            pass
        now = part.stat().st_size if part.exists() else 0
        failures = 0 if now > had else failures + 1
        if failures >= attempts:
            raise Interrupted(f"{failures} tries brought nothing")
        sleep(_PAUSE_S * 2**failures)


def _fetch(url: str, part: Path, progress: Advance) -> bool:
    """Ask for the rest once; True when the file is whole."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"range": f"bytes={done}-"} if done else {})  # noqa: S310 - https or file, from pip
    # The environment has a say in proxies, and in certificates.
    files = (os.environ.get(name) for name in _CERTIFICATES)
    bundle = next((file for file in files if file and Path(file).exists()), None)
    context = ssl.create_default_context(
        cafile=bundle if bundle and Path(bundle).is_file() else None,
        capath=bundle if bundle and Path(bundle).is_dir() else None,
    )
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=TIMEOUT_S) as reply:
        if done and reply.status != 206:
            done = 0
        length = reply.headers.get("content-length")
        total = done + int(length) if length and length.isdigit() else None
        with part.open("ab" if done else "wb") as out:
            while chunk := reply.read(_CHUNK_BYTES):
                out.write(chunk)
                done += len(chunk)
                progress(done, total)
    return total is None or done == total
