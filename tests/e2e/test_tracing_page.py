"""The settings of `docs/how-to/tracing.md`: its program, run with each of them, sends a span as the vendor wants it.

Only host and port are others: no test reaches a vendor's, so a receiver on loopback stands in their place.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from base64 import b64encode
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.contract.source import ROOT
from tests.support.collector import collector

PAGE = (ROOT / "docs" / "how-to" / "tracing.md").read_text(encoding="utf-8")
TABS = {
    name: textwrap.dedent(block)
    for name, block in re.findall(r'^=== "(.+?)"\n\n    ```sh\n(.*?)^    ```$', PAGE, re.MULTILINE | re.DOTALL)
}
(PROGRAM,) = re.findall(r"^```python no-run\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LANGFUSE = b64encode(b"pk-lf-1:sk-lf-2").decode()
GRAFANA = b64encode(b"123456:" + b"glc_" + b"a" * 120).decode()


class Vendor(NamedTuple):
    """A backend as its own documentation describes it, and the variables that its user has."""

    base: str
    """The address for `OTEL_EXPORTER_OTLP_ENDPOINT`."""
    headers: dict[str, str]
    """The headers that it wants."""
    variables: dict[str, str]
    """What the user sets before."""
    source: str
    """The vendor's page, and the day on which it was read."""


VENDORS = {
    "Langfuse": Vendor(
        "https://cloud.langfuse.com/api/public/otel",
        {"authorization": f"Basic {LANGFUSE}", "x-langfuse-ingestion-version": "4"},
        {"LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-2"},
        "OpenTelemetry for LLM Observability, section OpenTelemetry endpoint; 28 November 2026",
    ),
    "Logfire": Vendor(
        "https://logfire-us.pydantic.dev",
        {"authorization": "pylf_v1_us_0"},
        {"LOGFIRE_TOKEN": "pylf_v1_us_0"},
        "Alternative clients; 28 November 2026",
    ),
    "Phoenix": Vendor("http://127.0.0.1:6006", {}, {}, "What is my Phoenix endpoint; 28 November 2026"),
    "Grafana": Vendor("http://127.0.0.1:4318", {}, {}, "docker-otel-lgtm, ports of run-lgtm; 28 November 2026"),
    "Grafana Cloud": Vendor(
        "https://otlp-gateway-prod-eu-west-2.grafana.net/otlp",
        {"authorization": f"Basic {GRAFANA}"},
        {
            "GRAFANA_OTLP_ENDPOINT": "https://otlp-gateway-prod-eu-west-2.grafana.net/otlp",
            "GRAFANA_INSTANCE_ID": "123456",
            "GRAFANA_TOKEN": "glc_" + "a" * 120,
        },
        "Direct export or a collector; 28 November 2026",
    ),
}


def test_each_tab_has_a_vendor_whose_page_was_read() -> None:
    """No tab is without its test."""
    assert list(TABS) == list(VENDORS)


@pytest.mark.parametrize("name", VENDORS)
def test_a_span_arrives_as_the_vendor_wants_it(name: str, tmp_path: Path) -> None:
    """The tab's lines set the documented address and headers; the page's program sends its span there by them."""
    vendor = VENDORS[name]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    aside = (
        'test "$OTEL_EXPORTER_OTLP_ENDPOINT" = "$DOCUMENTED" || exit 9\n'
        'export OTEL_EXPORTER_OTLP_ENDPOINT="$RECEIVER"\n'
    )
    with collector() as (port, exports):
        environment = {
            **{variable: value for variable, value in os.environ.items() if not variable.startswith("OTEL_")},
            **vendor.variables,
            "DOCUMENTED": vendor.base,
            "RECEIVER": f"http://127.0.0.1:{port}{urlsplit(vendor.base).path}",
        }
        command = ["sh", "-c", f'{TABS[name]}{aside}exec "$0" program.py', sys.executable]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stderr}; documented: {vendor.base}"
    (export,) = exports
    assert export.path == f"{urlsplit(vendor.base).path}/v1/traces"
    assert export.headers["content-type"] == "application/x-protobuf"
    assert {header: export.headers.get(header) for header in vendor.headers} == vendor.headers
    request = ExportTraceServiceRequest.FromString(export.body)
    spans = [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]
    assert [span.name for span in spans] == ["chat any"]
    assert "gen_ai.request.model" in {attribute.key for attribute in spans[0].attributes}
