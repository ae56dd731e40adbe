"""What the tests of engines run in the environment of `make test-scale`; the arguments are JSON.

Each function is a program: it starts an engine on this machine, carries something out, and prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import interlingua as il

MODEL = "mock/m"
PROCESSORS = 2


def started(**more: Any) -> Any:
    """Ray on this machine."""
    ray: Any = import_module("ray")
    ray.init(num_cpus=PROCESSORS, include_dashboard=False, object_store_memory=150_000_000, log_to_driver=False, **more)
    return ray


def mapped(count: int, folder: str | None, shard: int = 50, **options: Any) -> dict[str, Any]:
    """How many items there were, with answers and from the journal, and what the meter counted."""
    started()
    with il.meter() as meter:
        cluster = il.Cluster(inputs_per_shard=shard)
        inputs = [f"input {number}" for number in range(count)]
        items = list(il.model(MODEL).map(inputs, engine=cluster, journal=folder, **options))
    assert [item.key for item in items] == inputs or not options.get("ordered", True)
    texts = Counter(item.text for item in items)
    return {
        "items": len(items),
        "right": sum(texts[f"answer to {key}"] == 1 for key in inputs),
        "recorded": sum(item.recorded for item in items),
        "errors": sorted({str(item.error) for item in items if item.error}),
        "metered": [meter.calls, meter.usage.input_tokens if meter.usage else None],
    }


def left(count: int, folder: str) -> dict[str, Any]:
    """A map that is left after its first item; what is in the journals when the workers have ended."""
    started()
    items = il.model(MODEL).map((f"input {number}" for number in range(count)), engine="ray", journal=folder)
    first = next(items).key
    items.close()
    lines = [line for file in Path(folder).glob("*.jsonl") for line in file.read_text().splitlines()]
    return {"first": first, "lines": len(lines)}


def limited(count: int, concurrency: int) -> dict[str, Any]:
    """A map under a limit of all workers together."""
    il.limit("mock/*", concurrency=concurrency)
    return mapped(count, None)


def dataset(table: str, folder: str) -> dict[str, Any]:
    """Ray Data: a table through `map_batches`, and the same table as inputs of a map."""
    from interlingua.ray import mapper

    started()
    data: Any = import_module("ray.data").read_parquet(table)
    answers = data.map_batches(mapper(MODEL, column="text", journal=folder), batch_format="pandas", batch_size=20)
    rows = sorted(answers.take_all(), key=lambda row: row["id"])
    inputs = il.rows(data, "text", key="id")
    again = list(il.model(MODEL).map(inputs, engine="ray", journal=folder))
    parquet = list(il.rows(table, "text", key="id"))
    return {
        "rows": [[row["id"], row["answer"], row["error"]] for row in rows],
        "recorded": sum(item.recorded for item in again),
        "parquet": [row.key for row in parquet],
    }


def dask(count: int, folder: str, *, dies: bool) -> dict[str, Any]:
    """Dask: partitions through `map_partitions` on two workers, of which one is killed."""
    from interlingua.dask import map_partitions, mapper

    distributed, pandas, frames = (import_module(name) for name in ("distributed", "pandas", "dask.dataframe"))
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster):
        table = frames.from_pandas(
            pandas.DataFrame({"text": [f"input {number}" for number in range(count)]}), npartitions=4
        )
        future = map_partitions(table, mapper(MODEL, column="text", journal=folder)).persist()
        if dies:
            while not any(file.stat().st_size for file in Path(folder).glob("*.jsonl")):
                time.sleep(0.02)
            os.kill(next(iter(cluster.workers.values())).pid, 9)
        answers = future.compute()
    return {"answers": sorted(answers["answer"]), "errors": sorted(set(answers["error"]))}


def spark(count: int, folder: str) -> dict[str, Any]:
    """Spark: partitions through `mapInPandas`."""
    from interlingua.spark import map_in_pandas, mapper

    builder: Any = import_module("pyspark.sql").SparkSession.builder
    for name in ("host", "bindAddress"):
        builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
    session = builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    table = session.createDataFrame([(f"input {number}",) for number in range(count)], "text string").repartition(2)
    rows = map_in_pandas(table, mapper(MODEL, column="text", journal=folder)).collect()
    session.stop()
    return {"answers": sorted(row["answer"] for row in rows), "costs": sorted({repr(row["cost_usd"]) for row in rows})}


def chart(folder: str, values: dict[str, Any], versions: list[str]) -> dict[str, Any]:
    """What Helm finds wrong with a chart, and the kinds that it renders, each checked by the schemas of Kubernetes."""
    helm, kubernetes, yaml = (import_module(name) for name in ("helm_python", "kubernetes_validate", "yaml"))
    report = helm.lint(folder, values, strict=True)
    rendered = helm.Chart.load(folder).render(values, name="gateways").values()
    objects = [each for text in rendered for each in yaml.safe_load_all(text) if each]
    for version in versions:
        for each in objects:
            kubernetes.validate(each, version, strict=True)
    warnings = [message["error"] for message in report["messages"] if message["severity"] > 1]
    return {"wrong": report["errors"] + warnings, "kinds": sorted(each["kind"] for each in objects)}


if __name__ == "__main__":
    program = {each.__name__: each for each in (mapped, left, limited, dataset, dask, spark, chart)}[sys.argv[1]]
    outcome = program(**json.loads(sys.argv[2]))
    sys.stdout.write(f"\n{json.dumps(outcome)}\n")
    sys.stdout.flush()
