"""The committed support matrix is what the code can do today."""

from __future__ import annotations

from interlingua.dialects.table import DIALECTS
from interlingua.types.change import CODES
from tests.support.support_matrix import GROUPS, PAGE, README, page, recorded_codes, rendered_readme


def test_the_page_is_up_to_date() -> None:
    """docs/support.md equals the one made now; `python -m tests.support.docs_tables` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_short_table_is_up_to_date() -> None:
    """The README's table equals the one made now, and has its place."""
    text = README.read_text(encoding="utf-8")
    assert text.count("<!-- support-matrix -->") == text.count("<!-- /support-matrix -->") == 1
    assert rendered_readme(text) == text


def test_every_code_is_in_the_matrix() -> None:
    """No code and no action of the closed table is passed over."""
    assert {row.action for row in CODES.values()} == GROUPS.keys()
    assert [code for code in CODES if f"| `{code}` |" not in page()] == []


def test_what_openai_chat_records_is_found() -> None:
    """The scan sees codes wherever they are written: as arguments, in variables, in tables, in shared modules."""
    codes = recorded_codes("openai-chat")
    assert {"name_mapped", "media_refs", "images", "output_schema", "tools", "call_id_made", "lone_surrogate"} <= codes
    assert "choices" not in codes
    assert "seal_filler" not in codes


def test_only_words_of_the_table_are_found() -> None:
    """The scan finds codes, and no other words."""
    assert all(recorded_codes(name) <= CODES.keys() for name in DIALECTS)
