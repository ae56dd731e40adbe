"""The engine behind local models: one per weights file and process, loaded when it is first used.

Rules
- One worker thread runs one answer after the other, because a second one would slow both down; `MAX_WAITING` may wait.
- Cancelling is prompt: between two tokens, and between two batches while the prompt is read.
- The engine's own logging is off; its HTTP listener, which it does not start without, is on loopback behind a random
  key that nobody is told.
- After a fork the child has engines of its own; the parent's are neither used nor torn down there.
- At exit the running answer is cancelled and the engine released.

Not responsible for: what a request means (`chat`), or where weights come from (`weights`).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import queue
import secrets
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from interlingua.errors import ConfigError
from interlingua.local import weights
from interlingua.local.chat import Plan
from interlingua.local.embedding import EmbedPlan, embedded
from interlingua.local.reply import Done, EngineEvent, Fault, Piece

__all__ = ["CONTEXT_TOKENS", "MAX_WAITING", "Engine", "Job", "engine_for", "release_all"]

CONTEXT_TOKENS = 4_096
"""Tokens of prompt and answer together."""
MAX_WAITING = 1_000
"""Requests that may wait for their turn."""
BATCH_TOKENS = 128
"""Tokens of a prompt that are read at once: how soon a cancellation is seen."""
EMBEDDED_TOKENS = 2_048
"""Tokens of one text that becomes a vector."""
PROMPT_CACHE_MIB = 256
"""Memory for prompts of earlier conversations."""
EXIT_WAIT_S = 5.0
"""How long the exit of the process waits for the running answer to be cancelled."""

_RELEASED = Fault(503, "the local model was released while it answered", "unavailable_error")

Deliver = Callable[[EngineEvent], None]
"""Takes each event of a job, on the worker thread; must not block."""


class Job:
    """One answer being generated."""

    def __init__(self, plan: Plan | EmbedPlan, deliver: Deliver) -> None:
        """A job that has not begun."""
        self.plan: Plan | EmbedPlan = plan
        """The plan of the job."""
        self.cancelled: bool = False
        """Set by whoever no longer wants the answer."""
        self._deliver = deliver

    def deliver(self, event: EngineEvent) -> None:
        """Hand on an event; whoever cannot take it any more no longer wants the answer."""
        if not self.cancelled:
            try:
                self._deliver(event)
            except RuntimeError:  # the event loop that waited is closed
                self.cancelled = True


class Engine:
    """One weights file, loaded once."""

    def __init__(self, path: Path, *, context_tokens: int = CONTEXT_TOKENS, max_waiting: int = MAX_WAITING) -> None:
        """An engine that loads `path` when the first job comes."""
        self._path = path
        self._context_tokens = context_tokens
        self._jobs: queue.Queue[Job | None] = queue.Queue(max_waiting)
        self._current: Job | None = None
        self._server: Any = None
        self._embedder: Any = None
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, plan: Plan | EmbedPlan, deliver: Deliver) -> Job:
        """The job of answering `plan`; its events go to `deliver`, the last one is `Done` or `Fault`.

        Raises: ConfigError, when the engine is not installed.
        """
        _module()
        job = Job(plan, deliver)
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(
                    target=self._work, name=f"interlingua-local {self._path.name}", daemon=True
                )
                self._worker.start()
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            job.deliver(Fault(503, "too many requests wait for the local model", "unavailable_error", "overloaded"))
        return job

    def release(self) -> None:
        """Cancel what runs and what waits, and give the memory back."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is None:
            return
        if current := self._current:
            current.deliver(_RELEASED)
            current.cancelled = True
        with contextlib.suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job:
                    job.deliver(_RELEASED)
        self._jobs.put(None)
        worker.join(EXIT_WAIT_S)

    def leak(self) -> bool:
        """Whether there was a server, now kept for ever: torn down in a child, it waits for threads that are gone."""
        servers = [server for server in (self._server, self._embedder) if server is not None]
        for server in servers:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))
        return bool(servers)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._current = job
            if not job.cancelled:
                self._answer(job)
            self._current = None
        if _inherited:
            self.leak()
        self._server = self._embedder = None

    def _answer(self, job: Job) -> None:
        try:
            if isinstance(job.plan, EmbedPlan):
                if self._embedder is None:  # loaded once more, since the engine either writes or embeds
                    self._embedder = _load(self._path, EMBEDDED_TOKENS, embeds=True)
                event = embedded(self._embedder, job.plan, lambda: job.cancelled)
                if event is not None:
                    job.deliver(event)
                return
            if self._server is None:
                self._server = _load(self._path, self._context_tokens)
            x: Any = _module()
            payload: dict[str, Any] = {
                **job.plan.sampling,
                "messages": [turn._asdict() for turn in job.plan.turns],
                "stream": True,
                "stream_options": {"include_usage": True},
                "return_progress": True,
            }
            if job.plan.schema is not None:
                payload["grammar"] = x.json_schema_to_grammar(job.plan.schema)
            outcome = _Outcome(job)
            self._server.handle_chat_completions(payload, outcome.take)
            outcome.end()
        except ConfigError as problem:
            job.deliver(Fault(500, problem.message, "server_error", "model_not_loaded"))
        except (ValueError, RuntimeError) as problem:  # the engine's words for requests that it does not take
            job.deliver(Fault(400, f"the local engine refuses the request: {problem}", "invalid_request_error"))
        except Exception as problem:  # noqa: BLE001 - whoever waits must hear of it, or it waits for ever
            job.deliver(Fault(500, f"the local engine failed: {problem!r}", "server_error"))


def _module() -> ModuleType:
    try:
        return import_module("xllamacpp")
    except ImportError as problem:
        raise ConfigError("local models need an engine: pip install 'interlingua[local]'") from problem


def _load(path: Path, context_tokens: int, *, embeds: bool = False) -> Any:
    x: Any = _module()
    parameters = x.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
    parameters.use_jinja = True
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    if embeds:
        parameters.embedding = True
        parameters.cache_ram_mib = 0
        parameters.n_batch = parameters.n_ubatch = context_tokens
        if weights.is_pulled(path):  # a model of conversations says nothing of pooling
            parameters.pooling_type = x.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    parameters.verbosity = -1
    threads = max(1, (os.cpu_count() or 1) - 1)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.n_threads_http = 1
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.api_keys = [secrets.token_hex(32)]
    parameters.cors_origins = ""
    parameters.ui = parameters.endpoint_slots = False
    try:
        return x.Server(parameters)
    except RuntimeError as problem:
        raise ConfigError(f"{path.name} cannot be loaded; is it a GGUF file of a language model?") from problem


class _Outcome:
    """Turns the engine's chunks into events."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.finish: str | None = None
        self.usage: dict[str, Any] = {}
        self.failed = False

    def take(self, chunk: dict[str, Any]) -> bool:
        """Hand on what a chunk says; True stops the engine."""
        if error := chunk.get("error"):
            self.failed = True
            code, kind = error.get("code"), str(error.get("type") or "server_error")
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            fault = Fault(status, str(error.get("message") or "the local engine failed"), kind)
            if kind == "exceed_context_size_error":
                tokens, most = error.get("n_prompt_tokens"), error.get("n_ctx")
                sentence = f"the conversation has {tokens} tokens; the local model takes {most}"
                fault = Fault(400, sentence, "invalid_request_error", "context_length_exceeded")
            self.job.deliver(fault)
            return True
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk.get("choices") or ():
            self.finish = choice.get("finish_reason") or self.finish
            delta: dict[str, Any] = choice.get("delta") or {}
            if thinking := delta.get("reasoning_content"):
                self.job.deliver(Piece(thinking, thinking=True))
            if text := delta.get("content"):
                self.job.deliver(Piece(text))
        return self.job.cancelled

    def end(self) -> None:
        """Hand on the last event."""
        if self.failed or self.job.cancelled:
            return
        if self.finish is None:
            self.job.deliver(Fault(500, "the local engine stopped without an end", "server_error"))
            return
        details: dict[str, Any] = self.usage.get("prompt_tokens_details") or {}
        self.job.deliver(
            Done(
                "length" if self.finish == "length" else "stop",
                self.usage.get("prompt_tokens", 0),
                details.get("cached_tokens", 0),
                self.usage.get("completion_tokens", 0),
            )
        )


_engines: dict[Path, Engine] = {}
_lock = threading.Lock()
_inherited = False
"""Whether the library was loaded before this process was forked: it works, but cannot be torn down."""


def engine_for(path: Path) -> Engine:
    """The engine of a weights file in this process."""
    key = path.resolve()
    with _lock:
        if key not in _engines:
            _engines[key] = Engine(key)
        return _engines[key]


def release_all() -> None:
    """Release every engine of this process; the next request loads anew."""
    with _lock:
        engines = list(_engines.values())
        _engines.clear()
    for engine in engines:
        engine.release()


def _forget_after_fork() -> None:
    global _inherited, _lock  # noqa: PLW0603 - facts about this process; another thread of the parent may hold the lock
    _lock = threading.Lock()
    leaked = [engine.leak() for engine in _engines.values()]
    if any(leaked) and not _inherited:
        _inherited = True
        # This process exits once Python is done: the library would wait for threads that only the parent has.
        library = ctypes.CDLL(None)
        if on_exit := getattr(library, "on_exit", None):  # glibc has it; the handler registered last runs first
            on_exit(library._exit, None)  # noqa: SLF001 - the C function's name
    _engines.clear()


atexit.register(release_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
