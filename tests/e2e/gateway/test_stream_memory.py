"""Memory of a stream: free when the stream ends, without waiting for the garbage collector."""

from __future__ import annotations

import gc
import socket
from urllib.parse import urlsplit

import pytest

from interlingua.gateway.calls.streams import InFlightStream
from interlingua.testing.upstream import Upstream
from interlingua.wire.json import encode
from tests.support.gateway import MODELS, serving
from tests.support.waiting import until


@pytest.mark.parametrize("upstream", ["openai-chat", "anthropic"], ids=["passed", "translated"])
@pytest.mark.parametrize("pieces", [1, 200], ids=["left at once", "left in the middle"])
def test_a_stream_that_its_client_left_is_in_no_ring(upstream: str, pieces: int) -> None:
    """`il serve` looks for garbage seldom: rings of streams would keep all that came, megabytes for each."""
    body = encode({"model": MODELS[upstream], "stream": True, "messages": [{"role": "user", "content": "Hi."}]})
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    gc.collect()
    before = _streams()
    gc.disable()
    try:
        with Upstream(upstream, "Hello. " * 100_000).standing(), serving() as url:
            with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=10) as client:
                client.sendall(b"%scontent-length: %d\r\n\r\n%s" % (head, len(body), body))
                assert all([client.recv(1_000) for _ in range(pieces)])
            assert until(lambda: _streams() <= before)
    finally:
        gc.enable()


def _streams() -> set[int]:
    """The streams that there are, by their identity."""
    return {id(each) for each in gc.get_objects() if type(each) is InFlightStream}
