"""Decoders that are made in several threads at once."""

from __future__ import annotations

import subprocess
import sys

RACE = """
import sys, threading
sys.setswitchinterval(1e-6)
from interlingua.client.journal import Entry
from interlingua.wire.json import decode

start = threading.Barrier(16)
line = b'{"journal":1,"id":"a","key":"b","response":{"parts":[{"type":"text","text":"x"}]}}'
seen = []

def read():
    start.wait()
    seen.append(decode(line, Entry).response.text)

threads = [threading.Thread(target=read) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(seen == ["x"] * 16)
"""


def test_the_first_decoding_of_a_type_may_happen_in_many_threads() -> None:
    """Sixteen threads meet a type for the first time at once; without a lock most such processes die in C code."""
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", RACE], check=False, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr
