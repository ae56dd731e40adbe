"""How observing is set up: by the file, with line numbers, and by nothing at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import interlingua as il
from interlingua.gateway.config import read_server_config
from interlingua.gateway.records.observing import Observing
from tests.support.gateway import gateway


def written(tmp_path: Path, text: str) -> Path:
    """A configuration file."""
    path = tmp_path / "gateway.toml"
    path.write_text(text)
    return path


def test_the_file_says_what_is_observed(tmp_path: Path) -> None:
    """Every member of `[server]` that is about it."""
    path = written(
        tmp_path,
        '[server]\nlog = "json"\nlog_content = true\nmetrics = "open"\nstore = "a.db"\nstore_days = 0.5\nstore_mb = 1\n'
        'record = "tapes"\nrecord_mb = 2\notel = true\n',
    )
    assert read_server_config(path).settings.observing == Observing(
        log="json",
        log_content=True,
        metrics="open",
        store="a.db",
        store_days=0.5,
        store_mb=1,
        record="tapes",
        record_mb=2,
        otel=True,
    )
    assert read_server_config(written(tmp_path, "[server]\n")).settings.observing == Observing()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('log = "xml"', 'log in [server] is one of "json", "text", "off", not'),
        ("log = true", 'log in [server] is not "json", "text" or "off"'),
        ('metrics = "all"', 'metrics in [server] is one of "off", "keys", "open", not'),
        ("store_days = 0", "store_days in [server] is more than 0"),
        ("record_mb = -1", "record_mb in [server] is more than 0"),
        ("store = 1", "store in [server] is not the name of a file"),
        ("logs = 1", "unknown key"),
    ],
)
def test_what_makes_no_sense_is_an_error_with_the_line(tmp_path: Path, line: str, told: str) -> None:
    """The file, the line, the sentence."""
    with pytest.raises(il.ConfigError) as caught:
        read_server_config(written(tmp_path, f"[server]\nport = 1\n{line}\n"))
    assert told in caught.value.message
    assert "gateway.toml line 3" in caught.value.message


def test_off_is_off(tmp_path: Path) -> None:
    """Nothing is listened to, nothing is written, nothing is made."""
    made = gateway()
    assert not made.recorder.is_wanted
    assert (made.metrics, made.spans) == (None, None)
    assert list(tmp_path.iterdir()) == []


async def test_everything_at_once_ends_cleanly(tmp_path: Path) -> None:
    """Files are there from the beginning, and closed at the end."""
    made = gateway(
        observing=Observing(log="text", metrics="keys", store=str(tmp_path / "a.db"), record=str(tmp_path / "c"))
    )
    assert len(made.recorder.late_sinks) == 3
    assert len(made.recorder.content_sinks) == 1
    await made.close()
    assert (tmp_path / "a.db").is_file()
    assert (tmp_path / "c").is_dir()
