"""Conversations written as text: turns that begin with their speaker (`Human: …`), or a list of texts."""

import re
from collections.abc import Iterable
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.chat import KINDS, RESULTS


def spoken_turns(value: Any, place: str, words: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The messages, with role and content, of a text or of a list of texts each of which begins with its speaker.

    A turn begins at a line such as `Human: …`, `**User:** …`, `USER: …` or `## Assistant`; where one of them follows a
    blank line, the others do too.
    """
    named = [one for text in (value if isinstance(value, list) else [value]) for one in _turns(text, tuple(words))]
    if len(named) > 1 and (not isinstance(value, list) or len(named) >= len(value)):
        return named
    if isinstance(value, list):
        raise CaseFileError(
            f"{place}: is a list of texts that do not say whose they are; a format file does, as with turns: "
            "[user, agent], and jury cases FILE --propose drafts one"
        )
    raise CaseFileError(
        f"{place}: is a text without turns such as Human: … and Assistant: …; a text that only answers is read with "
        "--field response=COLUMN --question TEXT"
    )


def has_turns(text: str) -> bool:
    """Whether a text has turns of a user and of an agent, little before them, and ends with something said."""
    found = _turns(text, ())
    said = {KINDS.get(one["role"].lower()) for one in found}
    title = found[0]["content"] if found and found[0]["role"] == _BEFORE else ""
    return {"user", "assistant"} <= said and len(title) <= _LONGEST_TITLE and bool(found[-1]["content"])


_LONGEST_TITLE = 400
_BEFORE = "text before the first speaker"
"""The role of what stands before the first turn."""


def _turns(text: str, words: tuple[str, ...]) -> list[dict[str, Any]]:
    found = list(_labels(words).finditer(text))
    if any(text[: one.start()].endswith("\n\n") for one in found):
        found = [one for one in found if not text[: one.start()].strip() or text[: one.start()].endswith("\n\n")]
    if not found:
        return []
    ends = [*(one.start() for one in found[1:]), len(text)]
    turns = [
        {"role": one["heading"] or one["label"], "content": text[one.end() : end].strip()}
        for one, end in zip(found, ends, strict=True)
    ]
    before = text[: found[0].start()].strip()
    return [{"role": _BEFORE, "content": before}, *turns] if before else turns


def _labels(words: tuple[str, ...]) -> re.Pattern[str]:
    known = {form for word in (*KINDS, *RESULTS) for form in (word.capitalize(), word.upper())} | set(words)
    either = "|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))
    heading = rf"\#{{1,6}} +(?:\*\*)?(?P<heading>{either})(?:\*\*)?:? *$"
    return re.compile(rf"^(?:{heading}|(?:\*\*)?(?P<label>{either})(?::\*\*|\*\*:|:) *)", re.MULTILINE)
