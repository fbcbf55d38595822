"""Text of models, cases and files made safe for a terminal: control and hidden characters become visible."""

import re

from jury_events.hidden_characters import displayed_escaped


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
