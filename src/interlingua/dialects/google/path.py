"""The path of a request: it names the model, and what is asked of it.

Rules
- The model stands after `/models/`. The JavaScript SDKs leave `models/` out where a model's name has a slash:
  `/v1beta/provider/model:generateContent`.
- A tuned model keeps its `tunedModels/`. Of what Vertex AI writes before `models/` the publisher counts, unless it is
  Google: its SDK makes `publishers/openai/models/gpt-5.6` of the model `openai/gpt-5.6`.
Source: `@ai-sdk/google`, `@google/genai`, langchain.js, November 2026.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["GooglePath", "read_path"]

_METHOD = re.compile(r"(?::|%3[Aa])(\w+)$")
_BEFORE = re.compile(r"/(?:models|(tunedModels)|v1[a-z0-9]*(?!/(?:models|tunedModels|projects|publishers)/))/")
"""The path before the name of a model."""
_PUBLISHER = re.compile(r"/publishers/([^/]+)/$")


class GooglePath(NamedTuple):
    """The model and the method in the path of a request."""

    model: str
    """The model that is asked."""
    method: str
    """The method, such as `generateContent`."""
    query: str
    """The query."""

    @property
    def streams(self) -> bool:
        """Whether a stream is asked for."""
        return self.method == "streamGenerateContent"

    @property
    def json_array(self) -> bool:
        """Whether a stream comes as one JSON array."""
        return self.streams and "alt=sse" not in self.query.split("&")


def read_path(url: str) -> GooglePath | None:
    """The model and the method in a path, with its query, says; None where it names no model."""
    path, _, query = url.partition("#")[0].partition("?")
    method = _METHOD.search(path)
    before = _BEFORE.search(path)
    if method is None or before is None or before.end() >= method.start():
        return None
    name = unquote(path[before.end() : method.start()])
    publisher = _PUBLISHER.search(path[: before.start() + 1])
    if publisher is not None and publisher[1] != "google":
        name = f"{unquote(publisher[1])}/{name}"
    return GooglePath(f"{before[1]}/{name}" if before[1] else name, method[1], query)
