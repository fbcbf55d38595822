"""Sections as Markdown, for the page of a CI job (`$GITHUB_STEP_SUMMARY` and the like): of a run, or of a gate."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

from jury_events.text import pluralize, visible_line
from jury_views.reasons import without_quotations
from jury_views.report_sections import (
    AND_MORE,
    FORMATS,
    MOST_ROWS,
    Block,
    Chart,
    FigureNotes,
    Formats,
    ReportCell,
    Section,
    Sentence,
    Table,
    cell_text,
    named_facts,
)
from jury_views.tally import JudgedCase, RunReport

if TYPE_CHECKING:
    from jury_views.gate_view import GateInWords

MARKDOWN_BEGINS = b"<!-- jury report -->\n"
"""The first bytes of every such file: no other file is replaced."""

_LINE = 200
_WHOLE = 400
_TEXTS = {"text", "verdict", "whole"}
_FORMATS: Formats = {
    **FORMATS,
    "text": lambda text: visible_line(text, _LINE),
    "verdict": lambda text: visible_line(text, _LINE),
    "whole": lambda text: visible_line(text, _WHOLE),
}
_AS_TEXT = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_{}[]#~$"}
    # `@` would call people, `:` would make an address a link.
    | {sign: f"&#{ord(sign)};" for sign in "&<>|@:"}
)


def markdown_page(*sections: Section) -> bytes:
    """The sections but for their charts, UTF-8, in English; the first one has the heading of the page."""
    parts = [part for depth, one in enumerate(sections) for part in _section(one, "##" if depth == 0 else "###")]
    return MARKDOWN_BEGINS + "\n\n".join(parts).encode() + b"\n"


def _section(section: Section, mark: str) -> Iterator[str]:
    yield f"{mark} {_text(section.title)}"
    notes = FigureNotes()
    for block in section.blocks:
        match block:
            case Sentence():
                yield f"> **{_text(block.text)}**" if block.notice else _text(block.text)
            case Table():
                yield _table(block, notes)
            case Chart():
                pass
            case _:
                assert_never(block)
    for number, note in enumerate(notes.lines(), 1):
        yield _text(f"({number}) {note}")


def _table(table: Table, notes: FigureNotes) -> str:
    """Its columns of numbers are aligned to the right."""
    rows = (*table.rows, *table.totals)
    numbers = [place > 0 and all(row[place].form not in _TEXTS for row in rows) for place in range(len(table.head))]
    lines = [map(_text, table.head), ("---:" if one else "---" for one in numbers)]
    lines += [(_escaped(cell_text(cell, notes, "en", _FORMATS)) for cell in row) for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _text(text: str) -> str:
    """A text as it is, on one line, whatever it would mean as Markdown or HTML."""
    return _escaped(visible_line(text, _WHOLE))


def _escaped(line: str) -> str:
    return line.translate(_AS_TEXT)


def markdown(report: RunReport) -> bytes:
    """The page of a run: conditions, totals, shares of the verdicts, the cases that did not pass."""
    count, rows = 0, []
    for case in report.cases:
        kind, said = case.ended(report.failing)
        if kind is not None:
            count += 1
            if count <= MOST_ROWS:
                rows.append(_row(case, said, quotes=report.quotes))
    blocks = (*_notices(report), *_totals(report))
    if not rows:
        return markdown_page(Section("run", "run", report.name, (*blocks, Sentence(_none_failed(report)))))
    cases = Table(("case", "ended as", "score", "label", "why", "debate"), tuple(rows))
    more = (Sentence(AND_MORE(n=count - MOST_ROWS)),) if count > MOST_ROWS else ()
    title = f"{pluralize(count, 'debate')} that did not pass"
    return markdown_page(Section("run", "run", report.name, blocks), Section("cases", "cases", title, (cases, *more)))


def _notices(report: RunReport) -> Iterator[Sentence]:
    tally = report.tally
    if tally.simulated:
        simulated = f"Simulated jurors in {pluralize(tally.simulated, 'debate')}: no verdict of models"
        yield Sentence(simulated, notice=True)
    if (missing := tally.often_without_verdict) is not None:
        yield Sentence(f"{missing}: shares of conditions are of the others", notice=True)
    yield from (Sentence(f"fail if {one.says}", notice=one.met) for one in report.conditions)


def _totals(report: RunReport) -> Iterator[Block]:
    tally, total = report.tally, report.total
    finished = pluralize(tally.finished, "debate")
    of_all = finished if total is None else f"{tally.finished:,} of {pluralize(total, 'debate')}"
    yield named_facts({"finished": of_all, **report.facts}.items())
    if tally.ended_as:
        shares = ((name, count, count / tally.finished) for name, count in sorted(tally.ended_as.items()))
        yield Table(
            ("ended as", "debates", "share"),
            tuple(
                (ReportCell(name, "verdict"), ReportCell(count, "count"), ReportCell(share, "share"))
                for name, count, share in shares
            ),
        )


def _row(case: JudgedCase, said: str, *, quotes: bool) -> tuple[ReportCell, ...]:
    """The reason is without the words that it quotes unless they were asked for, as others read this."""
    why = case.reason
    if why is not None:
        why = f"{'' if case.item is None else f'item {case.item}: '}{why if quotes else without_quotations(why)}"
    return (
        ReportCell(case.case_id),
        ReportCell(said),
        ReportCell(case.score if case.has_verdict else None, "count"),
        ReportCell(case.label),
        ReportCell(why, "whole"),
        ReportCell(case.debate_id),
    )


def _none_failed(report: RunReport) -> str:
    """What the jury said is no claim about the cases: labels may say otherwise."""
    if not len(report.cases):
        return "No debate has ended."
    said = f"The jury passed {'the only debate' if len(report.cases) == 1 else 'every debate'} that has ended"
    false = report.tally.false_passes.count
    return f"{said}, {false:,} of {report.tally.finished:,} against the label." if false else f"{said}."


def gate_markdown(named: "GateInWords") -> bytes:
    """A page of a CI job, UTF-8: decision, notes, figures, tables."""
    from jury_views.paired_sections import gate_sections  # noqa: PLC0415  (of gates alone)

    blocks: list[Block] = [Sentence(named.headline, notice=True), *map(Sentence, named.notes), named_facts(named.facts)]
    if named.table is not None:
        blocks.append(named.table)
    return markdown_page(Section("gate", "gate", named.title, tuple(blocks)), *gate_sections(named))
