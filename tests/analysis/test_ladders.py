"""A certified ladder: what is accepted at which stage, how its error is divided, and that its promises hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    FAILS,
    OURS,
    PASSES,
    AnalysisError,
    AuditedCase,
    BadBallots,
    BadSplit,
    LadderOptions,
    LadderReport,
    Promises,
    Scale,
    StageBallots,
    TooFewLabels,
    apply_ladder,
    audited_shares,
    calibrate_ladder,
    certify_ladder,
    exact_share,
    ladder_votes,
)
from support.ballot_tables import with_column
from support.each_row import each_row
from support.ladder_votes import OPEN, SCALE, drawn, three_stages
from support.reference_data import ballots_of, needs_reference_data, triviaqa

B2 = Scale(("correct", "incorrect"), ordered=True)


def ladder(stages: Sequence[StageBallots], promises: Promises = OPEN, **options: Any) -> LadderReport:
    return calibrate_ladder(stages, None, LadderOptions(promises, **{"scale": SCALE, **options}))


def counted(rows: Sequence[tuple[int, str, str, Sequence[str | None]]]) -> StageBallots:
    """A stage by counts: how many cases, their label, the cluster's prefix, the votes."""
    votes, labels = [], []
    for number, label, _, given in rows:
        votes += [{f"s{place}": one for place, one in enumerate(given)}] * number
        labels += [label] * number
    return StageBallots("counted", ballots_of(votes, labels=labels))


def test_the_error_is_divided_by_stages_promises_and_earlier_thresholds() -> None:
    found = ladder(three_stages())
    first, second, last = (stage.certificate for stage in found.stages)
    assert first is not None
    assert second is not None
    assert first.passes is not None
    assert second.fails is not None

    assert last is None
    assert [1, 4] == [first.combinations, second.combinations]
    assert [1 - 0.1 / 6, 1 - 0.1 / 24] == [
        pytest.approx(first.passes.confidence), pytest.approx(second.fails.confidence)
    ]  # fmt: skip


def test_the_next_stage_is_certified_on_the_cases_that_reach_it() -> None:
    # The second stage is wrong where the first one agrees, and right where it does not.
    rows = [(100, "good"), (100, "bad"), (60, "good"), (60, "bad")]
    first = [["good"] * 2, ["bad"] * 2, ["good", "bad"], ["good", "bad"]]
    second = [["bad"] * 3, ["good"] * 3, ["good"] * 3, ["bad"] * 3]
    stages = [
        counted([(number, label, "", votes) for (number, label), votes in zip(rows, given, strict=True)])
        for given in (first, second, second)
    ]
    found = ladder(stages, Promises(0.1, 0.1))
    of = found.stages[1].certificate
    assert of is not None
    assert of.passes is not None
    assert of.fails is not None

    assert [(60, 0), (60, 0)] == [(one.accepted, one.wrong) for one in (*of.passes.candidates, *of.fails.candidates)]
    assert [(320, 100, 100), (120, 60, 60), (0, 0, 0)] == [
        (one.reached, one.passes, one.fails) for one in found.use.stages
    ]


def test_no_pass_is_accepted_without_a_promise_on_passes() -> None:
    found = ladder(three_stages(), Promises(None, 0.2))

    assert [0, 0] == [stage.passes for stage in found.use.stages[:-1]]
    assert [None, None] == [stage.certificate.passes for stage in found.stages[:-1] if stage.certificate is not None]
    assert found.use.stages[0].fails > 0


def test_a_promise_on_missed_failures_alone_is_refused() -> None:
    with pytest.raises(AnalysisError, match="no pass is accepted without --risk pass"):
        Promises(None, 0.2, 0.1)
    with pytest.raises(AnalysisError, match="promise --risk pass=…, fail=…, or both"):
        Promises(None, None)


def test_a_pass_that_would_miss_too_many_failures_is_not_accepted() -> None:
    # 40 of 1,000 passes are wrong: 4 %, but these are half of all failures.
    cheap = counted([(960, "good", "", ["good"] * 2), (40, "bad", "", ["good"] * 2), (40, "bad", "", ["bad"] * 2)])
    full = counted([(960, "good", "", ["good"] * 3), (80, "bad", "", ["bad"] * 3)])
    with_missed, without = (ladder([cheap, full], Promises(0.1, 0.1, missed)) for missed in (0.1, None))
    found = with_missed.stages[0].certificate
    assert found is not None

    assert [(80, 40, "refused")] == [(one.failing, one.missed, one.outcome) for one in found.missed]
    assert (None, 1.0) == (found.pass_threshold, found.fail_threshold)
    assert (0, 1000) == (with_missed.use.stages[0].passes, without.use.stages[0].passes)
    assert (0.0, 0.5) == (with_missed.use.missed.value, without.use.missed.value)


def test_missed_failures_add_up_over_the_stages() -> None:
    # Each of three stages passes 500 cases, of which 8 of 200 failures: two may, the third may not, at 15 %.
    rows = [*[(492, "good"), (8, "bad")] * 3, (176, "bad")]
    stages = []
    for stage in range(3):
        agree = [["good"] * 2 if place // 2 == stage else ["good", "bad"] for place in range(len(rows))]
        stages.append(counted([(n, label, "", votes) for (n, label), votes in zip(rows, agree, strict=True)]))
    found = ladder([*stages, stages[0]], Promises(0.1, None, 0.15)).stages[:-1]

    assert [[8], [16], [24]] == [[one.missed for one in of.certificate.missed] for of in found if of.certificate]
    assert [1.0, 1.0, None] == [of.certificate.pass_threshold for of in found if of.certificate]


def test_what_is_spent_is_counted_to_where_a_case_ends() -> None:
    found = ladder(three_stages()).use
    second = found.stages[1].reached
    third = found.stages[2].reached

    assert not found.calls_known
    assert (2 * 600 + 3 * second + 5 * third) / 600 == pytest.approx(found.calls)
    assert 5.0 == found.full_calls
    assert found.cost is None


def spent(stage: StageBallots, cost: float) -> StageBallots:
    """Every vote took one call that cost so much."""
    table = stage.table
    for name, value in (("cost", cost), ("calls", 1)):
        table = with_column(table, name, [value] * len(table))
    return stage._replace(table=table)


def test_dollars_and_calls_are_those_that_were_recorded() -> None:
    stages = [spent(stage, cost) for stage, cost in zip(three_stages(), (0.001, 0.01, 0.1), strict=True)]
    found = ladder(stages).use
    second, third = (stage.reached / 600 for stage in found.stages[1:])

    assert found.calls_known
    assert 2 * 0.001 + 3 * 0.01 * second + 5 * 0.1 * third == pytest.approx(found.cost)
    assert 0.5 == pytest.approx(found.full_cost)


def test_a_test_part_is_reported_on_and_is_not_certified_on() -> None:
    found = ladder(three_stages(), split=(70.0, 30.0))

    assert (420, "test", 180) == (found.units, found.use.part, found.use.units)
    assert all("no test part" not in one for one in found.warnings)


def test_a_stage_that_accepts_nothing_is_said() -> None:
    found = ladder(drawn(600, [0.85] * 2, [0.5] * 2, [0.9] * 3))

    assert "stage 2 (stage 2) accepts nothing and is only paid for: leave it out" in found.warnings


@each_row(
    ("change", "said"),
    [
        (lambda table: table.slice(2), "stage stage 1 lacks 1 cases of stage stage 2, as 'case-00000'"),
        (
            lambda table: pa.concat_tables([table, with_column(table.slice(0, 2), "debate_id", ["again"] * 2)]),
            "was judged more than once",
        ),
        (lambda table: table.slice(0, 0), "has no ballots"),
    ],
)
def test_stages_must_judge_the_same_cases_once(change: Any, said: str) -> None:
    first, second = three_stages()[:2]

    with pytest.raises(BadBallots, match=said):
        ladder([first._replace(table=change(first.table)), second])


def test_stages_with_other_labels_are_refused() -> None:
    first, second = drawn(600, [0.9] * 2, seed=1)[0], drawn(600, [0.9] * 3, seed=2)[0]

    with pytest.raises(BadBallots, match="has another label in each"):
        ladder([first, second])


def test_too_few_labels_and_no_case_are_refused() -> None:
    with pytest.raises(TooFewLabels, match="20 labels to certify on are too few"):
        ladder(three_stages(cases=20), Promises(0.1, 0.1))
    with pytest.raises(BadSplit, match="no labelled case"):
        ladder(three_stages(), split=(0.0, 100.0))
    with pytest.raises(BadBallots, match="a ladder has 2 to 6 stages, not 1"):
        ladder(three_stages()[:1])


def test_a_verdict_for_a_person_is_never_accepted_early() -> None:
    words = OURS.categories
    cheap = counted([(100, words[0], "", [words[0]] * 2), (100, words[2], "", [words[1]] * 2)])
    full = counted([(100, words[0], "", [words[0]] * 3), (100, words[2], "", [words[2]] * 3)])
    found = ladder([cheap, full], Promises(0.1, 0.1), scale=OURS).use.stages

    assert (100, 0) == (found[0].passes, found[0].fails)
    assert 100 == found[1].reached


@pytest.mark.parametrize(
    ("clustered", "draws", "most"),
    # More than `most` have a chance below 1 % where the promise is broken in a tenth of the draws.
    [(False, 20, 6), *(pytest.param(clustered, 150, 24, marks=pytest.mark.full) for clustered in (False, True))],
)
def test_promises_are_broken_in_no_more_than_their_share_of_draws(clustered: bool, draws: int, most: int) -> None:
    """The table is the truth, of which whole clusters are redrawn; what is promised is just below each true rate."""
    tables = drawn(900, [0.85] * 2, [0.85] * 3, [0.9] * 3, clustered=clustered)
    votes = ladder_votes(tables, SCALE)
    random, broken = np.random.default_rng(5), 0
    members = [np.flatnonzero(votes.clusters == code) for code in range(int(votes.clusters.max()) + 1)]
    everything = certify_ladder(votes, votes.labelled, Promises(0.9, 0.9)).stages
    first = {one.outcome: one for one in apply_ladder(votes, everything).risks if one.stage == 0}
    promises = Promises(*(0.999 * first[outcome].wrong / first[outcome].accepted for outcome in (PASSES, FAILS)))
    for _ in range(draws):
        chosen = random.integers(0, len(members), len(members))
        units = np.concatenate([members[one] for one in chosen])
        clusters = np.repeat(np.arange(len(chosen)), [len(members[one]) for one in chosen])
        found = certify_ladder(votes.redrawn(units, clusters), np.ones(len(units), np.bool_), promises)
        broken += apply_ladder(votes, found.stages).breaks(promises)

    assert broken <= most


@needs_reference_data
@each_row(
    ("pair", "risk", "early"),
    [
        ("Llama3-70B,Llama3-8B", 0.1, 0.89),
        ("Llama3-70B,Llama3-8B", 0.08, 0.23),
        ("GPT-4,Llama3-70B", 0.1, 0.92),
        ("GPT-4,Llama3-70B", 0.08, 0.68),
        ("GPT-4,Llama3-70B", 0.05, 0.0),
    ],
)
def test_pairs_of_recorded_judges_settle_what_is_known_of_them(pair: str, risk: float, early: float) -> None:
    stages = [StageBallots(one, triviaqa(one.split(","))) for one in (pair, "GPT-4,Llama3-70B,Llama3-8B")]
    found = ladder(stages, Promises(risk, risk), scale=B2)

    assert early == pytest.approx(found.use.early.value, abs=0.03)
    assert 113 == found.clusters


def test_disagreement_is_counted_for_all_and_by_early_verdict() -> None:
    cases = [AuditedCase("good", "good")] * 48 + [AuditedCase("good", "bad")] * 2 + [AuditedCase("bad", "bad")] * 50
    every, bad, good = audited_shares(cases)

    assert [(None, 100, 0.02), ("bad", 50, 0.0), ("good", 50, 0.04)] == [
        (one.verdict, one.audited, one.disagreement.value) for one in (every, bad, good)
    ]


@each_row(("counted", "low", "high"), [(2, 0.002431337, 0.070383932), (0, 0.0, 0.036216693), (100, 0.963783307, 1.0)])
def test_the_interval_is_the_exact_one(counted: int, low: float, high: float) -> None:
    """The figures are those of SciPy's exact interval of binomtest."""
    found = exact_share(counted, 100).interval
    assert found is not None

    assert pytest.approx((low, high), abs=1e-8) == (found.low, found.high)
    assert "clopper-pearson" == found.method


def test_an_error_is_known_only_of_labelled_cases() -> None:
    cases = [AuditedCase("good", "good", "bad"), AuditedCase("good", "good", "good"), AuditedCase("good", "bad")]
    every, _ = audited_shares(cases)

    assert (0.5, 2) == (every.error.value, every.error.n)
    assert (1 / 3, 3) == (every.disagreement.value, every.disagreement.n)


def test_a_last_stage_without_a_verdict_disagrees() -> None:
    assert 1.0 == audited_shares([AuditedCase("good", None)])[0].disagreement.value


def test_without_an_audit_there_is_no_share() -> None:
    (every,) = audited_shares([])

    assert (0, None) == (every.audited, every.disagreement.value)
