"""`il embed`: texts as vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.numbers import COUNT, SECONDS
from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
One text gives its vector, a JSON list. Lines of a file or of stdin give a line of JSON each, with text and vector.

examples:
  il embed -m openai/text-embedding-3-small "Oslo is rainy."
  il embed -m google/gemini-embedding-2 --input-type document -f lines.txt > vectors.jsonl
  cut -f2 places.tsv | il embed -m ollama/nomic-embed-text --dimensions 256
  il embed -m 'azure/text-embedding-3-large,openai/text-embedding-3-large' "the same model, elsewhere when one is down"
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the texts (default: the lines of stdin)")
    parser.add_argument("-m", "--model", metavar="SPEC", help="provider/model, an alias, or a chain of one model")
    parser.add_argument("-f", "--file", metavar="PATH", help="embed each line of a file that is not blank")
    parser.add_argument("--dimensions", type=COUNT, metavar="N", help="length of a vector")
    parser.add_argument(
        "--input-type",
        choices=("query", "document", "similarity", "classification", "clustering"),
        help="purpose of the texts, for models that distinguish it",
    )
    parser.add_argument("--timeout", type=SECONDS, metavar="SECONDS", help="time-out for the whole command")
    parser.add_argument("--usage", action="store_true", help="tokens and price on stderr")


def run(options: Namespace) -> int:
    """Embed."""
    from interlingua.client.embed import embed

    texts = _texts(options)
    vectors = embed(
        texts,
        model=options.model,
        dimensions=options.dimensions,
        input_type=options.input_type,
        timeout_s=options.timeout,
    )
    from interlingua.wire.json import encode

    if options.text and len(texts) == 1:
        write(f"{encode(vectors.vector).decode()}\n")
    else:
        for text, vector in zip(texts, vectors, strict=True):
            write(f"{encode({'text': text, 'vector': vector}).decode()}\n")
    if options.usage:
        tokens = vectors.usage.input_tokens
        price = "" if vectors.cost_usd is None else f", {vectors.cost_usd:.9f}".rstrip("0").rstrip(".") + " USD"
        note(f"{vectors.model}: {'?' if tokens is None else f'{tokens:,}'} tokens{price}")
    return 0


def _texts(options: Namespace) -> list[str]:
    """The texts to embed.

    Raises: UsageError for texts beside a file, for a file that cannot be read, and for nothing at all.
    """
    if options.text:
        if options.file is not None:
            raise UsageError("embed: give texts or --file, not both")
        return list(options.text)
    if options.file is None or options.file == "-":
        from interlingua.cli.terminal import piped_input

        content = piped_input(force=options.file == "-").decode("utf-8", "replace")
    else:
        from pathlib import Path

        try:
            content = Path(options.file).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"embed: {options.file} cannot be read: {error.strerror}") from None
    texts = [line.strip() for line in content.splitlines() if line.strip()]
    if not texts:
        raise UsageError("embed: there is no text; give one, --file PATH, or lines on stdin")
    return texts
