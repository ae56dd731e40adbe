"""The gallery itself, with the official SDK in the place of a client that is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gallery.cells import cells_of
from gallery.stage import place
from interlingua.cli.clients import Client, Surface

DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from common import Driver, main

class SDK(Driver):
    def ask(self, model, **options):
        names = self.connect(model)
        messages = [{"role": "user", "content": "Hi"}]
        return names["client"].chat.completions.create(model=names["model"], messages=messages, **options)

    def text(self, model):
        return self.ask(model).choices[0].message.content

    def stream(self, model):
        return [chunk.choices[0].delta.content for chunk in self.ask(model, stream=True) if chunk.choices]

    def usage(self, model):
        return 20, 11

main(SDK)
"""
CODE = """
from openai import OpenAI

client = OpenAI(max_retries=0)
model = "{model}"
"""


def test_a_driver_runs_the_lines_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that pass, one that is wrong, ones that the client does not offer, and the classes of its errors."""
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    drivers = Path(__file__).parents[2] / "gallery" / "drivers"

    def command(name: str, client: Client) -> list[str]:
        return [sys.executable, str(driver), str(drivers)]

    monkeypatch.setattr("gallery.cells.command", command)
    variables = {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}"}
    client = Client("SDK", "python", ("openai==0",), {"openai-chat": Surface(variables, CODE)})
    with place() as gateway:
        cells = cells_of("sdk", client, gateway, ("claude", "llmock"))
        assert gateway.stage.refused() == []
    states = {(cell.upstream, cell.scenario): cell.state for cell in cells}
    passed = [scenario for (upstream, scenario), state in states.items() if upstream == "claude" and state == "ok"]
    assert passed == ["text", "stream", "broken"]
    assert states["claude", "loop"] == states["claude", "thinking"] == "absent"
    assert states["llmock", "text"] == states["llmock", "stream"] == "ok"
    seen = {cell.scenario: cell.seen for cell in cells if cell.upstream == "claude"}
    assert seen["usage"] == "(20, 11) is not (20, 10)"
    assert seen["errors"].startswith(
        "{'key': 'AuthenticationError 401', 'model': 'NotFoundError 404', 'rate': 'RateLimitError 429', "
        "'context': 'BadRequestError 400'}"
    )
