"""Steps of tools that a provider ran: at home they go back as they came, elsewhere they are told in words.

Rules
- A step goes back verbatim to the dialect and the provider that it came from; one that is not known may be the one.
- In a history it is sent as text of the assistant, in its place: what was called, with what, what came.
- In an answer it is sent as thinking, since it is the way to the answer and no part of it: a client that parses the
  text, or shows it, gets what the model said.
- The readers of the dialects never fail: what they do not find in a step is not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.types.content import ServerToolPart, Source, TextPart, ThinkingPart
from interlingua.types.event import BlockEnd, BlockStart, ThinkingDelta
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._contract import Target
    from interlingua.types.change import Changes
    from interlingua.types.event import Event

__all__ = [
    "answer_thinking",
    "at_home",
    "files_in",
    "history_text",
    "joined",
    "json_of",
    "step_text",
    "string_in",
    "thinking_events",
]


# Telling


def at_home(part: ServerToolPart, dialect: str, target: Target) -> bool:
    """Whether a step goes back as it came: to its dialect and its provider, as far as both are known."""
    if part.dialect != dialect or not is_object(part.raw):
        return False
    return not part.provider or not target.provider or part.provider == target.provider


def step_text(part: ServerToolPart) -> str:
    """A step in words: `[web_search {"query":"…"}]`, what came, and a line for each source."""
    head = part.name or part.kind
    longer: list[tuple[str, str]] = []
    if part.input is not None:
        value, longer = _apart(part.input)
        head += f" {encode(value).decode()}" if value or not longer else ""
    elif part.output is not None or part.sources:
        head += " result"
    if part.status != "completed":
        head += f" ({part.status})"
    lines = [
        f"[{head}]",
        *[f"{name}:\n{text}" for name, text in longer],
        *([part.output.strip("\n")] if part.output else []),
        *map(_source_line, part.sources),
    ]
    return "\n".join(lines)


def _apart(value: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The arguments of a tool, and apart from it the texts of several lines, such as code, by their own names."""
    if not is_object(value):
        return value, []
    rest: dict[str, Any] = {}
    longer: list[tuple[str, str]] = []
    for key, member in value.items():
        if isinstance(member, str) and "\n" in member:
            longer.append((key, member))
            continue
        rest[key], inner = _apart(member)
        longer += inner
    return rest, longer


def _source_line(source: Source) -> str:
    where = source.url or source.file or ""
    return f"- {source.title}: {where}" if source.title and where else f"- {source.title or where}"


def history_text(part: ServerToolPart, changes: Changes, path: str) -> TextPart:
    """A step of another provider as text of the assistant, on lines of its own."""
    _note(part, changes, path)
    if part.cache is not None:
        return TextPart(f"\n{step_text(part)}\n", cache=part.cache)
    return TextPart(f"\n{step_text(part)}\n")


def answer_thinking(part: ServerToolPart, changes: Changes, path: str) -> ThinkingPart:
    """A step as thinking, for a client whose dialect has no form for it."""
    _note(part, changes, path)
    return ThinkingPart(step_text(part))


def thinking_events(part: ServerToolPart, changes: Changes, path: str, end: BlockEnd) -> tuple[Event, ...]:
    """A step as a block of thinking, in the place of the block that ended."""
    thinking = answer_thinking(part, changes, path)
    return (
        BlockStart(end.index, "thinking", choice=end.choice),
        ThinkingDelta(end.index, thinking.text, end.choice),
        BlockEnd(end.index, thinking, end.choice),
    )


def _note(part: ServerToolPart, changes: Changes, path: str) -> None:
    changes.add("server_tool_as_text", path, f"{part.kind} of {part.provider or part.dialect}")


# Reading


def string_in(value: object, *names: str) -> str | None:
    """The first member of an object that is a string with something in it."""
    if not is_object(value):
        return None
    return next((member for name in names if isinstance(member := value.get(name), str) and member), None)


def json_of(value: object) -> Any:
    """A JSON value that may come as the text of it; text that is no JSON stands for itself."""
    if not isinstance(value, str):
        return value
    try:
        return decode_any(value)
    except (DecodeError, LimitExceededError):
        return value


def joined(texts: Iterable[str | None]) -> str:
    """Texts on lines of their own, without those that say nothing."""
    return "\n".join([text for text in texts if text])


def files_in(value: object) -> tuple[Source, ...]:
    """The sources that a list of objects names by address, title and file."""
    sources = [
        Source(string_in(one, "url", "uri"), string_in(one, "title", "filename"), string_in(one, "file_id"))
        for one in (value if is_list(value) else ())
    ]
    return tuple([source for source in sources if source != Source()])
