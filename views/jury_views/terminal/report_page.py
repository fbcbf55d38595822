"""Reports in a terminal: their sections as tables below lines, with the notes that figures refer to.

They are in English, but for the gate on the true rate of a run, which is in the language of its jury.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jury_events.panel import Language
from jury_events.text import pluralize, visible_line
from jury_views.conclusion import NOTHING_BESIDE, FactsOfRun, conclusion_lines
from jury_views.drift_view import DriftReport
from jury_views.gate_view import GateInWords, plan_facts
from jury_views.page import Page, TextSpan
from jury_views.paired_sections import PAIRED_TABLES, gate_sections
from jury_views.report_sections import (
    FORMATS,
    FigureNotes,
    Formats,
    Section,
    Sentence,
    Table,
    cell_text,
    in_language,
)
from jury_views.statistics_sections import STATISTICS_TABLES, statistics_sections
from jury_views.worth_sections import worth_sections

if TYPE_CHECKING:
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.panel_worth import PanelWorth
    from jury_analysis.scale import Exclusion
    from jury_analysis.statistics import PanelStatistics, Statistics


_NAME = 60
"""Characters of a name that are shown."""


def _name(text: str) -> str:
    return visible_line(text, _NAME)


_FORMATS: Formats = {
    **FORMATS,
    "text": _name,
    "verdict": _name,
    "whole": lambda text: visible_line(text, 1000),
}


def print_sections(page: Page, sections: Iterable[Section], groups: Sequence[str]) -> None:
    """Those of these groups."""
    for one in sections:
        if one.group in groups:
            print_section(page, one)


def others_line(page: Page, sections: Iterable[Section], order: Sequence[str], printed: Sequence[str] = ()) -> None:
    """Which further groups there are."""
    known = {one.group for one in sections} - set(printed)
    if known:
        page.blank()
        names = ", ".join(name for name in order if name in known)
        page.line(f"{'more tables' if printed else 'tables'}: {names}; name some of them, or --full")


def print_section(page: Page, section: Section) -> None:
    """Its title and blocks, but for charts; the reason of a missing figure, and notes, are numbered below them."""
    page.heading(section.title)
    notes, tabled = FigureNotes(), False
    for block in section.blocks:
        match block:
            case Sentence():
                page.line(block.text, indent=2)
            case Table():
                if tabled:
                    page.blank()
                _table(page, block, notes)
                tabled = True
            case _:
                pass
    for number, note in enumerate(notes.lines(), 1):
        page.line(f"({number}) {note}", indent=2)


def _table(page: Page, table: Table, notes: FigureNotes, language: Language = "en") -> None:
    rows = [tuple(cell_text(cell, notes, language, _FORMATS) for cell in row) for row in table.shown(table.few)]
    page.table([tuple(_name(in_language(one, language)) for one in table.head), *rows], indent=2)
    if (left := len(table.rows) - table.few) > 0:
        page.line(f"and {left:,} more (--json has all)", indent=2)


_SEATS = 12
_NAMED = 5


def statistics_page(
    groups: "Sequence[tuple[str, Statistics]]",
    sections: "Sequence[str]" = (),
    *,
    run: str | None = None,
    beside: FactsOfRun = NOTHING_BESIDE,
) -> Page:
    """Warnings first (that debates are simulated), then of each group what it comes to, and these sections.

    Args:
        groups: statistics by the name of their group; "" where nothing is grouped.
        sections: of `STATISTICS_TABLES`; (): what there is, by name.
        run: the only run that was counted, which the next command names.
        beside: what is known of that run beside its votes.
    """
    page = Page()
    for warning in dict.fromkeys(warning for _, found in groups for warning in found.warnings):
        page.line(warning)
    for name, found in groups:
        if name:
            page.heading(name)
        _report(page, found, sections, run, beside)
    if not sections:
        others_line(
            page,
            [one for _, found in groups for panel in found.panels for one in _sections(panel, found)],
            STATISTICS_TABLES,
        )
    return page


def _sections(panel: "PanelStatistics", report: "Statistics") -> list[Section]:
    return list(statistics_sections(panel, report.categories))


def _report(page: Page, report: "Statistics", sections: "Sequence[str]", run: str | None, beside: FactsOfRun) -> None:
    for panel in report.panels:
        if len(report.panels) > 1:
            page.heading(f"Panel {visible_line(panel.panel or 'unknown', 80)}")
        page.facts(conclusion_lines(panel, run, beside))
        page.blank()
        _counted(page, report, panel)
        print_sections(page, _sections(panel, report), sections)


def _counted(page: Page, report: "Statistics", panel: "PanelStatistics") -> None:
    seats = ", ".join(visible_line(seat, 40) for seat in panel.seats[:_SEATS])
    more = f" and {len(panel.seats) - _SEATS} more" if len(panel.seats) > _SEATS else ""
    page.line(
        f"{pluralize(panel.debates, 'debate')}, {pluralize(panel.cases, 'case')}, "
        f"{pluralize(panel.clusters, 'cluster')}, {pluralize(len(panel.seats), 'seat')}: {seats}{more}"
    )
    order = " < " if report.ordered else ", "
    page.line(f"verdicts: {order.join(visible_line(name, 60) for name in report.categories)}")
    page.line(
        f"in brackets: 95 % intervals over clusters (bootstrap of {report.resamples:,} with seed {report.seed}, "
        "clustered t, Wilson)"
    )
    _left_out(page, (*report.excluded, *panel.excluded))
    _labels(page, report)


def _labels(page: Page, report: "Statistics") -> None:
    join = report.labels
    if join is None:
        return
    page.line(
        f"labels of {pluralize(join.annotators, 'annotator')} for {pluralize(join.cases, 'case')}: "
        f"{join.unmatched:,} without votes, {join.ties:,} ties without a label"
    )
    if join.differing:
        shown = ", ".join(visible_line(case, 80) for case in join.differing[:_NAMED])
        more = f" and {len(join.differing) - _NAMED:,} more" if len(join.differing) > _NAMED else ""
        page.line(f"they win over other labels of {pluralize(len(join.differing), 'case')}: {shown}{more}")


def _left_out(page: Page, excluded: "Sequence[Exclusion]") -> None:
    if excluded:
        shown = (f"{pluralize(one.count, one.unit.removesuffix('s'))} ({one.reason})" for one in excluded)
        page.line(f"left out: {'; '.join(shown)}")


def panel_worth_page(found: "PanelWorth") -> Page:
    """Warnings first, then what was counted, the seats, the rounds, and the frontier."""
    page = Page()
    for warning in found.warnings:
        page.line(warning)
    page.line(
        f"{pluralize(found.debates, 'debate')}, {pluralize(found.clusters, 'cluster')}, "
        f"{pluralize(len(found.values.seats), 'seat')}, {found.values.labelled:,} with a label; "
        "in brackets: 95 % intervals over clusters"
    )
    if found.excluded:
        page.line(f"left out: {'; '.join(f'{one.count:,} {one.unit} ({one.reason})' for one in found.excluded)}")
    for section in worth_sections(found):
        print_section(page, section)
    return page


def whole_page(warnings: "Iterable[str]", sections: Iterable[Section]) -> Page:
    page = Page()
    for warning in warnings:
        page.line(warning)
    for one in sections:
        print_section(page, one)
    return page


_STYLES = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}
_OF_DRIFT = {None: "", "none": "bold green", "judge": "bold red"}


def drift_page(report: DriftReport) -> Page:
    """A baseline, a check, a plan, or a list of baselines."""
    page = Page()
    if report.headline is not None:
        found = TextSpan(report.headline, _OF_DRIFT.get(report.verdict, "bold yellow"))
        page.line(TextSpan(f"drift {visible_line(report.title, _NAME)}", "bold"), ": ", found)
    page.facts((name, said) for name, said, _ in report.facts)
    for section in report.sections:
        print_section(page, section)
    return page


def gate_page(named: GateInWords, sections: "Sequence[str]" = ()) -> Page:
    """Decision, its figures and notes, then these tables, of `PAIRED_TABLES`; of a true rate the cases drawn."""
    language = named.language
    page = Page()
    page.line(f"{named.title}: ", TextSpan(in_language(named.headline, language), _STYLES[named.decision]))
    page.facts((in_language(name, language), in_language(said, language)) for name, said in named.facts)
    for one in named.notes:
        page.line(in_language(one, language))
    if named.table is not None:
        _table(page, named.table, FigureNotes(), language)
    tables = gate_sections(named)
    print_sections(page, tables, sections)
    if not sections:
        others_line(page, tables, PAIRED_TABLES)
    return page


def plan_page(plan: "GatePlan") -> Page:
    page = Page()
    page.line("plan: no case is judged, and nothing is decided")
    page.table([("figure", "value"), *plan_facts(plan)], indent=2)
    return page
