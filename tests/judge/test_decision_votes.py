"""Votes of decision models in statistics and calibrations: their probability counts as a confidence, and what is
certified on recorded debates is what judgments apply."""

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from jury_analysis import OURS, check, last_votes, signal_values
from jury_debate import PanelSpec, panel_digest, resolve
from jury_events import FAIL, PASS, CallOutcome, Judgment, Panel, ProbabilitySignal, Verdict
from jury_judge import Records, stored_ballots
from jury_store import EventStore, open_store
from support.calibrations import a_calibration
from support.debate_harness import Answer, DebateHarness, Says, a_case, by_round
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")

WORST_FIRST = ("unsafe_fail", "needs_review", "safe_pass")
THRESHOLD = 0.5


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]))


@pytest.fixture
def store(url: str) -> Iterator[EventStore]:
    opened = open_store(url, write=True)
    yield opened
    opened.close()


def a_panel(*models: str, **spec: Any) -> Panel:
    seats = [{"model": model, "juror_id": model.partition("/")[0]} for model in models]
    return resolve(PanelSpec.model_validate({"seats": seats, "preset": "independent", **spec})).panel


def given(*shares: float) -> bytes:
    """The probabilities from the worst verdict to the best."""
    probabilities = dict(zip(WORST_FIRST, shares, strict=True))
    return json.dumps({"answers": {"verdict": {"type": "choice", "probabilities": probabilities}}}).encode()


async def test_the_probability_of_the_verdict_is_the_confidence_of_the_seat(store: EventStore, url: str) -> None:
    panel = a_panel("systemone/jev", final={"method": "majority_vote"})
    judged: list[tuple[Verdict, bytes | CallOutcome]] = [
        (PASS, given(0.1, 0.2, 0.7)),  # right with 0.7
        (PASS, given(0.05, 0.05, 0.9)),  # right with 0.9
        (FAIL, given(0.1, 0.33, 0.56)),  # wrong with 0.56 / 0.99
        (FAIL, given(0.8, 0.1, 0.1)),  # right with 0.8
        (PASS, CallOutcome.BLOCKED),  # no verdict
    ]
    for number, (label, answer) in enumerate(judged):
        debate = DebateHarness(panel, by_round({"systemone": [answer]}), case=a_case(label=label)).run()
        store_debate(store, debate, f"d{number}")

    async with Records(url) as records:
        report = (await records.stats()).panels[0].confidence
    assert report is not None
    (stated,) = [one for one in report.curves if one.confidence == "stated"]

    wrong = 0.56 / 0.99
    assert ("systemone", 4, {"no verdict": 1}) == (stated.seat, stated.n, stated.left_out)
    assert [(0.5, 1, 0, wrong), (0.6, 1, 1, 0.7), (0.7, 1, 1, 0.8), (0.8, 1, 1, 0.9)] == [
        (pytest.approx(one.low), one.n, one.right, pytest.approx(one.mean_confidence)) for one in stated.bins if one.n
    ]
    assert (0.3 + 0.1 + wrong + 0.2) / 4 == pytest.approx(stated.ece.value)
    assert (0.09 + 0.01 + wrong**2 + 0.04) / 4 == pytest.approx(stated.brier.value)
    assert (1.0, 0.75) == (stated.auroc.value, stated.accuracy.value)


def an_answer(chance: random.Random) -> Answer:
    if chance.random() < 0.2:
        return chance.choice([CallOutcome.BLOCKED, CallOutcome.TIMEOUT])
    first = chance.randint(0, 100)
    second = chance.randint(0, 100 - first)
    return given(first / 100, second / 100, (100 - first - second) / 100)


def by_hand(judgment: Judgment) -> float:
    """The mean over all seats of what the votes for the verdict hold of it."""
    assert judgment.acceptance is not None
    verdict = judgment.acceptance.verdict
    held = [vote.confidence or 0.0 for vote in judgment.votes if vote.position == verdict and vote.kind != "synthetic"]
    return sum(held) / len(judgment.votes)


@pytest.mark.parametrize("preset", ["independent", "parallel-rounds"])
@pytest.mark.parametrize("method", ["majority_vote", "weighted_average"])
def test_a_judgment_accepts_by_the_mean_probability_as_the_statistics_do(
    store: EventStore, preset: str, method: str
) -> None:
    models = ("simulated/juror", "systemone/jev", "google-decisions/gemini-decision-1")
    panel = a_panel(*models, preset=preset, final={"method": method, "quorum": 1}, discussion={"max_rounds": 1})
    calibration = a_calibration(signal=ProbabilitySignal(), threshold=THRESHOLD, panel=panel_digest(panel))
    calibrated = panel.changed(final=panel.final.changed(calibration=calibration))
    chance = random.Random(f"{preset} {method}")
    applied: dict[str, Judgment] = {}
    for number in range(12):
        says: Answer = Says(chance.choice(WORST_FIRST), 50.0, confidence=round(chance.random(), 2))
        answers = {"simulated": [says, says], "systemone": [an_answer(chance)], "google-decisions": [an_answer(chance)]}
        store_debate(store, DebateHarness(panel, by_round(answers)).run(), f"d{number:02}")
        judgment = DebateHarness(calibrated, by_round(answers)).run().debate.state.judgment
        assert judgment is not None
        applied[f"d{number:02}"] = judgment

    votes = last_votes(check(stored_ballots(store)), OURS)
    values = dict(
        zip(votes.matrix.debates.to_pylist(), signal_values(ProbabilitySignal(), votes).tolist(), strict=True)
    )

    for debate, judgment in applied.items():
        acceptance = judgment.acceptance
        assert acceptance is not None
        if acceptance.verdict is Verdict.NEEDS_REVIEW:
            assert not acceptance.accepted
            continue
        assert acceptance.probability == pytest.approx(values[debate], abs=1e-9) == pytest.approx(by_hand(judgment))
        assert acceptance.accepted == (values[debate] >= THRESHOLD)
    assert {True, False} == {one.acceptance.accepted for one in applied.values() if one.acceptance is not None}
    assert not all(np.isnan(value) for value in values.values())
