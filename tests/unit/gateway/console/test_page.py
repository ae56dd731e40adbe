"""The page and its files: who gets them, and what a browser is told to keep to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.console import page
from interlingua.gateway.console.page import FILES, POLICY
from interlingua.gateway.settings import GatewaySettings
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask, header, told
from tests.unit.gateway.console.looking import with_keys

FOLDER = Path(page.__file__).parent / "files"
BROWSER = (("accept", "text/html,application/xhtml+xml,*/*;q=0.8"),)
GREETING = b"interlingua is running\n"


def test_a_browser_gets_the_page_without_a_key() -> None:
    """The page itself says nothing of the gateway; what it may do is bounded by the browser."""
    reply = ask(with_keys(), "/", method="GET", headers=BROWSER)
    assert (reply.status, header(reply, "content-type")) == (200, "text/html; charset=utf-8")
    assert reply.body == (FOLDER / "index.html").read_bytes()
    assert header(reply, "content-security-policy") == POLICY
    assert header(reply, "vary") == "accept"
    assert header(reply, "x-frame-options") == "DENY"
    assert header(reply, "referrer-policy") == "no-referrer"
    assert "access-control-allow-origin" not in dict(reply.headers)
    assert "set-cookie" not in dict(reply.headers)


@pytest.mark.parametrize("headers", [(), (("accept", "*/*"),), (("accept", "application/json"),)])
def test_other_clients_keep_their_sign_of_life(headers: tuple[tuple[str, str], ...]) -> None:
    """What `GET /` said before there was a console."""
    reply = ask(gateway(), "/", method="GET", headers=headers)
    assert (reply.body, header(reply, "content-type")) == (GREETING, "text/plain; charset=utf-8")


@pytest.mark.parametrize("settings", [{"console": False}, {"is_open": True}])
def test_where_it_is_off_nothing_of_it_is_answered(settings: dict[str, Any]) -> None:
    """By a setting, and behind an application that checks its users itself, where nobody knows who looks."""
    made = gateway(**settings)
    assert ask(made, "/", method="GET", headers=BROWSER).body == GREETING
    for path in ("/console/console.js", "/console/live", "/console/targets", "/console/keys"):
        assert told(ask(made, path, method="GET"), 404)["error"]["message"].startswith("the console is off")
    assert ask(made, "/console/sides", {}).status == 404
    assert ask(made, "/console/targets/suspend", {}, (("x-interlingua-console", "1"),)).status == 404


def test_an_application_can_ask_for_it() -> None:
    """Behind an application of which every user may see everything."""
    reply = ask(gateway(is_open=True, console=True), "/", method="GET", headers=BROWSER)
    assert header(reply, "content-type") == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_answered_as_what_it_is(name: str) -> None:
    """With its type, the same policy, and nothing that has a browser guess."""
    reply = ask(with_keys(), f"/console/{name}", method="GET")
    assert (reply.status, header(reply, "content-type")) == (200, FILES[name])
    assert reply.body == (FOLDER / name).read_bytes()
    assert header(reply, "x-content-type-options") == "nosniff"
    assert header(reply, "content-security-policy") == POLICY


@pytest.mark.parametrize("name", ["index.html", "page.py", "../page.py", "..%2fpage.py", "nothing.js", "%00"])
def test_what_is_no_file_of_it_is_not_there(name: str) -> None:
    """The table of files is asked, never the disk."""
    assert ask(gateway(), f"/console/{name}", method="GET").status == 404


def test_every_file_is_in_the_table() -> None:
    """Nothing lies beside the page that is not served."""
    assert {path.name for path in FOLDER.iterdir()} == {"index.html", *FILES}


def test_the_page_is_small_and_loads_nothing_from_elsewhere() -> None:
    """No script or style inline, no address of another host, no way from text to HTML; 64 kB in all."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert sum(len(text.encode()) for text in texts.values()) < 65_536
    html = texts["index.html"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", html)
    for name, text in texts.items():
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", text), name


def test_it_is_off_by_setting_alone() -> None:
    """The default is on, unless the gateway is open."""
    assert GatewaySettings().console is None
