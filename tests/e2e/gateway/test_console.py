"""The console in a headless Chromium: what a person sees, with keyboard alone, and what nobody can make the page do."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from openai import APIStatusError, OpenAI

from interlingua.client.state import forget_state
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.records.record import Record
from interlingua.gateway.settings import GatewayKey
from interlingua.testing import FakeModel, faults, use
from interlingua.testing.upstream import Upstream
from tests.support.browser import Browser, Page, browser
from tests.support.gateway import gateway, serving
from tests.support.local_model import weights_or_skip

ALIASES = {"smart": "fake/model,fake/second"}
SECTIONS = ("live", "targets", "sides", "keys", "try")
XSS = "<img src=x onerror=document.title='owned'>"
KEYS = (
    GatewayKey(name=f"boss {XSS}", hash=hash_key("boss-key"), team=XSS),
    GatewayKey(name="team-a", hash=hash_key("a-key"), models=("smart", XSS)),
)


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """One browser for all tests of this file."""
    with browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    forget_state()
    yield
    forget_state()


def _client(url: str, key: str = "any") -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


def _ask(url: str, model: str = "smart", key: str = "any", *, stream: bool = False) -> None:
    messages: Any = [{"role": "user", "content": "Say hello."}]
    with _client(url, key) as client:
        answer: Any = client.chat.completions.create(model=model, messages=messages, stream=stream)
        if stream:
            assert [*answer]


def _enter(chromium: Browser, url: str, section: str = "live") -> Page:
    page = chromium.page(f"{url}/#{section}")
    page.wait(f"!document.querySelector('#{section}').hidden")
    return page


def _focused(page: Page) -> str:
    return str(page.value("(({id, hash, innerText}) => id || hash || innerText)(document.activeElement)"))


def test_requests_of_the_official_sdk_appear_while_they_come(chromium: Browser) -> None:
    """Whole, streamed and refused ones, with dialect, target, status, tokens and times; nothing is complained of."""
    with serving(aliases=ALIASES) as url:
        page = _enter(chromium, url)
        assert page.text("#live-empty").startswith("No requests yet.")
        _ask(url)
        page.wait("document.querySelectorAll('#live-rows tr').length === 1")
        _ask(url, stream=True)
        with pytest.raises(APIStatusError):
            _ask(url, "nobody/at-all")
        page.wait("document.querySelectorAll('#live-rows tr').length === 3")
        assert page.text("#link") == "connected"
        refused, streamed, whole = page.value("[...document.querySelectorAll('#live-rows tr')].map(r => r.innerText)")
    assert re.search(r"openai-chat\s+/v1/chat/completions\s+smart\s+fake/model\s+200\s+\d+\s+\d+", whole)
    assert re.search(r"200\s+\d+\s+\d+.*\d m?s\s+\d+ m?s", streamed, re.DOTALL)
    assert "404" in refused
    assert page.problems == []


def test_a_request_under_way_is_shown_before_it_ends(chromium: Browser) -> None:
    """As streaming, with its clock running; then with its end, and what was tried."""
    with faults({"*": "drip:60"}, pace_s=0.3), serving(aliases=ALIASES) as url, ThreadPoolExecutor(1) as pool:
        page = _enter(chromium, url)
        asking = pool.submit(_ask, url, stream=True)
        page.wait("document.querySelector('#live-rows .pill')?.innerText === 'streaming'")
        assert page.text("#sum-now") == "1"
        asking.result(20)
        page.wait("document.querySelector('#live-rows .pill')?.innerText === '200'")
        assert page.text("#sum-now") == "0"
        page.click("#live-rows button")
        assert page.value("document.querySelector('#one').open")
        assert "fake/model" in page.text("#one-facts")
        assert page.text("#one-attempts").startswith("served")
        assert page.text("#one-changes") == ""
    assert page.problems == []


def test_what_was_changed_is_told_without_words(chromium: Browser) -> None:
    """Of a translated request, what was added and where; not what was said."""
    target = "anthropic/claude-opus-4-5"
    with Upstream("anthropic", "Hello.").standing(), serving(aliases={"smart": target}) as url:
        page = _enter(chromium, url)
        _ask(url)
        page.wait("document.querySelector('#live-rows .pill')?.innerText === '200'")
        page.click("#live-rows button")
        assert page.text("#one-changes").split() == ["approximated", "parameter", "added", "/max_tokens"]
        assert target in page.text("#one-facts")
        assert "hello" not in page.text("#one").lower()
    assert page.problems == []


def test_a_key_is_asked_for_and_kept_in_the_tab_alone(chromium: Browser) -> None:
    """A wrong one says so; the right one is sent as a header, so that no address, cookie or other tab has it."""
    with serving(aliases=ALIASES, keys=KEYS, operators=(KEYS[0].name,)) as url:
        page = chromium.page(f"{url}/")
        page.wait("!document.querySelector('#door').hidden")
        page.wait("document.activeElement.id === 'door-key'")
        page.fill("#door-key", "wrong")
        page.press("Enter")
        page.wait("document.querySelector('#door-problem').innerText")
        assert page.text("#door-problem") == "this key is not known here"
        page.fill("#door-key", "a-key")
        page.press("Enter")
        page.wait("!document.querySelector('#live').hidden")
        assert page.text("#link") == "team-a"
        assert page.value("!document.querySelector('#live-own').hidden")
        assert page.value("[document.cookie, localStorage.length, location.search]") == ["", 0, ""]
        assert page.value("sessionStorage.getItem('interlingua-key')") == "a-key"
        other = chromium.page(f"{url}/")
        other.wait("!document.querySelector('#door').hidden")
        page.click("#leave")
        page.wait("!document.querySelector('#door').hidden")
        assert page.value("sessionStorage.length") == 0
    refusals = [problem for problem in page.problems if "401" not in problem]
    assert refusals == []


def test_a_form_streams_from_any_model(chromium: Browser) -> None:
    """Word by word, with who answered and how long it took; a failure is a sentence."""
    model = FakeModel("one two three four five six")
    with use(model), faults({"fake/*": "drip:60"}, pace_s=0.02), serving(aliases=ALIASES) as url:
        page = _enter(chromium, url, "try")
        page.wait("document.querySelector('#try-model').value === 'smart'")
        page.value(
            "window.seen = []; new MutationObserver(() => seen.push(document.querySelector('#try-answer').innerText))"
            ".observe(document.querySelector('#try-answer'), {childList: true})"
        )
        page.fill("#try-prompt", "Say hello.")
        page.click("#try-send")
        page.wait("document.querySelector('#try-facts').innerText.includes('Total')")
        answer, facts = page.text("#try-answer"), page.text("#try-facts")
        grown = [text for text in page.value("window.seen") if text]
        assert len(set(grown)) > 1
        assert all(answer.startswith(text) for text in grown)
        assert answer == "one two three four five six"
        assert "fake/model" in facts
        assert re.search(r"Tokens\s+\d+ in, \d+ out", facts)
    with serving(aliases=ALIASES) as url:
        page = _enter(chromium, url, "try")
        page.fill("#try-model", "nobody/at-all")
        page.fill("#try-prompt", "Say hello.")
        page.click("#try-send")
        page.wait("document.querySelector('#try-problem').innerText")
        assert "nobody" in page.text("#try-problem")
    assert [problem for problem in page.problems if "404" not in problem] == []


def test_it_works_with_the_embedded_model(chromium: Browser) -> None:
    """A real model in the gateway's own process, streamed into the page."""
    weights_or_skip("tiny")
    with serving() as url:
        page = _enter(chromium, url, "try")
        page.fill("#try-model", "local/tiny")
        page.fill("#try-most", "12")
        page.fill("#try-prompt", "Say hello.")
        page.click("#try-send")
        page.wait("document.querySelector('#try-facts').innerText.includes('Total')", 60)
        assert page.text("#try-answer").strip()
        assert "local/tiny" in page.text("#try-facts")
        page.value("location.hash = '#live'")
        page.wait("document.querySelector('#live-rows')?.innerText.includes('local/tiny')")
    assert page.problems == []


def test_one_request_in_every_dialect(chromium: Browser) -> None:
    """The example is translated into eight, with what changes; text that is not JSON is a sentence."""
    with serving(aliases=ALIASES) as url:
        page = _enter(chromium, url, "sides")
        page.click("#sides-form button")
        page.wait("document.querySelectorAll('#sides-request .side').length === 8")
        assert "input_schema" in page.text("#sides-request [aria-label=anthropic] pre")
        assert "functionDeclarations" in page.text("#sides-request [aria-label=google] pre")
        assert "max_tokens" in page.text("#sides-request [aria-label=anthropic] ul")
        page.wait("document.querySelector('#sides-plan').innerText.includes('fake/second')")
        for dialect, has_field in (("bedrock", True), ("google", True), ("cohere", False)):
            page.value(f"document.querySelector('#sides-dialect').value = '{dialect}'")
            page.value("document.querySelector('#sides-dialect').dispatchEvent(new Event('change'))")
            assert page.value("document.querySelector('#sides-model-field').hidden") is not has_field
        page.fill("#sides-body", "{")
        page.click("#sides-form button")
        page.wait("document.querySelector('#sides-problem').innerText")
    assert page.text("#sides-problem").startswith("This is not JSON")
    assert page.problems == []


def test_a_kept_request_and_its_answer_in_every_dialect(chromium: Browser) -> None:
    """Where content is captured, from the request's own row."""
    with serving(aliases=ALIASES, console_content=True) as url:
        page = _enter(chromium, url)
        _ask(url)
        page.wait("document.querySelector('#live-rows .pill')?.innerText === '200'")
        page.click("#live-rows button")
        page.click("#one-sides")
        page.wait("document.querySelectorAll('#sides-answer .side').length === 8")
        assert "Say hello." in page.text("#sides-request [aria-label=google] pre")
        assert page.text("#sides-request .side h3 .pill") == page.text("#sides-answer .side h3 .pill") == "unchanged"
        body = "document.querySelector('#sides-body').value"
        assert page.value(f"JSON.parse({body}).messages[0].content") == "Say hello."
        page.wait("document.querySelectorAll('#sides-plan li').length === 2")
    assert page.problems == []


def test_keys_and_what_they_have_used_are_shown(chromium: Browser) -> None:
    """Limits, requests and tokens; what nobody has a price for is told beside the cost, and no dollar is made up."""
    keys = (
        GatewayKey(name="boss", hash=hash_key("boss-key")),
        GatewayKey(name="team-a", hash=hash_key("a-key"), team="red", models=("smart",), terms=Terms(rpm=60)),
    )
    with serving(aliases=ALIASES, keys=keys, operators=("boss",)) as url:
        for _ in range(2):
            _ask(url, key="a-key")
        page = chromium.page(f"{url}/#keys")
        page.wait("!document.querySelector('#door').hidden")
        page.fill("#door-key", "boss-key")
        page.press("Enter")
        page.wait("document.querySelectorAll('#keys-rows tr').length === 2")
        cells = page.value(
            "[...document.querySelectorAll('#keys-rows tr:nth-child(2) td')].map(cell => cell.innerText)"
        )
    assert cells == [
        "team-a",
        "red",
        "smart",
        "60 requests/min\n2 used",
        "works",
        "2",
        "30",
        "46",
        "–\n2 without a price",
    ]


def test_limits_have_bars_and_a_revoked_key_its_use(chromium: Browser, tmp_path: Path) -> None:
    """A bar for each limit that is counted, warning from four fifths on; what a revoked key has used stays its own."""
    database = KeyDatabase(tmp_path / "keys.sqlite", now=time.time)
    budgets = (read_budget("40 tokens"), read_budget("1M tokens/day"))
    database.create(GatewayKey(name="old", hash=hash_key("old-key")))
    database.create(GatewayKey(name="new", hash=hash_key("new-key"), terms=Terms(rpm=10, budgets=budgets)))
    boss = GatewayKey(name="boss", hash=hash_key("boss-key"))
    with serving(aliases=ALIASES, keys=(boss,), operators=("boss",), key_file=str(tmp_path / "keys.sqlite")) as url:
        _ask(url, key="old-key")
        database.revoke("old")
        with _client(url, "new-key") as client:
            hello: Any = [{"role": "user", "content": "Say hello."}]
            client.chat.completions.create(model="smart", messages=hello, max_tokens=25)
        page = chromium.page(f"{url}/#keys")
        page.wait("!document.querySelector('#door').hidden")
        page.fill("#door-key", "boss-key")
        page.press("Enter")
        page.wait("document.querySelector('#keys-rows').innerText.match(/38 used/g)?.length === 2")  # it looks again
        page.wait("document.querySelector('#keys-rows').innerText.match(/revoked/)")
        rows = page.value("[...document.querySelectorAll('#keys-rows tr')].map(row => row.innerText)")
        bars = page.value("[...document.querySelectorAll('progress')].map(one => [one.className, one.value, one.max])")
        since = page.text("#keys-note")
    database.close()
    assert bars == [["", 1, 10], ["warn", 38, 40], ["", 38, 1_000_000]]
    old, new, boss_row = rows[1], rows[0], rows[2]
    assert boss_row.startswith("boss")
    assert re.search(r"revoked\s+\d{4}-\d\d-\d\d \d\d:\d\d UTC\s+1\s+15\s+23", old)
    assert re.match(r"new\s+any\s+10 requests/min\s", new)
    assert "40 tokens\n38 used" in new
    assert re.fullmatch(r"Usage since \d{4}-\d\d-\d\d 00:00 UTC\.", since)
    assert [problem for problem in page.problems if "401" not in problem] == []


def test_what_failover_saved_or_lost_is_marked(chromium: Browser) -> None:
    """With who answered and who did not; an alias says how its targets are drawn; totals say since when they count."""
    aliases = {"saved": "fake/bad,fake/good", "lost": "fake/bad,fake/worse", "plain": "fake/good"}
    made = gateway(aliases=aliases)
    made.registry.register_alias("drawn", "fake/good,fake/second", policy="weighted", weights=(3, 1))
    with faults({"fake/bad": "500", "fake/worse": "500"}), serving(made) as url:
        page = _enter(chromium, url)
        _ask(url, "plain")
        _ask(url, "saved")
        with pytest.raises(APIStatusError):
            _ask(url, "lost")
        page.wait("document.querySelector('#sum-done').innerText === '3'")
        lost, saved, plain = page.value("[...document.querySelectorAll('#live-rows tr')].map(row => row.innerText)")
        ended, bad, tokens, since = [page.text(f"#sum-{name}") for name in ("done", "bad", "tokens", "since")]
        page.value("location.hash = '#targets'")
        page.wait("document.querySelectorAll('#aliases li').length === 4")
        names = page.text("#aliases").splitlines()
    assert re.search(r"lost\s+tried fake/bad, fake/worse\s+502 no target left", lost)
    assert re.search(r"saved\s+fake/good, after fake/bad\s+200 saved by failover", saved)
    assert re.search(r"plain\s+fake/good\s+200\s", plain)
    assert "failover" not in plain
    assert (ended, bad, tokens) == ("3", "1", "30 / 46")
    assert re.fullmatch(r"Totals since \d\d:\d\d:\d\d\.", since)
    assert names == [
        "drawn → 75\N{NO-BREAK SPACE}% fake/good, 25\N{NO-BREAK SPACE}% fake/second (weighted)",
        "lost → fake/bad, then fake/worse",
        "plain → fake/good",
        "saved → fake/bad, then fake/good",
    ]
    assert page.problems == []


def test_totals_go_on_where_rows_end(chromium: Browser) -> None:
    """Rows are the last 300; what they came to is everything since the page began to look."""
    made = gateway(aliases=ALIASES)
    with serving(made) as url:
        page = _enter(chromium, url)
        for batch in range(4):
            for number in range(90):
                made.feed.take(Record(id=f"r{batch}-{number}", at=1e9, status=200, input_tokens=2, output_tokens=1))
            page.wait(f"document.querySelector('#sum-done').innerText === '{90 * (batch + 1)}'")
        assert page.value("document.querySelectorAll('#live-rows tr').length") == 300
        assert page.text("#sum-tokens") == "720 / 360"
        clock = page.value("new Date(1e12).toLocaleTimeString('en-GB')")
        assert page.text("#sum-since") == f"Totals since {clock}."
    assert page.problems == []


def test_a_target_is_taken_out_and_put_back(chromium: Browser) -> None:
    """The chain's other one answers in between; who is no operator has no button."""
    with serving(aliases=ALIASES) as url:
        page = _enter(chromium, url, "targets")
        page.wait("document.querySelectorAll('#targets-rows tr').length === 2")
        page.click("#targets-rows button")
        page.wait("document.querySelector('#targets-rows tr').innerText.includes('suspended')")
        assert (
            _client(url)
            .chat.completions.with_raw_response.create(model="smart", messages=[{"role": "user", "content": "Hi"}])
            .headers["x-interlingua-target"]
            == "fake/second"
        )
        page.click("#targets-rows button")
        page.wait("document.querySelector('#targets-rows tr').innerText.includes('closed')")
    assert page.problems == []


def test_what_others_wrote_stays_text(chromium: Browser) -> None:
    """A model's name, a key's, a team's, an answer and a path that are HTML: read as they are, run by nobody."""
    with use(FakeModel(XSS)), serving(aliases={"smart": "fake/model", XSS: "fake/model"}, keys=KEYS[:1]) as url:
        page = chromium.page(f"{url}/")
        page.wait("!document.querySelector('#door').hidden")
        page.fill("#door-key", "boss-key")
        page.press("Enter")
        page.wait("!document.querySelector('#live').hidden")
        _ask(url, XSS, "boss-key")
        page.wait("document.querySelectorAll('#live-rows tr').length === 1")
        assert XSS in page.text("#live-rows")
        page.click("#live-rows button")
        assert XSS in page.text("#one-facts")
        page.press("Escape")
        for section, place in (("keys", "#keys-rows"), ("targets", "#aliases")):
            page.value(f"location.hash = '#{section}'")
            page.wait(f"document.querySelector({place!r}).innerText.includes('onerror')")
        page.value("location.hash = '#try'")
        page.wait("document.querySelector('#try-model').value")  # the first of the names, once they are there
        page.value("document.querySelector('#try-model').value = ''")
        page.fill("#try-model", XSS)
        page.fill("#try-prompt", "Hi")
        page.click("#try-send")
        page.wait("document.querySelector('#try-facts').innerText.includes('Total')")
        assert (page.text("#try-problem"), page.text("#try-answer")) == ("", XSS)
        assert page.value("[document.title, document.querySelectorAll('main img, main script').length]") == [
            "interlingua gateway", 0,
        ]  # fmt: skip
    assert [problem for problem in page.problems if "401" not in problem] == []


def test_the_browser_itself_keeps_texts_from_becoming_html(chromium: Browser) -> None:
    """Were the page to try it: no HTML from a text, no inline script, nothing from another address."""
    with serving() as url:
        page = _enter(chromium, url)
        tried = (
            """(() => { try { document.body.innerHTML = '<b>x</b>'; return 'done' } catch (e) { return e.name } })()"""
        )
        assert page.value(tried) == "TypeError"
        assert page.value("fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'kept')") == "kept"
        assert any("Content Security Policy" in problem for problem in page.problems)


def test_everything_is_reached_by_keyboard_and_focus_is_seen(chromium: Browser) -> None:
    """Past the skip link through the sections; Enter opens a request, Escape closes it, and focus is where it was."""
    with serving(aliases=ALIASES) as url:
        page = chromium.page(f"{url}/")
        page.wait("document.querySelector('#link').innerText === 'connected'")
        _ask(url)
        page.wait("document.querySelectorAll('#live-rows tr').length === 1")
        order: list[str] = []
        for _ in range(9):
            page.press("Tab")
            order.append(_focused(page))
            outline = page.value("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", order
        assert order[:8] == ["skip", "#live", "#targets", "#sides", "#keys", "#try", "live-filter", "live-hold"]
        assert re.fullmatch(r"\d\d:\d\d:\d\d", order[8])
        page.press("Enter")
        page.wait("document.querySelector('#one').open")
        page.press("Escape")
        page.wait("!document.querySelector('#one').open")
        assert _focused(page) == order[8]
        page.press("Tab", times=6, shift=True)
        page.press("Enter")
        page.wait("location.hash === '#targets' && document.activeElement.id === 'targets-title'")
        assert page.value("document.querySelector('nav [aria-current]').hash") == "#targets"
        landmarks = "['header', 'nav[aria-label]', 'main', 'footer'].every(name => document.querySelector(name))"
        assert page.value(landmarks)
    assert page.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_and_is_light_or_dark_as_is_preferred(chromium: Browser, scheme: str, width: int) -> None:
    """Nothing wider than the window, texts with a contrast of 4.5 at least, in every section."""
    with serving(aliases={**ALIASES, "a-name-that-is-long-" * 6: "fake/model"}, console_content=True) as url:
        page = _enter(chromium, url)
        page.size(width)
        page.prefer(scheme)
        _ask(url, "a-name-that-is-long-" * 6)
        with pytest.raises(APIStatusError):
            _ask(url, "nobody/" + "x" * 80)
        page.wait("document.querySelectorAll('#live-rows tr').length === 2")
        for section in SECTIONS:
            page.value(f"location.hash = '#{section}'")
            page.wait(f"!document.querySelector('#{section}').hidden")
            if section == "sides":
                page.click("#sides-form button")
                page.wait("document.querySelectorAll('#sides-request .side').length === 8")
            assert page.value("document.documentElement.scrollWidth") <= width, section
            assert page.value(_BROKEN) == [], section
            assert page.value(_FAINTEST) >= 4.5, section
        red, green, blue = page.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (red + green + blue > 600) == (scheme == "light")
        assert struct.unpack(">II", page.picture()[16:24]) == (width, 800)
    assert page.problems == []


_BROKEN = """(() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('pre, code, textarea, .unseen')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z0-9]{2,22}/g)) {
      const range = document.createRange();
      range.setStart(node, index); range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(one => one.width > 1).map(one => Math.round(one.top)));
      if (tops.size > 1 && !node.data.match(/[A-Za-z0-9]{23}/)) found.push(word);
    }
  }
  return found;
})()"""
"""Words that stand in two lines, of those that are short enough for one."""
_FAINTEST = """(() => {
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const colour = text => text.match(/[\\d.]+/g).map(Number);
  const behind = one => { for (; one; one = one.parentElement) {
    const found = colour(getComputedStyle(one).backgroundColor); if (found.length < 4 || found[3] === 1) return found; }
    return [255, 255, 255]; };
  const contrast = one => { const [a, b] = [light(colour(getComputedStyle(one).color)), light(behind(one))];
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
  const shown = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() && !one.disabled &&
    [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  return Math.min(...shown.map(contrast));
})()"""
