"""The picture of the landing page, drawn as SVG from the texts below: any client left, any provider right.

`python -m website.picture` writes `docs/assets/any-to-any.svg`. It has a panel of its own colours, so that it
reads the same on a light page and on a dark one.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "assets" / "any-to-any.svg"
CLIENTS = ("Python: import interlingua", "OpenAI SDK", "Anthropic SDK", "Google and Ollama SDKs", "Claude Code, Codex")
PROVIDERS = ("OpenAI, Azure", "Anthropic, Bedrock", "Google, Vertex AI", "Mistral, Groq, Cohere", "Ollama, vLLM, local")
MIDDLE = ("fallbacks, retries", "tools, typed output", "budgets per key", "a report of each loss")
WIDTH, HEIGHT = 880, 380
ROW, TOP, BOX = 60, 62, 250
GREEN, PALE, INK, LINE = "#0b5d4b", "#e7f3ef", "#0d1f1a", "#8fc4b5"


def picture() -> str:
    """The whole SVG."""
    title = "Any client reaches any provider through interlingua"
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        "<style>text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="14" fill="#f6faf8"/>',
        _text(20 + BOX / 2, 36, "any client", GREEN, bold=True),
        _text(WIDTH - 20 - BOX / 2, 36, "any provider", GREEN, bold=True),
    ]
    middle_x, middle_width = 340, 200
    for number, (client, provider) in enumerate(zip(CLIENTS, PROVIDERS, strict=True)):
        y = TOP + number * ROW
        centre, goal = y + 22, HEIGHT / 2 + 10 + (number - 2) * 26
        pieces += [
            _curve(20 + BOX, centre, middle_x, goal),
            _curve(WIDTH - 20 - BOX, centre, middle_x + middle_width, goal),
            _box(20, y, client),
            _box(WIDTH - 20 - BOX, y, provider),
        ]
    pieces.append(f'<rect x="{middle_x}" y="92" width="{middle_width}" height="216" rx="12" fill="{GREEN}"/>')
    pieces.append(_text(middle_x + middle_width / 2, 132, "interlingua", "#ffffff", bold=True, size=26))
    for number, line in enumerate(MIDDLE):
        pieces.append(_text(middle_x + middle_width / 2, 174 + number * 34, line, "#d5ece5"))
    return "\n".join([*pieces, "</svg>", ""])


def _box(x: float, y: float, words: str) -> str:
    frame = f'<rect x="{x}" y="{y}" width="{BOX}" height="44" rx="8" fill="{PALE}" stroke="{LINE}"/>'
    return frame + "\n" + _text(x + BOX / 2, y + 28, words, INK)


def _curve(x: float, y: float, goal_x: float, goal_y: float) -> str:
    half = (x + goal_x) / 2
    way = f"M{x} {y}C{half} {y} {half} {goal_y} {goal_x} {goal_y}"
    return f'<path d="{way}" fill="none" stroke="{LINE}" stroke-width="2.5"/>'


def _text(x: float, y: float, words: str, colour: str, *, bold: bool = False, size: int = 18) -> str:
    weight = ' font-weight="700"' if bold else ""
    style = f'fill="{colour}" font-size="{size}" text-anchor="middle"{weight}'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
