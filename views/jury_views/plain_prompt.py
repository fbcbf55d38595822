"""A prompt as people read it: judged texts indented instead of marked, gaps as spaces."""

import re
from collections.abc import Iterable
from functools import cache
from string import Template

from jury_debate.marking import unmark
from jury_debate.prompts_1.line_marks import SIGN_PATTERN
from jury_debate.prompts_registry import LANGUAGES, PROMPTS

_MARKED = re.compile("^(⟦[A-Za-z0-9]{1,64}⟧) ", re.MULTILINE)
_INDENT = "    "


def marker_in(texts: Iterable[str]) -> str | None:
    """The marker of the judged texts of a request; None where there is none.

    Args:
        texts: of its messages or their pieces, in order. The case, which names a sign of lines, is one of them.
    """
    for text in texts:
        if found := _MARKED.search(text) or _notice().search(text):
            return found.group(1)
    return None


def plain_prompt(text: str, marker: str | None) -> str:
    """The text with the lines of judged text indented by four columns, as they were before they were marked.

    A carriage return stays written out: it would look like any line end. Line ends that were written out are indented
    like every other, so that all lines without an indent are the prompt's own.
    """
    if marker is None:
        return text
    return "\n".join(
        _indented(unmark(line, marker)) if line.startswith(f"{marker} ") else line for line in text.split("\n")
    )


def _indented(judged: str) -> str:
    return _INDENT + judged.replace("\r", "⟨U+000D⟩").replace("\n", f"\n{_INDENT}")


@cache
def _notice() -> re.Pattern[str]:
    """The line of a case that names the sign, in any language."""
    lines = (load(language).texts.case.sign for load in PROMPTS.values() for language in LANGUAGES)
    named = ("(?:" + "(?P<sign>)".join(map(re.escape, _around(line))) + ")" for line in lines)
    pattern = "|".join(one.replace("(?P<sign>)", SIGN_PATTERN) for one in named)
    return re.compile(rf"^(?=(?:{pattern})$)[^\n]*?({SIGN_PATTERN})", re.MULTILINE)


def _around(line: str) -> tuple[str, str]:
    """What stands before and after the sign."""
    before, _, after = Template(line).substitute(sign="\0").partition("\0")
    return before, after
