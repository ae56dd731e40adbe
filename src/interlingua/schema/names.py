"""Tool names and call ids, fitted to what a target takes, and back.

Rules
- What the target takes is left alone; anything else is cleaned and gets the beginning of its hash, so that two
  different names never become one.
- Mappings are deterministic: the same input gives the same output in every process.
- Call ids are mapped in the order of the conversation, so that a further turn never changes an earlier id: prompt
  caches hit.
- The mapping is a dict from our own to the wire's, each wire name once: turned around, it undoes itself.

Source: limits as the vendors' references and error messages state them; rows ID-01 to
ID-05, ID-15 and ID-16 of the failure list.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import cached_property
from itertools import count

from interlingua.dialects._contract import CallIdRule, NameRule

__all__ = ["are_legal_names", "fit_as_they_are", "map_call_ids", "map_names"]

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_HASH = 8
_ID_HASH = 12


class _Rule:
    """The names that a target takes, and how anything else is made to fit; patterns are compiled for the first use."""

    def __init__(self, legal: str, illegal: str, longest: int) -> None:
        self._legal = legal
        self._illegal = illegal
        self.longest = longest
        """The most characters that we send."""

    @cached_property
    def legal(self) -> re.Pattern[str]:
        """The whole of a name or id that is taken."""
        return re.compile(self._legal)

    @cached_property
    def illegal(self) -> re.Pattern[str]:
        """Runs of characters that are not."""
        return re.compile(self._illegal)


_NAMES: dict[NameRule, _Rule | None] = {
    "openai": _Rule(r"[a-zA-Z0-9_-]{1,64}", r"[^a-zA-Z0-9_-]+", 64),
    "anthropic": _Rule(r"[a-zA-Z0-9_-]{1,128}", r"[^a-zA-Z0-9_-]+", 128),
    "google": _Rule(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", r"[^a-zA-Z0-9_.:-]+", 128),
    "unified": _Rule(r"[a-zA-Z0-9_]{1,64}", r"[^a-zA-Z0-9_]+", 64),
    "free": None,
}
_IDS: dict[CallIdRule, _Rule | None] = {
    "any": None,
    "max40": _Rule(r"(?s:.){1,40}", r"(?!)", 40),
    "alnum9": _Rule(r"[a-zA-Z0-9]{9}", r"[^a-zA-Z0-9]+", 9),
    "anthropic": _Rule(r"[a-zA-Z0-9_-]+", r"[^a-zA-Z0-9_-]+", 64),
    "bedrock": _Rule(r"[a-zA-Z0-9_.:-]{1,64}", r"[^a-zA-Z0-9_.:-]+", 64),
}


def are_legal_names(names: Iterable[str], rule: NameRule) -> bool:
    """Whether each of the tool names is its own on the wire."""
    fixed = _NAMES[rule]
    return fixed is None or all(map(fixed.legal.fullmatch, names))


def map_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """Our own tool names and the wire's, each wire name once; a legal name is never given to another tool."""
    own = list(dict.fromkeys(names))
    fixed = _NAMES[rule]
    used = {name for name in own if fixed is None or fixed.legal.fullmatch(name)}
    mapping: dict[str, str] = {}
    for name in own:
        mapping[name] = name if name in used else _fitted_name(name, rule, used)
        used.add(mapping[name])
    return mapping


def map_call_ids(call_ids: Iterable[str], rule: CallIdRule) -> dict[str, str]:
    """The call ids of one conversation, oldest first, and the wire's, each wire id once."""
    mapping: dict[str, str] = {}
    used: set[str] = set()
    for call_id in call_ids:
        if call_id not in mapping:
            mapping[call_id] = _fitted_id(call_id, rule, used)
            used.add(mapping[call_id])
    return mapping


def fit_as_they_are(call_ids: Iterable[str], rule: CallIdRule) -> bool:
    """Whether each of the ids is its own on the wire, if no other of the conversation is the same."""
    fixed = _IDS[rule]
    return fixed is None or all(map(fixed.legal.fullmatch, call_ids))


def _fitted_name(name: str, rule: NameRule, used: Container[str]) -> str:
    fixed = _NAMES[rule]
    if fixed is None or (fixed.legal.fullmatch(name) and name not in used):
        return name
    base = fixed.illegal.sub("_", name).strip("_")
    if rule == "google" and not re.match("[a-zA-Z_]", base):
        base = f"_{base}"
    stem = base[: fixed.longest - _NAME_HASH - 1] or "tool"
    fitted = (f"{stem}_{_digest(name, attempt, _NAME_HASH)}" for attempt in count())
    return next(wire for wire in fitted if wire not in used)


def _fitted_id(call_id: str, rule: CallIdRule, used: Container[str]) -> str:
    fixed = _IDS[rule]
    if fixed is None or (fixed.legal.fullmatch(call_id) and call_id not in used):
        return call_id
    if rule == "alnum9":
        fitted = (_digest(call_id, attempt, 9) for attempt in count())
    else:
        stem = fixed.illegal.sub("_", call_id).strip("_")[: fixed.longest - _ID_HASH - 1] or "call"
        fitted = (f"{stem}_{_digest(call_id, attempt, _ID_HASH)}" for attempt in count())
    return next(wire for wire in fitted if wire not in used)


def _digest(text: str, attempt: int, length: int) -> str:
    """`length` letters and digits that stand for `text`; another attempt gives others."""
    seed = text.encode(errors="surrogatepass") + (b"\0%d" % attempt if attempt else b"")
    from hashlib import sha256  # 4 ms: only who has such names pays for it

    number = int.from_bytes(sha256(seed).digest())
    letters: list[str] = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)
