"""The Helm chart: its values fit their schema, its templates name values that exist, and its pods can be drained.

Helm itself renders it in `make test-scale`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from interlingua.gateway.config import read_server_config
from interlingua.wire.json import decode
from tests.contract.source import ROOT

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")

CHART = ROOT / "deploy" / "helm" / "interlingua"
TEMPLATES = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: dict[str, Any] = decode((CHART / "values.schema.json").read_bytes(), dict[str, Any])


def test_the_page_makes_the_secrets_that_the_chart_names() -> None:
    """Each secret of the values, and its entry, is made by a command of the how-to page, for the image it names."""
    page = (ROOT / "docs" / "how-to" / "docker-kubernetes.md").read_text(encoding="utf-8")
    for name in VALUES["secrets"]:
        assert f"kubectl create secret generic {name} --from-literal=" in page
    state = VALUES["state"]
    assert f"kubectl create secret generic {state['secret']} --from-literal={state['key']}=redis://" in page
    assert f"image.repository={VALUES['image']['repository']}" in page
    assert f"the tag {VALUES['image']['tag']}" in page


def test_the_values_fit_their_schema_and_wrong_ones_do_not() -> None:
    """Every value has a place in the schema; one that is unknown, or no digest, is refused."""
    validator = validator_for(SCHEMA)
    assert [str(error) for error in validator.iter_errors(VALUES)] == []
    assert set(VALUES) == set(SCHEMA["properties"]) - {"global"}
    wrong = ({"replica": 1}, {"image": {**VALUES["image"], "digest": "latest"}}, {"replicas": 0}, {"secrets": "one"})
    assert not any(validator.is_valid({**VALUES, **each}) for each in wrong)


def test_templates_name_only_values_that_exist() -> None:
    """Each `.Values.a.b` of a template is in `values.yaml`, each value is in a template, each include is defined."""
    text = "\n".join(TEMPLATES.values())
    names = set(re.findall(r"\.Values\.([\w.]+)", text))
    for name in names:
        value: Any = VALUES
        for part in name.split("."):
            assert part in value, name
            value = value[part]
    assert {name.split(".")[0] for name in names} == set(VALUES)
    assert set(re.findall(r'include "([\w.]+)"', text)) == set(re.findall(r'define "([\w.]+)"', text))
    assert text.count("{{") == text.count("}}")


def test_the_configuration_is_the_gateways_and_a_pod_is_given_time_to_drain(tmp_path: Path) -> None:
    """The file is taken; the grace period is longer than hook, notice and drain; the probes ask routes that exist."""
    path = tmp_path / "gateway.toml"
    path.write_text(VALUES["config"])
    settings = read_server_config(path).settings
    shutdown = VALUES["shutdown"]
    assert shutdown["graceSeconds"] > shutdown["preStopSeconds"] + settings.notice_s + settings.drain_s + 10
    deployment = TEMPLATES["deployment.yaml"]
    assert re.findall(r"httpGet: \{path: (\S+),", deployment) == ["/health/live", "/health/live", "/health/ready"]
    for line in ("readOnlyRootFilesystem: true", "runAsNonRoot: true", 'drop: ["ALL"]'):
        assert line in deployment
    image = (ROOT / "examples" / "deploy" / "Dockerfile").read_text()
    assert f"--uid {re.findall(r'runAsUser: (.+)', deployment)[0]} " in image


def test_the_autoscaler_asks_for_a_metric_that_the_gateway_has() -> None:
    """It is a gauge of requests under way."""
    (name,) = re.findall(r"metric:\n +name: (\w+)", TEMPLATES["horizontalpodautoscaler.yaml"])
    source = ROOT / "src" / "interlingua" / "gateway" / "records" / "metrics.py"
    assert f'_gauge("{name}", "Requests that have begun' in source.read_text()


def test_the_bill_of_materials_has_every_pin_of_the_image() -> None:
    """Each name and version of the lock, with every hash of its files; the same bytes each time."""
    command = [sys.executable, str(ROOT / "requirements" / "sbom.py")]
    first, second = [subprocess.run(command, timeout=60, check=True, capture_output=True).stdout for _ in range(2)]
    assert first == second
    bill = decode(first, dict[str, Any])
    lock = (ROOT / "requirements" / "gateway.lock").read_text()
    assert [f"{part['name']}=={part['version']}" for part in bill["components"]] == re.findall(
        r"^([\w.-]+==[\w.]+)", lock, re.MULTILINE
    )
    hashes = [
        reference["hashes"][0]["content"] for part in bill["components"] for reference in part["externalReferences"]
    ]
    assert hashes == re.findall(r"sha256:(\w+)", lock)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
