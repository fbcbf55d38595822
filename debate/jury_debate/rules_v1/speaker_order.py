"""The speaker order of a round."""

import hashlib

from jury_events.panel import SpeakerOrder


def speaker_order(order: SpeakerOrder, round_number: int) -> tuple[str, ...]:
    """The juror ids in the order of round `round_number` (from 1).

    A seeded order sorts by a hash, so that it is the same on every machine and Python version.
    """
    base = order.base
    if order.kind == "rotating":
        shift = (round_number - 1) % len(base)
        return base[shift:] + base[:shift]
    if order.kind == "seeded":
        return tuple(sorted(base, key=lambda juror: (_draw(order.seed, round_number, juror), juror)))
    return base


def _draw(seed: int, round_number: int, juror_id: str) -> bytes:
    return hashlib.sha256(f"{seed}/{round_number}/{juror_id}".encode()).digest()
