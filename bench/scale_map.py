"""Many inputs through a map on Ray, on this machine: throughput, memory, and what killed processes leave behind.

The upstream is the C mock of the other rows. Every number of processor time comes from the operating system, of all
processes of a run with their ended threads: a machine that is busy with other things changes it little, and the time on
the clock much.
"""

# ruff: noqa: E501 - the lines of tables and of text that are written

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import interlingua as il
from bench.stage import reply_mock
from interlingua.client.cluster.segments import Folder

__all__ = ["section"]

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-scale" / "bin" / "python"
CONCURRENCY = 16
WORKERS = 2
SHARD = 1_000
PILOT = 50_000
TURNS = 3
"""How often both are measured, in turns."""
WARM = 400
WHOLE = 1_000_000
MINUTES = 6.0
"""How long the inputs may take, beside what is measured before and after."""
TEXT = "some words of a document that is to be summarised in one sentence, "
REPLY = "It is number ##########, and a sentence of some twenty words, as a summary of a document would be. " * 2
BAR = 0.85
_TICKS_S = 1 / os.sysconf("SC_CLK_TCK")


class Family(NamedTuple):
    """What the processes of a run use."""

    cpu_s: float
    """Processor seconds so far."""
    driver_mb: float
    """Memory of the driver."""
    worker_mb: float
    """Memory of the largest worker."""
    workers: tuple[int, ...]
    """The processes that carry shards out."""


class Run(NamedTuple):
    """What a run came to."""

    outcome: dict[str, Any]
    """What its program says."""
    samples: list[Family]
    """What it used, once a second."""


def section(options: Any) -> str:
    """The section of this run."""
    with _place() as folder, reply_mock("/v1/chat/completions", _body()) as port:
        variables = os.environ | {"LLM_MOCK": f"openai://sk-test-0123456789@127.0.0.1:{port}/v1?tls=0"}
        pairs = [(_beside(variables, folder, turn), _pilot(variables, folder, turn)) for turn in range(TURNS)]
        rate = PILOT / median([cluster["wall_s"] for _, cluster in pairs])
        count = options.inputs or min(WHOLE, int(rate * MINUTES * 60 / SHARD) * SHARD)
        before = _asked(port)
        cut, finished = _killed_twice(variables, folder / "run", count)
        whole = _finished(variables, "cluster", folder / "run", count)
        asked = _asked(port) - before - 1 - 2 * WARM  # two runs, each warmed up
        again = _finished(variables, "cluster", folder / "run", count).outcome
        return _text(_Measured(count, pairs, cut, finished, whole, asked, again, folder / "run"))


class _Measured(NamedTuple):
    """Everything that the text is made of."""

    inputs: int
    pairs: list[tuple[dict[str, Any], dict[str, Any]]]
    cut: list[Family]
    finished: int
    whole: Run
    asked: int
    again: dict[str, Any]
    folder: Path


# The runs


@contextmanager
def _place() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="interlingua-scale-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _body() -> bytes:
    message = {"role": "assistant", "content": REPLY}
    body = {
        "id": "chatcmpl-##########", "object": "chat.completion", "created": 1_795_000_000, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 40, "total_tokens": 240},
    }  # fmt: skip
    return json.dumps(body).encode()


def _asked(port: int) -> int:
    """How often the mock was asked, this time included: it numbers its answers."""
    request = Request(f"http://127.0.0.1:{port}/v1/chat/completions", data=b"{}", method="POST")
    with urlopen(request, timeout=30) as reply:
        return int(json.load(reply)["id"].partition("-")[2])


def _started(variables: dict[str, str], program: str, place: Path, count: int) -> subprocess.Popen[str]:
    variables = variables | {
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }
    python = str(PYTHON if PYTHON.exists() else sys.executable)
    command = [python, "-m", "bench.scale_map", program, str(place), str(count)]
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _finished(variables: dict[str, str], program: str, place: Path, count: int) -> Run:
    """A run from its beginning to its end.

    Raises: RuntimeError when it ends in another way.
    """
    process, samples = _started(variables, program, place, count), list[Family]()
    while process.poll() is None:
        samples.append(_family(process.pid))
        time.sleep(1)
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{program}: it ended with {process.returncode}")
    return Run(json.loads(out.strip().splitlines()[-1]), [sample for sample in samples if sample.driver_mb])


def _beside(variables: dict[str, str], folder: Path, turn: int) -> dict[str, Any]:
    """As many maps without a cluster as it has workers, at once, each with its part of the inputs, all taken together.

    One alone would have the threads of one interpreter on all cores, where passing its lock around takes longer.
    """
    started = [
        _started(variables, "single", folder / f"single-{turn}-{part}.jsonl", PILOT // WORKERS)
        for part in range(WORKERS)
    ]
    outcomes: list[dict[str, Any]] = []
    for process in started:
        out, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"single: it ended with {process.returncode}")
        outcomes.append(json.loads(out.strip().splitlines()[-1]))
    return {
        "cpu_s": sum([outcome["cpu_s"] for outcome in outcomes]),
        "wall_s": max([outcome["wall_s"] for outcome in outcomes]),
    }


def _pilot(variables: dict[str, str], folder: Path, turn: int) -> dict[str, Any]:
    return _finished(variables, "cluster", folder / f"pilot-{turn}", PILOT).outcome


def _killed_twice(variables: dict[str, str], folder: Path, count: int) -> tuple[list[Family], int]:
    """A run whose worker is killed after a quarter, and its driver after a half; how many inputs are finished then."""
    process, samples, killed = _started(variables, "cluster", folder, count), list[Family](), False
    while (lines := _lines(folder)) < count // 2:
        if process.poll() is not None:
            raise RuntimeError(f"cluster: it ended with {process.returncode} before it was killed")
        samples.append(_family(process.pid))
        if not killed and lines > count // 4 and samples[-1].workers:
            os.kill(samples[-1].workers[0], signal.SIGKILL)
            killed = True
        time.sleep(1)
    workers = _family(process.pid).workers
    process.kill()
    process.communicate()
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.2)
    return samples, _lines(folder)


def _lines(folder: Path) -> int:
    """How many lines the journals have, about: by their size."""
    files = list(folder.glob("*.jsonl")) if folder.exists() else []
    whole = [file.stat().st_size for file in files]
    line = files[0].read_bytes().find(b"\n") + 1 if whole and whole[0] else 0
    return sum(whole) // line if line else 0


def _family(driver: int) -> Family:
    """What a process and all below it use."""
    cpu_s, driver_mb, worker_mb, workers, waiting = 0.0, 0.0, 0.0, list[int](), [driver]
    while waiting:
        process = waiting.pop()
        with suppress(OSError, IndexError, ValueError):
            place = Path(f"/proc/{process}")
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            cpu_s += (int(fields[11]) + int(fields[12])) * _TICKS_S
            resident_mb = int((place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
            if process == driver:
                driver_mb = resident_mb
            if (place / "cmdline").read_bytes().startswith(b"ray::_carried_out"):
                workers.append(process)
                worker_mb = max(worker_mb, resident_mb)
            for task in (place / "task").iterdir():
                waiting.extend(int(child) for child in (task / "children").read_text().split())
    return Family(cpu_s, driver_mb, worker_mb, tuple(workers))


# The programs


def _inputs(count: int) -> Iterator[str]:
    return (f"{number}: {TEXT * 6}" for number in range(count))


def _single(journal: str, count: int) -> dict[str, Any]:
    """The map of one process."""
    model = il.model("mock/m", system="Summarise the document.")
    list(model.map(_inputs(200), concurrency=CONCURRENCY))
    began_s, cpu_s = time.perf_counter(), time.process_time()
    right = sum(
        item.error is None
        for item in model.map(_inputs(count), journal=journal, concurrency=CONCURRENCY, ordered=False)
    )
    return {"right": right, "wall_s": time.perf_counter() - began_s, "cpu_s": time.process_time() - cpu_s}


def _cluster(journal: str, count: int) -> dict[str, Any]:
    """The map on Ray."""
    import ray  # pyright: ignore[reportMissingImports] # it is in an environment of its own

    ray.init(  # pyright: ignore[reportUnknownMemberType]
        num_cpus=WORKERS, include_dashboard=False, object_store_memory=150_000_000, log_to_driver=False
    )
    model = il.model("mock/m", system="Summarise the document.")
    warm = il.Cluster(inputs_per_shard=100)
    list(model.map(_inputs(WARM), engine=warm, concurrency=CONCURRENCY))
    began_s, cpu_s = time.perf_counter(), _family(os.getpid()).cpu_s
    first_s, right, recorded = 0.0, 0, 0
    cluster = il.Cluster(inputs_per_shard=SHARD)
    for item in model.map(_inputs(count), engine=cluster, journal=journal, concurrency=CONCURRENCY, ordered=False):
        first_s = first_s or time.perf_counter() - began_s
        right += item.error is None
        recorded += item.recorded
    return {
        "right": right,
        "recorded": recorded,
        "wall_s": time.perf_counter() - began_s,
        "first_s": first_s,
        "cpu_s": _family(os.getpid()).cpu_s - cpu_s,
        "driver_cpu_s": time.process_time(),
    }


# The text


def _text(measured: _Measured) -> str:
    count, whole = measured.inputs, measured.whole.outcome
    index_began_s = time.perf_counter()
    index = Folder(str(measured.folder)).read_index()
    index_s = time.perf_counter() - index_began_s
    sizes = [file.stat().st_size for file in measured.folder.glob("*.jsonl")]
    lines = sum(file.read_bytes().count(b"\n") for file in measured.folder.glob("*.jsonl"))
    single_us, cluster_us = [
        median([each[place]["cpu_s"] for each in measured.pairs]) / PILOT * 1e6 for place in (0, 1)
    ]
    single_s, cluster_s = [median([each[place]["wall_s"] for each in measured.pairs]) for place in (0, 1)]
    ratios = sorted([single["cpu_s"] / cluster["cpu_s"] for single, cluster in measured.pairs])
    ratio = median(ratios)
    repeated = measured.asked - count
    bound = CONCURRENCY * (1 + WORKERS)
    a_core = 1e6 / cluster_us
    line_bytes = sum(sizes) / lines
    rows = [
        ("inputs", f"{count:,} of the 1,000,000", "as many as these cores do in some minutes"),
        ("items with an answer, after a killed worker and a killed driver", f"{whole['right']:,}", _held(whole["right"] == count)),
        ("lines in the journals / different ids", f"{lines:,} / {_different(index):,}", _held(lines == _different(index) == count)),
        ("calls repeated", f"{repeated}", f"at most the {bound} under way: {_held(0 <= repeated <= bound)}"),
        ("finished when the driver was killed, and from the journal in the rerun", f"{measured.finished:,} / {whole['recorded']:,}", "the first is counted by bytes"),
        ("asked by a third run", f"{count - measured.again['recorded']}", _held(measured.again["recorded"] == count)),
        (f"processor time an item, {WORKERS} processes without a cluster", f"{single_us:.0f} µs", f"{1e6 / single_us:,.0f} items a core second"),
        ("processor time an item, Ray: driver, workers, daemons", f"{cluster_us:.0f} µs", f"{a_core:,.0f} items a core second"),
        (f"throughput per core beside these, median of {TURNS} turns", f"{ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", f"bar {BAR}: {_held(ratio >= BAR)}"),
        ("items a second by the clock, without a cluster / Ray", f"{PILOT / single_s:,.0f} / {PILOT / cluster_s:,.0f}", f"load average {os.getloadavg()[0]:.1f}; the mock shares the cores"),
        *_memory(measured),
    ]  # fmt: skip
    table = "\n".join(["| | measured | |", "|---|---|---|", *[f"| {' | '.join(row)} |" for row in rows]])
    return f"""{time.strftime("%d %B %Y")}, {os.cpu_count()} cores, Python {platform.python_version()}, {WORKERS} workers with
{CONCURRENCY} calls at once, shards of {SHARD:,}; inputs of {len(next(_inputs(1)))} bytes, answers of {len(REPLY)}; the C mock answers at once.

{table}

### On paper: 1,000,000,000 inputs

| constant | measured |
|---|---|
| items a core second | {a_core:,.0f} |
| bytes of a journal for each item | {line_bytes:,.0f} |
| bytes of the index for each item | {len(index.rows) / lines:.0f} |
| lines a second that one process reads into the index | {lines / index_s:,.0f} |
| operations of the store for each shard of {SHARD:,} on a disk | 1 folder, 1 open, 1 lock, {SHARD:,} appends |
| the same in a bucket | 1 list, 1 put a second while it is carried out, 1 put at its end |

- **Processor.** {1e9 / a_core / 3600:,.0f} core hours: {1e9 / a_core / 60 / 100:,.0f} minutes on 100 cores. A model that answers in
  2 s needs {a_core * 2:,.0f} calls at once for each core to be the limit, so that a core with `concurrency=64` does 32 items a
  second: providers, not processors, decide, and 1,000 cores at that rate take {1e9 / 32_000 / 3600:.1f} hours.
- **Driver.** Every item passes the one driver; at {_driver_us(whole, count):.0f} µs each that is {1e9 * _driver_us(whole, count) / 1e6 / 3600:,.0f} hours. Beyond some 10^8
  inputs, run one map for each part of the inputs, each with its own folder, or stay in Ray Data, whose rows pass no driver.
- **Journals.** {line_bytes * 1e9 / 1e12:.1f} TB in {1e9 / 100_000:,.0f} files with `inputs_per_shard=100_000`.
- **A rerun** reads all journals once: {1e9 / (lines / index_s) / 3600:,.1f} hours by one process, and {len(index.rows) / lines:.0f} GB of index on each machine. With
  100 folders of 10^7 inputs it is {1e7 / (lines / index_s) / 60:.1f} minutes and {len(index.rows) / lines * 1e7 / 1e9:.2f} GB each."""


def _held(is_held: bool) -> str:  # noqa: FBT001 - a word for it
    return "holds" if is_held else "**missed**"


def _different(index: Any) -> int:
    rows = bytes(index.rows)
    return len({rows[place : place + 16] for place in range(0, len(rows), 33)})


def _driver_us(outcome: dict[str, Any], count: int) -> float:
    return outcome["driver_cpu_s"] / count * 1e6


def _memory(measured: _Measured) -> list[tuple[str, str, str]]:
    """The memory of driver and workers in the second and in the last quarter of the run that went to its end."""
    samples = [sample for sample in measured.whole.samples if sample.worker_mb]
    quarter = max(1, len(samples) // 4)
    rows: list[tuple[str, str, str]] = []
    for name in ("driver_mb", "worker_mb"):
        early = median([getattr(sample, name) for sample in samples[quarter : 2 * quarter] or samples])
        late = median([getattr(sample, name) for sample in samples[-quarter:]])
        rows.append(
            (
                f"memory of the {name[:6]}, second and last quarter",
                f"{early:.0f} / {late:.0f} MB",
                f"flat: {_held(late <= early * 1.1 + 5)}",
            )
        )
    return rows


if __name__ == "__main__":
    program, place, number = sys.argv[1:]
    print(json.dumps({"single": _single, "cluster": _cluster}[program](place, int(number))))
