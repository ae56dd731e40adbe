"""The compiled mock upstream and load generator: what one sends is what the other counts."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
from pathlib import Path
from typing import BinaryIO

import pytest

from bench.canned import EVENTS, MARK, answers, request, whole_request
from bench.measure import NotRun
from bench.native import binary
from bench.stage import upstream


@pytest.fixture
def programs() -> tuple[Path, int]:
    """The load generator, and the port of a mock upstream."""
    try:
        return binary("load"), upstream()
    except NotRun as reason:
        pytest.skip(str(reason))


def loaded(program: Path, port: int, path: Path, requests: int) -> dict[str, object]:
    """What the load generator tells."""
    command = [str(program), str(port), str(path), "--connections", "4", "--requests", str(requests)]
    return json.loads(subprocess.run(command, check=False, capture_output=True).stdout)


@pytest.mark.parametrize("path", answers())
def test_the_mock_answers_in_the_bytes_it_was_given(programs: tuple[Path, int], path: str) -> None:
    """A body and a stream come back byte for byte but for the number of the answer, several on one connection."""
    whole, stream = answers()[path]
    connection = http.client.HTTPConnection("127.0.0.1", programs[1], timeout=5)
    numbers: list[set[bytes]] = []
    for body, expected in ((b'{"stream": true}', stream), (b"{}", whole), (b'{"stream":true}', stream)):
        connection.request("POST", path, body)
        answer = connection.getresponse().read()
        assert re.sub(rb"\d{10}", MARK, answer) == expected
        numbers.append({number[:10] for number in re.findall(rb"\d{10}", answer)})
    connection.close()
    assert all(len(found) <= 1 for found in numbers)
    assert len(set[bytes]().union(*numbers)) == sum(map(len, numbers))


def test_the_load_generator_sends_the_requests_of_a_file_in_turn(programs: tuple[Path, int], tmp_path: Path) -> None:
    """Each once, in their order, and from the first again after the last."""
    bodies = [b'{"n": 1}', b'{"n": 22}', b'{"n": 333}']
    file = tmp_path / "requests"
    file.write_bytes(b"".join([whole_request(body) for body in bodies]))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [str(programs[0]), str(listener.getsockname()[1]), str(file), "--connections", "1", "--requests", "5"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as load:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                received = [_body_of(lines, connection) for _ in range(5)]
            assert load.stdout is not None
            assert json.loads(load.stdout.read())["errors"] == 0
    assert received == [*bodies, *bodies[:2]]


def _body_of(lines: BinaryIO, connection: socket.socket) -> bytes:
    """The body of the next request, which is answered."""
    length = 0
    while (line := lines.readline().strip()) != b"":
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    body = lines.read(length)
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    return body


def test_the_load_generator_counts_what_comes(programs: tuple[Path, int], tmp_path: Path) -> None:
    """Answers, their bytes and the events of streams are counted exactly."""
    program, port = programs
    whole, stream = answers()["/v1/chat/completions"]
    file = tmp_path / "request"
    file.write_bytes(request("m", stream=False))
    told = loaded(program, port, file, 40)
    assert (told["requests"], told["errors"], told["unfinished"]) == (40, 0, 0)
    assert (told["events"], told["body_bytes"]) == (0, 40 * len(whole))
    file.write_bytes(request("m", stream=True))
    told = loaded(program, port, file, 8)
    assert (told["events"], told["body_bytes"]) == (8 * (EVENTS + 3), 8 * len(stream))


def test_the_load_generator_tells_errors(programs: tuple[Path, int], tmp_path: Path) -> None:
    """A status other than 200 is an error."""
    program, port = programs
    file = tmp_path / "request"
    file.write_bytes(b"POST /elsewhere HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
    assert loaded(program, port, file, 3)["errors"] == 3


def test_a_paced_stream_brings_its_first_token_at_once() -> None:
    """What comes before the first token comes together with it, and the next event later; the bytes are the same."""
    try:
        port = upstream(200, 2)
    except NotRun as reason:
        pytest.skip(str(reason))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("POST", "/v1/messages", b'{"stream": true}')
    response = connection.getresponse()
    began = b"".join(response.read1() for _ in range(3))
    assert began.count(b"\n\n") == 3
    assert began.endswith(b'"text": "hello "}}\n\n')
    connection.close()
