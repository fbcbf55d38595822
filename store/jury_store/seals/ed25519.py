"""Public keys of Ed25519 that are no keys: points of small order, and second spellings of a point.

Under a point of small order one signature holds for many messages, or for all, and nobody needs a secret to make it
(RFC 8032, section 8.9 leaves the check to whoever accepts keys). A point that is spelt in a second way would be the
same key under another id.
"""

from typing import Final

_P: Final = 2**255 - 19
_ORDER_EIGHT: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL: Final = frozenset({0, 1, _P - 1, _ORDER_EIGHT, _P - _ORDER_EIGHT})
"""The y coordinates of the points of order 4, 1, 2 and 8; of each there is one with either sign of x."""


def point_fault(raw: bytes) -> str | None:
    """Why these 32 bytes may not be a public key; None: nothing is wrong that can be seen in them."""
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y % _P in _SMALL:
        return "it is a point of small order, in whose name everybody can sign"
    if y >= _P:
        return "its point is not written in the one way that there is"
    return None
