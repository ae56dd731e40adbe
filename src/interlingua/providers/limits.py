"""The facts of model families: first match counts, unknown stays unknown.

Rules
- A fact is here when a source says so; `None` in a field means that nobody said.
- A family is known by the provider's row, the dialect and the start of the model's name. Names that users choose
  (deployments, local models) match only when they begin like the family.
- What families take comes from `wire.model_table`, with its evidence; here is what a dialect adds.
"""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from interlingua.dialects._contract import Facts
from interlingua.wire.cache import ByteCache, weight_of
from interlingua.wire.model_table import ModelRow, model_rows

__all__ = ["FAMILIES", "Family", "facts_for"]

OPENAI_ROWS = frozenset({"openai", "openai-chat", "openai-responses", "azure"})
CHAT = frozenset({"openai-chat"})
RESPONSES = frozenset({"openai-responses"})
GOOGLE = frozenset({"google"})
ANTHROPIC = frozenset({"anthropic"})
BEDROCK = frozenset({"bedrock"})
COHERE = frozenset({"cohere"})
_CLAUDE_ON_BEDROCK = r"(.*[/.])?anthropic\."
"""The prefix of Claude's name there: a region, and of an ARN all but its end."""


class Family(msgspec.Struct, frozen=True, eq=False):
    """One line of the table."""

    providers: frozenset[str]
    """Names of the rows where the family is served under its own name."""
    dialects: frozenset[str]
    """The dialects that the facts hold for."""
    models: str
    """A regular expression of the whole model id; compiled when a model of these providers is asked for."""
    facts: Facts
    """The facts."""


CHAT_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh"})
"""Efforts that Chat takes; `max` is for Responses alone."""


def _on_responses(facts: Facts) -> Facts:
    """Parts of Responses hold no sound, and an answer has room for 16 tokens at least."""
    return replace(facts, audio=False, min_output_tokens=16)


def _shared(row: ModelRow) -> Facts:
    """The facts of the table, which the strict upstream reads, too."""
    facts = Facts(
        **{name: getattr(row, name) for name in ModelRow.__struct_fields__ if name in Facts.__struct_fields__}
    )
    return replace(facts, **dict.fromkeys(row.media, True))


def _openai(row: ModelRow) -> list[Family]:
    """A family of OpenAI on both dialects; the models that reason want developer messages."""
    facts = _shared(row)
    if row.sampling is False:
        facts = replace(facts, system_role="developer")
    on_chat = replace(facts, efforts=CHAT_EFFORTS if facts.efforts is None else facts.efforts, tools=row.tools_on_chat)
    return [
        Family(OPENAI_ROWS, CHAT, row.models, on_chat),
        Family(OPENAI_ROWS, RESPONSES, row.models, _on_responses(facts)),
    ]


FAMILIES: tuple[Family, ...] = (
    *[Family(ANTHROPIC, ANTHROPIC, row.models, _shared(row)) for row in model_rows("anthropic")],
    *[Family(BEDROCK, BEDROCK, _CLAUDE_ON_BEDROCK + row.models, _shared(row)) for row in model_rows("anthropic")],
    *[family for row in model_rows("openai") for family in _openai(row)],
    Family(OPENAI_ROWS, RESPONSES, r".*", _on_responses(Facts())),
    *[Family(GOOGLE, GOOGLE, row.models, _shared(row)) for row in model_rows("google")],
    *[Family(COHERE, COHERE, row.models, _shared(row)) for row in model_rows("cohere")],
)
"""Every family there is something to say of."""


def facts_for(provider: str, dialect: str, model: str) -> Facts:
    """The facts of `model` at the row `provider`, spoken to in `dialect`; nothing, when no family fits."""
    return _facts[provider, dialect, model]


def _look_up(key: tuple[str, str, str]) -> Facts:
    provider, dialect, model = key
    for family in FAMILIES:
        if provider in family.providers and dialect in family.dialects and re.fullmatch(family.models, model):
            return family.facts
    return Facts()


_facts = ByteCache(500_000, _look_up, weigh=lambda key, _: weight_of(key))  # those of a family are shared
