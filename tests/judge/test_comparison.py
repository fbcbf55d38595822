"""Two debates, or two runs, side by side: their values and their differences."""

from dataclasses import replace

from jury_cli import debates_page, runs_page
from jury_judge import ComparedRuns, ListedFlip, compare_debates, compare_runs
from jury_store import DebateRow
from support.debate_builder import DebateBuilder
from support.refusals import RefusalTables


def whole() -> DebateBuilder:
    return DebateBuilder().phase_1().round_1().judged()


def lines(page) -> list[str]:
    return [(" " * line.indent + "".join(span.text for span in line.spans)).rstrip() for line in page.lines]


def test_cases_are_compared_by_their_texts() -> None:
    other = DebateBuilder(prompt="Must I?").phase_1()
    erased = DebateBuilder().phase_1()
    del erased.texts[erased.opened.case.part]

    assert compare_debates(whole().history, other.history).same_case is False
    assert compare_debates(whole().history, erased.history).same_case is None


ROW = DebateRow(
    debate_id="r~c",
    position=1,
    run_id="r",
    case_id="c",
    status="completed",
    waiting=False,
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


def runs_with_silent_cases():
    silent = {"verdict": "needs_review", "score": None, "decided_by": "no_evaluation"}
    a = [a_row("a", "x"), a_row("a", "y", **silent), a_row("a", "z", "needs_review", 50), a_row("a", "f")]
    b = [a_row("b", "x", **silent), a_row("b", "y", **silent), a_row("b", "z", "needs_review", 55)]
    return compare_runs("a", a, "b", [*b, a_row("b", "f", None, None, status="failed")])


def test_cases_without_an_evaluation_are_counted_apart() -> None:
    found = runs_with_silent_cases()

    assert (1, 1, 5.0, 2) == (found.judged, found.agreed, found.score_difference, found.without_evaluation)
    assert ["x", "f"] == [flip.case_id for flip in found.flips]
    assert {"no_evaluation": 2, "needs_review": 1, "failed": 1} == found.b.ended_as


def test_pages(printed: RefusalTables) -> None:
    begun, runs = DebateBuilder().phase_1().history, two_runs()
    why = compare_debates(whole().history, begun).a.reason
    nothing_in_common = compare_runs("a", [a_row("a", "x")], "b", [a_row("b", "y")])
    many = compare_runs("a", [a_row("a", f"c{n}") for n in range(30)], "b", [])
    pages = {
        "two debates": debates_page(compare_debates(whole().history, begun)),
        "a debate beside itself": debates_page(compare_debates(whole().history, whole().history)),
        "two runs": runs_page(
            ComparedRuns(
                runs,
                (),
                tuple(ListedFlip(flip, flip.case_id != "flipped", (why, None)) for flip in runs.flips),
                (),
            )
        ),
        "two runs with cases without an evaluation": runs_page(
            ComparedRuns(runs_with_silent_cases(), (), (), ()), ("verdicts",)
        ),
        "two runs without a common verdict": runs_page(ComparedRuns(nothing_in_common, (), (), ())),
        "a long list": runs_page(ComparedRuns(many, (), (), ()), ("verdicts", "results")),
        "a long list with all that it has": runs_page(ComparedRuns(many, (), (), ()), ("verdicts",), whole=True),
    }

    assert (None, None) == (nothing_in_common.agreement, nothing_in_common.score_difference)
    printed.compare("comparison_pages", {name: "\n".join(lines(page)) for name, page in pages.items()})
