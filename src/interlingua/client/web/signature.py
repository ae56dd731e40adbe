"""A signature on a request for an approval: the chat, the call, its tool and its arguments, and when it was made.

A page sends its conversation along. Without a signature it could approve a call that no model made. A signature is good
for a while, and for one call that runs: what is accepted is noted (`accepted`), and refused when it comes again.

Shape: `TIME-NONCE-HMAC`, each in hexadecimal digits.
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import DecodeError, UsageError, check_text, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types.content import ToolCall

__all__ = ["SHORTEST_SECRET", "VALID_S", "Signer"]

SHORTEST_SECRET = 16
"""Characters of a secret."""
VALID_S = 86_400.0
"""How long a request for an approval may be answered, unless somebody says otherwise."""


class Signer:
    """Signs calls and checks what was signed; without a secret it does neither."""

    __slots__ = ("_accepted", "_now", "_pending", "_secret", "_valid_s")

    def __init__(
        self,
        secret: str | None,
        *,
        accepted: str = "memory",
        valid_s: float = VALID_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        """A signer with this secret, whose signatures hold for `valid_s`; `accepted` names where used ones are noted.

        Raises: UsageError for one that is too short.
        """
        if secret is not None and not isinstance(secret, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"web_chat: a secret is a text, not {kind_of(secret)}")
        if secret is not None and len(secret) < SHORTEST_SECRET:
            raise UsageError(f"web_chat: a secret has {SHORTEST_SECRET} characters at least")
        if type(valid_s) not in (int, float) or not 0 < valid_s < inf:
            raise UsageError(f"web_chat: an approval is waited for some seconds, not {valid_s!r:.60}")
        check_text(accepted, "web_chat: a place for accepted approvals is named by a text")
        self._secret = None if secret is None else secret.encode()
        self._accepted = accepted
        self._valid_s = valid_s
        self._now = now
        self._pending: dict[str, float] = {}

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
        from secrets import token_hex

        return self._signed(chat_id, call, f"{int(self._now()):x}-{token_hex(8)}")

    def _signed(self, chat_id: str, call: ToolCall, made: str) -> str:
        import hmac
        import json  # integers of any size

        claim = json.dumps([made, chat_id, call.id, call.name, _as_javascript(call.arguments)], sort_keys=True)
        return f"{made}-{hmac.new(self._secret or b'', claim.encode(), 'sha256').hexdigest()}"

    def check(self, chat_id: str, call: ToolCall, signature: object, path: str) -> None:
        """Check the signature of a call; `accept` notes those of calls that are to run.

        Raises: DecodeError for one that was not made here, or too long ago.
        """
        if self._secret is None:
            return
        import hmac

        made = signature.rpartition("-")[0] if isinstance(signature, str) else ""
        if not isinstance(signature, str) or not hmac.compare_digest(
            signature.encode(), self._signed(chat_id, call, made).encode()
        ):
            raise DecodeError(
                f"{path}: the approval of {call.name} was not requested here, or not with these arguments", path=path
            )
        made_s = int(made.partition("-")[0], 16)  # it is ours: the signature covers it
        if self._now() - made_s >= self._valid_s:
            raise DecodeError(f"{path}: the approval of {call.name} was requested too long ago", path=path)

    def approve(self, signature: object) -> None:
        """A call with this signature, which was checked, is to run."""
        if self._secret is not None:
            mark = str(signature)
            self._pending[mark] = int(mark.partition("-")[0], 16) + self._valid_s

    def accept(self) -> None:
        """Note the signatures of the calls that are to run; each is good for one time.

        Raises: DecodeError for one that was accepted before; APIConnectionError where that cannot be known.
        """
        if not self._pending:
            return
        from interlingua.client.web.accepted import accepted_in  # only approvals need it

        pending, self._pending = self._pending, {}
        if not accepted_in(self._accepted).take(pending):
            raise DecodeError("an approval was used already: the call of an approval runs once")


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
