"""How long an answer waits for others: those that arrive in the same window of time are recorded and reported together.

A message, a commit and a wake-up cost more than an answer's own work, and a model answers in seconds. So an answer
waits at one place, where it arrives; what follows from it (the append, the result, the next events and requests) goes
on at once, and finds those of the other answers of its window. Windows end at multiples of their length on the clock
that all processes of a machine share, so that several jurors pass their answers on at the same moment.
"""

import math

_SHARE = 1 / 8
_COMPANY = 16
_LONGEST = 1 / 4
_SHORTEST = 1 / 512


def batch_window(seconds: float, working: int) -> float:
    """The length in seconds of the windows of an answer; 0: it waits for nothing.

    At most an eighth of what the call took (so a sixteenth of it is waited on average), at most 0.25 s, and no longer
    than 16 answers take to arrive. A power of two: every long window ends where a short one does.

    Args:
        seconds: that the call took.
        working: calls in progress beside it; with many, company arrives soon.
    """
    most = min(seconds * min(_SHARE, _COMPANY / max(1, working)), _LONGEST)
    return 0.0 if most < _SHORTEST else 2.0 ** math.floor(math.log2(most))


def window_end(window: float, now: float) -> float:
    """The moment at which the window ends that `now` is in."""
    return (math.floor(now / window) + 1) * window
