"""What is known of model families: one table, first match counts, unknown stays unknown.

Rules
- A fact is here when a source says so; `None` in a field means that nobody said.
- A family is known by the provider's row, the dialect and the start of the model's name. Names that users choose
  (deployments, local models) match only when they begin like the family.

Source: our notes on OpenAI Chat, section Pitfalls, read 2026-11-21.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from interlingua.dialects._contract import Facts

__all__ = ["FAMILIES", "Family", "facts_for"]

OPENAI_ROWS = frozenset({"openai", "openai-chat", "openai-responses", "azure"})
CHAT = frozenset({"openai-chat"})
OPENAI_DIALECTS = frozenset({"openai-chat", "openai-responses"})


class Family(NamedTuple):
    """One line of the table."""

    providers: frozenset[str]
    """Names of the rows where the family is served under its own name."""
    dialects: frozenset[str]
    """The dialects that the facts hold for."""
    models: str
    """A regular expression of the whole model id; compiled when a model of these providers is asked for."""
    facts: Facts
    """What is known."""


REASONING = Facts(sampling=False, system_role="developer")
"""Reasoning models refuse sampling knobs and want developer messages. 5.1 to 5.x take a temperature at effort `none`
alone; a knob that is dropped is said, while a refused request would be lost."""

FAMILIES: tuple[Family, ...] = (
    # Tools are refused together with reasoning, which is on even when no effort was asked for.
    Family(OPENAI_ROWS, CHAT, r"gpt-5\.6(-.*)?", Facts(sampling=False, system_role="developer", tools=False)),
    # Named like the reasoning family, and not of it.
    Family(OPENAI_ROWS, OPENAI_DIALECTS, r"gpt-5-chat.*", Facts()),
    Family(OPENAI_ROWS, OPENAI_DIALECTS, r"(o[134]|gpt-5(\.\d+)?|gpt-6)(-.*)?", REASONING),
)
"""Every family there is something to say of."""


@lru_cache(maxsize=1024)
def facts_for(provider: str, dialect: str, model: str) -> Facts:
    """What is known of `model` at the row `provider`, spoken to in `dialect`; nothing, when no family fits."""
    for family in FAMILIES:
        if provider in family.providers and dialect in family.dialects and re.fullmatch(family.models, model):
            return family.facts
    return Facts()
