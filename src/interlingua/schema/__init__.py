"""JSON Schema: checked, validated against, made from Python types; names and ids fitted to a target's rules.

`validate` checks schemas and values, `reflect` turns types into schemas and answers into values, `names` maps tool
names and call ids. Nothing here knows a provider.
"""

from __future__ import annotations

__all__: list[str] = []
