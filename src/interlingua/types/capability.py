"""The closed sets by which callers steer translation."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["CallIds", "Capability", "Effort", "HistoryPolicy", "Operation", "Repair", "ToolRules"]

Capability: TypeAlias = Literal["images", "audio", "documents", "tools", "output_schema", "server_tools", "media_refs"]
"""Kinds of content that `allow=` may let go when a target cannot take them."""
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How hard the model should think; `none` asks for no thinking at all."""
CallIds: TypeAlias = Literal["keep", "own"]
"""`keep` leaves a provider's call ids alone; `own` gives every call an id of ours and keeps the mapping."""
HistoryPolicy: TypeAlias = Literal["refuse", "mend"]
"""The treatment of calls and results that do not pair: an error, or a recorded repair."""
Operation: TypeAlias = Literal["chat", "embeddings", "rerank"]
"""Operations of a model: an answer, vectors, or an order of documents."""
Repair: TypeAlias = Literal["off", "safe", "ask"]
"""The treatment of a typed answer that does not fit: an error; mending where the meaning is beyond doubt; that, and
then the problems go back to the model."""
ToolRules: TypeAlias = Literal["lenient", "strict"]
"""`strict`: names `[a-zA-Z0-9_]{1,64}`, tools and parameters described; `lenient`: names are mapped per target."""
