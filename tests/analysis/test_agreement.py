"""Agreement of seats: hand-worked tables, independent libraries, reference figures, and what must not matter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    Agreement,
    Estimate,
    Repeats,
    Scale,
    VoteMatrix,
    agreement,
    check,
    self_agreement,
    vote_matrix,
)
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import ballots_of, needs_reference_data, reference, reference_rows, triviaqa

TWO = Scale(("n", "y"), ordered=True)
THREE = Scale(("low", "middle", "high"), ordered=True)
TOLERANCE = 1e-6


def random_votes(*, complete: bool = False, units: int = 80, seats: int = 4) -> list[list[str | None]]:
    generator = np.random.default_rng(11)
    truth = generator.integers(0, 3, size=units)
    votes = np.where(generator.random((units, seats)) < 0.6, truth[:, None], generator.integers(0, 3, (units, seats)))
    gone = generator.random((units, seats)) < (0 if complete else 0.2)
    return [
        [None if gone[unit, seat] else THREE.categories[votes[unit, seat]] for seat in range(seats)]
        for unit in range(units)
    ]


def of(votes: list[list[str | None]], scale: Scale = THREE, **more: Any) -> Agreement:
    return agreement(vote_matrix(ballots(votes, **more), scale), resamples=100)


def codes(votes: list[list[str | None]]) -> np.ndarray:
    """[seats, units], nan for abstentions: as the library wants them."""
    return np.array([[np.nan if vote is None else THREE.code(vote) for vote in row] for row in votes]).T


def test_krippendorffs_own_example() -> None:
    """Krippendorff 2011: four observers, twelve units, five values, missing data."""
    observers = [
        "1 2 3 3 2 1 4 1 2 * * *",
        "1 2 3 3 2 2 4 1 2 5 * 3",
        "* 3 3 3 2 3 4 2 2 5 1 *",
        "1 2 3 3 2 4 4 1 2 5 1 *",
    ]
    columns = [row.split() for row in observers]
    votes = [[None if value == "*" else value for value in unit] for unit in zip(*columns, strict=True)]
    scores = [[None if value is None else float(value) for value in unit] for unit in votes]

    found = of(votes, Scale(("1", "2", "3", "4", "5"), ordered=True), scores=scores)

    assert found.alpha_nominal.value == pytest.approx(0.743, abs=5e-4)
    assert found.alpha_ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert found.alpha_scores.value == pytest.approx(0.849, abs=5e-4)


@pytest.mark.full
def test_alpha_agrees_with_the_libraries() -> None:
    import krippendorff
    from nltk.metrics.agreement import AnnotationTask

    votes = random_votes()
    found = of(votes)

    for level, estimate in (("nominal", found.alpha_nominal), ("ordinal", found.alpha_ordinal)):
        expected = krippendorff.alpha(codes(votes), value_domain=[0, 1, 2], level_of_measurement=level)
        assert expected == pytest.approx(estimate.value)
    task = AnnotationTask(
        [
            (str(seat), str(unit), vote)
            for unit, row in enumerate(votes)
            for seat, vote in enumerate(row)
            if vote is not None and sum(other is not None for other in row) > 1
        ]
    )
    assert task.alpha() == pytest.approx(found.alpha_nominal.value)


def test_alpha_of_scores_agrees_with_the_library() -> None:
    import krippendorff

    generator = np.random.default_rng(12)
    scores = np.round(generator.normal(60, 15, (50, 1)) + generator.normal(0, 8, (50, 3)), 1).clip(0, 100)
    votes = [["high"] * 3] * 50

    found = of(votes, scores=scores.tolist())

    expected = krippendorff.alpha(scores.T, level_of_measurement="interval")
    assert expected == pytest.approx(found.alpha_scores.value)
    assert found.alpha_scores.interval is not None


def test_fleiss_agrees_with_statsmodels() -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    votes = random_votes(complete=True)
    table = [[row.count(category) for category in THREE.categories] for row in votes]

    assert fleiss_kappa(table) == pytest.approx(of(votes).fleiss.value)


@pytest.mark.full
def test_kappa_of_each_pair_agrees_with_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    votes = random_votes()
    found = of(votes)

    assert 6 == len(found.pairs)
    for pair in found.pairs:
        a, b = ("abcd".index(seat) for seat in pair.seats)
        both = [(row[a], row[b]) for row in votes if row[a] is not None and row[b] is not None]
        one, other = zip(*both, strict=True)
        labels = list(THREE.categories)
        assert len(both) == pair.kappa.n
        assert cohen_kappa_score(one, other, labels=labels) == pytest.approx(pair.kappa.value)
        assert cohen_kappa_score(one, other, labels=labels, weights="linear") == pytest.approx(
            pair.weighted_kappa.value
        )


def test_one_verdict_alone_has_no_agreement_beyond_chance() -> None:
    found = of([["low"] * 3] * 20)

    for estimate in (found.alpha_nominal, found.alpha_ordinal, found.fleiss, found.pairs[0].kappa):
        assert estimate.value is None
        assert "only one verdict occurs" in (estimate.reason or "")
    assert 1.0 == found.raw.value
    assert [("a", "low"), ("b", "low"), ("c", "low")] == list(found.constant_seats)


def test_without_a_pair_there_is_no_agreement() -> None:
    alone, never_both = of([["low"], ["high"]]), of([["low", None], [None, "high"]])

    assert "no case has votes of two seats" == alone.alpha_nominal.reason
    assert () == alone.pairs
    assert "no case has votes of two seats" == never_both.ac1.reason
    assert "no case has votes of both seats" == never_both.pairs[0].kappa.reason


def test_without_an_order_there_are_no_ordinal_figures() -> None:
    found = of(random_votes(), Scale(THREE.categories, ordered=False))

    assert found.alpha_nominal.value is not None
    for estimate in (found.alpha_ordinal, found.ac2, found.pairs[0].weighted_kappa):
        assert "the verdicts have no order" == estimate.reason


def test_prevalence_lowers_alpha_but_not_ac1() -> None:
    """94 of 100 cases are passed by both seats: raw agreement is .94 and α is below zero."""
    found = of([["y", "y"]] * 94 + [["y", "n"]] * 3 + [["n", "y"]] * 3, TWO)

    assert found.raw.value == pytest.approx(0.94)
    assert found.alpha_nominal.value is not None
    assert found.alpha_nominal.value < 0
    assert found.ac1.value is not None
    assert found.ac1.value > 0.9


def same_figures(one: Agreement, other: Agreement, *, tolerance: float) -> None:
    for name in ("alpha_nominal", "alpha_ordinal", "ac1", "ac2", "fleiss", "raw"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.value == pytest.approx(b.value, abs=tolerance)
        assert a.interval.low == pytest.approx(b.interval.low, abs=tolerance)
        assert a.interval.high == pytest.approx(b.interval.high, abs=tolerance)


def test_rows_in_another_order_give_the_same_report() -> None:
    table = ballots(random_votes(), scores=np.random.default_rng(1).random((80, 4)).tolist())
    shuffled = check(table.take(np.random.default_rng(2).permutation(len(table))))

    assert agreement(vote_matrix(table, THREE)) == agreement(vote_matrix(shuffled, THREE))


def test_rows_doubled_within_their_clusters_give_the_same_intervals() -> None:
    votes = random_votes(units=200)
    once = of(votes)

    twice = of(votes * 2, clusters=[f"c{unit % 200:06}" for unit in range(400)])

    # α has a correction for small samples, (n-1)/n; the others are the same.
    same_figures(once, twice, tolerance=0.002)
    assert once.ac1.interval is not None
    assert twice.ac1.interval is not None
    assert once.ac1.interval.low == pytest.approx(twice.ac1.interval.low, abs=1e-12)


def as_reference(estimate: Estimate, expected: float, bounds: tuple[float, float] | None = None) -> None:
    assert expected == pytest.approx(estimate.value, abs=TOLERANCE)
    if bounds is not None:
        assert estimate.interval is not None
        assert bounds[0] == pytest.approx(estimate.interval.low, abs=0.005)
        assert bounds[1] == pytest.approx(estimate.interval.high, abs=0.005)


def xstest(_raters: list[str]) -> pa.Table:
    rows = reference_rows("b4_xstest")
    return ballots_of(
        [
            {
                "a1": row["human"]["annotator_1"],
                "a2": row["human"]["annotator_2"],
                "gpt4": row["judges"]["gpt4"],
                "string_match": row["judges"]["string_match"],
            }
            for row in rows
        ],
        clusters=[row["prompt"] for row in rows],
    )


def mtbench(raters: list[str]) -> pa.Table:
    rows = reference_rows("b3_alttest_mtbench")
    return ballots_of(
        [{seat: row["llm"].get(seat) for seat in raters} for row in rows],
        clusters=[row["item_id"].split("__")[0] for row in rows],
    )


def rjudge(raters: list[str]) -> pa.Table:
    rows = reference_rows("b1_rjudge_recorded_judges")
    return ballots_of([{seat: (row["judges"].get(seat) or {}).get("verdict") for seat in raters} for row in rows])


SETS: list[tuple[str, Callable[[list[str]], pa.Table]]] = [
    ("triviaqa_nine_llm_judges", triviaqa),
    ("triviaqa_panel3", triviaqa),
    ("xstest_four_raters", xstest),
    ("mtbench_six_llm", mtbench),
    ("rjudge_three", rjudge),
]


@needs_reference_data
@each_row(("name", "table"), SETS, ids=[name for name, _ in SETS])
def test_all_figures_agree_with_the_reference(name: str, table: Callable[[list[str]], pa.Table]) -> None:
    figures = reference(name)
    matrix: VoteMatrix = vote_matrix(table(figures["raters"]), Scale(tuple(figures["order"]), ordered=True))

    found = agreement(matrix, resamples=10_000)

    assert figures["n_clusters"] == len(matrix.cluster_names)
    nominal = figures.get("ci95_alpha_nominal_clusters_bootstrap_10000")
    as_reference(found.alpha_nominal, figures["alpha_nominal"], nominal)
    as_reference(found.ac1, figures["ac1"])
    as_reference(found.fleiss, figures["fleiss_complete"])
    assert figures["n_complete"] == found.fleiss.n
    if "alpha_ordinal" in figures:
        as_reference(
            found.alpha_ordinal, figures["alpha_ordinal"], figures["ci95_alpha_ordinal_clusters_bootstrap_10000"]
        )
        as_reference(found.ac2, figures["ac2_ordinal"])
    kappas = {frozenset(pair.seats): pair.weighted_kappa for pair in found.pairs}
    expected = figures.get("pairwise_kappa_linear") or figures["pairwise_kappa"]
    for key, value in expected.items():
        if key == "mean":
            assert value == pytest.approx(np.mean([one.value for one in kappas.values()]), abs=TOLERANCE)
            continue
        names, (kappa, n) = value if key in {"min", "max"} else (key, value)
        as_reference(kappas[frozenset(names.split("|"))], kappa)
        assert n == kappas[frozenset(names.split("|"))].n


@needs_reference_data
def test_the_default_interval_agrees_with_the_reference() -> None:
    """2,000 resamples, as the commands use them."""
    figures = reference("triviaqa_nine_llm_judges")

    found = agreement(vote_matrix(triviaqa(figures["raters"]), Scale(("incorrect", "correct"), ordered=True)))

    as_reference(found.alpha_nominal, 0.557101, figures["ci95_alpha_nominal_clusters_bootstrap_10000"])


@needs_reference_data
def test_by_item_instead_of_by_question_the_interval_is_half_as_wide() -> None:
    figures = reference("triviaqa_nine_llm_judges")
    table = triviaqa(figures["raters"])
    by_item = table.set_column(table.column_names.index("cluster"), "cluster", table["case_id"])

    found = agreement(vote_matrix(by_item, Scale(("incorrect", "correct"), ordered=True)))

    as_reference(found.alpha_nominal, 0.557101, figures["ci95_alpha_nominal_items_bootstrap_10000"])


def test_the_three_verdicts_of_the_jury_are_three_whether_they_occur_or_not() -> None:
    votes: list[list[str | None]] = [["safe_pass", "safe_pass"], ["unsafe_fail", "safe_pass"]] * 10

    ours, two = of(votes, OURS), of(votes, Scale(("safe_pass", "unsafe_fail"), ordered=True))

    assert ours.ac1.value != two.ac1.value
    assert ours.alpha_nominal.value == two.alpha_nominal.value


def repeats_of(votes: list[list[str | None]], cases: list[str], finals: list[str | None] | None = None) -> Repeats:
    return self_agreement(vote_matrix(ballots(votes, cases=cases, finals=finals), TWO), resamples=100)


def test_a_seat_that_repeats_itself_agrees_fully_and_one_that_does_not_does_not() -> None:
    """Two cases, three repeats each. Seat b says y y n and n n y: one pair of three agrees in both cases."""
    found = repeats_of([["y", "y"], ["y", "y"], ["y", "n"], ["n", "n"], ["n", "n"], ["n", "y"]], ["p"] * 3 + ["q"] * 3)

    assert (2, 3) == (found.cases, found.largest)
    steady, wavering = found.seats
    assert 1.0 == steady.raw.value
    assert 1.0 == steady.alpha_nominal.value
    assert wavering.raw.value == pytest.approx(1 / 3)
    assert wavering.alpha_nominal.value == pytest.approx(1 - 5 * 4 / (2 * 3 * 3))
    assert 2 == wavering.raw.n


def test_cases_without_a_repeat_do_not_count() -> None:
    found = repeats_of([["y"], ["y"], ["n"]], ["p", "p", "q"])

    assert (1, 2) == (found.cases, found.largest)
    assert 1 == found.seats[0].raw.n


def test_the_panel_is_its_final_verdict_where_known_or_else_its_plurality() -> None:
    votes: list[list[str | None]] = [["y", "y", "n"], ["y", "n", "y"]]

    assert 1.0 == repeats_of(votes, ["p", "p"]).panel.raw.value
    assert 0.0 == repeats_of(votes, ["p", "p"], finals=["y", "n"]).panel.raw.value


def test_a_seat_that_abstains_in_all_repeats_but_one_has_the_reason() -> None:
    found = repeats_of([["y", None], ["y", "y"]], ["p", "p"])

    assert "the seat has no two votes on a case" == found.seats[1].raw.reason
