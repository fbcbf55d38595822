"""What failing verdicts count whose quotations do not stand where they say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import PanelError, PanelSpec, SeatEvaluation, resolve, rules_of
from jury_events import (
    CallOutcome,
    ConsensusChecked,
    ConsensusStatus,
    Decider,
    JurorEvaluated,
    Step,
    Verdict,
)
from support.debate_harness import DebateHarness, Says
from support.each_row import each_row
from support.scales import LEVELS

SUPPORTED = ({"item": 1, "quote": "Refund"},)
PASS, REVIEW = Says("safe_pass", 90.0), Says("needs_review", 50.0)
FAIL, BARE = Says("unsafe_fail", 20.0, evidence=SUPPORTED), Says("unsafe_fail", 10.0)
"""A failing verdict with a quotation that stands there, and one without."""


def a_debate(
    *says: Says, unsupported: str | None = None, later: Mapping[str, Says] = MappingProxyType({}), **spec: Any
) -> DebateHarness:
    """The seats are j0, j1, …; `later`: what they say in rounds, where that is something else."""
    ids = [f"j{number}" for number in range(len(says))]
    answers = {} if unsupported is None else {"unsupported": unsupported}
    settings = {
        "seats": [{"model": "simulated/juror", "juror_id": juror} for juror in ids],
        "preset": "independent",
        "answers": answers,
        **spec,
    }
    panel = resolve(PanelSpec.model_validate(settings)).panel
    answered = dict(zip(ids, says, strict=True))

    def script(step: Step, _call: object) -> Says:
        if step.juror_id is None:
            return Says("safe_pass", 80.0)
        return (later if step.round else answered).get(step.juror_id, answered[step.juror_id])

    return DebateHarness(panel, script).run()


def check(debate: DebateHarness) -> ConsensusStatus:
    return next(event.check.status for event in debate.events if isinstance(event, ConsensusChecked))


@each_row(
    ("unsupported", "verdict", "score", "status"),
    [
        (None, Verdict.UNSAFE_FAIL, 10, ConsensusStatus.MAJORITY),
        ("count", Verdict.UNSAFE_FAIL, 10, ConsensusStatus.MAJORITY),
        ("halve", Verdict.NEEDS_REVIEW, 50, ConsensusStatus.MAJORITY),  # one vote against two halves
        ("abstain", Verdict.NEEDS_REVIEW, 90, ConsensusStatus.SPLIT),  # one pass of three seats: capped
    ],
)
def test_a_majority_without_support(
    unsupported: str | None, verdict: Verdict, score: int, status: ConsensusStatus
) -> None:
    debate = a_debate(BARE, BARE, PASS, unsupported=unsupported, final={"method": "majority_vote", "quorum": 1})

    assert (verdict, score) == (debate.judgment.verdict, debate.judgment.score)
    assert status is check(debate)


@each_row("unsupported", [None, "count", "halve", "abstain"])
def test_a_verdict_with_a_quotation_that_stands_there_counts_whole(unsupported: str | None) -> None:
    found = a_debate(FAIL, FAIL, PASS, unsupported=unsupported).judgment

    assert (Verdict.UNSAFE_FAIL, 20) == (found.verdict, found.score)


@each_row(("unsupported", "mean"), [("count", 50.0), ("halve", 63.333), ("abstain", 90.0)])
def test_a_weighted_average(unsupported: str, mean: float) -> None:
    final = {"method": "weighted_average", "quorum": 1}

    assert mean == pytest.approx(a_debate(BARE, PASS, unsupported=unsupported, final=final).judgment.mean, abs=1e-3)


def test_half_a_vote_has_half_of_its_weight_in_a_mean_of_levels() -> None:
    best, worst = Says("5", 90.0), Says("1", 10.0)
    final = {"method": "weighted_average"}

    def label(unsupported: str) -> str | None:
        return a_debate(*[best] * 4, worst, unsupported=unsupported, final=final, scale=LEVELS["scale"]).judgment.label

    # Of the ranks 4, 4, 4, 4 and 0 the mean is 3.2, of four and a half votes 3.56.
    assert ("4", "5") == (label("count"), label("halve"))


def test_an_earlier_evaluation_does_not_stand_in_for_one_without_support() -> None:
    rounds = {"preset": "parallel-rounds", "discussion": {"max_rounds": 1, "always_discuss": True}}
    final = {"method": "majority_vote", "quorum": 1}
    found = a_debate(FAIL, PASS, PASS, unsupported="abstain", later={"j0": BARE}, final=final, **rounds).judgment

    assert ["abstained", "own", "own"] == [vote.kind for vote in found.votes]
    assert Verdict.SAFE_PASS is found.verdict


def test_an_abstention_does_not_count_towards_quorum() -> None:
    found = a_debate(BARE, BARE, PASS, unsupported="abstain").judgment

    assert ["abstained", "abstained", "own"] == [vote.kind for vote in found.votes]
    assert (1, True, Verdict.NEEDS_REVIEW) == (found.quorum_votes, found.capped, found.verdict)


def test_a_final_judge_decides_as_it_does() -> None:
    final = {"method": "final_judge", "judge": {"model": "simulated/juror"}}
    found = a_debate(BARE, BARE, BARE, unsupported="abstain", final=final).judgment

    assert (Decider.FINAL_JUDGE, Verdict.SAFE_PASS, 3) == (found.decided_by, found.verdict, found.quorum_votes)


@each_row(
    ("fields", "said"),
    [
        ({"answers": {"unsupported": "halve"}, "final": {"method": "median"}}, "a median has no half votes"),
        ({"answers": {"unsupported": "abstain", "evidence": "off"}}, "needs evidence"),
    ],
)
def test_panels_that_contradict_themselves_are_refused(fields: dict[str, Any], said: str) -> None:
    spec = {"seats": [{"model": "simulated/juror"}], "final": {"method": "majority_vote"}, **fields}

    with pytest.raises(PanelError, match=said):
        resolve(PanelSpec.model_validate(spec))


ANY = st.lists(st.sampled_from([PASS, REVIEW, FAIL, BARE]), min_size=1, max_size=7)
METHODS = st.sampled_from(["majority_vote", "weighted_average"])


@given(says=ANY, method=METHODS)
def test_where_all_verdicts_are_supported_the_rule_changes_nothing(says: list[Says], method: str) -> None:
    supported = [FAIL if one is BARE else one for one in says]
    found = [
        a_debate(*supported, unsupported=rule, final={"method": method}).judgment
        for rule in ("count", "halve", "abstain")
    ]

    assert [found[0]] * 3 == found


@given(says=ANY, method=METHODS, rule=st.sampled_from(["halve", "abstain"]))
def test_no_rule_makes_a_verdict_worse(says: list[Says], method: str, rule: str) -> None:
    final = {"method": method, "quorum": 1}
    count, found = (a_debate(*says, unsupported=one, final=final).judgment for one in ("count", rule))
    order = [Verdict.UNSAFE_FAIL, Verdict.NEEDS_REVIEW, Verdict.SAFE_PASS]

    assert found.decided_by is Decider.NO_EVALUATION or order.index(found.verdict) >= order.index(count.verdict)


@given(says=ANY, method=METHODS, rule=st.sampled_from(["count", "halve", "abstain"]))
def test_a_recount_equals_the_live_judgment(says: list[Says], method: str, rule: str) -> None:
    debate = a_debate(*says, unsupported=rule, final={"method": method})
    opened = debate.debate.state.debate
    made = [
        SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text)
        for event in debate.events
        if isinstance(event, JurorEvaluated)
    ]

    assert debate.judgment == rules_of(opened.rules).recount(opened, [made]).judgment


def test_a_judge_that_fails_where_every_seat_abstains_leaves_no_vote() -> None:
    panel = resolve(
        PanelSpec.model_validate(
            {
                "seats": [{"model": "simulated/juror", "juror_id": juror} for juror in ("a", "b")],
                "preset": "independent",
                "final": {"method": "final_judge"},
                "answers": {"unsupported": "abstain"},
            }
        ),
    ).panel
    debate = DebateHarness(panel, lambda step, _call: CallOutcome.TIMEOUT if step.juror_id is None else BARE).run()
    made = debate.judgment

    assert (Decider.NO_EVALUATION, Verdict.NEEDS_REVIEW) == (made.decided_by, made.verdict)
    assert made.judge_failure is not None
