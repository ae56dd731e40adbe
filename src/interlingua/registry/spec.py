"""Model specs: `element("," element)*`; an element is `provider/model` or the name of an alias.

Rules
- The model is everything after the FIRST slash, verbatim: it may hold further slashes, colons, capitals, no comma.
- White space around an element does not count; an empty element is an error.
- Nothing is guessed: a bare model name is an alias or unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from interlingua.errors import ConfigError, UnknownModelError, check_text

__all__ = ["Element", "check_alias_name", "instead", "near", "parse_spec", "shown"]

LONGEST_SHOWN = 80
FEW_NAMES = 8
"""How many names an error lists; of more it says where they are listed."""


class Element(Struct, frozen=True):
    """One element of a spec."""

    provider: str | None
    """The part before the first slash; None for an alias."""
    name: str
    """The model, or the alias."""

    @property
    def text(self) -> str:
        """The element as it is written."""
        return self.name if self.provider is None else f"{self.provider}/{self.name}"


def parse_spec(spec: str) -> tuple[Element, ...]:
    """The elements of a spec, in order.

    Raises: UnknownModelError for an empty element, a provider or model without a name, and a DSN in place of a spec;
        UsageError for what is no text.
    """
    check_text(spec, "a model is named by a text, 'provider/model' or 'a/b,c/d'")
    if "://" in spec:
        raise UnknownModelError("a model spec is provider/model, not an address; an address belongs in LLM_<NAME>")
    return tuple(_element(text.strip(), spec) for text in spec.split(","))


def _element(text: str, spec: str) -> Element:
    provider, slash, model = text.partition("/")
    if not text:
        what = f"an empty element in the model spec {shown(spec)}" if spec.strip() else "an empty model spec"
        raise UnknownModelError(f"{what} (expected provider/model or an alias, with commas between)")
    if not slash:
        return Element(None, text)
    if not provider or not model:
        missing = "model" if provider else "provider"
        raise UnknownModelError(f"no {missing} in {shown(text)} (expected provider/model)")
    return Element(provider, model)


def check_alias_name(name: str) -> None:
    """Nothing.

    Raises: ConfigError for a name that no element of a spec can be; UsageError for what is no text.
    """
    check_text(name, "an alias is named by a text")
    if not name.strip() or name != name.strip() or any(sign in name for sign in "/,") or "*" in name[:-1]:
        raise ConfigError(f"{shown(name)} cannot name an alias (no slash, no comma, a * at the end only)")


def near(word: str, words: Iterable[str]) -> str:
    """`; did you mean a or b?` for the known words that are close, else nothing; hyphens and underscores are alike."""
    from difflib import get_close_matches

    names = {_levelled(name): name for name in words}
    matches = [names[match] for match in get_close_matches(_levelled(word[:LONGEST_SHOWN]), names)]
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def instead(word: str, words: Sequence[str], place: str) -> str:
    """The advice for an unknown word: every known one where they are few, else the nearest, and where all stand."""
    if len(words) <= FEW_NAMES:
        return f"; known: {', '.join(words)}"
    hint = near(word, words)
    return f"{hint or ';'} {place} lists them all"


def _levelled(name: str) -> str:
    return name.lower().replace("_", "-")


def shown(text: str) -> str:
    """`text` quoted, on one line and not too long, for errors."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")
