"""What seats and rounds are worth as a terminal page."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.report_sections import NOTHING
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.frontier import CostFrontier, FrontierPoint, RoundWorth
    from jury_analysis.panel_worth import PanelWorth

_SEATS = 12
_POINTS = 20


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
    _seats(page, found)
    _rounds(page, found)
    _frontier(page, found)
    _stages(page, found)
    _early_stops(page, found)
    return page


def _seats(page: Page, found: "PanelWorth") -> None:
    page.heading("Seats, in the first evaluation")
    figures = Figures()
    values = found.values
    if values.labelled:
        page.line(
            f"the plurality of all seats is right in {figures.share(values.accuracy)}, "
            f"and decides {figures.share(values.decided)}; Shapley values add up to the first",
            indent=2,
        )
    drawn = values.orders is not None
    rows: list[tuple[str, ...]] = [
        (
            "seat",
            "Shapley value",
            *(("drawn ±",) if drawn else ()),
            "lost without it",
            "right without",
            "decided without",
            "cost a case",
            "calls",
        )
    ]
    for one, spent in zip(values.seats, found.spending, strict=True):
        rows.append(
            (
                visible_line(one.seat, 60),
                figures.share(one.shapley),
                *((_per_cent(one.sampling_error, 2),) if drawn else ()),
                figures.share(one.leave_one_out),
                _per_cent(one.accuracy_without),
                _per_cent(one.decided_without),
                _dollars(spent.cost),
                _number(spent.calls),
            )
        )
    page.table(rows, indent=2)
    _best_seat(page, found, figures)
    if drawn:
        page.line(f"values from {values.orders:,} drawn orders of the seats, seed {values.seed}", indent=2)
    figures.print_notes(page)


def _best_seat(page: Page, found: "PanelWorth", figures: Figures) -> None:
    best = found.best_seat
    if best is None:
        return
    page.line(
        f"beside the best single seat in hindsight ({visible_line(best.hindsight_seat, 60)}, right in "
        f"{figures.share(best.hindsight.accuracy)}), the plurality gains {figures.share(best.hindsight.gain)}",
        indent=2,
    )
    chosen = ", ".join(f"{visible_line(one.seat, 60)} in {one.parts}" for one in best.chosen[:_SEATS])
    page.line(
        f"beside the best one, chosen on other clusters (of {best.parts} parts: {chosen}; right in "
        f"{figures.share(best.apart.accuracy)}), it gains {figures.share(best.apart.gain)}",
        indent=2,
    )


def _rounds(page: Page, found: "PanelWorth") -> None:
    how = "recounted under the debates' own rules" if found.counting == "recount" else "by the plurality of votes"
    page.heading(f"Rounds of discussion, {how}")
    figures = Figures()
    rows: list[tuple[str, ...]] = [
        ("at most", _goal(found.frontier), "gain of the round", "decided", "cost a case", "calls", "assumed")
    ]
    rows += [_round(figures, one, found.debates) for one in found.rounds]
    page.table(rows, indent=2)
    figures.print_notes(page)


def _round(figures: Figures, one: "RoundWorth", debates: int) -> tuple[str, ...]:
    return (
        pluralize(one.rounds, "round"),
        figures.share(one.value),
        figures.share(one.gain) if one.rounds else NOTHING,
        _per_cent(one.decided),
        _dollars(one.cost),
        _number(one.calls),
        _assumed(one.by_assumption, debates),
    )


def _frontier(page: Page, found: "PanelWorth") -> None:
    report = found.frontier
    price = {"cost": "US dollars", "calls": "calls", "tokens": "tokens", None: "votes"}[report.measure]
    page.heading(f"Frontier of {price} against {report.goal}")
    subsets = "all" if found.all_subsets else "some"
    page.line(
        f"{pluralize(report.tried, 'choice')} tried: {subsets} {pluralize(found.subsets, 'subset')} of seats × rounds, "
        f"over {report.units:,} debates; the best of many is biased upwards, so confirm it on other cases",
        indent=2,
    )
    figures = Figures()
    best = [one for one in report.points if one.on_frontier]
    rows: list[tuple[str, ...]] = [("seats", "rounds", _goal(report), "decided", "cost a case", "calls", "assumed")]
    rows += [_point(figures, one, found.debates) for one in best[:_POINTS]]
    page.table(rows, indent=2)
    if len(best) > _POINTS:
        page.line(f"and {len(best) - _POINTS:,} more (--json has all)", indent=2)
    if report.by_assumption:
        page.line(
            "assumed: after a discussion the seats are taken to say the same without the others, which the record "
            "cannot show",
            indent=2,
        )
    figures.print_notes(page)


def _stages(page: Page, found: "PanelWorth") -> None:
    best = [one for one in found.stages if one.on_frontier]
    if not found.stages:
        return
    page.heading("Stages: a few seats first, the whole panel where they differ")
    page.line(
        f"{pluralize(len(found.stages), 'choice')} tried; nothing is promised: jury calibrate --stages certifies",
        indent=2,
    )
    if not best:
        page.line("none beats the choices above at its price", indent=2)
        return
    figures = Figures()
    rows: list[tuple[str, ...]] = [
        ("first", "ends there", _goal(found.frontier), "decided", "cost a case", "calls", "votes a case")
    ]
    rows += [
        (
            " + ".join(visible_line(seat, 40) for seat in one.seats),
            figures.share(one.early),
            figures.share(one.value),
            _per_cent(one.decided),
            _dollars(one.cost),
            _number(one.calls),
            f"{one.votes:.2f}",
        )
        for one in best[:_POINTS]
    ]
    page.table(rows, indent=2)
    figures.print_notes(page)


def _early_stops(page: Page, found: "PanelWorth") -> None:
    if not found.early_stops:
        return
    page.heading("Early stop (stop: settled), by majority vote of the first evaluations")
    page.line(
        "the verdict is that of all seats, always; seats of which no vote could change it are not asked", indent=2
    )
    rows: list[tuple[str, ...]] = [("asked last", "seats asked a case", "not asked")]
    rows += [(visible_line(one.order[-1], 60), f"{one.votes:.2f}", _per_cent(one.saved)) for one in found.early_stops]
    page.table(rows[: _SEATS + 1], indent=2)
    if len(found.early_stops) > _SEATS:
        page.line(f"and {len(found.early_stops) - _SEATS:,} more (--json has all)", indent=2)


def _point(figures: Figures, one: "FrontierPoint", debates: int) -> tuple[str, ...]:
    seats = " + ".join(visible_line(seat, 40) for seat in one.seats[:_SEATS])
    more = f" + {len(one.seats) - _SEATS} more" if len(one.seats) > _SEATS else ""
    return (
        seats + more,
        f"{one.rounds}",
        figures.share(one.value),
        _per_cent(one.decided),
        _dollars(one.cost),
        _number(one.calls),
        _assumed(one.by_assumption, debates),
    )


def _goal(report: "CostFrontier") -> str:
    return "right" if report.goal == "accuracy" else "as the whole panel"


def _assumed(count: int, debates: int) -> str:
    return "nothing" if not count else f"in {count:,} of {debates:,}"


def _per_cent(share: float | None, digits: int = 1) -> str:
    return NOTHING if share is None else f"{share:.{digits}%}"


def _dollars(amount: float | None) -> str:
    return NOTHING if amount is None else f"${amount:.4f}"


def _number(amount: float | None) -> str:
    return NOTHING if amount is None else f"{amount:.1f}"
