"""The strict upstream: every provider imitated, refusing what the real one refuses.

```python
verdict = judge("anthropic", request)        # an HttpRequest
assert verdict.ok, str(verdict)
```

Nothing here imports a dialect: it is the judge of what the dialects send.
"""

from __future__ import annotations

from interlingua.testing.upstream.judge import judge, judge_body
from interlingua.testing.upstream.verdict import Issued, Problem, Verdict

__all__ = ["Issued", "Problem", "Verdict", "judge", "judge_body"]
