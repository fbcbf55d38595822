"""How many tokens a request takes at most, estimated before a model's own tokenizer has counted them.

Conservative for what agents write: prose in English takes 4 to 5 bytes a token, code and JSON 3 to 4, Japanese about 3.
Only texts such as base64 or long digits are denser (2 to 3), for which `SHARE` leaves room.
"""

BYTES_PER_TOKEN = 3
"""Of UTF-8."""

PICTURE_TOKENS = 5000
"""For any picture: 4,784 for Claude models of high resolution, 1,536 x 2.46 for GPT, 2,240 for Gemini."""

SHARE = (3, 5)
"""Of a window that a request may take, as a fraction: the rest is for the answer, and for errors of the estimate."""


def estimated_tokens(size: int, pictures: int = 0) -> int:
    """The tokens of `size` bytes of UTF-8 and a number of pictures, rounded up."""
    return -(-size // BYTES_PER_TOKEN) + pictures * PICTURE_TOKENS


def request_tokens(window: int) -> int:
    """The tokens that a request to a model of this window may take."""
    part, whole = SHARE
    return window * part // whole


def answer_tokens(window: int) -> int:
    """The tokens of an answer for which the longest request leaves room."""
    return window - request_tokens(window)


def bytes_of(tokens: int) -> int:
    """The bytes of UTF-8 that are estimated as no more than so many tokens."""
    return max(0, tokens) * BYTES_PER_TOKEN
