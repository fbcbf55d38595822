"""A report of statistics in a terminal: what it comes to, what was counted, and the tables that are asked for."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.conclusion import conclusion_lines
from jury_views.page import Page
from jury_views.terminal.sections import Sections, others_line, print_sections
from jury_views.terminal.statistics.against_labels import annotators_section, labels_section
from jury_views.terminal.statistics.agreement import agreement_section, repeats_section
from jury_views.terminal.statistics.confidence import confidence_section
from jury_views.terminal.statistics.discussion import discussion_section
from jury_views.terminal.statistics.faults import faults_section, messages_section
from jury_views.terminal.statistics.grounds import quotations_section, reading_section
from jury_views.terminal.statistics.shares import levels_section, shares_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.samples import Exclusion
    from jury_analysis.statistics import PanelStatistics, Statistics

_SEATS = 12
_NAMED = 5


def statistics_page(
    groups: "Sequence[tuple[str, Statistics]]", sections: "Sequence[str]" = (), *, run: str | None = None
) -> Page:
    """Warnings first (that debates are simulated), then of each group what it comes to, and these sections.

    Args:
        groups: statistics by the name of their group; "" where nothing is grouped.
        sections: of `SECTIONS`; (): what there is, by name.
        run: the only run that was counted, which the next command names.
    """
    page = Page()
    for warning in dict.fromkeys(warning for _, found in groups for warning in found.warnings):
        page.line(warning)
    for name, found in groups:
        if name:
            page.heading(name)
        _report(page, found, sections, run)
    if not sections:
        others_line(page, SECTIONS, [one for _, found in groups for one in found.panels], ())
    return page


def _report(page: Page, report: "Statistics", sections: "Sequence[str]", run: str | None) -> None:
    for panel in report.panels:
        if len(report.panels) > 1:
            page.heading(f"Panel {visible_line(panel.panel or 'unknown', 80)}")
        page.facts(conclusion_lines(panel, run))
        page.blank()
        _counted(page, report, panel)
        print_sections(page, SECTIONS, panel, sections)


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


def _agreement(page: Page, panel: "PanelStatistics") -> None:
    agreement_section(page, panel.agreement)
    repeats_section(page, panel.self_agreement)


def _against_labels(page: Page, panel: "PanelStatistics") -> None:
    labels_section(page, panel.against_labels, panel.effective_votes)
    if panel.levels is not None:
        levels_section(page, panel.levels)
    if panel.annotators is not None:
        annotators_section(page, panel.annotators)


def _faults(page: Page, panel: "PanelStatistics") -> None:
    if panel.faults is not None:
        faults_section(page, panel.faults)
    if panel.messages is not None:
        messages_section(page, panel.messages, "message")
    if panel.items is not None:
        messages_section(page, panel.items, "item")


def _grounds(page: Page, panel: "PanelStatistics") -> None:
    if panel.quotations is not None:
        quotations_section(page, panel.quotations)
    if panel.reading is not None:
        reading_section(page, panel.reading)


SECTIONS: "Sections[PanelStatistics]" = {
    "agreement": _agreement,
    "labels": _against_labels,
    "faults": _faults,
    "evidence": _grounds,
    "confidence": lambda page, panel: confidence_section(page, panel.confidence),
    "discussion": lambda page, panel: discussion_section(page, panel.discussion, panel.convergence),
    "shares": lambda page, panel: shares_section(page, panel.shares),
}
"""The tables, by the names that `jury stats` takes."""
