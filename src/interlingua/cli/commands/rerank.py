"""`il rerank`: documents in the order of their relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.numbers import COUNT, SECONDS
from interlingua.cli.terminal import piped_input, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Documents are arguments, or the lines of stdin. The best comes first: its score, a tab, the document.

examples:
  il rerank -m voyage/rerank-2.5 "rain" "Oslo is rainy." "Rome is sunny."
  il rerank -m jina/jina-reranker-v3 -n 3 "who pays?" < paragraphs.txt
  il rerank -m work/bge-reranker --json "rain" < lines.txt
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("query", metavar="QUERY", help="the query")
    parser.add_argument("document", nargs="*", metavar="DOCUMENT", help="the documents (default: the lines of stdin)")
    parser.add_argument("-m", "--model", metavar="SPEC", help="provider/model, an alias, or a chain")
    parser.add_argument("-n", "--top", type=COUNT, metavar="N", help="only the best N")
    parser.add_argument("--timeout", type=SECONDS, metavar="SECONDS", help="time-out for the whole command")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: Namespace) -> int:
    """Rank."""
    from interlingua.client.embed import rerank

    documents = options.document
    if not documents:
        text = piped_input().decode("utf-8", "replace")
        documents = [line.strip() for line in text.splitlines() if line.strip()]
    if not documents:
        raise UsageError("rerank: there are no documents; give some, or lines on stdin")
    ranking = rerank(options.query, documents, model=options.model, top_n=options.top, timeout_s=options.timeout)
    from interlingua.wire.json import encode

    for each in ranking:
        write(f"{encode(each).decode()}\n" if options.json else f"{each.score:.4f}\t{each.document}\n")
    return 0
