"""A page of another origin in a real Chromium, beside a gateway without keys: it reads nothing and triggers nothing."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import Record
from interlingua.testing import FakeModel, use
from tests.support.browser import Browser, browser
from tests.support.gateway import gateway, serving

DATA = ("/v1/models", "/console/targets", "/console/live", "/openapi.json", "/metrics", "/health/targets", "/v1/files")
PAGE = b"<!doctype html><title>elsewhere</title><body>"


class _Elsewhere(BaseHTTPRequestHandler):
    """Serves an empty page."""

    def do_GET(self) -> None:
        """The page, whatever is asked."""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def _elsewhere() -> Generator[int]:
    """The port of a server whose pages are of another origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """One browser for all tests of this file."""
    with browser() as opened:
        yield opened


_READ = """(async (url, mode) => { try { const r = await fetch(url, {mode}); return r.type + (await r.text()).length }
  catch (e) { return 'kept' } })(%r, %r)"""
_LOADED = """new Promise(done => { const one = document.createElement(%r); one.onload = () => done('loaded');
  one.onerror = () => done('failed'); one.src = %r; document.body.append(one); })"""
_POSTS = """(async url => {
  const body = JSON.stringify({model: 'fake/model', messages: [{role: 'user', content: 'Hi'}]});
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
    await fetch(url, {method: 'POST', mode: 'no-cors', headers: {'content-type': type}, body}).catch(() => {});
  await fetch(url, {method: 'POST', body}).catch(() => {});
  navigator.sendBeacon(url, new Blob([body], {type: 'text/plain'}));
  const frame = document.createElement('iframe'), form = document.createElement('form'); frame.name = 'into';
  Object.assign(form, {method: 'post', action: url, enctype: 'text/plain', target: 'into'});
  const field = document.createElement('input'); field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}';
  form.append(field); document.body.append(frame, form);
  await new Promise(done => { frame.onload = done; form.submit(); }); })(%r)"""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_sec_06_a_page_elsewhere_reads_and_triggers_nothing(chromium: Browser, host: str) -> None:
    """Of another site, and of another port of the same: by fetch, picture, script, frame, form and beacon."""
    records: list[Record] = []
    made = gateway(aliases={"smart": "fake/model"}, providers=("openai",), observing=Observing(metrics="keys"))
    made.recorder.sinks = (*made.recorder.sinks, records.append)
    model = FakeModel("secret words")
    with use(model), serving(made) as url, _elsewhere() as port:
        page = chromium.page(f"http://{host}:{port}/")
        for path in DATA:
            assert page.value(_READ % (f"{url}{path}", "cors")) == "kept"
            assert page.value(_READ % (f"{url}{path}", "no-cors")) == "opaque0"
            assert page.value(_LOADED % ("img", f"{url}{path}")) == "failed"
            assert page.value(_LOADED % ("script", f"{url}{path}")) == "failed"
            page.value(_LOADED % ("iframe", f"{url}{path}"))
        page.value(_POSTS % f"{url}/v1/chat/completions")
        page.wait("document.querySelector('iframe[name=into]')")
        own = chromium.page(f"{url}/#live")  # the address itself, opened by a person
        own.wait("!document.querySelector('#live').hidden && document.querySelector('#link').innerText === 'connected'")
        assert own.value(_READ % (f"{url}/v1/models", "cors")).startswith("basic")
    assert model.requests == []
    foreign = [record for record in records if record.path in DATA or record.method in ("POST", "OPTIONS")]
    served = {record.path for record in foreign if record.status != 403}
    assert served == {"/console/live", "/v1/models"}  # what the gateway's own page asked for
    refused = [record.path for record in foreign if record.status == 403]
    assert all(refused.count(path) >= 5 for path in DATA)
    assert refused.count("/v1/chat/completions") >= 5
