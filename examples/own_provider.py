"""A provider of your own is one line, an alias is another; the same lines may stand in the environment.

    export LLM_WORK='openai://llm.example/v1?key_env=WORK_KEY&max_tokens_field=max_tokens'
    export LLM_SMART='work/big-model,work/small-model'

Run: WORK_KEY=… python examples/own_provider.py
"""

from __future__ import annotations

import os

import interlingua as il


def main() -> None:
    """Define both, show what would be sent, and send it."""
    os.environ.setdefault("LLM_WORK", "openai://llm.example/v1?key_env=WORK_KEY&max_tokens_field=max_tokens")
    os.environ.setdefault("LLM_SMART", "work/big-model,work/small-model")
    os.environ.setdefault("WORK_KEY", "none-yet")

    model = il.model("smart", max_tokens=50, timeout_s=20)
    print(model.explain("Hello").curl())  # without the key
    try:
        print(model.generate("Hello").text)
    except il.Error as error:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
