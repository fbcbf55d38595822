"""Does discussion help: rounds, changes of position, conformity, who moves whom, the final judge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.convergence import RoundConvergence
    from jury_analysis.discussion import DiscussionReport, DiscussionStep, JudgeAgainstVote, SeatMoves

_SEATS = 10
"""Seats of which it is shown who moves whom."""


def discussion_section(page: Page, found: "DiscussionReport", rounds: "Sequence[RoundConvergence]") -> None:
    """Nothing but a line where there was no discussion."""
    page.heading("Discussion")
    if not found.steps and found.judge is None:
        page.line("no round of discussion in these debates", indent=2)
        return
    figures = Figures()
    _rounds(page, figures, found, rounds)
    for step in found.steps:
        _step(page, figures, step, found)
    if found.judge is not None:
        _judge(page, figures, found.judge, found.categories)
    figures.print_notes(page)


def _rounds(page: Page, figures: Figures, found: "DiscussionReport", rounds: "Sequence[RoundConvergence]") -> None:
    coefficients = {one.round: one for one in rounds}
    rows = [
        (
            str(one.round),
            f"{one.debates:,}",
            f"{one.votes:,}",
            figures.number(coefficients[one.round].alpha_nominal),
            figures.number(coefficients[one.round].alpha_ordinal),
            f"{one.decided:,}",
            f"{one.right:,} of {one.labelled:,}",
            figures.share(one.accuracy),
        )
        for one in found.rounds
    ]
    head = ("round", "debates", "votes", "α nominal", "α ordinal", "decided", "plurality right", "accuracy")
    page.table([head, *rows], indent=2)
    page.line("α after round 0 is convergence: the seats have read each other; it is no reliability", indent=2)


def _step(page: Page, figures: Figures, step: "DiscussionStep", found: "DiscussionReport") -> None:
    page.blank()
    page.line(f"round {step.from_round} → {step.to_round}: {pluralize(step.pairs, 'pair')} of positions", indent=2)
    page.table(_crossed("from ↓  to →", found.categories, found.categories, step.transitions), indent=4)
    gain = step.net_gain
    page.line(f"changed: {figures.share(step.changed)}", indent=4)
    if gain.pairs:
        test = gain.test
        tested = test.reason if test.p_holm is None else f"p {test.p_holm:.3f} (Holm, {found.tests} tests)"
        page.line(
            f"wrong → right {gain.wrong_to_right:,}, right → wrong {gain.right_to_wrong:,} of {gain.pairs:,}: net gain "
            f"{gain.gain:+,}, {figures.share(gain.rate)}; {tested}",
            indent=4,
        )
    if gain.abstentions:
        page.line(
            f"{pluralize(gain.abstentions, 'labelled pair')} left out of the gain: a position counts as an abstention",
            indent=4,
        )
    rows = [
        (name, f"{one.opposed:,}", f"{one.adopted:,}", figures.share(one.rate))
        for name, one in (
            ("all", step.conformity),
            ("peers right", step.conformity_peers_right),
            ("peers wrong", step.conformity_peers_wrong),
        )
    ]
    page.table([("conformity", "opposed", "adopted", "share"), *rows], indent=4)
    _moves(page, step.moves)


def _moves(page: Page, moves: "SeatMoves") -> None:
    if not any(any(row) for row in moves.adopted) or len(moves.seats) > _SEATS:
        return
    rows = [
        tuple(f"{taken:,}/{other:,}" if other else "" for taken, other in zip(adopted, opposed, strict=True))
        for adopted, opposed in zip(moves.adopted, moves.opposed, strict=True)
    ]
    names = [visible_line(seat, 30) for seat in moves.seats]
    head = ("moved ↓  to the position of →", *names)
    page.table([head, *((name, *row) for name, row in zip(names, rows, strict=True))], indent=4)


def _judge(page: Page, figures: Figures, judge: "JudgeAgainstVote", categories: tuple[str, ...]) -> None:
    page.blank()
    page.line(f"final judge against the last vote, {pluralize(judge.debates, 'debate')}", indent=2)
    page.table(_crossed("plurality ↓  judge →", (*categories, "undecided"), categories, judge.table), indent=4)
    page.line(
        f"follows the plurality: {figures.share(judge.follows)}; overrules it {judge.overrules:,} times, to right "
        f"{judge.overrules_to_right:,}, to wrong {judge.overrules_to_wrong:,}; decides where it is undecided: right "
        f"{judge.decides_right:,}, wrong {judge.decides_wrong:,}",
        indent=4,
    )


def _crossed(
    corner: str, rows: tuple[str, ...], columns: tuple[str, ...], counts: Sequence[Sequence[int]]
) -> list[tuple[str, ...]]:
    head = (corner, *(visible_line(name, 40) for name in columns))
    return [
        head,
        *((visible_line(name, 40), *(f"{count:,}" for count in row)) for name, row in zip(rows, counts, strict=True)),
    ]
