"""What jurors would be shown of cases, in a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible, visible_line

if TYPE_CHECKING:
    from jury_judge.runs.case_preview import CasePreview, LabelWord, ShownCase

_NAMED = 12
"""Words, fields and columns that are named in one line."""


def case_lines(shown: "ShownCase", *, verbose: bool) -> Iterator[str]:
    """One case: its text if it has one, and with `verbose` what of it is not shown."""
    name = visible_line(shown.case_id, 200)
    if shown.text is not None:
        yield f"=== case {name}\n\n{visible(shown.text)}\n"
    if verbose and shown.not_shown is not None:
        yield f"case {name}: not shown: {shown.not_shown}"


def preview_lines(preview: "CasePreview") -> Iterator[str]:
    """The counts over all cases that were read."""
    omissions = preview.omissions
    formats = ", ".join(f"{name} {count}" for name, count in preview.formats.most_common())
    taken = "".join(f"; {what}" for what, _ in preview.taken.most_common(_NAMED))
    yield f"{pluralize(omissions.cases, 'case')} (rows by format: {formats or 'none'}{taken})"
    if preview.changes:
        yield f"read as:      {', '.join(f'{what} ({count})' for what, count in preview.changes.most_common())}"
    yield from _label_lines(preview.label_words, preview.label_remedy)
    if preview.fields:
        named = [f"{visible_line(name, 60)} ({count})" for name, count in preview.fields.most_common(_NAMED)]
        yield f"fields:       {_listed(named, len(preview.fields))}"
    if preview.unread:
        named = [visible_line(name, 60) for name, _ in preview.unread.most_common(_NAMED)]
        yield f"not read:     columns {_listed(named, len(preview.unread))}"
    yield omissions.line() or "not shown:    nothing; every part of every transcript is shown to some juror"
    if (blind := omissions.blind_line()) is not None:
        yield f"pictures:     {blind}"
    if unused := [visible_line(word, 60) for word in preview.unused_words]:
        yield f"not used:     --map of {_listed(unused[:_NAMED], len(unused))}: no case has such a label"
    for line in preview.unmatched_roles:
        yield f"not used:     {line}"
    if tokens := preview.tokens:
        mean, most = round(sum(tokens) / len(tokens)), max(tokens)
        measured = "" if len(tokens) == omissions.cases else f", of the first {pluralize(len(tokens), 'case')}"
        yield f"tokens:       about {mean:,} in a juror's first prompt, {most:,} in the longest{measured}"


def _label_lines(words: "tuple[LabelWord, ...]", remedy: str | None) -> Iterator[str]:
    if not words:
        yield "labels:       none"
        return
    named = [f"{visible_line(one.word, 60)!r} {one.count} = {_meaning(one)}" for one in words[:_NAMED]]
    yield f"labels:       {_listed(named, len(words))}"
    if remedy is not None:
        yield f"              jury run refuses these; {remedy}"


def _meaning(one: "LabelWord") -> str:
    if not one.understood:
        return "NOT UNDERSTOOD"
    verdict = one.verdict or "no label"
    return verdict if one.label is None else f"{one.label} ({verdict})"


def _listed(named: list[str], total: int) -> str:
    return ", ".join(named) + (f" and {total - len(named)} more" if total > len(named) else "")
