"""What a result says where the votes, or the jury, did not have the last word."""

import pytest

from jury_events import JudgmentRendered, Verdict
from jury_judge import NewReview, record_review, withdraw_review
from jury_store import EventStore, MemoryEventStore
from jury_views import line_of, result_of
from jury_views.result_lines import result_line
from support.debate_builder import DebateBuilder
from support.reviewed import judged_debate

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL


def said(store: EventStore) -> tuple[str | None, str | None, int]:
    """The disposition, the jury's verdict, and how many reviews count."""
    (history,) = store.histories(["d"])
    result = result_of(history)
    assert line_of(history)["final_verdict"] == result["final_verdict"]
    return result["disposition"], result["final_verdict"], len(result["reviews"])


def test_the_last_verdict_of_a_person_is_the_disposition_and_the_jurys_stays() -> None:
    store = MemoryEventStore()
    judged_debate(store, "d", P)
    before = said(store)
    record_review(store, "d", NewReview("ann", F))
    record_review(store, "d", NewReview("bo", R))
    after = said(store)
    withdraw_review(store, "d", 2, by="bo")
    withdrawn = said(store)

    assert [("safe_pass", "safe_pass", 0), ("needs_review", "safe_pass", 2), ("unsafe_fail", "safe_pass", 1)] == [
        before,
        after,
        withdrawn,
    ]


@pytest.mark.parametrize(
    ("capped", "quorum_votes", "why"),
    [(False, 3, None), (True, 3, "silence"), (True, 1, "quorum"), (False, 1, None)],
    ids=["none", "silent seats", "quorum", "a lost quorum that changed nothing"],
)
def test_a_result_line_says_why_votes_that_passed_need_review(capped: bool, quorum_votes: int, why: str | None) -> None:
    debate = DebateBuilder().phase_1().round_1().judged()
    rendered = next(one for one in debate.events if isinstance(one, JudgmentRendered))
    judgment = rendered.judgment.changed(capped=capped, quorum=2, quorum_votes=quorum_votes)
    changed = rendered.changed(judgment=judgment)
    line = result_line(debate.events[0], [], changed, None)  # type: ignore[arg-type]  # it opens the debate

    assert (why, quorum_votes >= 2) == (line["capped_by"], line["quorum_met"])
