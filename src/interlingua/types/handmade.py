"""Messages that callers made themselves: values of other types than their fields say are told before they are sent.

Strategy: one look at each part, by its type alone; arguments of calls are parsed once and then remembered, since a
conversation comes again with every turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from interlingua.errors import HistoryError, UsageError, kind_of
from interlingua.types.content import Json, MediaPart, Part, TextPart, ToolCall, ToolResult, stored_data
from interlingua.types.message import Role
from interlingua.wire.arguments import check_arguments
from interlingua.wire.cache import ByteCache
from interlingua.wire.media import Base64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.types.message import Message

__all__ = ["check_messages", "check_result"]

_SOUND = ByteCache[str, None](4_000_000)
"""Texts of arguments that are sound."""
_ROLES = frozenset(get_args(Role))
_PARTS = get_args(Part)


def check_messages(messages: Iterable[Message]) -> None:
    """Look at messages that somebody else may have made.

    Raises: UsageError, with the first message and part that is not what its type says; HistoryError for the arguments
    of a call that are broken.
    """
    for place, message in enumerate(messages):
        if message.role not in _ROLES:
            raise UsageError(f"messages[{place}]: {message.role!r} is no role; there are {', '.join(get_args(Role))}")
        for part in message.parts:
            text: object = part.text if type(part) is TextPart else part.content if type(part) is ToolResult else None
            if type(text) is not str:
                _check(part, f"messages[{place}]")


def check_result(result: ToolResult, where: str) -> None:
    """Look at a result that somebody else may have made.

    Raises: UsageError for content that is no text, no `Json` and no parts.
    """
    content: object = result.content
    items = cast("Iterable[object]", content) if isinstance(content, tuple | list) else (content,)
    if isinstance(content, str) or not any(map(_is_no_content, items)):
        return
    raise UsageError(
        f"{where}: the result of {result.name or result.call_id} is {kind_of(content)};"
        " it takes a text, parts in a tuple, or il.Json(value) for any other value"
    )


def _is_no_content(value: object) -> bool:
    return not isinstance(value, (Json, *_PARTS))


def _check(part: Any, where: str) -> None:
    if not isinstance(part, _PARTS):
        raise UsageError(f"{where} holds {kind_of(part)}, which is no part; il.user(…) and il.assistant(…) take texts")
    match part:
        case ToolCall():
            text = part.arguments_json
            what = f"{where}: the arguments_json of the call {part.id!r} (tool {part.name})"
            _expect(text, str, what)
            if text in _SOUND:
                return
            if fault := check_arguments(text):
                sentence = f"{what} is not one JSON object ({fault}); il.BrokenToolCall holds what is broken"
                raise HistoryError(sentence, code="arguments_broken")
            _SOUND.put(text, None)
        case ToolResult():
            check_result(part, where)
        case TextPart():
            _expect(part.text, str, f"{where}: the text of a part")
        case MediaPart():
            stored = stored_data(part)
            if not isinstance(stored, Base64):
                _expect(stored, bytes, f"{where}: the data of {kind_of(part)}")
        case _:
            return


def _expect(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise UsageError(f"{what} is {kind_of(value)}, not {kind.__name__}")
