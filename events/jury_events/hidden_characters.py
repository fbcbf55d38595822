"""The table of characters that a reader cannot see, and which of them are escaped where.

It is a file, because `unicodedata` changes with every Python version and recorded prompts must not.
"""

import re
from bisect import bisect_right
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Literal

Section = Literal["everywhere", "prompts"]
Ranges = tuple[tuple[int, int], ...]

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""Control characters, line separators and surrogates, which no name or label contains."""


@cache
def hidden_ranges() -> dict[Section, Ranges]:
    """The sections of the table: first and last code points in order."""
    text = files(__package__).joinpath("hidden_characters.txt").read_text(encoding="utf-8")
    ranges: dict[str, list[tuple[int, int]]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            section = ranges.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            pairs = (word.split("-") for word in line.split())
            section += [(int(pair[0], 16), int(pair[-1], 16)) for pair in pairs]
    return {"everywhere": tuple(ranges["everywhere"]), "prompts": tuple(ranges["prompts"])}


@cache
def displayed_escaped() -> re.Pattern[str]:
    """Matches one character that is escaped on every display, in a terminal, a page or a message."""
    ranges = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in hidden_ranges()["everywhere"])
    return re.compile(f"[{ranges}]")


@lru_cache(maxsize=16384)
def is_hidden(char: str) -> bool:
    """Whether one character is escaped in prompts: both sections of the table. TAB and LF are not."""
    ranges = _all_ranges()
    index = bisect_right(ranges, (ord(char), 0x110000)) - 1
    return index >= 0 and ord(char) <= ranges[index][1]


def is_blank(text: str) -> bool:
    """Whether every character of `text` is white space or hidden."""
    if "!" <= text[:1] <= "~":
        return False  # most texts begin with a letter of English
    return all(char.isspace() or is_hidden(char) for char in text)


@cache
def _all_ranges() -> Ranges:
    return tuple(sorted(chain.from_iterable(hidden_ranges().values())))
