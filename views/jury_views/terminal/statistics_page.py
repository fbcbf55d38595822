"""A report of statistics in a terminal: what it comes to, what was counted, and the tables that are asked for."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.conclusion import NOTHING_BESIDE, FactsOfRun, conclusion_lines
from jury_views.page import Page
from jury_views.report_sections import Section
from jury_views.statistics_sections import GROUPS, statistics_sections
from jury_views.terminal.report_page import others_line, print_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.samples import Exclusion
    from jury_analysis.statistics import PanelStatistics, Statistics

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
        sections: of `GROUPS`; (): what there is, by name.
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
            page, [one for _, found in groups for panel in found.panels for one in _sections(panel, found)], GROUPS
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
