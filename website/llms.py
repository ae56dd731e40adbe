"""`llms.txt`, a list of the pages for language models, and `llms-full.txt`, the pages that teach, one by one."""

from __future__ import annotations

import re

SECTIONS = {
    "learn/": "Learn",
    "how-to/": "How-to",
    "guides/": "Guides",
    "explain/": "Explanation",
    "compare/": "Compare",
    "reference/": "Reference",
}
"""The folders whose pages are listed, in this order."""
HEAD = """\
# interlingua

> A Python library, a command-line tool and an HTTP gateway (an LLM gateway, or proxy) that translate between the APIs
> of OpenAI, Anthropic, Google, Ollama, Amazon Bedrock, Cohere and compatible servers: any client, any provider, with a
> report of every loss.

Install: `pip install interlingua`. Try it without a key: `pip install 'interlingua[local]'`, `il models pull tiny`, and
the model `local/tiny`.
"""


def overview(pages: dict[str, str]) -> str:
    """A line for each page: its title, its address, its first sentence."""
    pieces = [HEAD]
    for folder, title in SECTIONS.items():
        names = sorted(name for name in pages if name.startswith(folder))
        lines = [f"- [{_title(pages[name])}]({_address(name)}): {_summary(pages[name])}" for name in names]
        pieces.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(pieces)


def full_text(pages: dict[str, str]) -> str:
    """The pages that teach and explain, in the order of the list; the reference is left to its own pages."""
    folders = tuple(folder for folder in SECTIONS if folder != "reference/")
    names = [name for folder in folders for name in sorted(pages) if name.startswith(folder)]
    return HEAD + "\n" + "\n\n".join([f"<!-- {name} -->\n\n{_body(pages[name])}" for name in names])


def _body(text: str) -> str:
    """A page without its front matter."""
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).strip()


def _address(name: str) -> str:
    return name.removesuffix("index.md") if name.endswith("index.md") else name.removesuffix(".md") + ".html"


def _title(text: str) -> str:
    match = re.search(r"^# (.+?)(?: \{.*\})?$", _body(text), re.MULTILINE)
    return match[1] if match else ""


def _summary(text: str) -> str:
    """The first sentence of the first paragraph, without links."""
    paragraphs = [part for part in _body(text).split("\n\n") if re.match(r"[\w`*\[]", part)]
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraphs[:1]).replace("\n", " "))
    match = re.match(r".+?[.:?!](?= |$)", prose)
    return match[0] if match else prose
