"""One conversation, two providers: store it, load it, and let another model go on.

Run: python examples/history.py     (with OPENAI_API_KEY and MISTRAL_API_KEY, or other models named below)
"""

from __future__ import annotations

import interlingua as il

FIRST = "openai/gpt-5.6"
SECOND = "mistral/mistral-large-latest"


def main() -> None:
    """Begin with one model, end with the other."""
    reply = il.model(FIRST, system="You are terse.").generate("Which is the oldest town of Norway?")
    print(f"{FIRST}: {reply.text}")

    stored = il.dump(reply.messages)  # canonical JSON, for a file or a database
    reply = il.model(SECOND).generate("And the youngest?", history=il.load(stored))
    print(f"{SECOND}: {reply.text}")

    for change in reply.changes:  # what the second model could not be told as it was
        print("note:", change)


if __name__ == "__main__":
    main()
