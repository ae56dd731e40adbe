"""A map on real engines: Ray, Dask and Spark on this machine, with workers and drivers that are killed.

Run by `make test-scale`, which installs the engines into an environment of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from interlingua.client.cluster.segments import Folder
from tests.contract.source import ROOT
from tests.support.ports import Place
from tests.support.redis_server import RedisServer, find_binary
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(240)

OWN = ROOT / ".venv-scale" / "bin" / "python"
PYTHON = str(OWN if OWN.exists() else sys.executable)
CONCURRENCY = 16
WORKERS = 2


@cache
def _has(module: str) -> bool:
    return subprocess.run([PYTHON, "-c", f"import {module}"], check=False, capture_output=True).returncode == 0


def _needs(module: str) -> None:
    if not _has(module):
        pytest.skip(f"{module} is not installed in .venv-scale; make test-scale installs it")


class Upstream(ThreadingHTTPServer):
    """A model on loopback that counts how often it was asked what, and answers each call after a pause."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        """Nothing was asked."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.most = 0
        """The most calls that were under way at once."""
        self.pause_s = 0.0
        self.dsn = f"openai://sk-test-0123456789abcdef@127.0.0.1:{self.server_port}/v1?tls=0"
        self._running = 0
        self._lock = threading.Lock()

    def answer(self, text: str) -> str:
        """The answer to a text."""
        with self._lock:
            self.asked[text] += 1
            self._running += 1
            self.most = max(self.most, self._running)
        time.sleep(self.pause_s)
        with self._lock:
            self._running -= 1
        return f"answer to {text}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that was killed takes no answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream  # pyright: ignore[reportIncompatibleVariableOverride] # the one that made it

    def do_POST(self) -> None:
        """One call of Chat Completions."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": self.server.answer(request["messages"][-1]["content"])}
        body = {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_795_000_000, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }  # fmt: skip
        encoded = json.dumps(body).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(encoded)}\r\n\r\n"
        self.wfile.write(head.encode() + encoded)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def upstream() -> Generator[Upstream]:
    """A model that every process finds as `mock`."""
    with Upstream() as upstream:
        serving = threading.Thread(target=upstream.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        yield upstream
        upstream.shutdown()
        serving.join()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """An imitation of S3 that every process finds by the variables of AWS."""
    for module in ("moto.server", "s3fs"):
        _needs(module)
    place = Place()
    for name, value in (
        ("ENDPOINT_URL", f"http://127.0.0.1:{place.port}"),
        ("ACCESS_KEY_ID", "k"),
        ("REGION", "us-east-1"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    command = [PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(place.port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: _listens(place.port), seconds=60)
        yield
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


@contextmanager
def _program(upstream: Upstream, name: str, state: str = "", **arguments: Any) -> Generator[subprocess.Popen[str]]:
    """A program of `scale_programs` in a process group of its own, which ends with the test."""
    variables = os.environ | {
        "LLM_MOCK": upstream.dsn,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "PYSPARK_PYTHON": PYTHON,
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "INTERLINGUA_STATE": state or "memory",
    }
    command = [PYTHON, "-m", "tests.support.scale_programs", name, json.dumps(arguments)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _outcome(upstream: Upstream, name: str, state: str = "", **arguments: Any) -> dict[str, Any]:
    with _program(upstream, name, state, **arguments) as process:
        out, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors[-4_000:]
        return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])


def _lines(folder: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("*.jsonl"))


def _workers(driver: int) -> list[int]:
    """The processes of Ray that carry out the shards of a driver."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        try:
            line = (process / "cmdline").read_bytes().split(b"\0")[0]
            if line.startswith(b"ray::_carried_out") and _is_below(int(process.name), driver):
                found.append(int(process.name))
        except (OSError, ValueError):
            continue
    return found


def _kill_driver(process: subprocess.Popen[str]) -> None:
    """Kill a driver, and wait for the end of its workers, which have no parent then."""
    workers = _workers(process.pid)
    process.kill()
    assert until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), seconds=100)


def _is_below(process: int, ancestor: int) -> bool:
    while process > 1 and process != ancestor:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process == ancestor


def test_r69_a_map_on_ray(upstream: Upstream, tmp_path: Path) -> None:
    """Every input once, in order, with usage counted at the driver; a rerun with other shards asks nothing."""
    _needs("ray")
    outcome = _outcome(upstream, "mapped", count=500, folder=str(tmp_path / "run"))
    assert outcome == {"items": 500, "right": 500, "recorded": 0, "errors": [], "metered": [500, 3_500]}
    assert upstream.asked == Counter({f"input {number}": 1 for number in range(500)})
    again = _outcome(upstream, "mapped", count=510, folder=str(tmp_path / "run"), shard=33, ordered=False)
    assert again == {"items": 510, "right": 510, "recorded": 500, "errors": [], "metered": [10, 70]}
    assert upstream.asked.total() == 510


def test_r69_a_bucket_of_journals(upstream: Upstream, tmp_path: Path) -> None:
    """By fsspec, here with its own way to files: a rerun asks nothing."""
    _needs("ray")
    folder = f"file://{tmp_path}/run"
    assert _outcome(upstream, "mapped", count=100, folder=folder)["right"] == 100
    again = _outcome(upstream, "mapped", count=100, folder=folder, shard=7)
    assert (again["right"], again["recorded"], upstream.asked.total()) == (100, 100, 100)


@pytest.mark.usefixtures("s3")
def test_r69_journals_in_s3_survive_a_killed_driver(upstream: Upstream) -> None:
    """A rerun asks for exactly that which the bucket lacks; the run after it asks nothing, however it is cut."""
    _needs("ray")
    upstream.pause_s = 0.05
    run: dict[str, Any] = {"count": 1_500, "folder": "s3://runs/first"}
    with _program(upstream, "mapped", shard=150, **run) as process:
        until(lambda: upstream.asked.total() > 700, seconds=100)
        _kill_driver(process)
    before = upstream.asked.total()
    outcome = _outcome(upstream, "mapped", shard=150, **run)
    assert (outcome["items"], outcome["right"], outcome["errors"]) == (1_500, 1_500, [])
    assert 0 < outcome["recorded"] < 1_500
    assert upstream.asked.total() == before + 1_500 - outcome["recorded"]
    again = _outcome(upstream, "mapped", shard=400, **run)
    assert (again["right"], again["recorded"]) == (1_500, 1_500)


def test_r69_a_killed_worker_and_a_killed_driver(upstream: Upstream, tmp_path: Path) -> None:
    """No item is lost or twice in the result; at most the calls under way are asked again."""
    _needs("ray")
    upstream.pause_s = 0.01
    folder, count = tmp_path / "run", 2_000
    with _program(upstream, "mapped", count=count, folder=str(folder), shard=200) as process:
        until(lambda: _lines(folder) > 100, seconds=100)
        os.kill(_workers(process.pid)[0], signal.SIGKILL)
        until(lambda: _lines(folder) > 600, seconds=100)
        _kill_driver(process)
    finished = len(Folder(str(folder)).read_index())
    assert finished < count
    outcome = _outcome(upstream, "mapped", count=count, folder=str(folder), shard=200)
    assert (outcome["items"], outcome["right"], outcome["errors"]) == (count, count, [])
    assert outcome["recorded"] >= finished
    assert upstream.asked.keys() == {f"input {number}" for number in range(count)}
    assert count <= upstream.asked.total() <= count + CONCURRENCY * (1 + WORKERS)
    assert len(Folder(str(folder)).read_index()) == count


def test_r69_leaving_early_keeps_the_calls_under_way(upstream: Upstream, tmp_path: Path) -> None:
    """The workers end them; nothing that was asked is missing in the journals."""
    _needs("ray")
    upstream.pause_s = 0.05
    outcome = _outcome(upstream, "left", count=100_000, folder=str(tmp_path / "run"))
    assert outcome["first"] == "input 0"
    assert upstream.asked.total() == outcome["lines"] < 10_000


def test_r69_limits_hold_for_all_workers(upstream: Upstream, tmp_path: Path) -> None:
    """Each worker has its part of a limit, or all of it where Redis counts."""
    _needs("ray")
    upstream.pause_s = 0.02
    outcome = _outcome(upstream, "limited", count=200, concurrency=4)
    assert outcome["right"] == 200
    assert 2 <= upstream.most <= 4  # two workers, each with two places
    binary = find_binary()
    if binary is None or not _has("redis"):
        pytest.skip("the rest needs a Redis")
    upstream.most = 0
    redis = RedisServer(binary, tmp_path).start()
    try:
        outcome = _outcome(upstream, "limited", state=redis.url, count=200, concurrency=3)
    finally:
        redis.stop()
    assert outcome["right"] == 200
    assert 1 <= upstream.most <= 3


def test_r69_ray_data(upstream: Upstream, tmp_path: Path) -> None:
    """A table stays in Ray Data; as inputs of a map its rows are asked no second time."""
    _needs("ray.data")
    _needs("pyarrow")
    table = tmp_path / "table.parquet"
    make = "import pandas, sys; pandas.DataFrame({'id': range(100), 'text': [f'input {n}' for n in range(100)]})"
    subprocess.run([PYTHON, "-c", f"{make}.to_parquet(sys.argv[1])", str(table)], check=True)
    outcome = _outcome(upstream, "dataset", table=str(table), folder=str(tmp_path / "run"))
    assert outcome["rows"] == [[number, f"answer to input {number}", ""] for number in range(100)]
    assert outcome["recorded"] == 100
    assert outcome["parquet"] == [str(number) for number in range(100)]
    assert upstream.asked.total() == 100


@pytest.mark.parametrize("dies", [False, True])
def test_r69_dask(upstream: Upstream, tmp_path: Path, *, dies: bool) -> None:
    """Dask carries a dead worker's partitions out again, and the journal knows what was asked."""
    _needs("dask.dataframe")
    upstream.pause_s = 0.01
    outcome = _outcome(upstream, "dask", count=400, folder=str(tmp_path / "run"), dies=dies)
    assert outcome == {"answers": sorted(f"answer to input {number}" for number in range(400)), "errors": [""]}
    assert 400 <= upstream.asked.total() <= 400 + (CONCURRENCY if dies else 0)


def test_r69_spark(upstream: Upstream, tmp_path: Path) -> None:
    """A table stays in Spark; the price is unknown, so it is null."""
    _needs("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs a Java; none is installed")
    outcome = _outcome(upstream, "spark", count=100, folder=str(tmp_path / "run"))
    assert outcome == {"answers": sorted(f"answer to input {number}" for number in range(100)), "costs": ["None"]}
    assert upstream.asked.total() == 100


@pytest.mark.parametrize("scales", [False, True])
def test_helm_and_kubernetes_take_the_chart(upstream: Upstream, *, scales: bool) -> None:
    """Helm's own code lints and renders it; each object fits the schemas of an older and a newer Kubernetes."""
    for module in ("helm_python", "kubernetes_validate"):
        _needs(module)
    folder = str(ROOT / "deploy" / "helm" / "interlingua")
    values = {"autoscaling": {"enabled": scales}}
    outcome = _outcome(upstream, "chart", folder=folder, values=values, versions=["1.29", "1.37"])
    autoscaler = ["HorizontalPodAutoscaler"] if scales else []
    kinds = ["ConfigMap", "Deployment", *autoscaler, "PodDisruptionBudget", "Service"]
    assert outcome == {"wrong": [], "kinds": kinds}
