"""Ids and signatures that a service gave out in an answer, read from its body: it will know them again, nothing else.

Rules
- A signature stands for the thought that it came with.
- On Responses an item that came directly after reasoning is taken back with it, or without its id.
"""

from __future__ import annotations

from typing import Any

from interlingua.testing.upstream.verdict import Issued
from interlingua.testing.wirefacts.bedrock import as_message
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["issued_in"]


def issued_in(dialect: str, answer: Any) -> Issued:
    """The ids and signatures that the service of that dialect gave out in the whole answer `answer`."""
    issued = Issued()
    match dialect:
        case "openai-responses":
            _responses(members(answer), issued)
        case "anthropic":
            _anthropic(members(answer), issued)
        case "bedrock":
            _anthropic(as_message(answer), issued)
        case "google":
            _google(members(answer), issued)
        case _:
            pass
    return issued


def _responses(answer: dict[str, Any], issued: Issued) -> None:
    output = objects(answer.get("output"))
    issued.items.update(word(item.get("id")) for item in [answer, *output] if item.get("id"))
    for place, item in enumerate(output):
        if item.get("type") != "reasoning":
            continue
        if isinstance(item.get("encrypted_content"), str):
            issued.seals[item["encrypted_content"]] = ""
        later = output[place + 1] if place + 1 < len(output) else {}
        if item.get("id") and later.get("id") and later.get("type") != "reasoning":
            issued.reasons[word(later["id"])] = word(item["id"])


def _anthropic(answer: dict[str, Any], issued: Issued) -> None:
    for block in objects(answer.get("content")):
        if isinstance(block.get("signature"), str):
            issued.seals[block["signature"]] = word(block.get("thinking"))
        elif isinstance(block.get("data"), str):
            issued.seals[block["data"]] = ""


def _google(answer: dict[str, Any], issued: Issued) -> None:
    for candidate in objects(answer.get("candidates")):
        for part in items(members(candidate.get("content")).get("parts")):
            seal = members(part).get("thoughtSignature", members(part).get("thought_signature"))
            if isinstance(seal, str):
                issued.seals[seal] = ""
