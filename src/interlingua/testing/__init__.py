"""Tests without a network: scripted models, cassettes, injected faults, and the laws that dialects must hold to.

```python
with no_network(), use(FakeModel([tool_call("get_weather", city="Oslo"), "It is 4 degrees."])) as fake:
    main()
```

`interlingua.testing.plugin` is the pytest plugin; `python -m interlingua.testing.corpus` judges recorded exchanges.
Nothing here is loaded before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.client.faults import faults
    from interlingua.testing.fake import FakeModel, tool_call
    from interlingua.testing.isolate import NetworkForbiddenError, no_network, use, use_transport
    from interlingua.testing.laws import assert_any_cut, assert_lawful
    from interlingua.testing.tape import Tape, TapeMissError, cassette

__all__ = [
    "FakeModel",
    "NetworkForbiddenError",
    "Tape",
    "TapeMissError",
    "assert_any_cut",
    "assert_lawful",
    "cassette",
    "faults",
    "no_network",
    "tool_call",
    "use",
    "use_transport",
]

# No module has the name of a function here: importing it would put the module in the function's place.
_HOMES = {
    "FakeModel": ".fake",
    "NetworkForbiddenError": ".isolate",
    "Tape": ".tape",
    "TapeMissError": ".tape",
    "assert_any_cut": ".laws",
    "assert_lawful": ".laws",
    "cassette": ".tape",
    "faults": "..client.faults",
    "no_network": ".isolate",
    "tool_call": ".fake",
    "use": ".isolate",
    "use_transport": ".isolate",
}


def __getattr__(name: str) -> Any:
    """The public name, from the module that defines it."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home, __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
