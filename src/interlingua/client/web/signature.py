"""A signature on a request for an approval: the chat, the call, its tool and its arguments.

A page sends its conversation along. Without a signature it could approve a call that no model made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import DecodeError, UsageError, kind_of

if TYPE_CHECKING:
    from interlingua.types.content import ToolCall

__all__ = ["SHORTEST_SECRET", "Signer"]

SHORTEST_SECRET = 16
"""Characters of a secret."""


class Signer:
    """Signs calls and checks what was signed; without a secret it does neither."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str | None) -> None:
        """A signer with this secret.

        Raises: UsageError for one that is too short.
        """
        if secret is not None and not isinstance(secret, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"web_chat: a secret is a text, not {kind_of(secret)}")
        if secret is not None and len(secret) < SHORTEST_SECRET:
            raise UsageError(f"web_chat: a secret has {SHORTEST_SECRET} characters at least")
        self._secret = None if secret is None else secret.encode()

    def __repr__(self) -> str:
        return f"Signer({'off' if self._secret is None else 'on'})"

    @property
    def is_on(self) -> bool:
        """Whether there is a secret."""
        return self._secret is not None

    def sign(self, chat_id: str, call: ToolCall) -> str:
        """The signature of a call in a conversation; empty without a secret."""
        if self._secret is None:
            return ""
        import hmac
        import json  # integers of any size

        claim = json.dumps([chat_id, call.id, call.name, _as_javascript(call.arguments)], sort_keys=True)
        return hmac.new(self._secret, claim.encode(), "sha256").hexdigest()

    def check(self, chat_id: str, call: ToolCall, signature: object, path: str) -> None:
        """Check the signature of a call that is to run.

        Raises: DecodeError for one that was not made here.
        """
        if self._secret is None:
            return
        import hmac

        if not isinstance(signature, str) or not hmac.compare_digest(
            signature.encode(), self.sign(chat_id, call).encode()
        ):
            raise DecodeError(
                f"{path}: the approval of {call.name} was not asked for here, or not with these arguments", path=path
            )


_EXACT = 2.0**53
"""Below it, JavaScript writes whole numbers without a point or an exponent."""


def _as_javascript(value: object) -> object:
    """The value as a page gives it back: there, 4.0 is 4."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, dict):
        return {key: _as_javascript(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_as_javascript(member) for member in cast("list[Any]", value)]
    return value
