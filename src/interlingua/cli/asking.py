"""Options that `ask`, `chat` and `explain` share: those that make a model, a prompt, tools and a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from interlingua.cli.numbers import COUNT, SECONDS, TEMPERATURE
from interlingua.cli.terminal import note, piped_input
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.cli.history import Conversation
    from interlingua.client.keywords import Options
    from interlingua.client.model import Model
    from interlingua.media.parts import Source
    from interlingua.tools.toolbox import Toolbox
    from interlingua.types.content import AudioPart, DocumentPart, ImagePart

__all__ = [
    "EXIT_CODES",
    "Question",
    "clean",
    "conversation_arguments",
    "conversation_of",
    "file_arguments",
    "files_of",
    "knobs_of",
    "model_arguments",
    "model_of",
    "piped_part",
    "question_of",
    "repair_argument",
    "request_arguments",
    "server_arguments",
    "servers_of",
    "tool_argument",
    "toolbox_of",
]

STREAMS_OF_A_SHELL = "surrogateescape"
"""How Python keeps bytes of the command line that are no UTF-8."""


class Question(Struct, frozen=True, eq=False):
    """A question to a model."""

    prompt: list[Any]
    """Texts and parts."""
    output: Any
    """The type or schema of the answer; None for text."""
    toolbox: Toolbox | None
    """The tools; None without any."""


def model_arguments(parser: ArgumentParser) -> None:
    """Say what makes the model."""
    parser.add_argument("-m", "--model", metavar="SPEC", help="provider/model, an alias, or a chain a/b,c/d")
    parser.add_argument("-s", "--system", metavar="TEXT", help="the system text")
    parser.add_argument(
        "--max-tokens", type=COUNT, metavar="N", help="maximum tokens of the answer, reasoning included"
    )
    parser.add_argument("--temperature", type=TEMPERATURE, metavar="X", help="sampling temperature")
    parser.add_argument("--effort", metavar="WORD", help="reasoning effort: none, minimal, low, …, max")
    parser.add_argument("--timeout", type=SECONDS, metavar="SECONDS", help="time-out for the whole call")
    parser.add_argument("--strict", action="store_true", help="fail instead of dropping or approximating anything")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any option of il.model, such as seed=7",
    )


def request_arguments(parser: ArgumentParser) -> None:
    """Say what makes the prompt, the tools and the type."""
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the prompt; words are joined by spaces")
    file_arguments(parser)
    tool_argument(parser)
    parser.add_argument(
        "--schema", metavar="TYPE", help="structured output: MODULE:TYPE, FILE.json, or fields such as 'name, age int'"
    )


def file_arguments(parser: ArgumentParser) -> None:
    """Say which files go with the prompt."""
    parser.add_argument("--image", action="append", default=[], metavar="FILE", help="an image; may be repeated")
    parser.add_argument(
        "--file", action="append", default=[], metavar="FILE", help="a document, image or audio; may be repeated"
    )


def files_of(options: Namespace) -> list[ImagePart | AudioPart | DocumentPart]:
    """The parts of `--image` and `--file`.

    Raises: UsageError for files that are not there.
    """
    return [*map(_image, options.image), *map(_file, options.file)]


def repair_argument(parser: ArgumentParser) -> None:
    """Say what becomes of an answer that does not fit."""
    parser.add_argument(
        "--repair", choices=["off", "safe", "ask"], help="reaction to an answer that does not fit the schema"
    )


def tool_argument(parser: ArgumentParser) -> None:
    """Say which functions the model may call."""
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="MODULE:FUNC",
        help="a function the model may call, MODULE:FUNC or FILE.py:FUNC",
    )


def server_arguments(parser: ArgumentParser) -> None:
    """Say which MCP servers there are, and which calls may run."""
    parser.add_argument(
        "--mcp",
        action="append",
        default=[],
        metavar="SERVER",
        help="an MCP server: a command, URL or .mcp.json; may be repeated",
    )
    parser.add_argument(
        "--approve", choices=("auto", "ask", "never"), default="auto", help="approval of tool calls before they run"
    )


def servers_of(places: list[str]) -> list[Any]:
    """The MCP servers of `--mcp`."""
    if not places:
        return []
    from interlingua.tools.mcp import mcp

    return [mcp(place) for place in places]


def conversation_arguments(parser: ArgumentParser) -> None:
    """Say which conversation goes on."""
    parser.add_argument("-c", "--continue", dest="goes_on", action="store_true", help="continue the last conversation")
    parser.add_argument("-n", "--name", metavar="NAME", help="continue the conversation of this name, or begin it")


def conversation_of(options: Namespace) -> Conversation:
    """The conversation that goes on, or a new one.

    Raises: UsageError and ConfigError for one that cannot be continued.
    """
    from interlingua.cli.history import Conversation  # paths take 4 ms: `il explain` without -c has none

    if options.name is not None:
        return Conversation.named(clean(options.name))
    return Conversation.last() if options.goes_on else Conversation()


def model_of(options: Namespace, fallback: str = "") -> Model:
    """The model that the options name, else `INTERLINGUA_MODEL`, with the options of the command line.

    Raises: ConfigError, with what could be named, when nothing names one; UsageError and its kinds for what is no
        option, and for a name that stands for no model.
    """
    from interlingua.client.face import check_targets
    from interlingua.client.model import model

    chosen = model(options.model or fallback or None, **knobs_of(options))
    try:
        _ = chosen.spec
    except ConfigError:
        from interlingua.cli.suggest import candidates

        raise ConfigError(f"no model: give -m SPEC or set INTERLINGUA_MODEL; {candidates()}") from None
    check_targets(chosen)
    return chosen


def knobs_of(options: Namespace) -> Options:
    """The options of il.model that the command line sets.

    Raises: UsageError for an `--option` without a value.
    """
    named = {
        "system": options.system and clean(options.system),
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "effort": options.effort,
        "timeout_s": options.timeout,
        "strict": options.strict or None,
        "repair": getattr(options, "repair", None),
    }
    knobs = {name: value for name, value in named.items() if value is not None}
    return cast("Options", knobs | dict(map(_pair, options.option)))


def _pair(text: str) -> tuple[str, Any]:
    """One `KEY=VALUE`; a value that is JSON counts as that, anything else as text."""
    from interlingua.errors import WireError
    from interlingua.wire.json import decode_any

    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"--option {text}: write KEY=VALUE, as in seed=7")
    try:
        return key.strip().replace("-", "_"), decode_any(value)
    except WireError:
        return key.strip().replace("-", "_"), value


def question_of(options: Namespace) -> Question:
    """The question in the options, with the content of stdin at the end of the prompt.

    Raises: UsageError for files, tools and types that are not there, and when nothing is asked.
    """
    words = [word for word in options.prompt if word != "-"]
    parts = files_of(options)
    text = clean(" ".join(words))
    pieces: list[Any] = [piece for piece in (text, piped_part(force="-" in options.prompt)) if piece]
    if len(pieces) == 2 and isinstance(pieces[1], str):
        pieces = [f"{pieces[0]}\n\n{pieces[1]}"]  # the prompt, and what it is about
    if getattr(options, "template", None) is not None:
        from interlingua.cli.templates import fill_prompt

        texts = [piece for piece in pieces if isinstance(piece, str)]
        filled = fill_prompt(options, "\n\n".join(texts))
        pieces = [*([filled] if filled else []), *(piece for piece in pieces if not isinstance(piece, str))]
    if not (pieces or parts):
        raise UsageError("nothing to ask: give a prompt, or pipe one in")
    output: Any = None
    if options.schema is not None:
        from interlingua.cli.loading import load_schema

        output = load_schema(options.schema)
    return Question([*parts, *pieces], output, toolbox_of(options.tool))


def piped_part(*, force: bool = False) -> str | ImagePart | AudioPart | DocumentPart:
    """The content of stdin: a text, or the part that its bytes make; an empty text when there is nothing.

    Text is in UTF-8, or in UTF-16 with the mark that Windows writes before it. Bytes that are neither text nor a known
    file are replaced, and a note says so.
    """
    data = piped_input(force=force)
    try:
        return data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig").strip("\r\n")
    except UnicodeDecodeError:
        from interlingua.media.sniff import sniff

        if sniff(data) is not None:
            return _file(data)
    text = data.decode("utf-8", "replace").strip("\r\n")
    lost = text.count("\ufffd")
    note(f"stdin is no text in UTF-8, and {lost} of its characters were replaced")
    return text


_UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""The beginnings of a text in UTF-16."""


def _file(source: Source) -> ImagePart | AudioPart | DocumentPart:
    from interlingua.media.parts import file

    return file(source)


def _image(source: Source) -> ImagePart:
    from interlingua.media.parts import image

    return image(source)


def toolbox_of(names: list[str], servers: list[str] | None = None) -> Toolbox | None:
    """The tools of `--tool` and `--mcp`; None without any. MCP servers are opened when they are needed.

    Raises: UsageError for what is not there or makes no tool.
    """
    if not names and not servers:
        return None
    from interlingua.cli.loading import load_tools
    from interlingua.tools.toolbox import Toolbox

    return Toolbox([*(tool for name in names for tool in load_tools(name)), *servers_of(servers or [])])


def clean(text: str) -> str:
    """A text of the command line without bytes that are no UTF-8, which no JSON can hold."""
    return text.encode(errors=STREAMS_OF_A_SHELL).decode(errors="replace")


EXIT_CODES = """\
exit codes: 0 it worked, 1 the model, provider or network failed, 2 the command line or configuration is wrong,
3 the answer did not fit the schema, 130 interrupted
"""
"""The end of a command's help."""
