"""What `docs/guides/many.md` takes for granted: a provider, two mails, and answers to what is asked."""

from __future__ import annotations

import os
from pathlib import Path

from interlingua.types.request import Request

os.environ["LLM_WORK"] = "openai://tok-1234@gateway.example/v1"

Path("mails").mkdir()
Path("mails/a.eml").write_text("From: a@example.org\nSubject: Bill\n\nTotal: 30\n", encoding="utf-8")
Path("mails/b.eml").write_text("From: b@example.org\nSubject: Bill\n\nTotal: 7\n", encoding="utf-8")

ANSWERS = {"Oslo": "Small and green.", "Bergen": "Rainy.", "A long text.": "Short."}


def _answer(request: Request) -> str:
    text = request.messages[-1].text
    if "Total: " in text:
        sender = text.split()[1]
        return f'{{"sender": "{sender}", "total": {text.split()[-1]}}}'
    return ANSWERS.get(text, "Oslo is small and green.")


REPLIES = _answer
"""The script of the fake model: it reads what it is asked."""
