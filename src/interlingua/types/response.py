"""A response: what a target answered, and how it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, cast

import msgspec

from interlingua.types.change import Change
from interlingua.types.content import Part, ToolCall
from interlingua.types.limit import RateLimit
from interlingua.types.message import Message, text_of, thinking_of
from interlingua.types.request import Request
from interlingua.types.usage import Usage

__all__ = ["Alternative", "Attempt", "FinishReason", "RawReply", "RawValue", "Response", "cut_advice", "error_word"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # what type checkers know it as before Python 3.13

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

FinishReason: TypeAlias = Literal[
    "stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error", "other"
]
"""Why an answer ended: by itself or at a stop sequence, at a limit, to have tools run, held back by a filter, refused
by the model, to be sent back as it is and go on, by a failure of the provider, or for a reason without a name here."""


RawValue: TypeAlias = Any
"""A provider's own body as plain values of JSON, or the list of those of a stream's frames."""


def error_word(error: str | None) -> str | None:
    """The word before an error's sentence: the name of its class, or one of ours (`outrun`); it quotes nobody."""
    word, colon, _ = (error or "").partition(":")
    return word if colon and word.isidentifier() else None


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """One try at one target."""

    model: str
    """`provider/model`."""
    outcome: Literal["served", "failed", "skipped"]
    """How it ended."""
    error: str | None = None
    """Class name and sentence of the error, or why it was skipped."""
    status: int | None = None
    """HTTP status, when there was one."""
    duration_s: float | None = None
    """From the call to its end or first event."""
    delay_s: float | None = None
    """How long was waited before it, where the same target was asked again."""

    @property
    def error_class(self) -> str | None:
        """Class name of its error, such as `RateLimitError`; None where it had none, as a target that was not asked."""
        word = error_word(self.error)
        return None if word is None or word.islower() else word


class Alternative(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """A further choice of the same answer."""

    parts: tuple[Part, ...] = ()
    """The content, in order."""
    finish_reason: FinishReason = "other"
    """Why it ended."""
    finish_reason_raw: str | None = None
    """The provider's own word."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class RawReply(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A provider's own reply, kept out of whatever shows or stores the answer.

    It has no fields, so that no encoding, listing, pickle or `repr` has anything of it.
    """

    @classmethod
    def of(cls, value: RawValue) -> RawReply:
        """The reply that `value` is: plain values of a body, or the list of those of its frames."""
        made = cls()
        vars(made)["value"] = value
        return made

    @property
    def plain(self) -> RawValue:
        """The plain values; None in a copy that came out of an encoding."""
        return vars(self).get("value")


class Response(
    msgspec.Struct, Generic[T], frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True, eq=False
):
    """One answer."""

    parts: tuple[Part, ...] = ()
    """The content, in order."""
    finish_reason: FinishReason = "other"
    """Why it ended."""
    finish_reason_raw: str | None = None
    """The provider's own word."""
    usage: Usage | None = None
    """Token counts, each None where the provider gave none. Only an answer of a pure decoder may have none at all."""
    model: str = ""
    """The target that served, `provider/model`; the wire's own string from a pure decoder."""
    wire_model: str | None = None
    """The provider's own model id."""
    id: str | None = None
    """The provider's id of the answer."""
    request_id: str | None = None
    """The provider's id of the request, from the headers; None from a pure decoder."""
    rate_limits: dict[str, RateLimit] = {}
    """The provider's limits by name (`requests`, `tokens`), from the headers; empty from a pure decoder."""
    alternatives: tuple[Alternative, ...] = ()
    """Further choices."""
    changes: tuple[Change, ...] = ()
    """The changes that translation made, there and back."""
    attempts: tuple[Attempt, ...] = ()
    """Every try, the one that served last."""
    raw_reply: RawReply | None = None
    """The provider's own reply, where a call with `raw=True` kept it; `raw` is what it says."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""
    request: Request | None = None
    """The request it answered; None from a pure decoder."""
    output: T = cast("T", None)
    """The typed answer, where `output=` asked for one; None elsewhere, and while the model still calls tools."""

    @property
    def raw(self) -> RawValue:
        """The provider's own body as plain values, or the list of a stream's frames; None unless `raw=True` kept it."""
        return None if self.raw_reply is None else self.raw_reply.plain

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
    def message(self) -> Message:
        """The assistant turn."""
        return Message("assistant", self.parts)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole conversation: the system text as a system message, the request's messages, this turn."""
        if self.request is None:
            return (self.message,)
        head = (Message("system", self.request.system),) if self.request.system else ()
        return (*head, *self.request.messages, self.message)

    def __eq__(self, other: object) -> bool:
        """Equality of what was answered: `changes attempts raw request output` and the headers' facts take no part."""
        if not isinstance(other, Response):
            return NotImplemented
        reply = cast("Response[object]", other)
        return all(getattr(self, name) == getattr(reply, name) for name in _COMPARED)

    def __ne__(self, other: object) -> bool:
        """The opposite of `==`; the base struct would compare every field."""
        return not self == other

    def __hash__(self) -> int:
        """Not available: responses hold dicts."""
        raise TypeError("a Response is not hashable")

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            """Nothing: the error says what there is instead of another library's word."""
            from interlingua.types.words import no_attribute  # only who errs needs it

            no_attribute(self, name)

    def __str__(self) -> str:
        """The text; the value itself, as `repr` shows it, where it has none."""
        return self.text or repr(self)

    def _repr_markdown_(self) -> str:
        """The answer as a notebook shows it."""
        calls = [f"`{call.name}({call.arguments_json})`" for call in self.tool_calls]
        return "\n\n".join([piece for piece in (self.text, *calls) if piece])


_COMPARED = (
    "parts",
    "finish_reason",
    "finish_reason_raw",
    "usage",
    "model",
    "wire_model",
    "id",
    "alternatives",
    "cost_usd",
    "extra",
)


_WINDOW_REASONS = frozenset({"model_context_window_exceeded", "model_length"})
"""Finish reasons of vendors for an answer that reached the end of the model's context window."""


def cut_advice(response: Response[Any]) -> str:
    """The limit that cut an answer off, and the way out: a higher `max_tokens` does not widen the model's window."""
    if response.finish_reason_raw in _WINDOW_REASONS:
        return "it reached the end of the model's context window; shorten the input"
    return "it reached the length limit; raise max_tokens"
