"""Clients that ask a gateway without pause, whole answers and streams in turn, and count what became of each."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["Loading", "loading"]


class Loading:
    """What became of the requests of all clients."""

    def __init__(self, clients: int) -> None:
        """Nothing was asked yet."""
        self.clients: int = clients
        """How many ask, each one request after the other."""
        self.answered: Counter[str] = Counter()
        """Complete answers, `whole` and `stream`, and refusals by status."""
        self.lost: list[str] = []
        """Requests that were sent on a connection and not answered to their end."""
        self.refused: int = 0
        """Connections that were not taken."""
        self.stop: threading.Event = threading.Event()
        """Set, each client ends after its answer."""
        self.lock: threading.Lock = threading.Lock()
        """Guards the counts."""

    @property
    def total(self) -> int:
        """How many were answered."""
        return sum(self.answered.values())

    def ask(self, connection: http.client.HTTPConnection, *, stream: bool, key: str) -> bool:
        """Whether the connection may be used again."""
        try:
            if connection.sock is None:
                connection.connect()
        except OSError:
            with self.lock:
                self.refused += 1
            self.stop.wait(0.02)
            return False
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"authorization": f"Bearer {key}"} if key else {}
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            reply = connection.getresponse()
            told = reply.read()
        except (OSError, http.client.HTTPException) as error:
            with self.lock:
                self.lost.append(f"{'stream' if stream else 'whole'}: {type(error).__name__}: {error}")
            return False
        with self.lock:
            if reply.status != 200:
                self.answered[str(reply.status)] += 1
            elif told.endswith(b"data: [DONE]\n\n") if stream else b'"choices"' in told:
                self.answered["stream" if stream else "whole"] += 1
            else:
                self.lost.append(f"incomplete: {told[-200:]!r}")
        return not reply.will_close


@contextmanager
def loading(port: int, *, clients: int = 8, key: str = "") -> Generator[Loading]:
    """So many clients at work; the end of the block lets each finish what it waits for."""
    told = Loading(clients)
    threads = [threading.Thread(target=_ask, args=(told, port, number, key), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield told
    finally:
        told.stop.set()
        for thread in threads:
            thread.join(30)


def _ask(told: Loading, port: int, number: int, key: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    count = number
    while not told.stop.is_set():
        count += 1
        if not told.ask(connection, stream=count % 2 == 0, key=key):
            connection.close()
    connection.close()
