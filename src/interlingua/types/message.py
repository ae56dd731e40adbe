"""Messages: a role and ordered parts, with views for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from interlingua.errors import UsageError, kind_of
from interlingua.types.content import (
    Part,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)

__all__ = ["Content", "Message", "Role", "assistant", "parts_of", "system", "text_of", "thinking_of", "user"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""The speaker; a message of role `tool` holds the results of one step."""
Content: TypeAlias = str | Part
"""The values that message builders take: text, or a part."""


def text_of(parts: tuple[Part, ...]) -> str:
    """The text parts, joined."""
    return "".join([part.text for part in parts if type(part) is TextPart])


def thinking_of(parts: tuple[Part, ...]) -> str:
    """The readable thinking, blocks parted by a blank line."""
    return "\n\n".join([part.text for part in parts if type(part) is ThinkingPart and part.text])


def parts_of(content: tuple[Content, ...]) -> tuple[Part, ...]:
    """Text and parts as parts; empty texts are left out.

    Raises: UsageError for anything else.
    """
    parts: list[Part] = []
    for item in content:
        if isinstance(item, str):
            if item:
                parts.append(TextPart(item))
        elif isinstance(item, _PARTS):
            parts.append(item)
        else:
            # A list in place of its items is what people write most.
            raise UsageError(f"a message is made of texts and parts, one after the other, not of {kind_of(item)}")
    return tuple(parts)


_PARTS = get_args(Part)


class Message(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """One message of a conversation."""

    role: Role
    """system, user, assistant or tool."""
    parts: tuple[Part, ...] = ()
    """The content, in order."""
    name: str | None = None
    """The author's name, where a dialect has one."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            """Nothing: the error says what there is instead of another library's word."""
            from interlingua.types.words import no_attribute  # only who errs needs it

            no_attribute(self, name)

    def __str__(self) -> str:
        """The text; the value itself, as `repr` shows it, where it has none."""
        return self.text or repr(self)

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return text_of(self.parts)

    @property
    def thinking(self) -> str:
        """The readable thinking, blocks parted by a blank line."""
        return thinking_of(self.parts)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The whole calls; broken ones are only in `parts`."""
        return tuple([part for part in self.parts if type(part) is ToolCall])

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The tool results."""
        return tuple([part for part in self.parts if type(part) is ToolResult])


def user(*content: Content) -> Message:
    """A user message of texts and parts.

    Raises: UsageError for anything else.
    """
    return Message("user", parts_of(content))


def system(*content: Content) -> Message:
    """A system message of texts and parts.

    Raises: UsageError for anything else.
    """
    return Message("system", parts_of(content))


def assistant(*content: Content) -> Message:
    """An assistant message of texts and parts.

    Raises: UsageError for anything else.
    """
    return Message("assistant", parts_of(content))
