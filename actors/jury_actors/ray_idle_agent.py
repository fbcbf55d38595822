"""Stands where a node of a local Ray cluster wants an agent: it does nothing, and ends with the node.

It runs alone, without this package and without Ray.
"""

import os
import time

_LOOKS_EVERY = 1.0
"""Seconds."""


def _wait_for_the_end_of(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKS_EVERY)


if __name__ == "__main__":
    _wait_for_the_end_of(os.getppid())
