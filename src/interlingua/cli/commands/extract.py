"""`il extract`: many files through one model, a row of a type for each."""

from __future__ import annotations

import sys
import time
import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any

from interlingua.cli.asking import EXIT_CODES, model_arguments, model_of, repair_argument
from interlingua.cli.conversing import failover_notes
from interlingua.cli.loading import load_schema
from interlingua.cli.numbers import CALLS
from interlingua.cli.outcome import FAILED, UNFIT
from interlingua.cli.terminal import note, write
from interlingua.client.call.report import ChangeWarning
from interlingua.client.map import Task, Terms, Work, mapped
from interlingua.client.options import CONCURRENCY
from interlingua.errors import OutputError, UsageError
from interlingua.media.files import files
from interlingua.media.rows import rows
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, TextPart

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from interlingua.client.batch.batch import Batch
    from interlingua.client.item import Item
    from interlingua.client.journal import Known
    from interlingua.client.model import Model
    from interlingua.media.files import InputFile

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
The file of -o is the journal: JSON lines, one for each finished input, with `key`, `output` or `error`, and `response`.
A rerun sends only the missing inputs. Lines with `batch` describe batches. Mail, text, images, PDFs and audio
are recognized by their content.

examples:
  il extract 'mails/*.eml' --schema models:Invoice -o invoices.jsonl
  il extract 'mails/*.eml' --schema models:Invoice -o invoices.jsonl --retry-failed
  il extract 'scans/**/*.pdf' --schema invoice.json -o scans.jsonl -s "Amounts are in euros." --concurrency 32
  il extract 'mails/*.eml' --schema models:Invoice -o invoices.jsonl --batch       half the price, within a day
  il extract 'mails/*.eml' --schema models:Invoice -o invoices.jsonl --dry-run     shows what would be sent
  il extract reviews.parquet --rows text --schema models:Review -o reviews/ --engine ray      each row, on a cluster
  jq -c 'select(.output) | [.key, .output.total]' invoices.jsonl

{EXIT_CODES}"""

MOST_FAILURES_TOLD = 20
_BAR = 30
_EVERY_S = 0.1


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("patterns", nargs="+", metavar="PATTERN", help="files, or patterns in quotes; ** for folders")
    parser.add_argument(
        "--schema", required=True, metavar="TYPE", help="MODULE:TYPE, FILE.json, or fields: 'name, total float'"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE.jsonl", help="the output file; a rerun continues from it"
    )
    repair_argument(parser)
    model_arguments(parser)
    parser.add_argument(
        "--concurrency", type=CALLS, default=CONCURRENCY, metavar="N", help="concurrent calls (default: 16)"
    )
    parser.add_argument(
        "--batch", action="store_true", help="use the provider's batch API: half the price, within a day"
    )
    parser.add_argument(
        "--no-live",
        action="store_true",
        help="with --batch: items that a batch left undone fail, instead of live calls",
    )
    parser.add_argument(
        "--keep", action="store_true", help="with --batch: leave the batch and its files at the provider afterwards"
    )
    parser.add_argument(
        "--rows", metavar="COLUMN", help="the files are .jsonl or .parquet: each row's text in that column is an input"
    )
    parser.add_argument(
        "--engine", metavar="ENGINE", help="ray, or ray://host:10001: on a cluster, and -o is a folder of journals"
    )
    parser.add_argument("--retry-failed", action="store_true", help="retry items that failed in an earlier run")
    parser.add_argument("--dry-run", action="store_true", help="print how each file would be sent, and send nothing")


def run(options: Namespace) -> int:
    """Extract."""
    model = model_of(options)
    schema = load_schema(options.schema)
    if options.dry_run and (options.engine or options.rows):
        raise UsageError("extract: --dry-run shows files, without --engine and --rows")
    inputs = list(files(options.patterns))
    terms = Terms(
        output=schema,
        concurrency=options.concurrency,
        journal=options.output,
        ordered=False,
        batch=_batch(options),
        key=None,
        retry_failed=options.retry_failed,
        options={},
    )
    work = Work[Any](model, terms)
    if options.dry_run:
        # Every file with what it becomes and whether it would be asked about.
        from interlingua.client.journal import read_batches, read_known  # only a dry run reads what it does not open

        entries = read_known(terms.journal or "")
        waiting = {name for record in read_batches(terms.journal or "") for name in record.ids}
        states = [
            _state(work.begin(source, position), entries, waiting, terms) for position, source in enumerate(inputs)
        ]
        for source, (state, words) in zip(inputs, states, strict=True):
            write(f"{state:<7} {source.key}: {words}\n")
        open_count = sum(state in ("new", "again") for state, _ in states)
        note(f"{open_count} of {len(inputs)} would be sent; nothing was sent")
        return 0
    if options.rows:
        sources = chain.from_iterable([rows(file.path, options.rows) for file in inputs])
        return _extract(work, _items(work, terms, model, sources, options.engine), model, None)
    return _extract(work, _items(work, terms, model, inputs, options.engine), model, len(inputs))


def _items(
    work: Work[Any], terms: Terms, model: Model, inputs: Iterable[InputFile], engine: str | None
) -> Iterable[Item[Any]]:
    """The items, of this process or of a cluster.

    Raises: UsageError for an engine that there is not.
    """
    if engine is None:
        return mapped(work, model, inputs, terms)
    from interlingua.client.cluster.cluster import cluster_of  # only who has a cluster needs it
    from interlingua.client.cluster.engine import mapped_on_ray

    return mapped_on_ray(work, model, inputs, terms, cluster_of(engine, terms))


def _batch(options: Namespace) -> bool | Batch:
    """How it goes by batches, if at all.

    Raises: UsageError for `--no-live` and `--keep` alone.
    """
    for name, is_set in (("--no-live", options.no_live), ("--keep", options.keep)):
        if is_set and not options.batch:
            raise UsageError(f"extract: {name} belongs to --batch")
    if not options.batch:
        return False
    from interlingua.client.batch.batch import Batch  # only who batches needs it

    return Batch(live=not options.no_live, keep=options.keep)


# What is done


def _extract(work: Work[Any], items: Iterable[Item[Any]], model: Model, total: int | None) -> int:
    tally = _Tally(total)
    if work.is_batched:
        note("by batches: they may take a day, and `il batches` shows how far they are")
        note("Ctrl-C leaves them running; the same command takes their results")
    with warnings.catch_warnings(), failover_notes(model):
        warnings.simplefilter("ignore", ChangeWarning)  # one for each of thousands of files helps nobody
        try:
            for item in items:
                tally.add(item)
        except KeyboardInterrupt:
            if work.is_batched:
                note("the batches go on; the same command takes their results, `il batches cancel` ends them")
            raise
        finally:
            tally.end()
    return tally.code


class _Tally:
    """How far it is, on stderr; a bar where that is a terminal."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._bar = sys.stderr.isatty()
        self._shown = 0.0
        self._recorded = 0
        self._failures: list[Item[Any]] = []
        self._count = 0
        self._cost: float | None = 0.0

    @property
    def code(self) -> int:
        if not self._failures:
            return 0
        return UNFIT if all(isinstance(item.error, OutputError) for item in self._failures) else FAILED

    def add(self, item: Item[Any]) -> None:
        self._count += 1
        self._recorded += item.recorded
        if not item.recorded:
            has_cost = self._cost is not None and item.cost_usd is not None
            self._cost = (self._cost or 0.0) + (item.cost_usd or 0.0) if has_cost else None
        if item.error is not None:
            self._failures.append(item)
            if len(self._failures) <= MOST_FAILURES_TOLD:
                self._clear()
                note(f"{item.key}: {item.error}")
        if self._bar and (time.monotonic() - self._shown > _EVERY_S or self._count == self._total):
            self._shown = time.monotonic()
            filled = _BAR * self._count // (self._total or self._count)
            failed = f", {len(self._failures)} failed" if self._failures else ""
            cost = f", ${self._cost:.2f}" if self._cost else ""
            sys.stderr.write(
                f"\r\x1b[K[{'#' * filled}{'.' * (_BAR - filled)}] {self._count}/{self._total or '?'}{failed}{cost}"
            )
            sys.stderr.flush()

    def end(self) -> None:
        """The last word, where there was a first one."""
        self._clear()
        if not self._count:
            return
        left = len(self._failures) - MOST_FAILURES_TOLD
        if left > 0:
            note(f"and {left} more failures")
        done = self._count - len(self._failures)
        phrases = [f"{done} of {self._total or self._count} done"]
        phrases += [f"{self._recorded} were there before"] if self._recorded else []
        phrases += [f"${self._cost:.4f}"] if self._cost and self._count > self._recorded else []
        phrases += [f"{len(self._failures)} failed (--retry-failed tries those again)"] if self._failures else []
        note("; ".join(phrases))

    def _clear(self) -> None:
        if self._bar and self._shown:
            sys.stderr.write("\r\x1b[K")


# What would be done


def _state(begun: Task | Item[Any], entries: dict[str, Known], waiting: set[str], terms: Terms) -> tuple[str, str]:
    if not isinstance(begun, Task):
        return "bad", str(begun.error)
    parts: Any = begun.prompt
    kinds = ", ".join([_KINDS[type(part)] for part in parts])
    entry = entries.get(begun.identity)
    if entry is None:
        return ("batched" if begun.identity in waiting else "new"), kinds
    if not entry.failed:
        return "done", kinds
    return ("again" if terms.retry_failed else "failed"), kinds


_KINDS = {TextPart: "text", ImagePart: "image", DocumentPart: "document", AudioPart: "audio"}
