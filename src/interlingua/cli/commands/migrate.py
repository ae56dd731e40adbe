"""`il migrate`: the configuration of another gateway as one of ours, with a report of what became of every setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Reads the config.yaml of a LiteLLM proxy and writes the TOML of `il serve`. The report lists every setting of the old
file with its replacement. Keys are never copied: the variables to set are listed. Nothing is sent.

examples:
  il migrate litellm config.yaml -o gateway.toml     the file; the report on stdout
  il migrate litellm config.yaml > gateway.toml      the same; the report on stderr
  il serve --config gateway.toml --key-env LITELLM_MASTER_KEY
"""
MAX_BYTES = 4 * 1024 * 1024
"""How large a file is read."""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "source", choices=("litellm",), metavar="litellm", help="the tool whose configuration is converted"
    )
    parser.add_argument("file", metavar="FILE", help="its configuration file, such as config.yaml")
    parser.add_argument("-o", "--output", metavar="FILE", help="the output file (default: stdout)")
    parser.add_argument("--force", action="store_true", help="overwrite an existing output file")


def run(options: Namespace) -> int:
    """Convert, write, report.

    Raises: UsageError for files that cannot be read or written; ConfigError for what is no such configuration.
    """
    from interlingua.cli.litellm.convert import convert

    path = Path(options.file).expanduser()
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{path.name}: larger than {MAX_BYTES} bytes")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path.name}: not UTF-8") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    made = convert(text, path.name, options.output or "gateway.toml")
    if options.output is None:
        write(made.toml)
        for line in made.report:
            note(line, head="")
        return 0
    output = Path(options.output).expanduser()
    try:
        with output.open("w" if options.force else "x", encoding="utf-8") as stream:
            stream.write(made.toml)
    except FileExistsError:
        raise UsageError(f"{output.name} is there already; --force replaces it") from None
    except OSError as error:
        raise UsageError(f"{output.name} cannot be written: {error.strerror}") from None
    write("".join(f"{line}\n" for line in made.report))
    return 0
