"""Python's search for reference cycles, made rare while debates run in this process.

Events and texts live as long as their debates. The collector, which by default starts after every 700 new objects,
visits them again and again: 15 % of the CPU of 256 debates at once, and still 5 % where it starts after 20,000. A
debate leaves four objects in cycles, so that little memory waits for the collector.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

RARELY = (200_000, 5, 100)
"""Thresholds of the three generations, as of `gc.set_threshold`."""

_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""For each runtime of this process, the thresholds before the first one started."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles rarely until every such context is left; then the thresholds are the earlier ones again."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        with _lock:
            earlier = _before.pop()
            if not _before:
                gc.set_threshold(*earlier)
