"""`python -m scoreboard.llama PORT WEIGHTS`: llama.cpp's own HTTP server with these weights, until it is ended."""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve."""
    port, weights = sys.argv[1:]
    engine: Any = import_module("xllamacpp")
    settings = engine.CommonParams()
    settings.model.path = weights
    settings.model_alias = {"tiny"}
    settings.n_ctx, settings.n_parallel, settings.use_jinja = 4096, 1, True
    settings.n_predict, settings.sampling.temp = (
        256,
        0.0,
    )  # a small model may never end, and says something else each time
    settings.hostnames, settings.port = ["127.0.0.1"], int(port)
    threads = max(1, (os.cpu_count() or 1) - 1)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = engine.Server(settings)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main()
