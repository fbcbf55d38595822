"""The page of a run's statistics: charts and the figures beside them, panel by panel."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_views.charts.shapes import Segment, stacked_bar
from jury_views.charts.statistic_charts import DotPlot, HeatMap, ReliabilityChart, dot_plot, heat_map, reliability_chart
from jury_views.figure_notes import FigureNotes

if TYPE_CHECKING:
    from jury_analysis.accuracy import AgainstLabels
    from jury_analysis.agreement import Agreement
    from jury_analysis.confidence import ConfidenceCurve
    from jury_analysis.discussion import DiscussionStep
    from jury_analysis.estimate import Estimate
    from jury_analysis.faults import FaultsFound
    from jury_analysis.levels import LevelReport, LevelsGiven
    from jury_analysis.message_agreement import MessageAgreement
    from jury_analysis.quotation_shares import QuotationShares, Quoted
    from jury_analysis.read_shares import ReadShares, ShareRead
    from jury_analysis.shares import VerdictShare
    from jury_analysis.statistics import PanelStatistics, Statistics
    from jury_analysis.wording import Reason

MOST_SEATS = 12
"""Seats of an agreement matrix; larger panels have only the table of pairs."""

MOST_ROWS = 100
"""Rows of one table."""


class StepView(NamedTuple):
    """One step of the discussion, and its transitions as a heat map."""

    step: "DiscussionStep"
    chart: HeatMap


class PanelView(NamedTuple):
    """The statistics of one panel with their charts; a chart of nothing is None."""

    statistics: "PanelStatistics"
    coefficients: "tuple[tuple[str, Estimate], ...]"
    """Label and figure of each coefficient of agreement."""
    matrix: HeatMap | None
    vote_share: "ConfidenceCurve | None"
    reliability: ReliabilityChart | None
    steps: tuple[StepView, ...]
    raters: "tuple[AgainstLabels, ...]"
    """Jury, panel, then seats; () without a label."""
    accuracies: DotPlot | None
    levels: "tuple[LevelsGiven, ...]"
    """Jury, panel, seats, then the labels of people; () where the labels are no levels."""
    finders: "tuple[FaultsFound, ...]"
    """Panel, then seats; () where no label is compared with messages and outcomes."""
    located: "tuple[tuple[str, MessageAgreement], ...]"
    """Agreement on messages and on items, each where a vote names one: `messages`, `items`."""
    quoted: "tuple[Quoted, ...]"
    """Seats, the final judge, then all; () where no evaluation was asked for evidence."""
    readers: "tuple[ShareRead, ...]"
    """Seats, then all; () where every vote rests on all of the record, read in one call."""
    notes: "tuple[Reason, ...]"
    """What limits the figures, each once."""
    shares: tuple[Segment, ...]
    share_intervals: DotPlot


class StatsPage(NamedTuple):
    """The report and its views."""

    report: "Statistics"
    panels: tuple[PanelView, ...]

    @property
    def all_simulated(self) -> bool:
        """Whether every debate that counts is simulated."""
        return all(one.simulated == one.debates for one in self.report.panels)


def stats_page(report: "Statistics", names: Mapping[str, str]) -> StatsPage:
    """The views of a report; `names` are the words for `jury` and `panel` in charts."""
    return StatsPage(report, tuple(_panel(one, report.categories, names) for one in report.panels))


def _panel(panel: "PanelStatistics", categories: tuple[str, ...], names: Mapping[str, str]) -> PanelView:
    against, agreement = panel.against_labels, panel.agreement
    jury = () if against.jury is None else (against.jury,)
    raters = (*jury, against.panel, *against.seats) if against.labelled else ()
    curve = panel.confidence.curves[0] if panel.confidence.curves else None
    known = curve is not None and curve.n > 0
    return PanelView(
        statistics=panel,
        coefficients=(
            ("stats_alpha_nominal", agreement.alpha_nominal),
            ("stats_alpha_ordinal", agreement.alpha_ordinal),
            ("stats_alpha_scores", agreement.alpha_scores),
            ("stats_ac1", agreement.ac1),
            ("stats_ac2", agreement.ac2),
            ("stats_fleiss", agreement.fleiss),
            ("stats_raw", agreement.raw),
        ),
        matrix=_matrix(panel.seats, agreement) if 1 < len(panel.seats) <= MOST_SEATS else None,
        vote_share=curve if known else None,
        reliability=reliability_chart(curve.bins) if curve is not None and known else None,
        steps=tuple(StepView(step, _transitions(step, categories)) for step in panel.discussion.steps),
        raters=raters[:MOST_ROWS],
        accuracies=dot_plot([(one.seat or names[one.rater], one.accuracy) for one in raters[:MOST_ROWS]])
        if raters
        else None,
        levels=() if panel.levels is None else _levels(panel.levels),
        finders=() if panel.faults is None else (panel.faults.panel, *panel.faults.seats[: MOST_ROWS - 1]),
        located=tuple(
            (name, found) for name, found in (("messages", panel.messages), ("items", panel.items)) if found is not None
        ),
        quoted=() if panel.quotations is None else _quoted(panel.quotations),
        readers=() if panel.reading is None else _readers(panel.reading),
        notes=_notes_of(panel),
        shares=stacked_bar(_counts(panel.shares, panel.debates)),
        share_intervals=dot_plot([(one.verdict, one.raw) for one in panel.shares]),
    )


def _levels(found: "LevelReport") -> "tuple[LevelsGiven, ...]":
    raters = (found.jury, found.panel, *found.seats[:MOST_ROWS], found.labels)
    return tuple(one for one in raters if one is not None)


def _quoted(found: "QuotationShares") -> "tuple[Quoted, ...]":
    judge = () if found.judge is None else (found.judge,)
    return (*found.seats[:MOST_ROWS], *judge, found.all)


def _readers(found: "ReadShares") -> "tuple[ShareRead, ...]":
    return (*found.seats[:MOST_ROWS], found.all)


def _notes_of(panel: "PanelStatistics") -> "tuple[Reason, ...]":
    notes = FigureNotes()
    for note in _notes(panel):
        notes.add(note)
    return tuple(notes.lines())


def _notes(value: Any) -> "Iterator[Reason]":
    """The notes of all estimates of a report, which is made of dataclasses and tuples."""
    if is_dataclass(value):
        yield from getattr(value, "notes", ())
        for field in fields(value):
            yield from _notes(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from _notes(one)


def _matrix(seats: tuple[str, ...], agreement: "Agreement") -> HeatMap:
    """The raw agreement of each two seats."""
    figures: dict[tuple[str, ...], Estimate] = {}
    for pair in agreement.pairs:
        figures[pair.seats] = figures[pair.seats[::-1]] = pair.raw
    cells = []
    for row in seats:
        values = [figures[row, column].value if row != column else None for column in seats]
        cells.append([(value, "" if value is None else f"{value:.0%}") for value in values])
    return heat_map(cells, [f"{n} {seat}" for n, seat in enumerate(seats, 1)], [str(n + 1) for n in range(len(seats))])


def _transitions(step: "DiscussionStep", categories: tuple[str, ...]) -> HeatMap:
    """Each row is the part of an earlier position that each later position has."""
    cells = []
    for row in step.transitions:
        total = sum(row)
        cells.append([(count / total if total else None, str(count)) for count in row])
    return heat_map(cells, categories, categories)


def _counts(shares: "tuple[VerdictShare, ...]", debates: int) -> dict[str, int]:
    """Debates by verdict, and those without one."""
    counts = {one.verdict: one.count for one in shares}
    return counts | {"open": debates - sum(counts.values())}
