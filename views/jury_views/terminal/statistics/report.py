"""A report of statistics in a terminal: what was counted, then the sections of each panel."""

from typing import TYPE_CHECKING

from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.against_labels import annotators_section, labels_section
from jury_views.terminal.statistics.agreement import agreement_section, repeats_section
from jury_views.terminal.statistics.confidence import confidence_section
from jury_views.terminal.statistics.discussion import discussion_section
from jury_views.terminal.statistics.faults import faults_section, messages_section
from jury_views.terminal.statistics.levels import levels_section
from jury_views.terminal.statistics.quotations import quotations_section
from jury_views.terminal.statistics.reading import reading_section
from jury_views.terminal.statistics.shares import shares_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.samples import Exclusion
    from jury_analysis.statistics import PanelStatistics, Statistics

_SEATS = 12
_NAMED = 5


def report_section(page: Page, report: "Statistics") -> None:
    """Categories, intervals, what was left out, labels, and each panel."""
    order = " < " if report.ordered else ", "
    page.line(f"verdicts: {order.join(visible_line(name, 60) for name in report.categories)}")
    page.line(
        f"in brackets: 95 % intervals over clusters (bootstrap of {report.resamples:,} with seed {report.seed}, "
        "clustered t, Wilson)"
    )
    _left_out(page, report.excluded)
    _labels(page, report)
    for panel in report.panels:
        if len(report.panels) > 1:
            page.heading(f"Panel {visible_line(panel.panel or 'unknown', 80)}")
        _panel(page, panel)


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


def _panel(page: Page, panel: "PanelStatistics") -> None:
    seats = ", ".join(visible_line(seat, 40) for seat in panel.seats[:_SEATS])
    more = f" and {len(panel.seats) - _SEATS} more" if len(panel.seats) > _SEATS else ""
    page.line(
        f"{pluralize(panel.debates, 'debate')}, {pluralize(panel.cases, 'case')}, "
        f"{pluralize(panel.clusters, 'cluster')}, {pluralize(len(panel.seats), 'seat')}: {seats}{more}"
    )
    _left_out(page, panel.excluded)
    agreement_section(page, panel.agreement)
    repeats_section(page, panel.self_agreement)
    labels_section(page, panel.against_labels, panel.effective_votes)
    if panel.levels is not None:
        levels_section(page, panel.levels)
    if panel.faults is not None:
        faults_section(page, panel.faults)
    if panel.messages is not None:
        messages_section(page, panel.messages, "message")
    if panel.items is not None:
        messages_section(page, panel.items, "item")
    if panel.quotations is not None:
        quotations_section(page, panel.quotations)
    if panel.reading is not None:
        reading_section(page, panel.reading)
    if panel.annotators is not None:
        annotators_section(page, panel.annotators)
    confidence_section(page, panel.confidence)
    discussion_section(page, panel.discussion, panel.convergence)
    shares_section(page, panel.shares)


def _left_out(page: Page, excluded: "Sequence[Exclusion]") -> None:
    if excluded:
        shown = (f"{pluralize(one.count, one.unit.removesuffix('s'))} ({one.reason})" for one in excluded)
        page.line(f"left out: {'; '.join(shown)}")
