"""Datamarking: judged text is marked so that it cannot pass for instructions (spotlighting, arXiv 2403.14720).

Every line begins with the debate's marker, and ˆ replaces every gap between words and follows each Japanese stop, as
Japanese has no gaps. Hidden characters are escaped. A marked text contains the marker only at the beginning of its
lines, so it cannot end a marked passage early.

A long text that consists mostly of line ends would grow many times by its markers: it becomes one marked line with ⏎
for each line end. A long run of one hidden character is written once, with its length.
"""

import re

from jury_events.text import is_hidden

GAP = "ˆ"
BREAK = "⏎"

_LONG = 65_536
"""Characters; a shorter text may grow by its markers."""

_RUN = 16
"""Runs of a hidden character, or of line ends in a long text, are abbreviated from this length on."""

_MARKER = re.compile(r"⟦[A-Za-z0-9]{1,64}⟧")
_SPACES = dict.fromkeys(map(ord, "\t\u00a0\u1680\u202f\u205f\u3000"), " ") | dict.fromkeys(range(0x2000, 0x200B), " ")
_ORDINARY = frozenset(map(chr, range(0x20, 0x7F))) | {"\n"}
"""Characters that are never escaped, so that most texts need no look at the table."""

_STOPS = "、。！？"
_STOP_GAP = re.compile(r"([、。！？])ˆ")
_ESCAPED = re.compile(r"⟨U\+([0-9A-F]{4,6})(?:×([0-9]{1,9}))?⟩")


def mark(text: str, marker: str) -> str:
    """`text` with every line marked. CR LF and CR end a line as LF does; only the kind of white space is lost.

    Args:
        text: judged text; may contain anything, the marker too.
        marker: letters and digits in ⟦⟧, random for each debate.

    Raises:
        ValueError: `marker` is not of that form.
    """
    _check(marker)
    if len(text) <= _LONG and text.isascii() and text.replace("\n", " ").isprintable():
        # Most English texts: nothing in them is escaped, and the marker cannot be in them.
        return _gapped(text, f"{marker} ")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("⟨U+", "⟨U+27E8⟩U+")
    prefix = f"{marker} "
    unusual = {*text} - _ORDINARY
    signs = {char for char in unusual if char in {GAP, BREAK} or is_hidden(char)}
    for char in signs:
        if char * _RUN in text:
            text = _abbreviated(text, char)
    if signs:
        text = text.translate({ord(char): escape(char) for char in signs})
    is_dense = len(text) > _LONG and text.count("\n") * len(prefix) > len(text)
    if is_dense:
        text = _abbreviated(text, "\n").replace("\n", BREAK)
    text = text.replace(marker, escape(marker[0]) + marker[1:])
    if unusual:
        text = text.translate(_SPACES)
    for stop in _STOPS:
        text = text.replace(stop, stop + " ")
    return _gapped(text, prefix)


def _gapped(text: str, prefix: str) -> str:
    """The text with one sign for every gap, and the prefix before every line."""
    while "  " in text:
        text = text.replace("  ", " ")
    return prefix + text.replace(" ", GAP).replace("\n", f"\n{prefix}")


def unmark(text: str, marker: str) -> str:
    """The inverse of `mark`, except for white space; lines without the marker are unchanged.

    Raises:
        ValueError: `marker` is not letters and digits in ⟦⟧.
    """
    _check(marker)
    prefix = f"{marker} "
    lines = text.split("\n")
    return "\n".join(_plain(line.removeprefix(prefix)) if line.startswith(prefix) else line for line in lines)


def visible(text: str) -> str:
    """`text` with every hidden character escaped; nothing is removed."""
    table = {ord(char): escape(char) for char in set(text) if is_hidden(char)}
    return text.translate(table) if table else text


def escape(char: str) -> str:
    """One character as `⟨U+200B⟩`."""
    return f"⟨U+{ord(char):04X}⟩"


def _abbreviated(text: str, char: str) -> str:
    sign = escape(char)[:-1]
    return re.sub(rf"{re.escape(char)}{{{_RUN},}}", lambda run: f"{sign}×{len(run.group())}⟩", text)


def _check(marker: str) -> None:
    if not _MARKER.fullmatch(marker):
        raise ValueError(f"marker {marker!r} must be 1 to 64 ASCII letters and digits in ⟦ and ⟧")


def _plain(line: str) -> str:
    if GAP in line:
        line = _STOP_GAP.sub(r"\1", line).replace(GAP, " ")
    line = line.replace(BREAK, "\n")
    return _ESCAPED.sub(_unescape, line) if "⟨" in line else line


def _unescape(found: re.Match[str]) -> str:
    code = int(found.group(1), 16)
    if code > 0x10FFFF:  # noqa: PLR2004  (the last code point)
        return found.group()
    return chr(code) * int(found.group(2) or 1)
