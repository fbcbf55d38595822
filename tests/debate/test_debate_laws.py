"""The laws of a debate, for random panels, answers, failures and orders of arrival."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import Debate, DebateState, IllegalEvent, newest_rules
from jury_events import (
    STREAMS,
    CallOutcome,
    CoordinatorResumed,
    DebateCancelled,
    DebateFailed,
    DebateReplaced,
    FailureReason,
    Step,
    Verdict,
    again_id,
    types_of,
)
from support.debate_harness import SECRET, DebateHarness, Says, a_case, a_panel
from support.each_row import each_row
from support.samples import sample_events

SEATS = ("gpt", "claude", "gemini", "d/ö", "e%2F")
THOUGHT = "The card is on file, so this must be right."

THINKING = a_case(thought=THOUGHT)

answers = st.one_of(
    st.builds(
        Says,
        st.sampled_from(["safe_pass", "needs_review", "unsafe_fail"]),
        st.sampled_from([0.0, 12.5, 40.0, 69.75, 70.0, 100.0]),
        st.sampled_from([0.0, 0.25, 1.0]),
        evidence=st.just(()),
        decisive_item=st.none(),
    ),
    st.sampled_from([CallOutcome.TIMEOUT, CallOutcome.BLOCKED, CallOutcome.BAD_REQUEST, CallOutcome.TRUNCATED]),
    st.sampled_from([b"", b"It is safe.", b"{}", b'{"verdict": "safe_pass"']),
)

evolve = newest_rules().evolve


@st.composite
def panels(draw):
    seats = draw(st.integers(1, 5))
    stagnation = draw(st.sampled_from([None, 1, 2]))
    return a_panel(
        *SEATS[:seats],
        seats=[
            {
                "model": "simulated/a",
                "juror_id": juror,
                "weight": draw(st.sampled_from([0.5, 1.0, 3.0])),
                "fallbacks": draw(st.sampled_from([[], ["simulated/b"]])),
            }
            for juror in SEATS[:seats]
        ],
        discussion={
            "order": draw(st.sampled_from(["parallel", "sequential"])),
            "threshold": draw(st.sampled_from([0.5, 0.67, 1.0, 2.0])),
            "always_discuss": draw(st.booleans()),
            "max_rounds": draw(st.integers(0, 4)),
            "history": draw(st.sampled_from(["latest", "all"])),
            "unanimity_ends": draw(st.booleans()),
            "end_early": True if stagnation else draw(st.booleans()),
            "stagnation_rounds": stagnation,
            "speakers": {"kind": draw(st.sampled_from(["fixed", "rotating", "seeded"]))},
        },
        final={"method": draw(st.sampled_from(["majority_vote", "weighted_average", "median", "final_judge"]))},
        answers={
            "repairs": draw(st.integers(0, 2)),
            "safety_filter": draw(st.sampled_from(["neutral", "fallback", "abstain"])),
        },
        reasoning=draw(st.sampled_from(["show", "hide", "after"])),
    )


@st.composite
def debates(draw):
    panel = draw(panels())
    table = draw(
        st.fixed_dictionaries({juror: st.lists(answers, min_size=1, max_size=4) for juror in (*panel.juror_ids, None)})
    )
    scenarios = draw(st.integers(1, 2))

    def script(step, call):
        replies = table[step.juror_id]
        return replies[((step.round or 0) + step.reasoning + call.turn + call.attempt + len(call.model)) % len(replies)]

    return panel, script, a_case(scenarios=scenarios, thought=draw(st.sampled_from([None, THOUGHT])))


picks = st.lists(st.integers(0, 4), min_size=1, max_size=8)


@given(debates(), picks)
def test_a_debate_ends_within_its_rounds_with_one_turn_a_seat_and_round(debate, pick) -> None:
    panel, script, case = debate

    events = DebateHarness(panel, script, case=case, pick=pick).run().events

    completed = events[-1]
    assert completed.type == "debate_completed"
    assert completed.total_rounds <= panel.discussion.max_rounds
    turns: dict[int, list[str]] = {0: []}
    for event in events:
        match event.type:
            case "round_started":
                turns[event.round] = []
            case "reasoning_shown":
                assert "after" == panel.reasoning
                assert sorted(panel.juror_ids) == sorted(turns[0])
                turns[0] = []
            case "juror_evaluated" | "statement_made" | "juror_abstained":
                turns[max(turns)].append(event.juror_id)
    assert list(range(completed.total_rounds + 1)) == list(turns)
    assert all(sorted(panel.juror_ids) == sorted(jurors) for jurors in turns.values())


@given(debates(), picks)
def test_the_events_do_not_depend_on_the_order_in_which_answers_arrive(debate, pick) -> None:
    panel, script, case = debate

    expected = DebateHarness(panel, script, case=case).run().events

    assert expected == DebateHarness(panel, script, case=case, pick=pick).run().events


@given(debates(), picks)
def test_an_event_that_the_rules_made_is_the_one_that_validation_makes(debate, pick) -> None:
    panel, script, case = debate

    for event in DebateHarness(panel, script, case=case, pick=pick).run().events:
        validated = type(event).model_validate_json(event.model_dump_json())

        assert (validated, repr(validated)) == (event, repr(event))


@given(debates())
def test_the_verdict_does_not_depend_on_the_order_in_which_seats_are_listed(debate) -> None:
    panel, script, case = debate
    listed_backwards = panel.changed(seats=tuple(reversed(panel.seats)))

    one = DebateHarness(panel, script, case=case).run().debate.state
    other = DebateHarness(listed_backwards, script, case=case).run().debate.state

    assert one.completed == other.completed
    assert one.judgment.mean == other.judgment.mean
    assert sorted(one.judgment.votes, key=str) == sorted(other.judgment.votes, key=str)


@given(debates(), picks)
def test_the_judgment_lists_every_vote(debate, pick) -> None:
    panel, script, case = debate

    harness = DebateHarness(panel, script, case=case, pick=pick).run()

    judgment, rounds = harness.debate.state.judgment, harness.debate.state.round
    assert list(panel.juror_ids) == [vote.juror_id for vote in judgment.votes]
    latest = {}
    for event in harness.events:
        if event.type == "juror_evaluated":
            latest[event.juror_id] = (event.step, event.evaluation)
        elif event.type == "statement_made":
            latest[event.juror_id] = (event.step, event.statement.evaluation)
    again = any(event.type == "reasoning_shown" for event in harness.events)
    for vote in judgment.votes:
        if vote.juror_id not in latest:
            assert (vote.kind, vote.position, vote.round) == ("abstained", None, None)
            continue
        step, evaluation = latest[vote.juror_id]
        at, stale = step.round, step.round < rounds or (not rounds and step.reasoning != again)
        kind = "synthetic" if evaluation.synthetic else "stale" if stale else "own"
        assert (kind, evaluation.verdict, evaluation.overall, at, stale) == (
            vote.kind, vote.position, vote.score, vote.round, vote.stale
        )  # fmt: skip
    own = sum(vote.kind in {"own", "stale"} for vote in judgment.votes)
    assert own == judgment.quorum_votes


@given(debates(), picks)
def test_a_juror_sees_only_the_allowed_evaluations(debate, pick) -> None:
    panel, script, case = debate
    harness = DebateHarness(panel, script, case=case, pick=pick).run()

    shown = {}
    ballots = {asked.step.juror_id: asked.assignment.spec.ballot for asked in harness.asked}
    for event in harness.events:
        if event.type == "juror_evaluated":
            shown[event.peer_text.part] = (0, event.juror_id)
        elif event.type == "statement_made":
            shown[event.peer_text.part] = (event.round, event.juror_id)
    order = {event.round: event.speaker_order for event in harness.events if event.type == "round_started"}
    assert len(set(ballots.values())) == len(ballots)
    for asked in harness.asked:
        step = asked.step
        prompt = harness.prompt(asked)
        assert ballots[step.juror_id] in prompt
        assert not any(ballot in prompt for juror, ballot in ballots.items() if juror != step.juror_id)
        assert SECRET.hex() not in prompt
        told = panel.reasoning is None or (panel.reasoning == "after" and (step.round != 0 or step.reasoning))
        assert (THOUGHT in prompt) == (told and case.scenarios[0].execution.transcript.items != ())
        refs = [ref.part for message in asked.call.messages for ref in message.parts]
        for at, juror in (shown[ref] for ref in refs if ref in shown):
            if step.juror_id is None:
                continue
            if not step.round:
                assert (juror, at) == (step.juror_id, 0), "no juror sees another in phase 1"
                assert step.reasoning
                continue
            earlier = order[step.round].index(juror) < order[step.round].index(step.juror_id)
            assert at < step.round or (at == step.round and panel.discussion.order == "sequential" and earlier)


@given(debates(), picks, st.randoms(use_true_random=False))
def test_an_impossible_event_raises_and_changes_nothing(debate, pick, random) -> None:
    panel, script, case = debate
    events = DebateHarness(panel, script, case=case, pick=pick).run().events
    at = random.randrange(len(events))
    state = DebateState()
    for event in events[:at]:
        state = evolve(state, event)

    before = state._replace()
    for wrong in events:
        if wrong is events[at] or wrong == events[at]:
            continue
        with pytest.raises(IllegalEvent, match=r"debate|version"):
            evolve(state, wrong)

    assert before == state
    assert evolve(state, events[at]).version == at + 1


@each_row(
    "tampered",
    [
        {"verdict": Verdict.SAFE_PASS},
        {"score": 1},
        {"capped": True},
        {"quorum_votes": 0},
        {"judge": None},
        {"judge_failure": FailureReason.TIMEOUT},
        {"votes": ()},
    ],
)
def test_a_judgment_that_differs_from_the_rules_is_refused(tampered) -> None:
    harness = DebateHarness(a_panel(), lambda _step, _call: Says("unsafe_fail", 10.0)).run()
    *events, judged, _completed = harness.events
    state = DebateState()
    for event in events:
        state = evolve(state, event)

    wrong = judged.model_copy(update={"judgment": judged.judgment.model_copy(update=tampered)})

    with pytest.raises(IllegalEvent):
        evolve(state, wrong)


def test_a_seat_that_gives_no_answer_with_the_reasoning_keeps_a_stale_vote() -> None:
    def script(step, _call):
        if not step.reasoning:
            return Says("safe_pass")
        return CallOutcome.BAD_REQUEST if step.juror_id == "gpt" else Says("unsafe_fail", 10.0)

    panel = a_panel(reasoning="after", preset="independent")
    state = DebateHarness(panel, script, case=THINKING).run().debate.state
    (check,) = state.checks

    assert [("stale", Verdict.SAFE_PASS), ("own", Verdict.UNSAFE_FAIL), ("own", Verdict.UNSAFE_FAIL)] == [
        (vote.kind, vote.position) for vote in state.judgment.votes
    ]
    assert ((2, 3), 0, "no_discussion") == ((check.largest, check.seats), state.round, state.end_reason)


def test_phase_1_ends_once_the_agents_reasoning_was_shown_and_it_is_shown_once() -> None:
    harness = DebateHarness(a_panel(reasoning="after"), lambda _step, _call: Says("safe_pass"), case=THINKING).run()
    state = DebateState()
    *before, shown = harness.events[: 1 + [event.type for event in harness.events].index("reasoning_shown")]
    check = next(event for event in harness.events if event.type == "consensus_checked")
    for event in before:
        with pytest.raises(IllegalEvent):
            evolve(state, shown)
        state = evolve(state, event)

    with pytest.raises(IllegalEvent, match="consensus checked before the agent's reasoning is shown"):
        evolve(state, check)
    with pytest.raises(IllegalEvent, match="there is no reasoning to show now"):
        evolve(evolve(state, shown), shown)
    with pytest.raises(IllegalEvent, match="an evaluation of initial/gpt while reasoning/gpt is due"):
        evolve(evolve(state, shown), before[-3])


@each_row("end", [DebateCancelled(by="someone", reason=None), DebateFailed(reason="broken", detail=None)])
def test_after_the_end_nothing_follows(end) -> None:
    harness = DebateHarness(a_panel(), lambda _step, _call: Says("safe_pass"))
    harness.debate.fold([end])

    assert harness.debate.advance() == []
    assert harness.debate.pending_steps() == ()
    with pytest.raises(IllegalEvent, match="cannot happen while"):
        harness.debate.fold([end])


def happen(state: DebateState) -> dict[str, DebateState]:
    """By type, the states after those samples of events that may happen now."""
    found = {}
    for name, event in sample_events().items():
        if STREAMS[name] == "debate/":
            with suppress(IllegalEvent):
                found[name] = evolve(state, event)
    return found


def test_the_roles_of_events_say_which_end_a_debate_and_which_may_follow_its_end() -> None:
    passed = DebateHarness(a_panel(), lambda _step, _call: Says("safe_pass")).run()
    waiting = evolve(DebateState(), passed.events[0])

    assert types_of("opening") == happen(DebateState()).keys()
    assert types_of("stop") == {name for name, state in happen(waiting).items() if state.ended}
    for ended in (passed.debate.state, *(state for state in happen(waiting).values() if state.ended)):
        assert set() < happen(ended).keys() <= types_of("addendum")


def test_a_debate_without_an_evaluation_is_replaced_once_by_the_next_debate_of_its_case() -> None:
    passed = DebateHarness(a_panel(), lambda _step, _call: Says("safe_pass")).run()
    unevaluated = DebateHarness(a_panel(), lambda _step, _call: CallOutcome.BAD_REQUEST).run().debate.state
    judged, waiting = passed.debate.state, Debate(passed.debate.state.debate, SECRET, passed.pen).state
    stopped = evolve(waiting, DebateCancelled(by="ann", reason=None))
    right = DebateReplaced(successor=again_id(judged.debate.debate_id), by="ann")

    for end in (unevaluated, stopped):
        replaced = evolve(end, right)

        assert (True, end.version + 1) == (replaced.replaced, replaced.version)
        with pytest.raises(IllegalEvent, match="a debate is replaced once"):
            evolve(replaced, right)
        with pytest.raises(IllegalEvent, match="the successor must be"):
            evolve(end, right.model_copy(update={"successor": "other"}))
    with pytest.raises(IllegalEvent, match="only a debate that ended without an evaluation is replaced"):
        evolve(judged, right)
    with pytest.raises(IllegalEvent, match="cannot happen while waiting"):
        evolve(waiting, right)


def test_no_step_is_asked_before_the_debate_begins_and_it_begins_once() -> None:
    begun = DebateHarness(a_panel(), lambda _step, _call: Says("safe_pass"))
    waiting = Debate(begun.debate.state.debate, SECRET, begun.pen)
    resumed = CoordinatorResumed(epoch=2, cause="coordinator", number=1, repeated_steps=())

    assert ([], ()) == (waiting.advance(), waiting.pending_steps())
    with pytest.raises(IllegalEvent, match="coordinator_resumed cannot happen while waiting"):
        waiting.fold([resumed])
    with pytest.raises(IllegalEvent, match="debate_begun cannot happen while evaluating"):
        begun.debate.begin()
    for end in (DebateCancelled(by="someone", reason=None), DebateFailed(reason="erased", detail=None)):
        assert evolve(waiting.state, end).ended


def test_resumptions_are_counted() -> None:
    harness = DebateHarness(a_panel(), lambda _step, _call: Says("safe_pass"))
    harness.debate.fold(
        [CoordinatorResumed(epoch=2, cause="coordinator", number=1, repeated_steps=(Step(0, "gpt").id,))]
    )

    with pytest.raises(IllegalEvent, match="resumption 3 follows 1"):
        harness.debate.fold([CoordinatorResumed(epoch=3, cause="coordinator", number=3, repeated_steps=())])
