"""The strict upstream: every provider imitated, refusing what the real one refuses.

```python
verdict = judge("anthropic", request)        # an HttpRequest
assert verdict.ok, str(verdict)

with Upstream("anthropic", "It is 4 degrees.").serving() as base_url:    # the same judge, answering
    ...
```

Nothing here imports a dialect: it is the judge of what the dialects send.
"""

from __future__ import annotations

from interlingua.testing.upstream.answers.say import Answer, Call, Cut, Fail, Say
from interlingua.testing.upstream.batches.plan import BatchPlan
from interlingua.testing.upstream.judge import judge, judge_body
from interlingua.testing.upstream.service import Upstream
from interlingua.testing.upstream.verdict import Issued, Problem, Verdict

__all__ = [
    "Answer",
    "BatchPlan",
    "Call",
    "Cut",
    "Fail",
    "Issued",
    "Problem",
    "Say",
    "Upstream",
    "Verdict",
    "judge",
    "judge_body",
]
