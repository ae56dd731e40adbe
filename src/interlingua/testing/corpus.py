"""`python -m interlingua.testing.corpus FILE.jsonl.gz… [--seed N] [--sample N] [--known FILE]`: exchanges, judged.

Every line of a file is one exchange of a client with a provider. `judge.py` says what each must hold to.

Output: a line for each fault of each failing or refused id, with the differing path; how much travelled unread, by
path; for each pair of dialects how many requests were refused, how many more by rule, since the other service lacks
what they ask for, and for what; then a line for each file and one for all:
`N exchanges, N passed, N failed, N refused`. What is in a format that is no dialect is counted apart, as `N
unsupported`, where there is any. With `--known`, faults that the file names are marked and fail nothing.

Exit status: 1 when anything failed, when a file held no exchange, or when more than 2 % of a file were refused; 2 when
a file cannot be read.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from interlingua.dialects._contract import Dialect
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import ConfigError
from interlingua.testing.exchange import Exchange, Verdict
from interlingua.testing.judge import DialectFor, Judge
from interlingua.testing.known import Known, read_known

__all__ = ["FileReport", "Report", "find_dialect", "main", "read_exchanges", "run"]

MAX_REFUSED = 0.02
"""The greatest part of a file that may be refused; of the requests of a pair of dialects, what is remarked on."""

BY_RULE = frozenset({"server_tools", "media_refs", "server_state", "images", "audio", "documents", "choices"})
"""Refusals of what the other service lacks, which ADR 0074 names: its tools, its stores, media, further choices."""


class FileReport(msgspec.Struct, kw_only=True):
    """The results of the exchanges of one file."""

    name: str
    """The file's name."""
    verdicts: dict[str, Verdict] = msgspec.field(default_factory=dict[str, Verdict])
    """Verdicts by exchange id."""
    known_faults: Known = Known([])
    """The faults that fail nothing."""

    def count(self, outcome: str | None = None) -> int:
        """How many exchanges had that outcome; all of them without one.

        `unsupported` are those in a format that is no dialect, which are not `refused`.
        """
        outcomes = [self.outcome(name) for name in self.verdicts]
        return len(outcomes) if outcome is None else outcomes.count(outcome)

    def outcome(self, name: str) -> str:
        """How the exchange was judged; one whose faults are all known has passed."""
        verdict = self.verdicts[name]
        if verdict.reason == "unsupported_api":
            return "unsupported"
        excused = verdict.outcome == "failed" and not self.known_faults.unknown(name, verdict)
        return "passed" if excused else verdict.outcome

    def lines(self) -> Iterator[str]:
        """A line for each fault."""
        for name, verdict in self.verdicts.items():
            unknown = self.known_faults.unknown(name, verdict)
            for fault in verdict.faults:
                word = verdict.outcome if fault in unknown else "known"
                yield f"{self.name} {name} {word} {fault}"

    @property
    def ok(self) -> bool:
        """Whether there were exchanges, none failed, and few enough were refused."""
        total = self.count()
        return total > 0 and not self.count("failed") and self.count("refused") <= MAX_REFUSED * total

    def summary(self) -> str:
        """`NAME: N exchanges, N passed, N failed, N refused`."""
        return _summary(self.name, [self])


class Report(msgspec.Struct, kw_only=True):
    """The results of all files."""

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
            yield from file.lines()
        for path, size in self.opaque.most_common():
            yield f"unread {size} bytes at {path}"
        yield from self.refusals()
        yield from [file.summary() for file in self.files]
        yield _summary("in all", self.files)

    def refusals(self) -> Iterator[str]:
        """A line for each pair of dialects of which requests were refused."""
        pairs: Counter[tuple[str, str]] = Counter()
        refused: Counter[tuple[str, str]] = Counter()
        ruled: Counter[tuple[str, str]] = Counter()
        codes: dict[tuple[str, str], Counter[str]] = {}
        for verdict in [verdict for file in self.files for verdict in file.verdicts.values()]:
            pairs.update((verdict.source, other) for other in verdict.translated)
            for other, named in verdict.refusals.items():
                pair = (verdict.source, other)
                (refused if set(named) - BY_RULE else ruled)[pair] += 1
                codes.setdefault(pair, Counter()).update(named)
        for pair in sorted(codes):
            count = refused[pair]
            share = count / pairs[pair]
            kinds = ", ".join([f"{code} {number}" for code, number in codes[pair].most_common()])
            mark = " (over 2 %)" if share > MAX_REFUSED else ""
            rule = f", and {ruled[pair]} by rule" if ruled[pair] else ""
            yield f"refused {pair[0]} -> {pair[1]}: {count} of {pairs[pair]}, {share:.1%}{mark}{rule}: {kinds}"


def _summary(name: str, files: Sequence[FileReport]) -> str:
    counts = [sum(file.count(outcome) for file in files) for outcome in (None, "passed", "failed", "refused")]
    unsupported = sum(file.count("unsupported") for file in files)
    summary = "{}: {} exchanges, {} passed, {} failed, {} refused".format(name, *counts)
    return f"{summary}, {unsupported} unsupported" if unsupported else summary


def find_dialect(name: str) -> Dialect | None:
    """The dialect of that name, or None where there is none yet."""
    return get_dialect(name) if name in DIALECTS else None


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """The exchanges of a file with one JSON document a line, compressed if its name ends in `.gz`.

    Raises: ConfigError for a file that cannot be read, or a line that is no exchange.
    """
    decoder = msgspec.json.Decoder(Exchange)
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield decoder.decode(line)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}, line {number} is no exchange: {error}") from error


def run(
    files: Iterable[Path],
    *,
    dialect_for: DialectFor = find_dialect,
    others: Sequence[str] | None = None,
    seed: int = 0,
    sample: int = 0,
    known_faults: Known | None = None,
) -> Report:
    """The verdicts on every exchange of `files`, or on `sample` of each that `seed` chooses.

    `dialect_for` gives the dialects under judgement; `others` names those that every exchange must be translated to,
    by default every dialect there is.
    """
    judge = Judge(dialect_for, tuple(DIALECTS) if others is None else others, seed=seed)
    reports: list[FileReport] = []
    for path in files:
        exchanges = list(read_exchanges(path))
        if sample:
            random.Random(f"{seed} {path.name}").shuffle(exchanges)  # noqa: S311 - which are judged is no secret
            del exchanges[sample:]
        verdicts = {exchange.id: judge.judge(exchange) for exchange in exchanges}
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        reports.append(FileReport(name=name, verdicts=verdicts, known_faults=known_faults or Known([])))
    return Report(files=reports)


def main(arguments: Sequence[str] | None = None, write: Callable[[str], object] = print) -> int:
    """The exit status of the command; `write` takes its lines."""
    parser = argparse.ArgumentParser("python -m interlingua.testing.corpus", description="Replay recorded exchanges.")
    contents = "one JSON document a line, compressed or not"
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl.gz", help=contents)
    seeded = "where streams are cut, and which exchanges are the sample (default: 0)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=seeded)
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="judge N exchanges of each file (default: all)"
    )
    expected = "faults that are known and fail nothing, each with its exchanges, part and path"
    parser.add_argument("--known", type=Path, action="append", default=[], metavar="FILE.toml", help=expected)
    options = parser.parse_args(arguments)
    try:
        report = run(options.files, seed=options.seed, sample=options.sample, known_faults=read_known(options.known))
    except ConfigError as error:
        parser.error(str(error))
    for line in report.lines():
        write(line)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
