"""Facts of one stream: its head, and the texts whose erasure it records."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from jury_events.parts import Digest, decode_digest, refs_in


class Head(NamedTuple):
    """The end of a stream: its last version, the highest epoch that wrote to it, the hash of its last event."""

    version: int
    epoch: int
    hash: bytes


def erased_in(bodies: Iterable[bytes]) -> set[Digest]:
    """The texts that bodies of `texts_erased` name; a body that cannot be read names none."""
    gone: set[Digest] = set()
    for body in bodies:
        with suppress(ValueError, TypeError):
            gone.update(decode_digest(ref) for ref in refs_in(json.loads(body)))
    return gone
