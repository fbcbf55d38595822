"""Values as people read them: text without hidden characters, numbers with nouns, times, sizes, amounts, points.

Which characters are hidden is a file, because `unicodedata` changes with every Python version and recorded prompts must
not.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError
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
            for word in line.split():
                first, _, last = word.partition("-")
                section.append((int(first, 16), int(last or first, 16)))
    return {"everywhere": tuple(ranges["everywhere"]), "prompts": tuple(ranges["prompts"])}


@cache
def displayed_escaped() -> re.Pattern[str]:
    """Matches one character that is escaped on every display, in a terminal, a page or a message."""
    ranges = ""
    for first, last in hidden_ranges()["everywhere"]:
        ranges += f"\\U{first:08x}-\\U{last:08x}"
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


def visible(text: str) -> str:
    """`text` with line breaks as LF and every control, direction mark, filler and blank that looks like nothing shown.

    C0 controls and DEL become their pictures (ESC is ␛), all others `<U+XXXX>`. LF, tab, and what emoji and many
    scripts are written with (the two joiners, variation selectors) stay.
    """
    return displayed_escaped().sub(_picture, text.replace("\r\n", "\n"))


def visible_line(text: str, limit: int = 200) -> str:
    """`text` on one line of at most `limit` characters, for a message."""
    line = visible(text).replace("\n", "␊").replace("\t", "␉")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:  # noqa: PLR2004  (the C0 block; U+2400 is where its pictures begin)
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"  # noqa: PLR2004  (DEL)


def visible_url(url: str) -> str:
    """The URL without user, password, query and fragment, which may be secret; a path unchanged."""
    head, mark, rest = url.partition("://")
    if not mark:
        return visible_line(url)
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    port = authority.rpartition(":")[2]
    if "@" in authority or ("@" in rest and ":" in authority and not port.isdigit()):
        rest = rest.rpartition("@")[2]  # a password may include the characters that end an authority
    return visible_line(f"{head}://{rest.partition('?')[0].partition('#')[0]}")


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    """`1 debate`, `1,017 debates`; `plural` where that is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


_MINUTE = 60
_HOUR = 60 * _MINUTE


def duration(seconds: float) -> str:
    """`4.2 s`, `12 min 3 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{seconds:.1f} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR:,} h {whole % _HOUR // _MINUTE} min"


def rate(number: float, seconds: float) -> str:
    """A rate a second, or a minute if it is below one a second; "" if it is unknown."""
    if number <= 0 or seconds <= 0:
        return ""
    per_second = number / seconds
    return f"{per_second:,.1f}/s" if per_second >= 1 else f"{per_second * _MINUTE:,.1f}/min"


def dollars(amount: float) -> str:
    """As people write it, with more digits where cents say too little."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def shown_size(size: int) -> str:
    """A size in bytes for people: `512 B`, `48 KB`, `3.2 MB`."""
    if size < 1000:  # noqa: PLR2004  (decimal units)
        return f"{size} B"
    if size < 999_500:  # noqa: PLR2004  (decimal units)
        return f"{size / 1000:.0f} KB"
    return f"{size / 1e6:.1f} MB"


_DIGITS = range(2, 18)


def points_text(value: float, *edges: float) -> str:
    """Points with two decimals, or as many more as keep them on their side of each edge, without trailing zeros.

    `points_text(79.996, 80.0)` is 79.996, not 80.
    """
    written = ""
    for digits in _DIGITS:
        written = f"{value:.{digits}f}".rstrip("0").rstrip(".")
        if all((float(written) >= edge) == (value >= edge) for edge in edges):
            break
    return written


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(microseconds: int, timespec: str = "seconds") -> str:
    """Microseconds since 1970-01-01 UTC in ISO 8601; after the year 9999, which ISO 8601 excludes, the number.

    Args:
        microseconds: as in the log.
        timespec: the precision, as for `datetime.isoformat`.
    """
    try:
        at = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970"
    return at.isoformat(timespec=timespec).replace("+00:00", "Z")


def condensed(error: "ValidationError") -> str:
    """The first complaint of pydantic in one line, `field: message`; the refused value is left out."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
