"""Members of a body that can have another model asked than the one it names: checked against what a key may ask for.

Some services let a request name models beside `model`: to fall back to, to route to, to run a tool with. A key that may
ask for some models only must reach no other one that way.

Rules
- Only a key with a list of models is concerned; for others such members are as any that is not known.
- A list of models is passed on if the key may ask for each; else it is taken out, with an entry. What chooses a model
  or a provider by other means than a name cannot be checked, and is taken out.
- A model anywhere else outside the conversation, as in a tool that the provider runs, is refused (403) if the key may
  not ask for it: to take it out would have another one run.

Source: OpenRouter "Model Routing", "Provider Routing", "Transforms"; LiteLLM "Fallbacks"; OpenAI "Image generation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object
from interlingua.errors import PermissionDeniedError
from interlingua.types.change import Changes
from interlingua.wire.body import objects_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types.change import Change
    from interlingua.wire.body import Body, BodyRules

__all__ = ["other_models"]

LISTS = ("models", "fallbacks")
"""Members that list models, by name or as objects with `model`."""
CHOOSERS = ("route", "provider", "transforms", "preset", "router")
"""Members that choose who answers by other means."""
CONVERSATIONS = frozenset({"messages", "input", "contents", "system", "instructions", "prompt"})
"""Members that hold what is said; a model that is named there is a word."""


def other_models(body: Body, rules: BodyRules, dialect: str, may_use: Callable[[str], bool]) -> tuple[Change, ...]:
    """The members to be taken out of a body, one entry each, whose path ends in the name of the member.

    Raises: PermissionDeniedError for a model in another place that may not be asked for.
    """
    changes = Changes(dialect, "decode_request")
    for name in body.members:
        if (name in LISTS and not _may_all(body.get(name), may_use)) or name in CHOOSERS:
            changes.add("parameter_unsupported", f"/extra/{dialect}/{name}", "this key may not choose other models")
        elif name not in CONVERSATIONS and name not in rules.data and name not in body.shaped and name not in LISTS:
            _check(body.get(name), name, rules, may_use)
    return changes.done()


def _may_all(models: object, may_use: Callable[[str], bool]) -> bool:
    """Whether a list names models that may be asked for, and nothing else."""
    if not is_list(models):
        return models is None
    names = [model.get("model") if is_object(model) and len(model) == 1 else model for model in models]
    return all([isinstance(name, str) and may_use(name) for name in names])


def _check(value: object, member: str, rules: BodyRules, may_use: Callable[[str], bool]) -> None:
    for node in objects_in(value, rules.data):
        for name in ("model", *LISTS):
            told: Any = node.get(name)
            names = told if is_list(told) else [told]
            if name in node and not all([one is None or (isinstance(one, str) and may_use(one)) for one in names]):
                raise PermissionDeniedError(
                    f"/{member}: this key may not ask for the {name} that is named there: {str(told)[:100]!r}",
                    status=403,
                )
