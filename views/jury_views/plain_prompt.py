"""A prompt as people read it: judged texts indented instead of marked, gaps as spaces."""

import re

from jury_debate.datamark import unmark

_MARKED = re.compile("^(⟦[A-Za-z0-9]{1,64}⟧) ", re.MULTILINE)
_INDENT = "    "


def plain_prompt(text: str) -> str:
    """The text with the lines of judged text indented by four columns, as they were before they were marked."""
    found = _MARKED.search(text)
    if found is None:
        return text
    marker = found.group(1)
    return "\n".join(
        _INDENT + unmark(line, marker) if line.startswith(f"{marker} ") else line for line in text.split("\n")
    )
