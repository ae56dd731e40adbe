"""Items of the Responses dialect as plain JSON: ids of ours, items to read again, compacted conversations.

Rules
- An id that the gateway made says so (`il`), and the id of an item names the answer that holds it; nobody else knows
  it, so it never goes to a provider.
- A compacted conversation is an item whose content only we can read: it holds a summary, and whoever sends it back has
  sent the summary.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeAlias, cast

from interlingua.errors import BadRequestError, DecodeError, Error
from interlingua.wire.json import decode_any, encode

__all__ = [
    "ID_PATTERN",
    "OWN_RESPONSE",
    "Item",
    "answer_of_item",
    "as_input",
    "check_results",
    "compacted",
    "input_list",
    "is_readable_item",
    "listed",
    "unpacked",
]

Item: TypeAlias = dict[str, Any]

ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""The form of an id of an answer or of an item; no other text is looked up, sent on or told again."""
OWN_RESPONSE = re.compile(r"resp_il[a-z0-9]{22}")
"""Ids of answers that the gateway made."""
_OWN_ITEM = re.compile(r"[a-z]{2,3}_(il[a-z0-9]{22})(?:i?\d{2,})")
_SEAL = "il1."
_SUMMARY = "What was said before, in short:\n\n"


def answer_of_item(item_id: object) -> str | None:
    """The id of the answer that holds an item of ours, by the item's id; None for an id that is not ours."""
    match = _OWN_ITEM.fullmatch(item_id) if isinstance(item_id, str) else None
    return f"resp_{match[1]}" if match else None


def is_readable_item(data: object) -> bool:
    """Whether the state of a part is an item of reasoning that holds a summary alone, as the gateway writes it."""
    if not isinstance(data, dict):
        return False
    item = cast("Item", data)
    is_ours = item.get("id") is None or answer_of_item(item["id"]) is not None
    return item.get("type") == "reasoning" and is_ours and not item.get("encrypted_content")


def input_list(value: object) -> list[Item]:
    """The items of an `input`: its list, or the one message that a text is."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value else []
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Item", item) for item in items if isinstance(item, dict)]


def as_input(item: Item) -> Item:
    """An item without an id of ours, which no provider would know; a compacted conversation of ours as its summary."""
    if item.get("type") == "compaction":
        return unpacked(item)
    if answer_of_item(item.get("id")) is None:
        return item
    return {name: value for name, value in item.items() if name != "id"}


def check_results(before: list[Item], items: list[Item]) -> None:
    """Nothing, if every result of a call among `items` follows its call, there or in the conversation before.

    Raises: BadRequestError that names the first one that does not, in the words of the format's owner.
    """
    calls = {item.get("call_id") for item in before if str(item.get("type")).endswith("_call")}
    for place, item in enumerate(items):
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            calls.add(item.get("call_id"))
        elif kind.endswith("_call_output") and item.get("call_id") not in calls:
            name, called = kind.replace("_", " "), str(item.get("call_id"))[:100]
            raise BadRequestError(
                f"No tool call found for {name} with call_id {called}: /input/{place}; send results of calls that the "
                "conversation has",
                status=400,
            )


# Compaction


def compacted(summary: str, item_id: str) -> Item:
    """The item that a conversation is compacted to."""
    content = urlsafe_b64encode(encode({"summary": summary})).decode()
    return {"id": item_id, "type": "compaction", "encrypted_content": f"{_SEAL}{content}"}


def unpacked(item: Item) -> Item:
    """The message that a compacted conversation of ours stands for; another provider's item as it is.

    Raises: DecodeError for one of ours that was damaged.
    """
    content = item.get("encrypted_content")
    if not isinstance(content, str) or not content.startswith(_SEAL):
        return item
    try:
        own = cast("Item", decode_any(urlsafe_b64decode(content.removeprefix(_SEAL))))
        summary = own["summary"]
    except (ValueError, KeyError, TypeError, Error):
        raise DecodeError(
            "/input: encrypted_content of a compaction item is damaged", path="/input", status=400
        ) from None
    return {"role": "user", "content": f"{_SUMMARY}{summary}"}


# Listing


def listed(items: list[Item], response_id: str) -> list[Item]:
    """Items as a list of them is shown: each with an id, a type and a status, messages with a list of parts."""
    tail = response_id.removeprefix("resp_")
    return [_listed(item, f"{tail}i{number:02}") for number, item in enumerate(items, 1)]


def _listed(item: Item, tail: str) -> Item:
    kind = str(item.get("type") or "message")
    entry = {"id": f"{_PREFIXES.get(kind, 'it')}_{tail}", **item, "type": kind}
    if kind == "message":
        entry["content"] = _parts(item.get("content"), is_answer=item.get("role") == "assistant")
    if kind in _PREFIXES:
        entry.setdefault("status", "completed")
    return entry


_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "cto",
    "reasoning": "rs",
    "compaction": "cmp",
}
"""How ids begin, by the type of the item."""


def _parts(content: object, *, is_answer: bool) -> object:
    if not isinstance(content, str):
        return content
    if not is_answer:
        return [{"type": "input_text", "text": content}]
    part: Item = {"type": "output_text", "text": content, "annotations": [], "logprobs": []}
    return [part]
