"""Tests are alone on the machine: loopback only, none of its keys, and warnings fail them."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import warnings

import pytest

from tests.contract.source import ROOT


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("198.51.100.7", 443)])
def test_leaving_loopback_fails(address: tuple[str, int]) -> None:
    """A connection to anywhere but this machine is refused before a packet leaves."""
    with socket.socket() as client, pytest.raises(RuntimeError, match="tests stay on loopback"):
        client.connect(address)


def test_looking_up_a_name_fails() -> None:
    """Asking a name server is leaving, too."""
    with pytest.raises(RuntimeError, match=r"reach example\.com"):
        socket.getaddrinfo("example.com", 80)


def test_loopback_works() -> None:
    """A server on this machine can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_keys_of_the_machine_are_hidden() -> None:
    """A key or an alias of whoever runs the tests is not there inside a test."""
    path = ROOT / "tests" / "contract" / "test_isolation.py"
    environment = {**os.environ, "OPENAI_API_KEY": "sk-of-the-machine", "LLM_WORK": "openai://example.invalid"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{path}::test_no_key_is_left"]
    assert subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True).returncode == 0


def test_no_key_is_left() -> None:
    """No variable of ours and no key is in the environment of a test."""
    assert [name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("LLM_", "INTERLINGUA_"))] == []


def test_warnings_are_errors() -> None:
    """A warning that nobody expects fails the test that raised it."""
    with pytest.raises(UserWarning, match="unexpected"):
        warnings.warn("unexpected", stacklevel=1)


async def test_coroutines_are_tests() -> None:
    """A coroutine test is awaited, on asyncio, without a mark."""
    assert asyncio.get_running_loop().is_running()
