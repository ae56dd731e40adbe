"""Instructor: typed answers, whole, in pieces and with an image."""

from __future__ import annotations

from typing import Any

from common import PNG_BASE64, Driver, Trip, equal_trip, main


class Instructor(Driver):
    """The scenarios that end in a type."""

    def ask(self, model: str, content: Any = "A trip", **options: Any) -> Any:
        """A trip."""
        if self.dialect == "anthropic":
            options["max_tokens"] = 1000
        client = self.connect(model)["client"]
        return client.chat.completions.create(
            messages=[{"role": "user", "content": content}], response_model=Trip, max_retries=1, **options
        )

    def structured(self, model: str) -> Trip:
        return self.ask(model)

    def image(self, model: str) -> str:
        from instructor.processing.multimodal import Image

        picture = Image.from_base64(f"data:image/png;base64,{PNG_BASE64}")
        equal_trip(self.ask(model, ["Look.", picture]).model_dump())
        return "I see 1 image."

    def usage(self, model: str) -> tuple[int, int]:
        client = self.connect(model)["client"]
        options = {"max_tokens": 1000} if self.dialect == "anthropic" else {}
        _, raw = client.chat.completions.create_with_completion(
            messages=[{"role": "user", "content": "A trip"}], response_model=Trip, **options
        )
        usage = getattr(raw, "usage", None) or raw.usage_metadata
        names = ("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")
        names += (("prompt_token_count", "candidates_token_count"),)
        return next((getattr(usage, a), getattr(usage, b)) for a, b in names if hasattr(usage, a))

    def fail(self, model: str) -> None:
        self.ask(model)


main(Instructor)
