"""Text that is judged, marked so that it cannot pass for instructions (spotlighting, arXiv 2403.14720).

Every line begins with the debate's marker, every gap between words is the character ˆ, and one follows each Japanese
stop too, since Japanese has no gaps. What a reader cannot see is written out. A marked text holds the marker at the
beginning of its lines and nowhere else, so it cannot end a marked passage early.
"""

import re

from jury_debate.rules_v1.hidden_characters import escape, is_hidden

GAP = "ˆ"

_MARKER = re.compile(r"⟦[A-Za-z0-9]{1,64}⟧")
_LINE_END = re.compile(r"\r\n?")
_SPACES = re.compile(r"[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_STOPS = "、。！？"
_STOP_GAP = re.compile(r"([、。！？])ˆ")
_ESCAPED = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")


def mark(text: str, marker: str) -> str:
    """`text` with every line marked. CR LF and CR end a line as LF does; nothing is lost but kinds of white space.

    Args:
        text: what is judged; may hold anything, the marker too.
        marker: letters and digits in ⟦⟧, drawn for the debate.

    Raises:
        ValueError: `marker` is not of that form.
    """
    _check(marker)
    text = _LINE_END.sub("\n", text).replace("⟨U+", "⟨U+27E8⟩U+")
    table = {ord(char): escape(char) for char in {*text} if char == GAP or is_hidden(char)}
    if table:
        text = text.translate(table)
    text = text.replace(marker, escape(marker[0]) + marker[1:])
    text = _SPACES.sub(GAP, text)
    for stop in _STOPS:
        text = text.replace(stop, stop + GAP)
    text = text.replace(GAP + GAP, GAP)
    prefix = f"{marker} "
    return prefix + text.replace("\n", f"\n{prefix}")


def unmark(text: str, marker: str) -> str:
    """`text` as it was before `mark`, but for white space; lines without the marker are left as they are.

    Raises:
        ValueError: `marker` is not letters and digits in ⟦⟧.
    """
    _check(marker)
    prefix = f"{marker} "
    lines = text.split("\n")
    return "\n".join(_plain(line.removeprefix(prefix)) if line.startswith(prefix) else line for line in lines)


def _check(marker: str) -> None:
    if not _MARKER.fullmatch(marker):
        raise ValueError(f"marker {marker!r} must be 1 to 64 ASCII letters and digits in ⟦ and ⟧")


def _plain(line: str) -> str:
    if GAP in line:
        line = _STOP_GAP.sub(r"\1", line).replace(GAP, " ")
    return _ESCAPED.sub(_unescape, line) if "⟨" in line else line


def _unescape(found: re.Match[str]) -> str:
    code = int(found.group(1), 16)
    return chr(code) if code <= 0x10FFFF else found.group()  # noqa: PLR2004  (the last code point)
