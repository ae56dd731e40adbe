"""`il serve` while it is operated: its file changes, it ends, its workers die, and no request is dropped."""

from __future__ import annotations

import http.client
import http.server
import json
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from interlingua.gateway.keys.auth import hash_key
from tests.e2e.gateway.test_serve import BODY, Served, _serving
from tests.support.load import loading
from tests.support.waiting import until

CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}\n\n'
)


def _listen(served: Served) -> list[str]:
    """What it says from now on, as it says it."""

    def read() -> None:
        assert served.process.stderr is not None
        for line in served.process.stderr:
            served.told.append(line.strip())

    threading.Thread(target=read, daemon=True).start()
    return served.told


def _said(served: Served, words: str) -> bool:
    return until(lambda: any(words in line for line in served.told))


def _config(path: Path, *, name: str, target: str = "fake/a", more: str = "") -> None:
    digest = hash_key("sesame-open")
    path.write_text(f'[aliases]\nm = "{target}"\n\n[keys.{name}]\nhash = "{digest}"\n{more}')


def test_reloads_under_load_drop_nothing(tmp_path: Path) -> None:
    """Saved and signalled six times while clients ask: every answer is complete, and the file's word counts at once."""
    path = tmp_path / "gateway.toml"
    _config(path, name="first")
    with _serving("--config", str(path), "--fault", "fake/*=drip:100") as served:
        told = _listen(served)
        with loading(served.port, key="sesame-open") as load:
            for count in range(5):
                assert until(lambda: load.total > 20 * (count + 1))  # noqa: B023 - asked at once
                _config(path, name=f"name-{count}", target=f"fake/{count}")
                served.process.send_signal(signal.SIGHUP)
                assert until(lambda: sum("was read again" in line for line in told) == count + 1)  # noqa: B023
            _config(path, name="last", target="fake/last", more="rpm = 1\n")
            assert until(lambda: sum("was read again" in line for line in told) == 6)  # by looking alone
            assert until(lambda: load.answered["429"] > 5)
            _config(path, name="last", target="fake/last")
            assert until(lambda: sum("was read again" in line for line in told) == 7)
            before = load.answered["whole"]
            assert until(lambda: load.answered["whole"] > before + 10)
        reply = served.ask({**BODY, "model": "m"}, authorization="Bearer sesame-open")
        reply.read()
    assert load.lost == []
    assert load.refused == 0
    assert load.answered.keys() == {"whole", "stream", "429"}
    assert reply.getheader("x-interlingua-target") == "fake/last"


def test_a_bad_file_changes_nothing_and_is_told_with_its_line(tmp_path: Path) -> None:
    """Half a file, an unknown key, a malformed alias, a limit without a number: the one before stays whole."""
    path = tmp_path / "gateway.toml"
    _config(path, name="first")
    with _serving("--config", str(path)) as served:
        _listen(served)
        for text, words in (
            ('[aliases]\nm = "fake/other"\n[keys.first', "not TOML"),
            ('[aliases]\nm = "fake/other"\n\n[server]\ntime_out = 3\n', "gateway.toml line 5: unknown key 'time_out'"),
            ('[aliases]\nm = "fake/other"\nn = ",,"\n', "gateway.toml line 3: the alias 'n'"),
            ('[aliases]\nm = "fake/other"\n[limits."fake/*"]\nrpm = "x"\n', "gateway.toml line 4:"),
        ):
            path.write_text(text)
            served.process.send_signal(signal.SIGHUP)
            assert _said(served, words), served.told
            reply = served.ask({**BODY, "model": "m"}, authorization="Bearer sesame-open")
            reply.read()
            assert reply.status == 200
            assert reply.getheader("x-interlingua-target") == "fake/a"
        assert all("stays" in line for line in served.told if "gateway.toml line" in line)


def test_it_serves_on_where_nobody_reads_what_it_says(tmp_path: Path) -> None:
    """Its log is a pipe, and who read that is gone: requests are answered, the file is read again, it ends with 0."""
    path = tmp_path / "gateway.toml"
    _config(path, name="first")
    with _serving("--config", str(path), "--log", "text") as served:
        assert served.process.stderr is not None
        served.process.stderr.close()
        _config(path, name="first", target="fake/other")
        served.process.send_signal(signal.SIGHUP)

        def target() -> str | None:
            reply = served.ask({**BODY, "model": "m"}, authorization="Bearer sesame-open")
            reply.read()
            return reply.getheader("x-interlingua-target")

        assert until(lambda: target() == "fake/other")
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(20) == 0


def test_what_lasts_from_start_to_end_is_said(tmp_path: Path) -> None:
    """Another port, more workers, another log: the file is taken, and these are named as for the next start."""
    path = tmp_path / "gateway.toml"
    _config(path, name="first")
    with _serving("--config", str(path)) as served:
        _listen(served)
        _config(path, name="first", more='\n[server]\nport = 1\nworkers = 3\nlog = "json"\n')
        served.process.send_signal(signal.SIGHUP)
        assert _said(served, "counts from the next start: port, workers, log, metrics, store and record"), served.told


def test_a_key_that_is_taken_away_ends_with_the_file(tmp_path: Path) -> None:
    """After the reload it is unknown, and another one is known."""
    path = tmp_path / "gateway.toml"
    _config(path, name="first")
    with _serving("--config", str(path)) as served:
        _listen(served)
        path.write_text(path.read_text().replace(hash_key("sesame-open"), hash_key("another")))
        served.process.send_signal(signal.SIGHUP)
        assert _said(served, "was read again")
        asked = [
            served.ask({**BODY, "model": "m"}, authorization=f"Bearer {key}") for key in ("sesame-open", "another")
        ]
    assert [reply.status for reply in asked] == [401, 200]


def _get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"connection": "close"})
    reply = connection.getresponse()
    reply.read()
    return reply.status


def test_a_drain_under_load_drops_nothing(tmp_path: Path) -> None:
    """Readiness says no while requests are still taken; what is under way ends complete; the process ends with 0."""
    path = tmp_path / "gateway.toml"
    path.write_text("[server]\nnotice_s = 4\ndrain_s = 60\n")
    with _serving("-m", "fake/a", "--config", str(path), "--fault", "fake/*=drip:100") as served:
        with loading(served.port) as load:
            assert until(lambda: load.total > 50)
            assert _get(served.port, "/health/ready") == 200
            served.process.send_signal(signal.SIGTERM)
            assert until(lambda: _get(served.port, "/health/ready") == 503)
            before = load.total
            assert until(lambda: load.total > before + load.clients)  # more than were under way: new ones are taken
            assert served.process.wait(60) == 0
        assert load.lost == []
        assert load.answered.keys() == {"whole", "stream"}
        assert load.refused > 0


def test_what_does_not_end_in_time_is_told_so(tmp_path: Path) -> None:
    """After the drain time a stream ends with its dialect's error, and who got nothing yet gets a 503."""
    path = tmp_path / "gateway.toml"
    path.write_text("[server]\nnotice_s = 0\ndrain_s = 1\n")
    with _silent_upstream() as (port, asked):
        slow = f"openai-compatible://key@127.0.0.1:{port}/v1?tls=0"
        with _serving("-m", "slow/m", "--config", str(path), LLM_SLOW=slow) as served:
            stream = served.ask({**BODY, "stream": True})
            told: list[http.client.HTTPResponse] = []
            waiting = threading.Thread(target=lambda: told.append(served.ask()))
            waiting.start()
            assert until(lambda: len(asked) == 2)
            served.process.send_signal(signal.SIGTERM)
            rest = stream.read()
            waiting.join(60)
            assert served.process.wait(60) == 0
    assert rest.startswith(b'data: {"id":"c"')
    assert json.loads(rest.rpartition(b"data: {")[2].join([b"{", b""]))["error"]["message"].endswith("ask again")
    assert (told[0].status, b"is being stopped" in told[0].read()) == (503, True)


@contextmanager
def _silent_upstream() -> Generator[tuple[int, list[bytes]]]:
    """The port of one that begins a stream, and says nothing more to anybody; and what it was asked."""
    asked: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            if b'"stream":true' in asked[-1].replace(b" ", b""):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write(CHUNK)
            over.wait(60)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    over = threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], asked
    over.set()
    server.shutdown()
    server.server_close()


def _runs(pid: int) -> bool:
    """Whether a process is there, and no mere entry of the table."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _workers(served: Served) -> list[int]:
    pid = served.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_killed_worker_loses_what_it_served_alone(tmp_path: Path) -> None:
    """Under load at most its own requests are lost, another one takes its place, and all of them end with 0."""
    path = tmp_path / "gateway.toml"
    path.write_text("[server]\nworkers = 2\nnotice_s = 0.5\n")
    with _serving("-m", "fake/a", "--config", str(path), "--fault", "fake/*=drip:100") as served:
        told = _listen(served)
        assert until(lambda: len(_workers(served)) == 2)
        before = _workers(served)
        with loading(served.port, clients=8) as load:
            assert until(lambda: load.total > 40)
            os.kill(before[0], signal.SIGKILL)
            assert _said(served, f"the worker {before[0]} ended by signal 9; another one takes its place")
            assert until(lambda: len(_workers(served)) == 2)
            count = load.total
            assert until(lambda: load.total > count + 40)
            lost = len(load.lost)
            served.process.send_signal(signal.SIGHUP)
            assert until(
                lambda: sum("was read again" in line for line in told) >= 1
            )  # a young one reads it as it starts
            served.process.send_signal(signal.SIGTERM)
            assert served.process.wait(30) == 0
        after = [pid for pid in before if _runs(pid)]
    assert lost <= 8
    assert len(load.lost) == lost
    assert after == []
    assert "2 workers" in served.told
    assert any("shared by them: nothing; --state redis" in line for line in told)


def test_workers_end_with_their_supervisor(tmp_path: Path) -> None:
    """Killed itself, it leaves nobody behind."""
    with _serving("-m", "fake/a", "--workers", "2") as served:
        assert until(lambda: len(_workers(served)) == 2)
        workers = _workers(served)
        assert served.ask().status == 200
        served.process.kill()
        assert until(lambda: not any(_runs(pid) for pid in workers))
