"""A whole answer: a body that knows what lies behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.compat.body import Body

if TYPE_CHECKING:
    from interlingua.types.change import Change
    from interlingua.types.response import Response

__all__ = ["Answer"]


class Answer(Body):
    """A whole answer in the caller's dialect, with the canonical one behind it."""

    _behind: tuple[Response[Any] | None, tuple[Change, ...]] = (None, ())

    def behind(self, response: Response[Any], changes: tuple[Change, ...]) -> None:
        """Remember what the answer was made from; who makes it says so, once."""
        self._behind = (response, changes)

    @property
    def interlingua(self) -> Response[Any] | None:
        """The canonical answer: who served, the tries, the cost; None for a copy."""
        return self._behind[0]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of translation, from the caller's body to the target and back."""
        return self._behind[1]
