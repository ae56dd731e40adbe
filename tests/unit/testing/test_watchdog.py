"""A test that hangs where no signal reaches it ends its process, and every stack is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import threading, time
from tests.support import watchdog

watchdog.ENDS_AFTER_S = 0.3
watch = watchdog.Watchdog()
assert [watch.count_anew(now=now) for now in (0, 29, 31, 60)] == [True, False, True, False]
watch.rest()
time.sleep(0.6)

def hangs(begin):
    begin()
    time.sleep(60)

started = threading.Event()
threading.Thread(target=hangs, args=[started.set]).start()
started.wait()
hangs(lambda: watch.count_anew(now=61))
"""


def test_what_hangs_ends_with_every_stack() -> None:
    """A rest is a rest; then both threads are named, and the code is not that of success."""
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Timeout (0:00:00.300000)!")
    assert ended.stderr.count("in hangs") == 2
