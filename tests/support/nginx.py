"""An nginx of the tests' own on loopback, in front of several gateways in turn."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["balancing", "find_nginx"]

_CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/errors.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream gateways {{ {servers} keepalive 32; }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 32m;
    location / {{
      proxy_pass http://gateways; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s;
      proxy_next_upstream error http_503;
    }}
  }}
}}
"""


def find_nginx() -> str | None:
    """The program, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def balancing(program: str, ports: Sequence[int], folder: Path) -> Generator[int]:
    """The port of an nginx that asks the gateways at `ports` in turn."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    servers = " ".join([f"server 127.0.0.1:{one} max_fails=1 fail_timeout=1s;" for one in ports])
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(port=port, folder=folder, servers=servers))
    command = [program, "-p", str(folder), "-c", str(config), "-e", str(folder / "errors.log")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 10
    try:
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait(10)
