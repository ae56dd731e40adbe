"""An nginx of the tests' own on loopback, in front of several gateways in turn, by the file of `examples/deploy`."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.ports import Place
from tests.support.waiting import until

__all__ = ["balancing", "example", "find_nginx"]

_EXAMPLE = Path(__file__).parents[2] / "examples" / "deploy" / "nginx.conf"
_SERVERS = re.compile(r"(?:\s*server replica-\w:8787 [^;]*;)+")
_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def example(folder: Path, port: int, gateways: Sequence[int]) -> str:
    """The configuration that is shipped as an example, for gateways and a folder of a test."""
    text = _EXAMPLE.read_text().replace("worker_processes auto", "worker_processes 1").replace("8192", "1024")
    servers = "".join([f" server 127.0.0.1:{one} max_fails=1 fail_timeout=1s;" for one in gateways])
    text = _SERVERS.sub(servers, text).replace("listen 8080", f"listen 127.0.0.1:{port}")
    places = " ".join([f"{name}_temp_path {folder}/{name};" for name in _FOLDERS])
    text = text.replace("access_log off;", f"access_log off; {places}")
    # root's nginx gives its folders to nobody, and who is root in a namespace of its own cannot remove them
    user = "user root; " if os.geteuid() == 0 else ""
    return f"{user}daemon off; pid {folder}/nginx.pid; error_log {folder}/errors.log;\n{text}"


def find_nginx() -> str | None:
    """The program, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def balancing(program: str, ports: Sequence[int], folder: Path) -> Generator[int]:
    """The port of an nginx that asks the gateways at `ports` in turn."""
    place = Place()
    config = folder / "nginx.conf"
    config.write_text(example(folder, place.port, ports))
    command = [program, "-p", str(folder), "-c", str(config), "-e", str(folder / "errors.log")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: _listens(place.port)), "nginx did not start"
        yield place.port
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 20):
        return True
    return False
