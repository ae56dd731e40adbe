"""`python -m interlingua.testing.corpus FILE.jsonl.gz… [--seed N]`: recorded exchanges, replayed and judged.

Every line of a file is one exchange of a client with a provider. `exchange.py` says what each must hold to.

Output: a line for each failing or refused id, with the reason and the first differing path; how much travelled unread,
by path; then a line for each file and one for all: `N exchanges, N passed, N failed, N refused`.

Exit status: 1 when anything failed, when a file held no exchange, or when more than 2 % of a file were refused.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from interlingua.dialects._contract import Dialect
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.testing.exchange import DialectFor, Exchange, Judge, Verdict

__all__ = ["FileReport", "Report", "find_dialect", "main", "read_exchanges", "run"]

MAX_REFUSED = 0.02
"""The greatest part of a file that may be refused."""


class FileReport(msgspec.Struct, kw_only=True):
    """What became of the exchanges of one file."""

    name: str
    """The file's name."""
    verdicts: dict[str, Verdict] = msgspec.field(default_factory=dict[str, Verdict])
    """Verdicts by exchange id."""

    def count(self, outcome: str | None = None) -> int:
        """How many exchanges had that outcome; all of them without one."""
        return sum(1 for verdict in self.verdicts.values() if outcome in (None, verdict.outcome))

    @property
    def ok(self) -> bool:
        """Whether there were exchanges, none failed, and few enough were refused."""
        total = self.count()
        return total > 0 and not self.count("failed") and self.count("refused") <= MAX_REFUSED * total

    def summary(self) -> str:
        """`NAME: N exchanges, N passed, N failed, N refused`."""
        return _summary(self.name, [self])


class Report(msgspec.Struct, kw_only=True):
    """What became of all files."""

    files: list[FileReport] = []
    """One report for each file, in order."""

    @property
    def ok(self) -> bool:
        """Whether every file is well."""
        return all(file.ok for file in self.files)

    @property
    def opaque(self) -> Counter[str]:
        """Bytes that travelled unread in all files, by path."""
        return sum((verdict.opaque for file in self.files for verdict in file.verdicts.values()), Counter[str]())

    def lines(self) -> Iterator[str]:
        """The report as the command prints it."""
        for file in self.files:
            for name, verdict in file.verdicts.items():
                if verdict.outcome != "passed":
                    yield f"{file.name} {name} {verdict.outcome} {verdict.reason}: {verdict.detail}"
        for path, size in self.opaque.most_common():
            yield f"unread {size} bytes at {path}"
        yield from [file.summary() for file in self.files]
        yield _summary("in all", self.files)


def _summary(name: str, files: Iterable[FileReport]) -> str:
    counts = [sum(file.count(outcome) for file in files) for outcome in (None, "passed", "failed", "refused")]
    return "{}: {} exchanges, {} passed, {} failed, {} refused".format(name, *counts)


def find_dialect(name: str) -> Dialect | None:
    """The dialect of that name, or None where there is none yet."""
    return get_dialect(name) if name in DIALECTS else None


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """The exchanges of a file with one JSON document a line, compressed if its name ends in `.gz`."""
    decoder = msgspec.json.Decoder(Exchange)
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        yield from (decoder.decode(line) for line in file if line.strip())


def run(
    files: Iterable[Path],
    *,
    dialect_for: DialectFor = find_dialect,
    others: Sequence[str] | None = None,
    seed: int = 0,
) -> Report:
    """The verdicts on every exchange of `files`.

    `dialect_for` gives the dialects under judgement; `others` names those that every exchange must be translated to,
    by default every dialect there is.
    """
    judge = Judge(dialect_for, tuple(DIALECTS) if others is None else others, seed=seed)
    reports: list[FileReport] = []
    for path in files:
        verdicts = {exchange.id: judge.judge(exchange) for exchange in read_exchanges(path)}
        reports.append(FileReport(name=path.name.removesuffix(".gz").removesuffix(".jsonl"), verdicts=verdicts))
    return Report(files=reports)


def main(arguments: Sequence[str] | None = None, write: Callable[[str], object] = print) -> int:
    """The exit status of the command; `write` takes its lines."""
    parser = argparse.ArgumentParser("python -m interlingua.testing.corpus", description="Replay recorded exchanges.")
    told = "one JSON document a line, compressed or not"
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl.gz", help=told)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where streams are cut (default: 0)")
    options = parser.parse_args(arguments)
    report = run(options.files, seed=options.seed)
    for line in report.lines():
        write(line)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
