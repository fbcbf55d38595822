"""Checks of Ed25519 public keys: points of small order, and non-canonical encodings.

Under a point of small order one signature is valid for many messages, or for all, and can be made without a secret
(RFC 8032, section 8.9 leaves the check to the application). A non-canonical encoding would give one key a second id.
"""

from typing import Final

_P: Final = 2**255 - 19
_ORDER_EIGHT: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL: Final = frozenset({0, 1, _P - 1, _ORDER_EIGHT, _P - _ORDER_EIGHT})
"""The y coordinates of the points of order 4, 1, 2 and 8; of each there is one with either sign of x."""


def point_fault(raw: bytes) -> str | None:
    """Why these 32 bytes are refused as a public key; None: no fault was found."""
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y % _P in _SMALL:
        return "it is a point of small order, under which anyone can sign"
    if y >= _P:
        return "the encoding of its point is not canonical"
    return None
