"""llm, by its Python interface: models of `extra-openai-models.yaml`."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import llm
from common import ASK, PNG_BASE64, Driver, Trip, Weather, main


class Llm(Driver):
    """The scenarios, by `llm.get_model`."""

    def model(self, model: str) -> Any:
        """A model of the file."""
        path = Path(llm.user_dir()) / "extra-openai-models.yaml"
        path.write_text(self.job["code"].replace("{model}", model) + "\n")
        return llm.get_model(model)

    def text(self, model: str) -> str:
        return self.model(model).prompt("Hi", stream=False).text()

    def stream(self, model: str) -> list[str]:
        return list(self.model(model).prompt("Hi"))

    def loop(self, model: str, weather: Weather) -> str:
        return self.chain(model, weather, ASK, stream=False).text()

    def loop_streamed(self, model: str, weather: Weather) -> str:
        return "".join(self.chain(model, weather, ASK, stream=True))

    def chain(self, model: str, weather: Weather, prompt: str, **options: Any) -> Any:
        """The answers to a prompt, with the tool."""

        def get_weather(city: str) -> str:
            """The weather of a city."""
            return weather(city)

        return self.model(model).chain(prompt, tools=[get_weather], **options)

    def structured(self, model: str) -> Trip:
        return Trip.model_validate_json(self.model(model).prompt("A trip", schema=Trip, stream=False).text())

    def image(self, model: str) -> str:
        picture = llm.Attachment(content=base64.b64decode(PNG_BASE64), type="image/png")
        return self.model(model).prompt("Look.", attachments=[picture], stream=False).text()

    def usage(self, model: str) -> tuple[int, int]:
        usage = self.model(model).prompt("Hi", stream=False).usage()
        return usage.input, usage.output


main(Llm)
