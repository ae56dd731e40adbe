"""DSPy: `dspy.LM`, by itself and under a signature."""

from __future__ import annotations

from typing import Any

from common import PNG_BASE64, Driver, Trip, main


class DSPy(Driver):
    """The scenarios that DSPy has."""

    def model(self, model: str) -> Any:
        """The model of the lines, without DSPy's cache."""
        lm = self.connect(model)["model"]
        return lm.copy(cache=False)

    def text(self, model: str) -> str:
        return said(self.model(model)("Hi"))

    def structured(self, model: str) -> Trip:
        import dspy

        class Plan(dspy.Signature):
            """Plan a trip."""

            wish: str = dspy.InputField()
            trip: Trip = dspy.OutputField()

        with dspy.context(lm=self.model(model), adapter=dspy.JSONAdapter()):
            return dspy.Predict(Plan)(wish="A trip").trip

    def image(self, model: str) -> str:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG_BASE64}"}}
        content = [{"type": "text", "text": "Look."}, picture]
        return said(self.model(model)(messages=[{"role": "user", "content": content}]))

    def usage(self, model: str) -> tuple[int, int]:
        lm = self.model(model)
        lm("Hi")
        usage = dict(lm.history[-1]["usage"])
        first = usage.get("prompt_tokens", usage.get("input_tokens"))
        return first, usage.get("completion_tokens", usage.get("output_tokens"))


def said(outputs: Any) -> str:
    """The text of the first output."""
    first = outputs[0]
    return first if isinstance(first, str) else first["text"]


main(DSPy)
