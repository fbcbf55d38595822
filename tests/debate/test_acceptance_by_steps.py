"""Acceptance by agreement on the verdict and on the decisive item."""

from typing import Any

import pytest

from jury_debate import panel_digest
from jury_events import Acceptance, SignalVote, Verdict, VotesStepSignal
from support.calibrations import a_calibration
from support.debate_harness import SEATS, DebateHarness, Says, a_panel, by_round
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
ITEM = VotesStepSignal(passing=P, step="item")


@each_row(
    ("verdict", "votes", "value"),
    [
        # (seats + votes that agree) / (2 * seats)
        (F, ((F, 7), (F, 7), (F, 7)), 1.0),
        (F, ((F, 7), (F, 7), (P, None)), 5 / 6),
        (F, ((F, 7), (F, 7), (F, 9)), 5 / 6),
        (F, ((F, 7), (F, 7), (F, None)), 5 / 6),
        (F, ((F, 7), (F, 7), (None, None), (None, None)), 6 / 8),
        (F, ((F, 7), (F, 7), (F, 7), (F, 9), (F, 9)), 8 / 10),
        # nobody agrees: no item, one seat alone, two items that come first
        (F, ((F, None), (F, None), (F, None)), 0.0),
        (F, ((F, 7), (F, 9), (F, None)), 0.0),
        (F, ((F, 7), (F, None), (P, None)), 0.0),
        (F, ((F, 7), (F, 7), (F, 9), (F, 9)), 0.0),
        (F, ((F, 7),), 0.0),
        (F, (), 0.0),
        # seats with another verdict do not count, whatever they name
        (F, ((F, 7), (R, 7), (R, 7)), 0.0),
        (F, ((F, 7), (F, 7), (R, 9), (R, 9), (R, 9)), 7 / 10),
        # a pass: half the share of the votes
        (P, ((P, None), (P, None), (P, None)), 0.5),
        (P, ((P, None), (P, None), (F, 7)), 2 / 6),
        (P, ((P, 7), (P, 7), (P, 7)), 0.5),
    ],
)
def test_the_value_of_agreement(verdict: Verdict, votes: tuple[tuple[Any, int | None], ...], value: float) -> None:
    given = [SignalVote(str(seat), vote, step=step) for seat, (vote, step) in enumerate(votes)]

    assert value == pytest.approx(ITEM.probability(verdict, given), abs=1e-9)
    assert value in (0.0, *(pytest.approx(level, abs=1e-9) for level in ITEM.levels(max(1, len(votes)))))


def test_levels_are_those_of_agreeing_seats_and_then_of_votes_for_a_pass() -> None:
    assert [1.0, 5 / 6, 3 / 6, 2 / 6, 1 / 6] == pytest.approx(ITEM.levels(3), abs=1e-9)


def accepted(*answers: Says, threshold: float, prompts: int = 1, **spec: Any) -> tuple[Verdict, Acceptance]:
    panel = a_panel(*SEATS, prompts=prompts, **{"preset": "independent", **spec})
    calibration = a_calibration(signal=ITEM, threshold=threshold, panel=panel_digest(panel))
    panel = panel.changed(final=panel.final.changed(calibration=calibration))
    script = by_round({seat: [one] for seat, one in zip(SEATS, answers, strict=True)}, Says(F, 10.0, decisive_item=1))
    judgment = DebateHarness(panel, script, prompts=prompts).run().debate.state.judgment
    assert judgment is not None
    assert judgment.acceptance is not None
    return judgment.verdict, judgment.acceptance


def fails(item: int | None) -> Says:
    return Says(F, 10.0, decisive_item=item)


def test_a_fail_on_whose_item_the_seats_agree_stands() -> None:
    verdict, acceptance = accepted(fails(1), fails(1), Says(P, 90.0), threshold=0.7)

    assert (F, 0.833333333, True) == (verdict, acceptance.probability, acceptance.accepted)
    assert "votes+step" == acceptance.signal


def test_a_unanimous_fail_on_different_items_does_not_stand() -> None:
    verdict, acceptance = accepted(fails(1), fails(2), fails(None), threshold=0.1)

    assert (R, F, 0.0, False) == (verdict, acceptance.verdict, acceptance.probability, acceptance.accepted)


@each_row(("threshold", "verdict"), [(0.7, R), (0.5, P)])
def test_a_pass_is_accepted_by_its_votes_from_a_half_down(threshold: float, verdict: Verdict) -> None:
    found, acceptance = accepted(*[Says(P, 90.0)] * 3, threshold=threshold)

    assert (verdict, 0.5) == (found, acceptance.probability)


def test_seats_count_also_where_a_final_judge_decides() -> None:
    verdict, acceptance = accepted(
        fails(2), fails(2), Says(P, 90.0), threshold=0.7, preset="parallel-rounds", final={"method": "final_judge"}
    )

    assert (F, 0.833333333) == (verdict, acceptance.probability)
