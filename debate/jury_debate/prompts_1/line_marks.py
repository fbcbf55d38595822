"""Marking of lines: judged text is shown exactly, and every line of it begins with the debate's sign.

The sign keeps judged text from passing for instructions (spotlighting, arXiv 2403.14720): a text can neither end its
passage nor produce a line without the sign, whatever it contains. Nothing is lost: `unmark(mark(text)) == text`. Tabs,
runs of spaces and blank lines stay; hidden characters are written out, CR too. A long run of one hidden character is
written once, with its length, and so are long runs of line ends in a long text, which would grow by their signs.
"""

import re
from functools import lru_cache

from jury_events.text import is_hidden

_LONG = 65_536
"""Characters; in a longer text runs of line ends are abbreviated."""

_RUN = 16
"""Runs of one character are abbreviated from this length on."""

SIGN_LETTERS = "bcdfghjklmnpqrstvwxz"
"""Of which a sign has two."""

SIGN_PATTERN = f"[{SIGN_LETTERS}]{{2}}:"
"""A regular expression of any sign."""

_SIGN = re.compile(SIGN_PATTERN)
_ESCAPED = re.compile(r"⟨U\+([0-9A-F]{4,6})(?:×([0-9]{1,9}))?⟩")
_ORDINARY = frozenset(map(chr, range(0x20, 0x7F))) | {"\n", "\t"}
"""Characters that are never written out, so that most texts need no look at the table."""


def mark(text: str, sign: str) -> str:
    """`text` with the sign and a space at the beginning of each line, and its hidden characters written out.

    Args:
        text: judged text; may contain anything, the sign and written-out characters too.
        sign: two consonants and a colon, random for each debate.

    Raises:
        ValueError: `sign` is not of that form.
    """
    prefix = _prefix(sign)
    if not (text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable()):
        text = _written_out(text)
    if len(text) > _LONG and "\n" * _RUN in text:
        text = _abbreviated(text, "\n")
    return prefix + text.replace("\n", f"\n{prefix}")


def unmark(text: str, sign: str) -> str:
    """The inverse of `mark`; lines without the sign are unchanged.

    Raises:
        ValueError: `sign` is not two consonants and a colon.
    """
    prefix = _prefix(sign)
    if "⟨" in text:
        lines = text.split("\n")
        return "\n".join([_plain(line.removeprefix(prefix)) if line.startswith(prefix) else line for line in lines])
    return f"\n{text}".replace(f"\n{prefix}", "\n")[1:]


@lru_cache(maxsize=1024)
def _prefix(sign: str) -> str:
    if not _SIGN.fullmatch(sign):
        raise ValueError(f"sign {sign!r} must be two lower-case consonants and a colon")
    return f"{sign} "


def _written_out(text: str) -> str:
    text = text.replace("⟨U+", "⟨U+27E8⟩U+")
    hidden = {char for char in {*text} - _ORDINARY if is_hidden(char)}
    for char in hidden:
        if char * _RUN in text:
            text = _abbreviated(text, char)
    return text.translate({ord(char): f"⟨U+{ord(char):04X}⟩" for char in hidden}) if hidden else text


def _abbreviated(text: str, char: str) -> str:
    """The text with long runs of a character written once, with their length."""
    return re.sub(rf"{re.escape(char)}{{{_RUN},}}", lambda run: f"⟨U+{ord(char):04X}×{len(run.group())}⟩", text)


def _plain(line: str) -> str:
    return _ESCAPED.sub(_unescaped, line)


def _unescaped(found: re.Match[str]) -> str:
    code = int(found.group(1), 16)
    if code > 0x10FFFF:  # noqa: PLR2004  (the last code point)
        return found.group()
    return chr(code) * int(found.group(2) or 1)
