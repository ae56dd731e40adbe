"""The page of the scoreboard: totals, pairs, and a line of evidence for each failure."""

from __future__ import annotations

import pytest

from interlingua.wire.http import HttpRequest
from scoreboard.judges import Score, clean
from scoreboard.page import Cell, Result, page
from scoreboard.stage import CONTESTANTS, MODELS, Stage


def lines(*results: Result) -> list[str]:
    """The tables of a page of these results."""
    return [line for line in page(list(results), 200.0).splitlines() if line.startswith("| gate")]


def test_a_page_counts_what_was_made_and_shows_each_failure() -> None:
    """What is not offered counts for nothing; checks of one evidence share a row."""
    failures = [("text, whole", "status 500: a|b `c`"), ("text, streamed", "status 500: a|b `c`"), ("image", "none")]
    scores = {"conformance": Score(15, 18, failures), "streams": Score(0, 1, [("a whole stream", "x")], "no stream")}
    cells = [Cell("anthropic", "openai-chat", scores), Cell("openai-chat", "google", {}, "not offered: status 404: no")]
    told = page([Result("gate", "1.0", "as it comes", cells, "A note.")], 200.0)
    assert "in 3 minutes" in told
    assert "### gate\n\nA note.\n\n| client" in told
    assert [line for line in told.splitlines() if line.startswith(("| gate", "| openai-chat", "| google"))] == [
        "| gate | 1.0 | 15 of 18 | – | 0 of 1 | 1 of 2 | as it comes |",
        "| gate | openai-chat | anthropic | 15 of 18 | – | 0 of 1 |",
        "| gate | google | openai-chat | not offered | not offered | not offered |",
        "| openai-chat | anthropic | conformance | text, whole; text, streamed | `status 500: a¦b 'c'` |",
        "| openai-chat | anthropic | conformance | image | `none` |",
        "| openai-chat | anthropic | streams |  | no stream |",
        "| openai-chat | anthropic | streams | a whole stream | `x` |",
        "| google | openai-chat |  |  | `not offered: status 404: no` |",
    ]


def test_what_cannot_be_had_is_said() -> None:
    """A contestant without pairs has its reason, and no figures."""
    told = page([Result("gate", "not installed", "as it comes", [], "Not judged: npm is not installed.")], 1.0)
    assert "| gate | not installed | – | – | – | 0 of 0 | as it comes |" in told
    assert told.endswith("### gate\n\nNot judged: npm is not installed.\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Connection to 127.0.0.1:36575  failed\n", "Connection to 127.0.0.1:PORT failed"),
        ("msg_e1656cca-dbfa-490f-bd99-0b6fe1d37175", "msg_ID"),
        ('File "/a/b/lib/site-packages/litellm/main.py"', 'File "…/main.py"'),
        ("x" * 300, "x" * 239 + "…"),
    ],
)
def test_evidence_is_one_line_that_stays_the_same(text: str, line: str) -> None:
    """Without ports, random ids and folders of the machine."""
    assert clean(text) == line


def test_the_stage_is_every_provider_by_its_path() -> None:
    """A right request is answered, another key or model is refused, and what nobody knows is a 404."""
    stage = Stage()
    body = b'{"model":"%s","messages":[{"role":"user","content":"Hi"}],"max_tokens":9}'
    asked = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages"}
    headers = (("content-type", "application/json"), ("anthropic-version", "2023-06-01"), ("authorization", "Bearer k"))
    for dialect, path in asked.items():
        for model, status in ((MODELS[dialect], 200), ("no-such-model", 404)):
            url = f"http://up.invalid{path}"
            request = HttpRequest(method="POST", url=url, headers=headers, body=body % model.encode())
            assert stage.answer(request).status == status
    assert stage.answer(HttpRequest(method="GET", url="http://up.invalid/v1/models")).status == 200
    assert stage.answer(HttpRequest(method="GET", url="http://up.invalid/health")).status == 404


def test_ours_stands_in_the_same_table() -> None:
    """First, before the same upstreams as the others."""
    assert list(CONTESTANTS) == ["interlingua", "litellm", "llm-rosetta", "portkey", "ferrogw", "smg", "llama.cpp"]
    assert CONTESTANTS["interlingua"].models == CONTESTANTS["litellm"].models
