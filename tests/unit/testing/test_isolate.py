"""`use` and `no_network`: nothing real is reached."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import Any

import pytest

from interlingua.testing import FakeModel, NetworkForbiddenError, no_network, use, use_transport
from interlingua.transport.override import answers_alone, overridden
from interlingua.transport.replay import ReplayTransport
from interlingua.wire.http import HttpReply
from tests.support.asking import ask


def _transport() -> Any:
    inner: Any = None
    return overridden(inner)


def test_use_takes_a_fake_or_what_one_takes() -> None:
    """A fake, a list of answers or one answer stand in for every model."""
    fake = FakeModel(["One."])
    with use(fake) as same:
        assert same is fake
        assert ask(_transport(), "Hi").text == "One."
        assert answers_alone()
    for answers in (["Two."], "Two."):
        with use(answers) as made:
            assert ask(_transport(), "Hi").text == "Two."
            assert len(made.requests) == 1
    assert not answers_alone()


def test_use_is_a_decorator_too() -> None:
    """A test function can be decorated with it."""

    @use("Yes.")
    def main() -> str:
        return ask(_transport(), "Hi").text

    assert main() == "Yes."


def test_a_transport_can_stand_in() -> None:
    """Any transport that never blocks can be put under every model."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}
    body = json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()
    with use_transport(ReplayTransport(HttpReply(status=200, body=body))):
        assert ask(_transport(), "Hi").text == "Hi."


LEAVING = """
import socket, threading
from interlingua.testing import NetworkForbiddenError, no_network

def leave(way):
    try:
        way()
    except NetworkForbiddenError as error:
        print(error)

with no_network():
    thread = threading.Thread(target=leave, args=[lambda: socket.getaddrinfo("api.openai.com", 443)])
    thread.start()
    thread.join()
    leave(lambda: socket.getaddrinfo(b"api.openai.com", 443))
    leave(lambda: socket.gethostbyname("example.com"))
    with socket.socket() as plain:
        leave(lambda: plain.connect(("192.0.2.1", 80)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        leave(lambda: plain.sendto(b"", ("192.0.2.2", 80)))
"""


def test_no_network_refuses_names_and_addresses() -> None:
    """Resolving and connecting are refused for every library, in every thread, with the host in the sentence."""
    done = subprocess.run([sys.executable, "-c", LEAVING], check=True, capture_output=True, text=True)
    hosts = ("api.openai.com", "api.openai.com", "example.com", "192.0.2.1", "192.0.2.2")
    sentences = [f"no_network() is on and something tried to reach {host}" for host in hosts]
    assert done.stdout.splitlines() == sentences


def test_no_network_leaves_loopback_alone_unless_told() -> None:
    """A server on this machine may be reached, but not with `loopback=False`."""
    with socket.create_server(("127.0.0.1", 0)) as server, no_network():
        address = server.getsockname()
        socket.create_connection(address).close()
        with no_network(loopback=False), pytest.raises(NetworkForbiddenError):
            socket.create_connection(address)
        socket.create_connection(address).close()


def test_no_network_ends() -> None:
    """After the block the guard is idle."""
    with no_network(loopback=False):
        pass
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
