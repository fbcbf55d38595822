"""How much leaves together of what waits to be sent to another process."""

from collections.abc import Iterable
from itertools import islice

_ITEMS = 500
_BYTES = 1024 * 1024


def batch_length(sizes: Iterable[int]) -> int:
    """How many items the next batch has: at most 500, and none after the one with which it exceeds 1 MiB.

    Args:
        sizes: bytes of the waiting items, in their order.
    """
    size = length = 0
    for one in islice(sizes, _ITEMS):
        size += one
        length += 1
        if size > _BYTES:
            break
    return length
