"""A limit for compiling regular expressions: some patterns of a few hundred characters take gigabytes and hours."""

import subprocess
import sys
from collections.abc import Sequence
from json import dumps

MOST_SECONDS = 3
"""CPU seconds for the patterns of a panel together."""

MOST_BYTES = 1024**3
"""Address space of the process that compiles them."""

_COMPILE = f"""
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS}, {MOST_SECONDS}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import regex
for index, pattern in enumerate(json.load(sys.stdin)):
    sys.stdout.write(f"{{index}}\\n")
    sys.stdout.flush()
    try:
        regex.compile(pattern)
    except regex.error:
        pass
"""


def too_expensive(patterns: Sequence[str]) -> int | None:
    """The index of the first pattern that cannot be compiled within the limits; None if all can.

    They are compiled in a process of its own, which ends at a limit; patterns that are invalid are not judged here.
    """
    if not patterns:
        return None
    done = subprocess.run(  # noqa: S603  (the program is this interpreter, its code is above)
        [sys.executable, "-I", "-c", _COMPILE], input=dumps(patterns), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    begun = done.stdout.split()
    return int(begun[-1]) if begun else 0
