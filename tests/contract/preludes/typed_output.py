"""What `docs/guides/typed-output.md` takes for granted."""

from __future__ import annotations

import interlingua as il

INVOICE = '{"number": "A17", "due": "2026-05-03", "lines": [{"item": "chair", "count": 2}], "kind": null}'
NEARLY = INVOICE.replace("2}", '"2"}').replace("null", '"Goods"').replace('"', "'")

REPLIES = [
    INVOICE,
    '{"value": "friendly"}',
    '{"value": ["Oslo", "Bergen", "Moss"]}',
    '{"n": 3}',
    il.Response(parts=(il.TextPart(INVOICE[:20]),), finish_reason="length"),
    NEARLY,
    '{"number": "A17"}',
    INVOICE,
    INVOICE,
]
"""The script of the fake model."""
