"""Many small cases of one rule as one test, which names every cell that fails.

A test costs pytest 2 ms beside what it does, and each worker a part of one to collect it. A case that takes no longer
is a cell: `@cells` in the place of `@pytest.mark.parametrize`, nearest to the function, with its arguments.

```
@pytest.mark.parametrize("target", TARGETS)
@cells("feature", FEATURES)
def test_it(target: str, feature: str) -> None: ...
```

Rules
- All cells are tried: what fails in one is told with its name and trace, and the others go on.
- Between cells the process forgets what it forgets between tests. Fixtures are made once for all cells of a test, so a
  case that changes what a fixture gives, or skips, is a test of its own.
- The time of a test is that of all its cells; one that uses it up ends the test.
- `by` makes several tests of one list: where all cells together would take seconds, workers share them.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from tests.support.lasting import forget_all

__all__ = ["cells"]

Check = Callable[..., None]
Cell = tuple[str, dict[str, Any]]


def cells(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[object] | None = None,
    by: Callable[[Any], object] | None = None,
) -> Callable[[Check], Any]:
    """Try the test with all `values` of the arguments `names`: in one test, or in one for each answer of `by`."""
    arguments = [names] if isinstance(names, str) else list(names)
    groups: dict[str, list[Cell]] = {}
    rows = list(values)
    for value, cell in zip(rows, _named(arguments, rows, ids), strict=True):
        groups.setdefault(str(by(value)) if by else "", []).append(cell)
    assert groups, "a test without a case tests nothing"

    def mark(check: Check) -> Any:
        assert not inspect.iscoroutinefunction(check), "an awaited case is a test of its own"

        @functools.wraps(check)
        def run(*, cells_of: str = "", **fixtures: Any) -> None:
            failures = [failure for cell in groups[cells_of] if (failure := _failure(check, cell, fixtures))]
            if failures:
                count = f"{len(failures)} of {len(groups[cells_of])} cells failed"
                pytest.fail("\n".join([count, *failures]), pytrace=False)

        signature = inspect.signature(check)
        rest = [one for name, one in signature.parameters.items() if name not in arguments]
        group = [inspect.Parameter("cells_of", inspect.Parameter.KEYWORD_ONLY)] if by else []
        run.__dict__["__signature__"] = signature.replace(parameters=[*rest, *group])
        return pytest.mark.parametrize("cells_of", groups)(run) if by else run

    return mark


def _named(
    arguments: list[str], values: list[Any], ids: Callable[[Any], object] | Iterable[object] | None
) -> list[Cell]:
    """Each cell with its name: what `ids` calls it, else what it is."""
    single = len(arguments) == 1
    rows: list[Sequence[Any]] = [[value] if single else value for value in values]
    if ids is None:
        names = ["-".join([str(value)[:80] for value in row]) for row in rows]
    elif callable(ids):
        names = ["-".join([str(ids(value)) for value in row]) for row in rows]
    else:
        names = [str(name) for name in ids]
    return [(name, dict(zip(arguments, row, strict=True))) for name, row in zip(names, rows, strict=True)]


def _failure(check: Check, cell: Cell, fixtures: dict[str, Any]) -> str:
    """How the cell failed, with its trace; nothing if it did not."""
    name, values = cell
    forget_all()
    try:
        check(**values, **fixtures)
    except pytest.skip.Exception as skipped:
        return f"{name}: a cell cannot skip ({skipped})"
    except pytest.fail.Exception as failed:
        if str(failed).startswith("Timeout"):
            raise
        return f"{name}\n{traceback.format_exc()}"
    except Exception:  # noqa: BLE001 - whatever it is, it is the failure of this cell
        return f"{name}\n{traceback.format_exc()}"
    return ""
