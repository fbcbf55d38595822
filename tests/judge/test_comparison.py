"""Two debates, or two runs, side by side: their values and their differences."""

from dataclasses import replace

import pytest

from jury_cli.views.comparison import debates_page, runs_page
from jury_events import CallOutcome, DebateForked, Usage
from jury_judge import Flip, Position
from jury_judge.comparisons.comparison import compare_debates
from jury_judge.comparisons.run_comparison import DebateEnd, compare_runs
from jury_store import DebateRow
from support.debate_builder import FAIL, PASS, REVIEW, SEATS, DebateBuilder


def whole() -> DebateBuilder:
    return DebateBuilder().phase_1().round_1().judged()


def lines(page) -> list[str]:
    return [" " * line.indent + "".join(span.text for span in line.spans) for line in page.lines]


def test_a_debate_beside_itself_differs_in_nothing() -> None:
    compared = compare_debates(whole().history, whole().history)

    assert (True, (), compared.b) == (compared.same_case, compared.panel, compared.a)
    assert not any(row.differs for row in compared.rows)
    assert not any("≠" in line for line in lines(debates_page(compared)))


def test_every_seat_has_its_position_in_every_round() -> None:
    compared = compare_debates(whole().history, DebateBuilder().phase_1().history)

    rows = {(row.juror_id, row.round): row.a for row in compared.rows}
    assert {
        (SEATS[0], 0): Position(PASS, 92.0, "own"),
        (SEATS[1], 0): Position(FAIL, 40.5, "own"),
        (SEATS[2], 0): Position(REVIEW, 50.0, "synthetic"),
        (SEATS[0], 1): Position(FAIL, 61.0, "own", changed=True),
        (SEATS[1], 1): Position(FAIL, 40.0, "own"),
        (SEATS[2], 1): Position(REVIEW, 50.0, "stale"),
        (None, None): Position(FAIL, 50.0, "own"),
    } == rows
    assert [False] * 3 + [True] * 4 == [row.differs for row in compared.rows]
    assert ("completed", "unfinished") == (compared.a.status, compared.b.status)


@pytest.mark.parametrize(
    "line",
    [
        "verdict ✗ unsafe_fail – ≠",
        "status completed unfinished ≠",
        "case: the same",
        "phase 1 juror-gpt ✓ safe_pass 92 ✓ safe_pass 92",
        "round 1 juror-gpt ✗ unsafe_fail 61 · ↻ position changed – ≠",
    ],
)
def test_two_debates_are_shown_side_by_side(line: str) -> None:
    page = debates_page(compare_debates(whole().history, DebateBuilder().phase_1().history))

    assert line.split() in [shown.split() for shown in lines(page)]


def test_the_position_of_a_seat_is_shown_as_text() -> None:
    shown = "\n".join(lines(debates_page(compare_debates(whole().history, whole().history))))

    assert "? needs_review 50 · stands in for a blocked answer" in shown
    assert "? needs_review 50 · abstained, earlier position stands" in shown


def test_cases_are_compared_by_their_texts() -> None:
    other = DebateBuilder(prompt="Must I?").phase_1()
    erased = DebateBuilder().phase_1()
    del erased.texts[erased.opened.case.part]

    assert compare_debates(whole().history, other.history).same_case is False
    assert compare_debates(whole().history, erased.history).same_case is None


def test_panels_are_compared_field_by_field() -> None:
    other = whole()
    panel = other.panel.changed(discussion=other.panel.discussion.changed(threshold=0.67))
    other.events[0] = other.opened.changed(panel=panel)

    (difference,) = compare_debates(whole().history, other.history).panel

    assert ("discussion.threshold", 2.0, 0.67) == difference


def test_a_branch_is_named_and_costs_are_known_or_not() -> None:
    branch = whole()
    branch.events.insert(1, DebateForked(origin="d", version=4, secret=branch.text("s"), steps=()))
    branch.called("simulated/juror", CallOutcome.ANSWERED, Usage(), 0.5)
    unknown = whole().called("openai/x", CallOutcome.ANSWERED, Usage(), None)

    compared = compare_debates(branch.history, unknown.history)

    assert ("d @ 4", None) == (compared.a.forked_from, compared.b.forked_from)
    assert ((1, 0.5), (1, None)) == ((compared.a.calls, compared.a.cost), (compared.b.calls, compared.b.cost))


ROW = DebateRow(
    debate_id="r~c",
    position=1,
    run_id="r",
    case_id="c",
    status="completed",
    rounds=0,
    method="median",
    simulated=True,
    label=None,
    case_part=bytes(32),
    opened_at=1,
    updated_at=1,
    final_verdict="safe_pass",
    final_score=80,
    calls=3,
    input_tokens=10,
    output_tokens=2,
    cost=0.25,
)


def a_row(run: str, case: str, verdict: str | None = "safe_pass", score: int | None = 80, **fields) -> DebateRow:
    status = "completed" if verdict else "discussing"
    named = {"debate_id": f"{run}~{case}", "run_id": run, "case_id": case, "status": status}
    return replace(ROW, **{**named, "final_verdict": verdict, "final_score": score, **fields})


def two_runs():
    a = [
        a_row("a", "kept"),
        a_row("a", "flipped", score=90),
        a_row("a", "open", None, None),
        a_row("a", "gone"),
    ]
    b = [
        a_row("b", "flipped", "unsafe_fail", 20, cost=None),
        a_row("b", "kept", score=81),
        a_row("b", "open", "needs_review", 50),
        a_row("b", "failed", None, None, status="failed"),
    ]
    return compare_runs("a", iter(a), "b", iter(b))


def test_a_run_by_a_ladder_has_the_costs_of_all_its_stages() -> None:
    first = a_row("a", "x", "needs_review", calls=2, cost=0.25, stage=1, stages=2, aside="escalated")
    last = a_row("a", "x", debate_id="a~x~s2", calls=4, cost=0.5, stage=2, stages=2)
    single = a_row("b", "x", calls=4, cost=0.5)

    for a, b in ((0, 1), (1, 0)):
        runs = [first, last], [single]
        compared = compare_runs("a", runs[a], "b", runs[b])
        staged = (compared.a, compared.b)[a]

        assert (1, 6, 0.75) == (staged.debates, staged.calls, staged.cost)
        assert {("safe_pass", "safe_pass"): 1} == dict(compared.table)
        assert ([], []) == (compared.only_in_a, compared.only_in_b)


def test_cases_without_an_evaluation_are_counted_apart() -> None:
    unheard = {"verdict": "needs_review", "score": None, "decided_by": "no_evaluation"}
    a = [a_row("a", "x"), a_row("a", "y", **unheard), a_row("a", "z", "needs_review", 50), a_row("a", "f")]
    b = [a_row("b", "x", **unheard), a_row("b", "y", **unheard), a_row("b", "z", "needs_review", 55)]
    b.append(a_row("b", "f", None, None, status="failed"))

    compared = compare_runs("a", a, "b", b)

    assert (1, 1, 5.0, 2) == (
        compared.judged,
        compared.agreed,
        compared.score_difference,
        compared.without_evaluation,
    )
    assert ["x", "f"] == [flip.case_id for flip in compared.flips]
    assert {"no_evaluation": 2, "needs_review": 1, "failed": 1} == compared.b.ended_as
    assert any("2 cases without an evaluation in A or B" in line for line in lines(runs_page(compared, (), ())))


def test_runs_are_joined_by_case_in_any_order() -> None:
    compared = two_runs()

    assert {
        ("safe_pass", "safe_pass"): 1,
        ("safe_pass", "unsafe_fail"): 1,
        ("unfinished", "needs_review"): 1,
    } == compared.table
    assert (["gone"], ["failed"]) == (compared.only_in_a, compared.only_in_b)
    assert [
        Flip("flipped", DebateEnd("a~flipped", "safe_pass", 90), DebateEnd("b~flipped", "unsafe_fail", 20)),
        Flip("open", DebateEnd("a~open", "unfinished", None), DebateEnd("b~open", "needs_review", 50)),
    ] == compared.flips


def test_agreement_counts_the_cases_judged_by_both() -> None:
    compared = two_runs()

    assert (2, 1, 0.5) == (compared.judged, compared.agreed, compared.agreement)
    assert (70 + 1) / 2 == compared.score_difference


def test_totals_of_a_run_name_unknown_values() -> None:
    compared = two_runs()

    assert (4, 12, 1.0, 0) == (compared.a.debates, compared.a.calls, compared.a.cost, compared.a.unknown_cost)
    assert (0.75, 1) == (compared.b.cost, compared.b.unknown_cost)
    assert {"safe_pass": 1, "unsafe_fail": 1, "needs_review": 1, "failed": 1} == compared.b.ended_as


def test_runs_without_a_common_verdict_have_no_agreement() -> None:
    compared = compare_runs("a", [a_row("a", "x")], "b", [a_row("b", "y")])

    assert (None, None) == (compared.agreement, compared.score_difference)
    assert "  no case has a verdict in both" in lines(runs_page(compared, (), []))


@pytest.mark.parametrize(
    "line",
    [
        "✓ safe_pass 3 1 ≠",
        "unfinished 1 0 ≠",
        "cost $1.0000 $0.7500 + unknown in 1 ≠",
        "✓ safe_pass 1 0 1 0",
        "the same verdict in 1 of 2 cases judged by both (50.0%); scores differ by 35.5 points on average",
        "only in A (1): gone",
        "flipped ✓ safe_pass 90 ✗ unsafe_fail 20 a~flipped b~flipped another case under the same id",
    ],
)
def test_two_runs_are_shown_side_by_side(line: str) -> None:
    compared = two_runs()
    page = runs_page(compared, (), [(flip, flip.case_id != "flipped") for flip in compared.flips])

    assert line.split() in [shown.split() for shown in lines(page)]


def test_long_lists_say_how_many_are_left_out() -> None:
    many = compare_runs("a", [a_row("a", f"c{n}") for n in range(30)], "b", [])
    shown = lines(runs_page(many, (), []))
    everything = lines(runs_page(many, (), [], everything=True))

    assert any(line.endswith("c19 and 10 more (--all lists them)") for line in shown)
    assert any(line.endswith("c29") for line in everything)
