"""The threads of a run in batches share one heap."""

import os
import platform
import subprocess
import sys

import pytest

_HEAPS = """
import ctypes, sys, threading
if sys.argv[1] == "shared":
    from jury_cli.event_loops import share_heap
    share_heap()
every, kept = threading.Barrier(4), []
def take():
    every.wait(60)
    kept.append([bytearray(10_000) for _ in range(100)])
    every.wait(60)
threads = [threading.Thread(target=take) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
c = ctypes.CDLL(None)
c.fdopen.restype = ctypes.c_void_p
out = c.fdopen(1, b"w")
c.malloc_info(0, ctypes.c_void_p(out))
c.fflush(ctypes.c_void_p(out))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_threads_of_a_run_in_batches_share_one_heap_unless_the_environment_says_otherwise() -> None:
    assert 1 == _heaps("shared", {})
    assert _heaps("shared", {"MALLOC_ARENA_MAX": "8"}) > 1
    assert _heaps("own", {}) > 1


def _heaps(asked: str, variables: dict[str, str]) -> int:
    environ = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    done = subprocess.run(
        [sys.executable, "-c", _HEAPS, asked], env={**environ, **variables}, capture_output=True, text=True, check=True
    )
    return done.stdout.count("<heap nr=")
