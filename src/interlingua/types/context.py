"""The mark of a handler's parameter that takes the caller's context, and is none of the model's business.

```python no-run
def find_order(number: int, shop: il.Context[Shop]) -> dict: ...
```

To a type checker the parameter is a `Shop`; the schema that the model sees has no `shop`.
"""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

__all__ = ["Context", "ContextMark", "WantedContext", "wanted_context"]

T = TypeVar("T")


class ContextMark:
    """Stands in the annotation of a parameter that takes the context."""


Context: TypeAlias = Annotated[T, ContextMark()]
"""The annotation of a handler's parameter that takes the context given to `execute` or to a run, a T."""


class WantedContext(NamedTuple):
    """The context that a parameter takes."""

    kind: Any
    """The type it must be an instance of, where that is a class."""
    optional: bool
    """Whether it does without one."""


def wanted_context(annotation: object) -> WantedContext | None:
    """The context that a parameter with this annotation takes; None for one that is the model's to fill."""
    if typing.get_origin(annotation) is Annotated:
        kind, *marks = typing.get_args(annotation)
        marked = any(isinstance(mark, ContextMark) for mark in marks)
        takes_none = kind is Any or type(None) in typing.get_args(kind)
        return WantedContext(kind, optional=takes_none) if marked else None
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        arms = typing.get_args(annotation)
        context = next((of_arm for arm in arms if (of_arm := wanted_context(arm))), None)
        return context and WantedContext(context.kind, optional=context.optional or type(None) in arms)
    return None
