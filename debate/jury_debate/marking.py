"""Marking of judged text, by the form of a debate's marker: `⟦abcd2345⟧` (gaps between words too), `kz:` (lines)."""

from jury_debate import datamark
from jury_debate.prompts_1 import line_marks

_OF_WORDS = "⟦"


def mark(text: str, marker: str) -> str:
    """`text` with every line marked.

    Raises:
        ValueError: `marker` is of neither form.
    """
    return datamark.mark(text, marker) if marker.startswith(_OF_WORDS) else line_marks.mark(text, marker)


def unmark(text: str, marker: str) -> str:
    """The inverse of `mark`, except for the white space that marking of words loses; other lines are unchanged.

    Raises:
        ValueError: `marker` is of neither form.
    """
    return datamark.unmark(text, marker) if marker.startswith(_OF_WORDS) else line_marks.unmark(text, marker)
