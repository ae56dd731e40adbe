"""Shapes in few words: the language in which the tables of the strict upstream are written.

```
Part {type "text"; text text(1..); name? text}     an object: its members, a question mark for those that may be absent
Mark {left, right? Note | null}                    members that share a shape
Bag {kind text; ...}                               three dots: more members are let through
Source | {bytes base64; url text}                  a union: exactly one of the members is there
Voice = "loud" | "low" | text                      a name for a choice
```

A shape is `text number integer flag null any object base64 true false`, a word in quotes, `[Shape]` for an array,
`{Shape}` for an object with free names, a name, or a choice of these with bars. Bounds stand in round brackets:
`text(1..64 /[a-z]+/)`, `number(0..2)`, `integer(1..)`, `[Part](1..4)`, `{text}(..16)`. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from interlingua.testing.upstream.shapes import (
    Anything,
    Choice,
    Flag,
    Grammar,
    ListOf,
    MapOf,
    Member,
    Members,
    Named,
    Null,
    Number,
    Shape,
    Text,
    Word,
)

__all__ = ["parse"]

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\s*)*(?:
    (?P<pattern>/(?:\\.|[^/])+/)|(?P<word>"[^"]*")|(?P<dots>\.\.\.?)|(?P<number>-?\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_$@][\w$@-]*)|(?P<sign>[{}\[\]()|?;,=]))""",
    re.VERBOSE,
)

_PLAIN: dict[str, Shape] = {
    "flag": Flag(),
    "null": Null(),
    "any": Anything(),
    "object": Anything(is_object=True),
    "base64": Text(base64=True),
    "true": Word(value=True),
    "false": Word(value=False),
}


def parse(*texts: str) -> Grammar:
    """The shapes that the texts define, by name.

    Raises: ValueError for what is not in the language, for a name that is defined twice or never.
    """
    grammar: dict[str, Shape] = {}
    for text in texts:
        for name, shape in _Parser(text).definitions():
            if name in grammar:
                raise ValueError(f"{name} is defined twice")
            grammar[name] = shape
    missing = {name for shape in grammar.values() for name in _names(shape)} - set(grammar)
    if missing:
        raise ValueError(f"never defined: {', '.join(sorted(missing))}")
    return grammar


def _names(shape: Shape) -> set[str]:
    match shape:
        case Named(name=name):
            return {name}
        case Choice(options=options):
            return {name for option in options for name in _names(option)}
        case ListOf(item=inner) | MapOf(value=inner):
            return _names(inner)
        case Members(members=members):
            return {name for member in members.values() for name in _names(member.shape)}
        case _:
            return set()


class _Parser:
    """Reads definitions from one text."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def definitions(self) -> list[tuple[str, Shape]]:
        """Every name with its shape."""
        pairs: list[tuple[str, Shape]] = []
        while self._at < len(self._tokens):
            name = self._next()
            if self._is("="):
                self._next()
                pairs.append((name, self._shape()))
            else:
                is_union = self._is("|")
                self._at += is_union
                pairs.append((name, self._object(name, is_union=is_union)))
        return pairs

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise ValueError("the text ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _is(self, sign: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at] == sign

    def _take(self, sign: str) -> None:
        if not self._is(sign):
            raise ValueError(f"{sign!r} should stand after {' '.join(self._tokens[max(0, self._at - 8) : self._at])}")
        self._at += 1

    def _object(self, name: str, *, is_union: bool) -> Members:
        members: dict[str, Member] = {}
        is_open = False
        self._take("{")
        while not self._is("}"):
            if self._is("..."):
                self._next()
                is_open = True
            else:
                members.update(self._member(is_required=not is_union))
            if not self._is("}"):
                self._take(";")
        self._take("}")
        return Members(name, members, is_open, is_union)

    def _member(self, *, is_required: bool) -> dict[str, Member]:
        names = [self._next()]
        while self._is(","):
            self._next()
            names.append(self._next())
        if self._is("?"):
            self._next()
            is_required = False
        shape = self._shape()
        return {name.strip('"'): Member(shape, is_required) for name in names}

    def _shape(self) -> Shape:
        options = [self._one()]
        while self._is("|"):
            self._next()
            options.append(self._one())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _one(self) -> Shape:
        token = self._next()
        if token.startswith('"'):
            return Word(token[1:-1])
        if token in _PLAIN:
            return _PLAIN[token]
        return _MORE[token](self) if token in _MORE else Named(token)

    def text(self) -> Shape:
        """Text, with its bounds and its pattern."""
        low, high, pattern = self._bounds()
        return Text(_whole(low), _whole(high), pattern)

    def number(self) -> Shape:
        """A number, with its bounds."""
        low, high, _ = self._bounds()
        return Number(low=low, high=high)

    def integer(self) -> Shape:
        """An integer, with its bounds."""
        low, high, _ = self._bounds()
        return Number(whole=True, low=low, high=high)

    def array(self) -> Shape:
        """An array, with its bounds."""
        item = self._shape()
        self._take("]")
        low, high, _ = self._bounds()
        return ListOf(item, _whole(low), _whole(high))

    def map(self) -> Shape:
        """An object with free names, with its bounds."""
        value = self._shape()
        self._take("}")
        _, high, _ = self._bounds()
        return MapOf(value, _whole(high))

    def _bounds(self) -> tuple[float | None, float | None, str | None]:
        """`(low..high /pattern/)`, each part of it optional."""
        if not self._is("("):
            return None, None, None
        self._take("(")
        low = high = pattern = None
        if not self._tokens[self._at].startswith("/"):
            low = self._limit()
            self._take("..")
            high = self._limit()
        if self._tokens[self._at].startswith("/"):
            pattern = self._next()[1:-1].replace("\\/", "/")
        self._take(")")
        return low, high, pattern

    def _limit(self) -> float | None:
        return float(self._next()) if re.fullmatch(r"-?\d+(\.\d+)?", self._tokens[self._at]) else None


_MORE: dict[str, Callable[[_Parser], Shape]] = {
    "text": _Parser.text,
    "number": _Parser.number,
    "integer": _Parser.integer,
    "[": _Parser.array,
    "{": _Parser.map,
}


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if re.fullmatch(r"(\s|#[^\n]*)*", text[at:]):
                break
            raise ValueError(f"not in the language: {text[at : at + 40]!r}")
        tokens.append(match[match.lastgroup or 0])
        at = match.end()
    return tokens
