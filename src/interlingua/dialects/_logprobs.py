"""Log probabilities of an answer's tokens, out of the members of one dialect into those of another.

Strategy: they have no canonical field, since nothing reads them on the way. They stay members in `extra`, and whoever
writes an answer moves those of another dialect to its own place. What stays where it was is noted like any other.

Rules
- OpenAI's two formats and Ollama have one form of a token: `token`, `logprob`, `bytes`, `top_logprobs`. It is the form
  here. Google's has `token` and `logProbability`, and the likeliest tokens in a list beside the chosen ones.
- Bytes that are not stated are those of the token in UTF-8.
- What has no place in the other form, such as a token's number in Google's vocabulary, or bytes that are not those of
  the token for a client of Google, is left out; the members then also stay where they were, and are noted.
- Responses has them in its texts: the first text gets those of another dialect, whose answers have one as a rule.
- Only what has this form is moved. Those of a refusal have a place in Chat alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from interlingua.dialects._members import is_list, is_object
from interlingua.types.content import TextPart
from interlingua.types.response import Alternative, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interlingua.types.content import Part

__all__ = ["move_logprobs", "text_logprobs", "without_logprobs"]

A = TypeVar("A", "Response[Any]", Alternative)
IN_TEXTS = "openai-responses"
"""The dialect that has them in its texts."""
MEMBER = "logprobs"
"""Their name there."""
HOMES: dict[str, tuple[str, ...]] = {
    "openai-chat": ("choice", "logprobs"),
    "google": ("candidate", "logprobsResult"),
    "ollama": ("logprobs",),
}
"""Where the other dialects have them among the members of an answer."""
GOOGLE = "google"
"""The dialect whose form is another one."""
_LISTS = frozenset({"chosenCandidates", "topCandidates"})
_PLAIN = frozenset({"token", "logProbability"})
_COMMON = frozenset({"token", "logprob", "bytes", "top_logprobs"})


def move_logprobs(answer: A, dialect: str) -> A:
    """The answer with the log probabilities of another dialect in the place of `dialect`, if it has one."""
    if dialect != IN_TEXTS and dialect not in HOMES:
        return answer
    for source in answer.extra:
        home = HOMES.get(source, ())
        member = _member(answer.extra, source, home) if home and source != dialect else None
        tokens = _READERS[source](member) if member else None
        if tokens:
            is_whole = _fits_google(tokens) if dialect == GOOGLE else source != GOOGLE or _is_plain(member)
            rest = _without(answer.extra, source, home) if is_whole else answer.extra
            return _moved(answer, tokens, dialect, rest)
    if dialect == IN_TEXTS:
        return answer
    texts = [part for part in answer.parts if type(part) is TextPart and part.extra]
    tokens = [token for part in texts for token in text_logprobs(part) or ()]
    return _moved(answer, tokens, dialect, answer.extra) if tokens else answer


def text_logprobs(part: Part) -> list[Any] | None:
    """The log probabilities in a text of an answer of Responses; None where it has none that can be read."""
    return _read(part.extra.get(IN_TEXTS, {}).get(MEMBER)) if type(part) is TextPart and part.extra else None


def without_logprobs(extra: Mapping[str, Any], dialect: str) -> Mapping[str, Any]:
    """The members of a part without the log probabilities that `dialect` has elsewhere."""
    members = extra.get(IN_TEXTS)
    tokens = _read(members.get(MEMBER)) if dialect in HOMES and members else None
    if not members or not tokens or (dialect == GOOGLE and not _fits_google(tokens)):
        return extra
    return {**extra, IN_TEXTS: {name: value for name, value in members.items() if name != MEMBER}}


def _moved(answer: A, tokens: list[Any], dialect: str, rest: dict[str, dict[str, Any]]) -> A:
    """The answer with `tokens` in the place of `dialect`; as it was where there is no such place."""
    if dialect == IN_TEXTS:
        for place, part in enumerate(answer.parts):
            if isinstance(part, TextPart):
                text = replace(part, extra=_with(part.extra, dialect, (MEMBER,), tokens))
                return replace(answer, parts=(*answer.parts[:place], text, *answer.parts[place + 1 :]), extra=rest)
        return answer
    return replace(answer, extra=_with(rest, dialect, HOMES[dialect], _WRITERS[dialect](tokens)))


def _member(extra: Mapping[str, Any], dialect: str, home: tuple[str, ...]) -> Any:
    value: Any = extra[dialect]
    for name in home:
        value = value.get(name) if is_object(value) else None
    return value


def _with(extra: dict[str, Any], dialect: str, home: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The members with `value` at its home, unless something stands there."""
    members = extra.get(dialect, {})
    name, *inner = home
    if inner:
        inside = members.get(name)
        value = {inner[0]: value, **(inside if is_object(inside) else {})}
        return {**extra, dialect: {**members, name: value}}
    return {**extra, dialect: {name: value, **members}}


def _without(extra: dict[str, Any], dialect: str, home: tuple[str, ...]) -> dict[str, Any]:
    members = dict(extra[dialect])
    name, *inner = home
    inside = members.pop(name)
    if inner and (rest := {one: inside[one] for one in inside if one != inner[0]}):
        members[name] = rest
    others = {one: value for one, value in extra.items() if one != dialect}
    return {**others, dialect: members} if members else others


# The forms


def _read(value: Any) -> list[Any] | None:
    """Tokens in the common form, with every member of it; None for anything else."""
    if not is_list(value) or not all([_is_token(one, "logprob") for one in value]):
        return None
    tokens: list[Any] = []
    for token in value:
        likely = token.get("top_logprobs")
        top = [_with_bytes(one) for one in likely if _is_token(one, "logprob")] if is_list(likely) else []
        tokens.append({**_with_bytes(token), "top_logprobs": top})
    return tokens


def _read_chat(value: Any) -> list[Any] | None:
    return _read(value.get("content")) if is_object(value) and not value.get("refusal") else None


def _read_google(value: Any) -> list[Any] | None:
    chosen = value.get("chosenCandidates") if is_object(value) else None
    if not is_list(chosen) or not all([_is_token(one, "logProbability") for one in chosen]):
        return None
    empty: dict[str, Any] = {}
    steps: Any = value.get("topCandidates")
    steps = steps or [empty] * len(chosen)
    if not is_list(steps) or len(steps) != len(chosen) or not all([is_object(step) for step in steps]):
        return None
    tokens: list[Any] = []
    for token, step in zip(chosen, steps, strict=True):
        likely: Any = step.get("candidates") or []
        top = [one for one in likely if _is_token(one, "logProbability")] if is_list(likely) else []
        tokens.append({**_plain_token(token), "top_logprobs": [_plain_token(one) for one in top]})
    return tokens


def _plain_token(token: dict[str, Any]) -> dict[str, Any]:
    text = token["token"]
    return {"token": text, "logprob": token.get("logProbability", 0), "bytes": _bytes(text)}


def _is_token(value: Any, member: str) -> bool:
    return is_object(value) and isinstance(value.get("token"), str) and isinstance(value.get(member, 0.0), int | float)


def _with_bytes(token: dict[str, Any]) -> dict[str, Any]:
    return {"token": "", "logprob": 0.0, "bytes": _bytes(token["token"]), **token}


def _is_plain(value: Any) -> bool:
    """Whether log probabilities of Google have no more members than the common form has places for."""
    steps: list[Any] = value.get("topCandidates") or []
    lists: list[Any] = [value["chosenCandidates"], *[step.get("candidates") or [] for step in steps]]
    if not value.keys() <= _LISTS or not all([step.keys() <= {"candidates"} for step in steps]):
        return False
    if not all([is_list(one) for one in lists]):
        return False
    tokens: list[Any] = [token for one in lists for token in one]
    return all([_is_token(token, "logProbability") and token.keys() <= _PLAIN for token in tokens])


def _fits_google(tokens: list[Any]) -> bool:
    """Whether Google's form says all that tokens in the common form do."""
    every = [one for token in tokens for one in (token, *token["top_logprobs"])]
    return all([one.keys() <= _COMMON and one["bytes"] in (None, _bytes(one["token"])) for one in every])


def _bytes(text: str) -> list[int]:
    return list(text.encode("utf-8", "replace"))


def _write_google(tokens: list[Any]) -> dict[str, Any]:
    return {
        "topCandidates": [{"candidates": [_written(one) for one in token["top_logprobs"]]} for token in tokens],
        "chosenCandidates": [_written(token) for token in tokens],
    }


def _written(token: dict[str, Any]) -> dict[str, Any]:
    return {"token": token["token"], "logProbability": token["logprob"]}


def _write_chat(tokens: list[Any]) -> dict[str, Any]:
    return {"content": tokens, "refusal": None}


def _write(tokens: list[Any]) -> list[Any]:
    return tokens


_READERS: dict[str, Callable[[Any], list[Any] | None]] = {
    "openai-chat": _read_chat,
    "google": _read_google,
    "ollama": _read,
}
_WRITERS: dict[str, Callable[[list[Any]], Any]] = {
    "openai-chat": _write_chat,
    "google": _write_google,
    "ollama": _write,
}
