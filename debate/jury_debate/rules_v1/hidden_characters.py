"""Characters that a reader cannot see, and how they are made visible.

The set is a table of its own, because `unicodedata` changes with every Python version and what was shown must not.
"""

from bisect import bisect_right
from functools import cache, lru_cache
from importlib.resources import files


@cache
def _ranges() -> tuple[tuple[int, ...], tuple[int, ...]]:
    text = files(__package__).joinpath("hidden_characters.txt").read_text(encoding="utf-8")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    pairs = [word.split("-") for word in words]
    return tuple(int(pair[0], 16) for pair in pairs), tuple(int(pair[-1], 16) for pair in pairs)


@lru_cache(maxsize=16384)
def is_hidden(char: str) -> bool:
    """Whether one character cannot be seen: a control, a format or variation mark, unassigned. TAB and LF are not."""
    firsts, lasts = _ranges()
    place = bisect_right(firsts, ord(char)) - 1
    return place >= 0 and ord(char) <= lasts[place]


def escape(char: str) -> str:
    """One character as `⟨U+200B⟩`."""
    return f"⟨U+{ord(char):04X}⟩"


def visible(text: str) -> str:
    """`text` with every hidden character escaped; nothing is stripped."""
    table = {ord(char): escape(char) for char in set(text) if is_hidden(char)}
    return text.translate(table) if table else text


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen."""
    return all(char.isspace() or is_hidden(char) for char in text)
