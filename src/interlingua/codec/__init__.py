"""Only the translation, on plain dicts, for whoever has an HTTP client or an SDK of their own.

Three operations on single members (`encode_definitions`, `decode_tool_calls`, `encode_result`), and `bridge`, which
translates whole exchanges between two dialects and remembers the names and ids that it has to undo.

Rules
- Nothing is translated here: a small request is built and given to the dialect, and the wanted member taken out.
- Nothing is sent, read from the environment or looked up: the same input gives the same output.
- With `provider=` the result is what a model of the library sends to that provider: its quirks, the facts of the model,
  media fitted to its limits. A dialect alone has no quirks.
- `openai` is Chat with the quirks of the row `openai-chat`, here alone.
"""

from __future__ import annotations

from interlingua.codec.definitions import Definition
from interlingua.codec.exchange import Bridge, bridge
from interlingua.codec.members import decode_definitions, decode_tool_calls, encode_definitions, encode_result

__all__ = [
    "Bridge",
    "Definition",
    "bridge",
    "decode_definitions",
    "decode_tool_calls",
    "encode_definitions",
    "encode_result",
]
