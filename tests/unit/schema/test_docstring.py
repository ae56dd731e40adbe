from __future__ import annotations

import pytest

from interlingua.schema.docstring import Docstring, parse_docstring

GOOGLE = """Weather for a city.

    Uses the national service. Note: slow.

    Args:
        city: City name,
            in English.
        days (int, optional): How many days: 1 to 7.
        *more: Others.
        silent:

    Returns:
        dict: not for the model

    Raises:
        ValueError: never
    """
NUMPY = """
    Weather for a city.

    Uses the national service. Note: slow.

    Parameters
    ----------
    city : str
        City name,
        in English.
    days : int, optional
        How many days: 1 to 7.
    *more
        Others.

    Returns
    -------
    dict
        not for the model
    """
SPHINX = """Weather for a city.

    Uses the national service. Note: slow.

    :param city: City name,
        in English.
    :type city: str
    :param int days: How many days: 1 to 7.
    :param more: Others.
    :returns: not for the model
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_say_the_same(text: str) -> None:
    """Summary and parameters are read alike from each style; types, results and exceptions are left out."""
    assert parse_docstring(text) == Docstring(
        "Weather for a city.\n\nUses the national service. Note: slow.",
        {"city": "City name, in English.", "days": "How many days: 1 to 7.", "more": "Others."},
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, Docstring("", {})),
        ("", Docstring("", {})),
        ("One line.", Docstring("One line.", {})),
        ("Args:\n    a: It.", Docstring("", {"a": "It."})),
        ("Hello.\n\nReturns:\n    a: no\n", Docstring("Hello.", {})),
        ("A.\n\nAttributes:\n    a: It.\nb: not in it", Docstring("A.", {"a": "It."})),
        ("A.\n\nArgs:\n    f (Callable[[int], str]): It.\n", Docstring("A.", {"f": "It."})),
        ("A.\n\nParameters\n----------\na, b : int\n    Both.\n", Docstring("A.", {"a": "Both.", "b": "Both."})),
        ("A.\n\n:raises ValueError: never\n", Docstring("A.", {})),
        ("Parameters that matter are few", Docstring("Parameters that matter are few", {})),
        ("A.\n\nArgs:\n", Docstring("A.", {})),
        ("A.\n\nArgs:\n    no entry here\n", Docstring("A.", {})),
    ],
)
def test_odd_docstrings(text: str | None, expected: Docstring) -> None:
    """Nothing, one line, empty sections, several names and foreign sections are read for what they are."""
    assert parse_docstring(text) == expected
