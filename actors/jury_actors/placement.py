"""Which of several equal processes serves a debate: coordinators, and the replicas of a seat."""

import hashlib


def place_of(debate_id: str, places: int) -> int:
    """A number below `places`, always the same for a debate.

    Coordinators and replicas share this rule on purpose: with as many of the one as of the other, or a multiple, a
    coordinator sends its steps to fewer replicas, so more of them travel in a message.
    """
    return int.from_bytes(hashlib.blake2b(debate_id.encode(), digest_size=4).digest()) % places
