"""The examples of a deployment can be read by who they are for, and say only what exists."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.config import read_server_config
from interlingua.registry.config import read_config
from tests.contract.source import ROOT
from tests.support.nginx import example, find_nginx

DEPLOY = ROOT / "examples" / "deploy"
COMPOSE = {
    "build", "command", "depends_on", "environment", "healthcheck", "image", "ports", "restart", "stop_grace_period",
    "volumes",
}  # fmt: skip
"""Members of a service that the Compose specification has, as far as they are used."""


def _options() -> set[str]:
    """Every option of `il serve`."""
    command = [sys.executable, "-m", "interlingua", "serve", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return set(re.findall(r"--[a-z-]+", told))


def test_the_file_is_a_configuration() -> None:
    """Sections, members and values are those of the gateway."""
    server = read_server_config(DEPLOY / "gateway.toml")
    config = read_config(DEPLOY / "gateway.toml")
    assert (server.host, server.port, server.workers) == ("0.0.0.0", 8787, 2)
    assert (server.settings.notice_s, server.settings.drain_s) == (5, 60)
    assert config.aliases.keys() == {"smart"}


def test_the_unit_starts_what_exists_and_waits_for_the_drain() -> None:
    """Its command's options exist, reload is SIGHUP, and it is given longer to stop than notice and drain take."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - systemd's names have capitals
    unit.read_string((DEPLOY / "interlingua.service").read_text())
    service = unit["Service"]
    assert set(re.findall(r"--[a-z-]+", service["ExecStart"])) <= _options()
    assert service["ExecStart"].split()[1] == "serve"
    assert "-HUP" in service["ExecReload"]
    settings = read_server_config(DEPLOY / "gateway.toml").settings
    assert float(service["TimeoutStopSec"]) > settings.notice_s + settings.drain_s + 10
    assert settings.key_file.startswith(f"/var/lib/{service['StateDirectory']}/")


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing wrong, where the command is there."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd-analyze")
    unit = tmp_path / "interlingua.service"
    unit.write_text((DEPLOY / "interlingua.service").read_text().replace("/opt/interlingua/bin/il", sys.executable))
    command = [program, "verify", "--man=no", str(unit)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, "interlingua.service" in told.stderr) == (0, False), told.stderr


def test_the_image_installs_what_is_locked() -> None:
    """By its hash, and nothing else; it copies files that are there, asks a route that exists, starts the command."""
    text = (DEPLOY / "Dockerfile").read_text()
    installs = re.findall(r"pip install (.+)", text)
    assert [words for words in installs if "--require-hashes" not in words] == [
        "--no-cache-dir --no-deps /wheels/*.whl"
    ]
    assert re.findall(r"--requirement (\S+)", text) == ["build.lock", "gateway.lock"]
    assert "pip wheel --no-build-isolation --no-deps" in text
    copied = [words.split()[:-1] for words in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE)]
    assert all((ROOT / name).exists() for names in copied for name in names)
    assert "/health/ready" in text
    assert 'ENTRYPOINT ["il", "serve"]' in text
    assert re.search(r"^USER (?!root)", text, re.MULTILINE)


def test_base_images_are_named_by_an_exact_version() -> None:
    """Each is a variable of a file that says how to add its digest, and holds none that nobody has seen."""
    lines = (DEPLOY / "images.env").read_text().splitlines()
    images = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert all(
        re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?", image) for image in images.values()
    )
    assert set(re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    composition = (DEPLOY / "compose.yaml").read_text()
    named = re.findall(r"(?:image|PYTHON_IMAGE): (.+)", composition)
    assert sorted(named) == sorted(f"${{{name}:?see images.env}}" for name in images)


def test_the_composition_is_two_replicas_one_redis_and_nginx() -> None:
    """Its files exist, both replicas have the same state, and nginx knows both by name."""
    yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services.keys() == {"replica-a", "replica-b", "redis", "nginx"}
    for service in services.values():
        assert service.keys() <= COMPOSE
        assert set(service.get("depends_on", ())) <= services.keys()
    assert services["replica-a"] == services["replica-b"]
    assert services["replica-a"]["environment"]["INTERLINGUA_STATE"] == "redis://redis:6379/0"
    assert (ROOT / services["replica-a"]["build"]["dockerfile"]).exists()
    volumes = [volume for service in services.values() for volume in service.get("volumes", ())]
    assert all((DEPLOY / volume.split(":")[0]).exists() for volume in volumes if volume.startswith("./"))
    assert [volume.split(":")[0] for volume in volumes if not volume.startswith("./")] == ["state"]
    assert "noeviction" in services["redis"]["command"]
    config = (DEPLOY / "nginx.conf").read_text()
    assert re.findall(r"server (replica-\w):8787", config) == ["replica-a", "replica-b"]
    assert services["nginx"]["ports"] == ["127.0.0.1:8080:8080"]


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    """`nginx -t` finds nothing wrong."""
    program = find_nginx()
    if program is None:
        pytest.skip("no nginx")
    (tmp_path / "nginx.conf").write_text(example(tmp_path, 8080, (8787, 8788)))
    command = [program, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "errors")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert told.returncode == 0, told.stderr
