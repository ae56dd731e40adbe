"""The built site in a real browser, without a server: `make docs` builds it and runs this file.

A person who has never seen it finds each task: its page is at most three clicks from the landing page, and the site's
own search puts it first.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from tests.contract.source import ROOT
from tests.support.browser import Page, browser

SITE = ROOT / "build" / "site"
TERMS = {
    "fallback": "how-to/fallback",
    "load balancing": "how-to/load-balancing",
    "retry and timeout": "how-to/retry-timeout",
    "rate limit": "how-to/rate-limit",
    "budget per team": "how-to/budget-per-team",
    "virtual keys": "how-to/virtual-keys",
    "circuit breaker": "how-to/circuit-breaker",
    "structured output from a PDF": "how-to/structured-output-pdf",
    "function calling": "how-to/function-calling",
    "streaming to React": "how-to/streaming-react",
    "cost of a call": "how-to/cost-of-a-call",
    "prompt caching": "how-to/prompt-caching",
    "embeddings": "guides/embeddings",
    "batch at half price": "how-to/batch",
    "local model": "how-to/local-model",
    "MCP server": "how-to/mcp-server",
    "human approval": "how-to/human-approval",
    "switch provider in a conversation": "how-to/switch-provider",
    "Claude Code on GPT": "how-to/claude-code",
    "replace LiteLLM proxy": "how-to/replace-litellm-proxy",
    "tests without network": "how-to/tests-without-network",
    "tracing with Langfuse": "how-to/tracing",
    "guardrail hook": "how-to/guardrail-hook",
    "Docker and Kubernetes": "how-to/docker-kubernetes",
    "a provider of my own": "how-to/own-provider",
    "Django": "how-to/django",
    "Celery": "how-to/celery",
    "AWS Lambda": "how-to/aws-lambda",
    "Slack bot": "how-to/slack-bot",
    "RAG": "how-to/rag",
    "failover": "how-to/fallback",
}
"""The words that people search for, and the page of each."""
RESULTS = "[...document.querySelectorAll('.md-search-result__item > a')].map(a => a.getAttribute('href'))"
SCREEN = 900
"""The height of a screen, in pixels."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """The landing page, opened from its file."""
    if not (SITE / "index.html").is_file():
        pytest.skip("the site is not built: make docs")
    with browser() as opened:
        page = opened.page((SITE / "index.html").as_uri())
        page.size(1280, SCREEN)
        yield page


def test_the_search_finds_each_term_first(page: Page) -> None:
    """The first result of the site's own search, offline, is the page of the term."""
    page.open((SITE / "index.html").as_uri())
    page.click("label[for=__search]")
    first = {term: _search(page, term) for term in TERMS}
    wrong = {term: found for term, found in first.items() if TERMS[term] not in found[:1]}
    assert not wrong, json.dumps(wrong, indent=1)


def _search(page: Page, words: str) -> list[str]:
    """The pages of the first results, best first."""
    page.fill(".md-search__input", "")
    page.value("document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))")
    page.wait("document.querySelectorAll('.md-search-result__item').length === 0")
    page.fill(".md-search__input", words)
    page.value("document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))")
    page.wait("document.querySelectorAll('.md-search-result__item').length > 0")
    links: list[str] = page.value(RESULTS)
    return [re.sub(r"^.*/build/site/", "", link.partition("?")[0].partition("#")[0])[:-5] for link in links[:4]]


def _links(path: Path) -> set[Path]:
    """The pages that a page links to, its navigation included."""
    text = path.read_text(encoding="utf-8")
    hrefs: list[str] = re.findall(r'href="?([^"\s>]+)', text)
    targets = [unquote(urldefrag(link).url) for link in hrefs]
    return {(path.parent / target).resolve() for target in targets if target.endswith(".html") and ":" not in target}


def test_each_term_is_three_clicks_away(page: Page) -> None:
    """From the landing page, by links alone."""
    start = (SITE / "index.html").resolve()
    clicks = {start: 0}
    waiting = deque([start])
    while waiting:
        path = waiting.popleft()
        for link in sorted(_links(path) - clicks.keys()):
            assert link.is_file(), f"{path} links to {link}"
            clicks[link] = clicks[path] + 1
            waiting.append(link)
    goals = {term: (SITE / f"{name}.html").resolve() for term, name in TERMS.items()}
    assert {term for term, goal in goals.items() if clicks.get(goal, 99) > 3} == set()


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    """No font, script, style or picture of a page has a host, so that the site works without a network."""
    outside = {
        f"{path.relative_to(SITE)}: {link}"
        for path in SITE.rglob("*.html")
        for link in re.findall(
            r"<(?:link|script|img|source)\b[^>]*?(?:src|href)=\"?(https?://[^\"\s>]+)", path.read_text("utf-8")
        )
        if "rel=canonical" not in link
    }
    assert outside == set()


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_their_screen(page: Page, width: int, scheme: str) -> None:
    """No page is wider than the window, and none reports a problem, on a desktop and on a phone, light and dark."""
    page.size(width, SCREEN)
    page.prefer(scheme)
    page.open((SITE / "index.html").as_uri())
    page.value("localStorage.clear()")  # a person who comes for the first time
    page.problems.clear()
    wide: dict[str, int] = {}
    for name in (
        "index",
        "learn/index",
        "how-to/index",
        "how-to/tracing",
        "how-to/fallback",
        "guides/keys",
        "compare/index",
    ):
        page.open((SITE / f"{name}.html").as_uri())
        if (over := int(page.value("document.documentElement.scrollWidth - window.innerWidth"))) > 0:
            wide[name] = over
    assert wide == {}
    assert page.problems == []
    is_light = page.value("document.body.getAttribute('data-md-color-scheme')") == "default"
    assert is_light == (scheme == "light")


def test_the_first_block_is_within_two_screens(page: Page) -> None:
    """A page that teaches shows something to run before two screens have gone by."""
    page.size(1280, SCREEN)
    late: dict[str, int] = {}
    for path in [
        SITE / "index.html",
        *sorted((SITE / "learn").glob("*.html")),
        *sorted((SITE / "how-to").glob("*.html")),
    ]:
        if path.name == "index.html" and path.parent.name == "how-to":
            continue
        page.open(path.as_uri())
        top = page.value("document.querySelector('.md-content pre')?.getBoundingClientRect().top ?? 9999")
        if top > 2 * SCREEN:
            late[json.dumps(path.name)] = int(top)
    assert late == {}


def test_pages_read_easily(page: Page) -> None:
    """The grade of each page, measured now, is below its bar."""
    python = ROOT / ".venv-docs" / "bin" / "python"
    command = [python, "-m", "website.readability", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr
