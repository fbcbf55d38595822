"""Cases for people: a case, the preview of its first prompt, and the summary of many."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_events.case import Case
from jury_events.text import pluralize, shown_size, visible, visible_line
from jury_events.transcript import ToolCall
from jury_views.page import Page

if TYPE_CHECKING:
    from jury_judge import CaseSummary
    from jury_judge.runs.case_fit import CaseFit
    from jury_judge.runs.case_preview import CasePreview, FormatSummary, LabelWord, ShownCase


_LONGEST = 300
"""Characters of the question, and of the answer."""


def lines_of_case(case: Case) -> Iterator[str]:
    """What the user asked and what the agent did, in the first scenario of the case."""
    scenario = case.scenarios[0]
    execution = scenario.execution
    called = [item.name for item in execution.transcript.items if isinstance(item, ToolCall)]
    calls = f"called {', '.join(called)} and " if called else ""
    yield f"the user asked:  {_text(scenario.question.prompt)}"
    yield f"the agent {calls}answered:  {_text(execution.response)}"


def _text(text: str) -> str:
    return visible_line(text.strip(), _LONGEST)


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
    for line in preview.passed_over:
        yield f"passed over:  {line}"
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


_MOST = 20
"""Speakers and kinds of omissions that are named of one format."""


def summary_page(summary: "CaseSummary") -> Page:
    """One table of formats; then for each format its items, its speakers and what is not shown."""
    page = Page()
    for what, count in summary.taken.most_common():
        page.line(f"{what} ({count:,})")
    rows: list[tuple[str, ...]] = [("format", "cases", "items", "speakers", "not shown")]
    for name, one in summary.formats.items():
        hidden = sum(found.times for found in one.omissions.kinds.values())
        rows.append(
            (name, f"{one.omissions.cases:,}", f"{one.items.total():,}", f"{len(one.speakers):,}", f"{hidden:,}")
        )
    page.table(rows)
    for name, one in summary.formats.items():
        _format(page, name, one)
    _fit(page, summary.fit)
    return page


def _fit(page: Page, fit: "CaseFit") -> None:
    """A table of the seats: the windows of their models, and how many cases each reads how."""
    page.heading("fit")
    rows: list[tuple[str, ...]] = [("seat", "model", "window", "whole", "in parts", "outline", "too long")]
    for seat in fit.seats:
        counts = (fit.cases - seat.not_whole - seat.too_long, seat.parts.total(), seat.outlined, seat.too_long)
        window = "not known" if seat.window is None else f"{seat.window:,}"
        rows.append((seat.name, seat.model, window, *(f"{count:,}" for count in counts)))
    page.table(rows, indent=2)
    for line in fit.lines():
        page.line(line, indent=2)


def _format(page: Page, name: str, one: "FormatSummary") -> None:
    page.heading(name)
    _counted(page, "items", list(one.items.most_common()))
    _counted(page, "speakers", list(one.speakers.most_common()))
    kinds = one.omissions.kinds
    if not kinds:
        page.line("not shown: nothing; every part of every transcript is shown to some juror", indent=2)
        return
    rows: list[tuple[str, ...]] = [("not shown", "times", "cases", "size")]
    for what, found in list(kinds.items())[:_MOST]:
        size = shown_size(found.size) if found.whole else "unknown"
        rows.append((what, f"{found.times:,}", f"{found.cases:,}", size))
    page.table(rows, indent=2)
    if len(kinds) > _MOST:
        page.line(f"and {len(kinds) - _MOST} more kinds", indent=2)


def _counted(page: Page, what: str, counts: list[tuple[str, int]]) -> None:
    if not counts:
        page.line(f"{what}: none", indent=2)
        return
    page.table([(what, "count"), *((visible_line(name, 60), f"{count:,}") for name, count in counts[:_MOST])], indent=2)
    if len(counts) > _MOST:
        page.line(f"and {len(counts) - _MOST} more", indent=2)
