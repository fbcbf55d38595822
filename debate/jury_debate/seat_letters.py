"""The letters by which prompts name seats, never by id or model."""

from functools import lru_cache


@lru_cache(maxsize=1024)
def seat_letter(index: int) -> str:
    """The letter of the seat at `index` (from 0): A to Z, then AA, AB, and so on."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
