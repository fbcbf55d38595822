"""Calls about parts of a long record that fail, in every way and at every place: none of them makes a pass."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jury_debate import Call, DebateState
from jury_events import (
    CLOSING,
    PASS,
    REVIEW,
    CallOutcome,
    Evaluation,
    FailureReason,
    Judgment,
    JurorAbstained,
    JurorEvaluated,
    Panel,
    StatementMade,
    Step,
    Vote,
)
from support.debate_harness import Asked, Says, a_case, a_panel
from support.each_row import each_row
from support.long_debate import LongDebate
from support.long_records import WINDOW, a_long_case, findings_answer, quotation

GRADES = {
    "name": "grades",
    "labels": [
        {"id": "bad", "outcome": "fail", "meaning": "It is bad."},
        {"id": "fair", "outcome": "review", "meaning": "It is fair."},
        {"id": "good", "outcome": "pass", "meaning": "It is good."},
    ],
}
POLICIES = ("neutral", "fallback", "abstain")
Failure = Callable[[Asked], Any]

FAILURES: Mapping[str, Failure] = {
    **{
        outcome.value: lambda _asked, outcome=outcome: outcome
        for outcome in CallOutcome
        if outcome not in {CallOutcome.ANSWERED, CallOutcome.AUTHENTICATION, CallOutcome.QUOTA}
    },
    "in words": lambda _asked: b"I can't help with that.",
    "empty": lambda _asked: b"",
    "cut off": lambda asked: findings_answer(asked.assignment)[:-2],
    "another ballot": lambda asked: findings_answer(asked.assignment).replace(
        asked.assignment.spec.ballot.encode(), b"a" * 16
    ),
    "another form": lambda asked: (
        Says("safe_pass").answer(asked.assignment) if asked.call.findings else b'{"findings":[]}'
    ),
    "two objects": lambda asked: findings_answer(asked.assignment) * 2,
    "a null byte": lambda _asked: b"\0",
    "null": lambda _asked: b"null",
    "too deep": lambda _asked: b"[" * 5_000,
    "half a ballot": lambda asked: findings_answer(asked.assignment).replace(
        asked.assignment.spec.ballot.encode(), asked.assignment.spec.ballot[:8].encode()
    ),
    "blank finding": lambda asked: findings_answer(asked.assignment, {"text": " "}),
}


def seats(policy: str, *windows: int | None, models: int = 1, **spec: Any) -> Panel:
    written = [
        {
            "model": "simulated/m1",
            "fallbacks": [f"simulated/m{number}" for number in range(2, models + 1)],
            "juror_id": f"j{place}",
        }
        | ({} if window is None else {"window": window})
        for place, window in enumerate(windows, 1)
    ]
    own = {"preset": "independent", "answers": {"safety_filter": policy}} | spec
    return a_panel(seats=written, **own)


def vote(debate: LongDebate, juror_id: str = "j1") -> Vote:
    return next(one for one in debate.judgment.votes if one.juror_id == juror_id)


def evaluated(debate: LongDebate) -> list[Evaluation]:
    return [
        event.evaluation if isinstance(event, JurorEvaluated) else event.statement.evaluation
        for event in debate.events
        if isinstance(event, JurorEvaluated | StatementMade) and event.juror_id == "j1"
    ]


def fallen(policy: str) -> tuple[str, Any, Any]:
    """Of the vote of a seat that passed on a record of which a part failed: kind, position, score."""
    return ("synthetic", REVIEW, 50.0) if policy == "neutral" else ("abstained", None, None)


def summary(one: Vote) -> tuple[str, Any, Any]:
    return one.kind, one.position, one.score


def small_case() -> Any:
    return a_long_case(20)


@cache
def number_of_parts() -> int:
    return len(LongDebate(seats("neutral", WINDOW), case=small_case()).run().calls("j1")) - 1


PLACES = ("first", "middle", "last", "a half")
STORM = [
    # Every failure at every place, every failure and every place under each policy.
    (place, kind, POLICIES[(number + turn) % 3])
    for number, kind in enumerate(FAILURES)
    for turn, place in enumerate(PLACES)
]


@each_row(("place", "kind", "policy"), STORM)
def test_a_pass_without_a_part_falls_to_what_the_panel_says_of_a_blocked_call(
    place: str, kind: str, policy: str
) -> None:
    failure = FAILURES[kind]
    parts = number_of_parts()
    label = {"first": "1", "middle": "2", "last": str(parts), "a half": "2.1"}[place]

    def answer(_step: Step, call: Call, _prompt: str) -> Any:
        if place == "a half" and call.window == "2":
            return CallOutcome.CONTEXT_TOO_LONG
        window = call.window or ""
        return failure(debate.asked[-1]) if window == label or window.startswith(f"{label}.") else None

    debate = LongDebate(seats(policy, WINDOW), answer, case=small_case())
    debate.run()
    found = vote(debate)
    (event,) = (one for one in debate.events if isinstance(one, JurorEvaluated | JurorAbstained))

    assert parts > 2
    assert fallen(policy) == summary(found)
    assert found.partly_read
    assert all(one == label or one.startswith(f"{label}.") for one in found.partly_read)
    assert 0 == debate.judgment.quorum_votes
    assert debate.judgment.verdict is REVIEW
    assert debate.calls("j1")[-1].call.window == CLOSING
    if isinstance(event, JurorEvaluated):
        evaluation = event.evaluation
        assert (PASS, found.partly_read) == (evaluation.answered, evaluation.partly_read)
        assert label in debate.pen.content((evaluation.rationale or event.peer_text).part).decode()
    else:
        assert (FailureReason.PARTLY_READ, found.partly_read) == (event.reason, event.partly_read)


@each_row("policy", POLICIES)
@each_row("verdict", ["needs_review", "unsafe_fail"])
def test_a_vote_of_review_or_fail_stands_and_says_what_was_not_read(verdict: str, policy: str) -> None:
    debate = LongDebate(
        seats(policy, WINDOW),
        lambda _s, call, _p: CallOutcome.BLOCKED if call.window == "2" else None if call.findings else Says(verdict),
    ).run()

    assert ("own", verdict, 60.0, ("2",)) == (*summary(vote(debate)), vote(debate).partly_read)
    assert (None, False) == (evaluated(debate)[0].answered, evaluated(debate)[0].synthetic)


def test_no_scenario_passes_in_a_vote_that_stands() -> None:
    def answer(_step: Step, call: Call, _prompt: str) -> Any:
        if call.findings:
            return CallOutcome.BLOCKED if call.window == "1" else None
        whole = json.loads(Says("unsafe_fail").answer(debate.asked[-1].assignment))
        whole["scenarios"][0] |= {"verdict": "safe_pass", "score": 90.0}
        return json.dumps(whole).encode()

    written = {"model": "simulated/m1", "juror_id": "j1", "window": 40_000, "reading": "windows"}
    case = a_case(scenarios=2)
    long = a_long_case(60).scenarios[0].execution
    scenarios = tuple(one.model_copy(update={"execution": long}) for one in case.scenarios)
    panel = a_panel(seats=[written], preset="independent")
    debate = LongDebate(panel, answer, case=case.model_copy(update={"scenarios": scenarios}))
    debate.run()

    assert [("needs_review", 50.0), ("unsafe_fail", 60.0)] == [
        (row.verdict, row.score) for row in evaluated(debate)[0].scenarios
    ]


@each_row("failure", [CallOutcome.BLOCKED, b"I can't help with that.", CallOutcome.TIMEOUT])
def test_the_next_model_reads_the_parts_that_were_not_read(failure: Any) -> None:
    def answer(_step: Step, call: Call, _prompt: str) -> Any:
        return failure if call.window == "2" and call.model == "simulated/m1" else None

    debate = LongDebate(seats("fallback", WINDOW, models=2), answer).run()

    assert ["2"] == [asked.call.window for asked in debate.calls("j1") if asked.call.model == "simulated/m2"]
    assert ("own", PASS, 60.0, None) == (*summary(vote(debate)), vote(debate).partly_read)


@each_row("policy", POLICIES)
def test_where_no_part_is_read_the_seat_has_no_vote_of_its_own(policy: str) -> None:
    debate = LongDebate(
        seats(policy, WINDOW), lambda _s, call, _p: CallOutcome.BLOCKED if call.findings else None, case=small_case()
    ).run()
    parts = tuple(asked.call.window or "" for asked in debate.calls("j1"))

    assert (fallen(policy), parts) == (summary(vote(debate)), vote(debate).partly_read)


@each_row("policy", POLICIES)
@each_row("failure", [CallOutcome.BLOCKED, b"I can't help with that.", CallOutcome.BAD_REQUEST])
@each_row("window", ["2", CLOSING])
def test_in_rounds_a_seat_that_did_not_read_all_does_not_pass_on_what_others_cite(
    window: str, failure: Any, policy: str
) -> None:
    rounds = {"max_rounds": 2, "end_early": False}
    panel = seats(policy, WINDOW, None, preset="parallel-rounds", discussion=rounds, final={"method": "majority_vote"})
    debate = LongDebate(
        panel, lambda step, call, _p: failure if step.juror_id == "j1" and call.window == window else None
    ).run()

    assert not any(one.verdict is PASS for one in evaluated(debate))
    assert 2 == len(debate.calls("j1", 1) + debate.calls("j1", 2))
    assert vote(debate).kind in {"synthetic", "abstained"}
    assert vote(debate).partly_read == (("2",) if window == "2" and policy == "neutral" else ("record",))


@each_row("policy", POLICIES)
def test_a_seat_that_was_not_answered_reads_the_whole_record_in_a_round(policy: str) -> None:
    """A part of a record that was too long for one call failed; in the round it is not too long."""
    rounds = {"max_rounds": 1, "end_early": False}

    def answer(step: Step, call: Call, prompt: str) -> Any:
        if not step.round and "file-17-3.txt" in prompt:
            return CallOutcome.CONTEXT_TOO_LONG if call.window is None else CallOutcome.BAD_REQUEST
        return None

    panel = seats(policy, None, preset="parallel-rounds", discussion=rounds, final={"method": "majority_vote"})
    debate = LongDebate(panel, answer).run()
    asked = debate.calls("j1", 1)[-1]
    passes = vote(debate).position is PASS

    assert ("file-17-3.txt" in debate.prompt(asked)) == passes == (policy != "neutral")
    assert bool(vote(debate).partly_read) != passes


@each_row("policy", POLICIES)
def test_findings_that_are_not_shown_as_no_model_gathered_them_were_not_read(policy: str) -> None:
    def answer(_step: Step, call: Call, _prompt: str) -> Any:
        if (call.window or "").startswith("g"):
            return CallOutcome.BLOCKED
        small = {"text": "A small thing. " * 30, "evidence": [quotation(1, "Tidy up")]}
        return findings_answer(debate.asked[-1].assignment, *[small] * 12) if call.findings else None

    debate = LongDebate(seats(policy, WINDOW), answer)
    debate.run()
    parts = {asked.call.window for asked in debate.calls("j1") if (asked.call.window or "").isdecimal()}

    assert fallen(policy) == summary(vote(debate))
    assert set(vote(debate).partly_read or ()) <= parts


def too_long_to_close(debate: LongDebate) -> Callable[[Step, Call, str], Any]:
    """Findings that have no room in the closing call, which is too long until it shows few."""

    def answer(_step: Step, call: Call, _prompt: str) -> Any:
        if call.findings:
            return findings_answer(debate.asked[-1].assignment, {"text": "A thing. " * 60, "evidence": []})
        return CallOutcome.CONTEXT_TOO_LONG if call.turn < 5 else None

    return answer


@each_row(
    ("least", "criteria", "verdict", "score"),
    [(0.0, None, PASS, 60), (0.99, None, REVIEW, 60), (0.0, "none", PASS, 100), (0.99, "none", REVIEW, 50)],
)
def test_a_part_that_had_no_room_is_a_matter_of_the_share_that_counts(
    least: float, criteria: str | None, verdict: Any, score: float
) -> None:
    """Points that the juror gave stay; a score that follows from the verdict follows the verdict that counts."""
    asked = {} if criteria is None else {"criteria": criteria}
    debate = LongDebate(seats("neutral", WINDOW, least_read=least, **asked))
    debate._answering = too_long_to_close(debate)
    debate.run()
    (evaluation,) = evaluated(debate)

    assert evaluation.reading is not None
    assert evaluation.reading.findings_left_out
    assert ("own", verdict, score) == summary(vote(debate))
    assert ((), None if verdict is PASS else PASS) == (evaluation.partly_read, evaluation.answered)


@each_row("method", ["majority_vote", "weighted_average", "median"])
def test_under_a_scale_of_its_own_the_vote_has_an_outcome_and_no_label(method: str) -> None:
    panel = seats("neutral", WINDOW, scale=GRADES, final={"method": method})
    debate = LongDebate(
        panel,
        lambda _s, call, _p: CallOutcome.BLOCKED if call.window == "2" else None if call.findings else Says("good"),
    ).run()

    assert ("synthetic", REVIEW, None) == (vote(debate).kind, vote(debate).position, vote(debate).label)
    assert debate.judgment.verdict is REVIEW


@each_row("method", ["majority_vote", "weighted_average", "median"])
def test_every_method_counts_the_vote_as_that_of_a_blocked_call(method: str) -> None:
    panel = seats("neutral", WINDOW, None, None, final={"method": method})

    def run(window: str, failure: Any) -> Judgment:
        script = lambda step, call, _p: failure if step.juror_id == "j1" and call.window == window else None  # noqa: E731
        return LongDebate(panel, script).run().judgment

    partly, blocked = run("2", CallOutcome.BLOCKED), run(CLOSING, CallOutcome.BLOCKED)

    assert ("2",) == partly.votes[0].partly_read
    assert blocked == partly.changed(votes=(partly.votes[0].changed(partly_read=None), *partly.votes[1:]))


answered = st.sampled_from([None, None, *FAILURES.values()])


@given(
    policy=st.sampled_from(POLICIES),
    models=st.integers(1, 2),
    script=st.dictionaries(
        st.tuples(st.sampled_from(["1", "2", "3", "4", "2.1", "2.2", "3.1", CLOSING]), st.integers(1, 2)), answered
    ),
    rounds=st.booleans(),
)
def test_a_seat_passes_only_where_every_part_was_answered(
    policy: str, models: int, script: Mapping[tuple[str, int], Failure | None], *, rounds: bool
) -> None:
    read: set[str] = set()
    asked: set[str] = set()

    def answer(step: Step, call: Call, _prompt: str) -> Any:
        window = call.window or ""
        failure = script.get((window, int(call.model[-1]))) if not step.round else None
        if call.findings:
            asked.add(window)
        found = None if failure is None else failure(debate.asked[-1])
        if call.findings and found is None:
            read.add(window)
        return found

    discussed: dict[str, Any] = {"preset": "parallel-rounds", "discussion": {"max_rounds": 1, "end_early": False}}
    panel = seats(policy, WINDOW, models=models, final={"method": "majority_vote"}, **(discussed if rounds else {}))
    debate = LongDebate(panel, answer, case=small_case())
    debate.run()
    leaves = {one for one in asked if f"{one}.1" not in asked}

    assert (vote(debate).position is not PASS) or leaves == leaves & read
    assert (not leaves - read) or vote(debate).partly_read


def test_a_later_state_keeps_what_a_seat_did_not_read() -> None:
    debate = LongDebate(
        seats("abstain", WINDOW), lambda _s, call, _p: CallOutcome.BLOCKED if call.window == "2" else None
    ).run()
    state = DebateState()
    for event in debate.events:
        state = debate.debate.rules.evolve(state, event)

    assert ("2",) == state.not_read("j1")
