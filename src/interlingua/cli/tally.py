"""A tally of a gateway's requests while somebody was at work: targets, tokens, money, and changes."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

from interlingua.types.response import error_word
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from interlingua.client.observe import Observed
    from interlingua.types.usage import Usage

__all__ = ["Tally"]


class Tally:
    """Counts calls as an observer hears of them."""

    def __init__(self) -> None:
        """Nothing has been heard."""
        self._lock = Lock()
        self._served: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()
        self._usage: Usage | None = None
        self._cost_usd = 0.0
        self._unpriced = 0

    def hear(self, event: Observed) -> None:
        """Count a call that has ended."""
        from interlingua.client.observe import CallFinished

        if not isinstance(event, CallFinished):
            return
        with self._lock:
            self._usage = add_usage(self._usage, event.usage)
            self._changes.update([f"{change.action} {change.code}" for change in event.changes])
            failed = [attempt for attempt in event.attempts if attempt.outcome == "failed"]
            self._failed.update([f"{attempt.model} {error_word(attempt.error) or ''}" for attempt in failed])
            if event.model is None:
                if not event.attempts and event.error:
                    self._failed[event.error] += 1
                return
            self._served[event.model] += 1
            if event.cost_usd is None:
                self._unpriced += 1
            else:
                self._cost_usd += event.cost_usd

    def lines(self) -> list[str]:
        """The lines of the tally; one line when nobody asked anything."""
        calls = self._served.total()
        if not calls and not self._failed:
            return ["no model was asked"]
        lines = [f"{calls} call{'s' * (calls != 1)}{_by(self._served)}{self._tokens()}, {self._money()}"]
        if self._failed:
            lines.append(f"failed tries: {_list(self._failed)}")
        if self._changes:
            lines.append(f"changed on the way: {_list(self._changes)}")
        return lines

    def _tokens(self) -> str:
        usage = self._usage
        if usage is None:
            return ""
        cached = f" ({usage.cache_read_tokens:,} from the cache)" if usage.cache_read_tokens else ""
        return f"; {usage.input_tokens or 0:,} tokens in{cached}, {usage.output_tokens or 0:,} out"

    def _money(self) -> str:
        calls = self._served.total()
        if self._unpriced == calls:
            return "price unknown"
        rest = f" and {self._unpriced} of unknown price" if self._unpriced else ""
        return f"${self._cost_usd:.4f}{rest}" if self._cost_usd < 1 else f"${self._cost_usd:.2f}{rest}"


def _by(served: Counter[str]) -> str:
    if len(served) > 1:
        return f" ({', '.join([f'{count} of {model}' for model, count in served.most_common()])})"
    return f" of {next(iter(served))}" if served else ""


def _list(counted: Counter[str]) -> str:
    return ", ".join([f"{name} ({count})" for name, count in counted.most_common()])
