"""A type is an answer: the reply's `output` is an `Invoice`, or `generate` has raised.

Run: INTERLINGUA_MODEL=openai/gpt-5.6 python examples/typed_output.py
"""

from __future__ import annotations

from dataclasses import dataclass

import interlingua as il

MAIL = "Dear customer, please pay 12.50 EUR for invoice no. 2026-7, two of our brass screws, by Friday."


@dataclass
class Invoice:
    """An invoice as the books want it."""

    number: str
    total: float
    items: list[str]


def main() -> None:
    """Read a mail into an invoice."""
    try:
        invoice = il.model().generate(f"What does this mail ask us to pay?\n\n{MAIL}", output=Invoice).output
    except il.OutputError as error:
        print("no invoice:", error)
        return
    print(f"{invoice.number}: {invoice.total:.2f} for {', '.join(invoice.items)}")


if __name__ == "__main__":
    main()
