"""Model specs: the grammar, and errors that name what was looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import UnknownModelError
from interlingua.registry.spec import Element, instead, near, parse_spec, shown

names = st.from_regex(r"[a-z0-9-]{1,12}", fullmatch=True)
models = st.text(st.characters(blacklist_characters=",", blacklist_categories=["Cs", "Zs", "Cc"]), min_size=1).filter(
    lambda text: "://" not in f"/{text}" and text.strip() == text
)


@given(st.lists(st.tuples(names, models), min_size=1, max_size=5))
def test_a_chain_is_its_elements_with_commas_between(pairs: list[tuple[str, str]]) -> None:
    """The model is everything after the first slash, verbatim."""
    spec = ",".join(f"{provider}/{model}" for provider, model in pairs)
    assert parse_spec(spec) == tuple(Element(provider, model) for provider, model in pairs)


def test_the_model_is_verbatim() -> None:
    """Further slashes, colons, capitals and signs stay as they are."""
    assert parse_spec("openrouter/Meta/Llama-3:free@1?x=y") == (Element("openrouter", "Meta/Llama-3:free@1?x=y"),)


def test_a_name_without_slash_is_an_alias() -> None:
    """Nothing is guessed about a bare name."""
    assert parse_spec("smart, a/b ,Fast") == (Element(None, "smart"), Element("a", "b"), Element(None, "Fast"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "an empty model spec (expected provider/model or an alias, with commas between)"),
        (" ", "an empty model spec (expected provider/model or an alias, with commas between)"),
        (
            "a/b,",
            "an empty element in the model spec 'a/b,' (expected provider/model or an alias, with commas between)",
        ),
        ("/x", "no provider in '/x' (expected provider/model)"),
        ("x/", "no model in 'x/' (expected provider/model)"),
    ],
)
def test_malformed_specs_say_what_is_missing(spec: str, message: str) -> None:
    """Each error names the element and the expected form."""
    with pytest.raises(UnknownModelError) as caught:
        parse_spec(spec)
    assert str(caught.value) == message


def test_an_address_is_refused_without_being_shown() -> None:
    """Somebody who passes a DSN as a model reads where it belongs, and the token is not in the error."""
    with pytest.raises(UnknownModelError) as caught:
        parse_spec("openai://sk1234567890@gateway.example/gpt")
    assert str(caught.value) == ("a model spec is provider/model, not an address; an address belongs in LLM_<NAME>")


@given(st.text())
def test_any_text_is_a_spec_or_an_error_of_ours(text: str) -> None:
    """Parsing ends in elements or in UnknownModelError."""
    try:
        elements = parse_spec(text)
    except UnknownModelError:
        return
    assert [element.text for element in elements] == [part.strip() for part in text.split(",")]


def test_near_matches_are_offered() -> None:
    """Close names are named, distant ones are not."""
    assert near("opnai", ("openai", "groq")) == "; did you mean openai?"
    assert near("zzz", ("openai", "groq")) == ""
    assert near("Key-Env", ("key_env", "tls")) == "; did you mean key_env?"


def test_few_names_are_listed_and_of_many_the_nearest() -> None:
    """An error stays one line, however many names there are."""
    many = tuple([f"name_{number}" for number in range(9)])
    assert instead("x", many[:8], "the guide") == f"; known: {', '.join(many[:8])}"
    assert instead("name-3", ("name_3", *many[4:], *"abcdefg"), "the guide").startswith("; did you mean name_3 or ")
    assert instead("x", many, "the guide") == "; the guide lists them all"


def test_shown_text_is_short_and_on_one_line() -> None:
    """A long or multi-line text does not flood an error."""
    assert shown("a\nb") == "'a\\nb'"
    assert shown("x" * 100) == f"'{'x' * 80}…'"
