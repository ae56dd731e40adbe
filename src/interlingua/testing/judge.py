"""One recorded exchange, judged: there and back in its own dialect, over to every other, whole and in pieces.

```
a  same dialect   decode, encode, decode again: equal values, and equal bodies in the dialect's normal form; what was
                  read is what an independent reader finds in the body
b  facts          what the bodies say is the same, here and in every other dialect, settings and ids among it
c  not opaque     the same holds with everything taken out that travels unread
d  streams        any cut gives the same events, lawful ones; encoded again they fold to the same answer, and streamed
                  in every other dialect they say the same and end the same way
e  errors         the class that the wire names, its message and when to come back, also in every other dialect
```

Rules
- A difference is excused only by an entry of `changes` at its place; every other one is a fault, and all are reported.
- Null is absent. An exchange without a request or an answer is judged by the half that it has.
- A request that the provider refused passes when we refuse it and name the place, or when it goes out as it came.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlingua.testing.exchange import Exchange, Fault, Verdict
from interlingua.testing.judging.answers import judge_response, judge_stream
from interlingua.testing.judging.errors import judge_error
from interlingua.testing.judging.requests import judge_request
from interlingua.testing.judging.trial import DialectFor, NotJudged, Trial

__all__ = ["DialectFor", "Judge"]


class Judge:
    """Judges exchanges; `dialect_for` gives the dialects, `others` names those that every exchange must reach."""

    def __init__(self, dialect_for: DialectFor, others: Iterable[str] = (), *, seed: int = 0) -> None:
        """A judge of these dialects; `seed` says where streams are cut."""
        self._dialect_for = dialect_for
        self._others = tuple(others)
        self._seed = seed

    def judge(self, exchange: Exchange) -> Verdict:
        """The verdict on one exchange."""
        name = exchange.dialect
        dialect = self._dialect_for(name)
        if dialect is None:
            return Verdict(outcome="refused", faults=(Fault("unsupported_api", exchange.api),), source=name)
        others = [
            spoken_dialect
            for other in self._others
            if other != name and (spoken_dialect := self._dialect_for(other)) is not None
        ]
        trial = Trial(exchange, dialect, others, f"{self._seed} {exchange.id}")
        try:
            _judge(trial)
        except NotJudged as refused:
            return Verdict(outcome="refused", faults=(Fault(refused.reason, refused.detail),), source=name)
        return Verdict(
            outcome="failed" if trial.faults else "passed",
            faults=tuple(trial.faults),
            opaque=trial.opaque,
            source=name,
            translated=trial.translated,
            refusals=trial.refusals,
        )


def _judge(trial: Trial) -> None:
    exchange = trial.exchange
    if exchange.request is not None:
        judge_request(trial)
    if exchange.stream is not None:
        judge_stream(trial)
    elif exchange.response is not None or exchange.response_text is not None:
        status = exchange.status or 200
        failed = status >= 400 or trial.facts.error(status, exchange.response) is not None
        judge_error(trial) if failed else judge_response(trial)
