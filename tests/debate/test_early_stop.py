"""`stop: settled`: seats that could change nothing are not asked, and everything that is decided stays the same."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import Assignment, IllegalEvent, PanelError, PanelSpec, newest_rules, resolve
from jury_events import (
    CallOutcome,
    DebateOpened,
    JurorEvaluated,
    OutcomeThreshold,
    Panel,
    SeatsNotAsked,
    Settled,
    Verdict,
    VotesStepSignal,
)
from support.calibrations import DAWID_SKENE, ISOTONIC, PROBABILITY, SHARE, WEIGHTS, calibrated
from support.debate_harness import Answer, DebateHarness, Says, a_case, by_round
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, YES_NO, scales, written

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
STEPS = VotesStepSignal(passing="safe_pass", step="item")
SEATS = ("gpt", "claude", "gemini")
QUOTED: tuple[dict[str, Any], ...] = ({"item": 1, "quote": "Refund"},)


def spec_with(seats: int = 3, **fields: Any) -> dict[str, Any]:
    """The spec of an independent panel with one of the known seats and more."""
    names = [*SEATS, *(f"seat-{number}" for number in range(4, seats + 1))][:seats]
    listed = [{"model": "simulated/juror", "juror_id": name} for name in names]
    return {"preset": "independent", "seats": listed, **fields}


def the_panel(spec: dict[str, Any]) -> Panel:
    return resolve(PanelSpec.model_validate(spec)).panel


def debate(spec: dict[str, Any], answers: list[Answer], *, scenarios: int = 1) -> DebateHarness:
    panel = the_panel(spec)
    table = {seat: [answer] for seat, answer in zip(panel.juror_ids, answers, strict=True)}
    return DebateHarness(panel, by_round(table), case=a_case(scenarios=scenarios)).run()


def decided(harness: DebateHarness) -> tuple[Any, ...]:
    """Everything that must not depend on the seats that are not asked."""
    judgment = harness.judgment
    rows = tuple((row.scenario_id, row.verdict, row.label) for row in judgment.scenarios)
    return (Settled.of(judgment), rows)


def asked(harness: DebateHarness) -> list[str]:
    return list(dict.fromkeys(str(one.step.juror_id) for one in harness.asked))


def not_asked(harness: DebateHarness) -> SeatsNotAsked | None:
    return next((event for event in harness.events if isinstance(event, SeatsNotAsked)), None)


def test_two_that_agree_settle_a_majority_of_three() -> None:
    harness = debate(spec_with(stop="settled"), [Says(P, 90.0), Says(P, 80.0), Says(F, 10.0)])

    assert ["gpt", "claude"] == asked(harness)
    assert ("gemini",) == harness.debate.state.not_asked
    assert SeatsNotAsked(
        juror_ids=("gemini",), settled=Settled(verdict=P, label=None, shortfalls=(), accepted=None)
    ) == not_asked(harness)
    assert [("own", P), ("own", P), ("not_asked", None)] == [
        (vote.kind, vote.position) for vote in harness.judgment.votes
    ]


@each_row(
    ("seats", "final", "verdicts", "asked_first"),
    [
        (3, {}, "PFF", 3),
        (7, {}, "PPPPPPP", 4),
        (7, {}, "PPFPPFF", 5),  # the next group follows the answers so far
        # A passing verdict waits for its quorum, a failing one does not.
        (3, {"quorum": 3}, "PPP", 3),
        (3, {"quorum": 3}, "FFP", 2),
    ],
)
def test_as_many_are_asked_as_can_settle_it(seats: int, final: dict[str, Any], verdicts: str, asked_first: int) -> None:
    harness = debate(spec_with(seats, stop="settled", final=final), [Says({"P": P, "F": F}[one]) for one in verdicts])

    assert list(harness.debate.state.panel.juror_ids[:asked_first]) == asked(harness)
    assert (not_asked(harness) is None) == (asked_first == seats)


def test_a_group_is_the_fewest_seats_that_can_settle_it_and_is_asked_at_once() -> None:
    panel = the_panel(spec_with(7, stop="settled"))
    harness = DebateHarness(panel, by_round({seat: [Says(P)] for seat in panel.juror_ids}))

    assert list(panel.juror_ids[:4]) == [step.juror_id for step in harness.debate.pending_steps()]


FACTS, FORM = ANSWERS["criteria"]
AVERAGE = {"method": "weighted_average", "quorum": 2}
HEAVY = [3.0, 3.0, 3.0, 0.5]
NONE, NOTHING = CallOutcome.BAD_REQUEST, Says(F, 0.0, 1.0)


@each_row(
    ("fields", "weights", "answers", "seats", "verdict", "capped_by"),
    [
        # Two of the three votes that can come are most of them, but not of five seats.
        ({"final": {"quorum": 2}}, [1.0] * 5, [Says(P), NONE, NONE, Says(P), Says(P)], 5, P, None),
        ({"final": {"quorum": 2}}, [1.0] * 5, [Says(P), NONE, NONE, Says(P), Says(F)], 5, R, "silence"),
        # Three of six seats never pass, whatever the last one says.
        ({"final": {"quorum": 2}}, [1.0] * 6, [Says(P), Says(P), NONE, NONE, NONE, Says(P)], 5, R, "silence"),
        # The votes pass, with 0 from the last seat too; with the silent seat counted, it decides.
        ({"final": AVERAGE}, HEAVY, [Says(P, 80.0, 1.0), NONE, Says(P, 80.0, 1.0), NOTHING], 4, R, "silence"),
        ({"final": AVERAGE}, HEAVY, [Says(P, 90.0, 1.0), NONE, Says(P, 90.0, 1.0), NOTHING], 3, P, None),
        # So it does of the points of a critical criterion.
        (
            {"final": AVERAGE, "criteria": [{**FACTS, "critical_below": 0.75}, FORM]}, HEAVY,
            [Says(P, 90.0, 1.0), NONE, Says(P, 90.0, 1.0), NOTHING], 4, R, "silence",
        ),
    ],
)  # fmt: skip
def test_a_pass_is_settled_where_it_stands_with_the_silent_seats_counted(
    fields: dict[str, Any],
    weights: list[float],
    answers: list[Answer],
    seats: int,
    verdict: Verdict,
    capped_by: str | None,
) -> None:
    spec = spec_with(len(weights), stop="settled", **fields)
    spec["seats"] = [{**seat, "weight": weight} for seat, weight in zip(spec["seats"], weights, strict=True)]

    harness = debate(spec, answers)

    found = harness.judgment
    assert (seats, verdict, capped_by) == (len(asked(harness)), found.verdict, found.capped_by)
    assert found.verdict is debate({**spec, "stop": None}, answers).judgment.verdict


def test_the_order_of_asking_is_given_or_rotates_by_debate() -> None:
    rules = newest_rules()
    given_panel = the_panel(spec_with(stop={"order": ["gemini", "gpt", "claude"]}))
    rotating = the_panel(spec_with(stop={"last": "rotating"}))

    def order(panel: Panel, debate_id: str) -> tuple[str, ...]:
        harness = DebateHarness(panel, by_round({seat: [Says(P)] for seat in SEATS}))
        opened = rules.open_debate(
            a_case(), panel, debate_id=debate_id, run_id=None, secret=bytes(32), parts=harness.pen
        )
        assert opened.asking is not None
        return opened.asking.order

    assert ("gemini", "gpt", "claude") == order(given_panel, "d1")
    assert {
        ("gpt", "claude", "gemini"),
        ("claude", "gemini", "gpt"),
        ("gemini", "gpt", "claude"),
    } == {order(rotating, f"d{number}") for number in range(40)}


def test_panels_in_which_it_can_never_apply_are_refused_with_the_reason() -> None:
    def why(**fields: Any) -> str:
        with pytest.raises(PanelError) as error:
            resolve(PanelSpec.model_validate({**spec_with(), "stop": "settled", **fields}))
        return str(error.value)

    critical = [
        {"id": "a", "maximum": 60, "meaning": "One thing.", "critical": True},
        {"id": "b", "maximum": 40, "meaning": "Another."},
    ]

    assert "in rounds every seat speaks" in why(discussion={"max_rounds": 1})
    assert "in rounds every seat speaks" in why(discussion={"max_rounds": 1, "always_discuss": True})
    assert "a final judge reads every seat" in why(final={"method": "final_judge"})
    assert "known at the end only" in why(final={"method": "median"}, rubric=None, criteria=critical)
    assert "fewer than all 2 seats" in why(seats=spec_with(2)["seats"])
    assert "stop.order: must list every seat once" in why(stop={"order": ["gpt", "claude", "claude"]})


def test_a_seat_that_must_not_be_asked_cannot_answer() -> None:
    harness = debate(spec_with(stop="settled"), [Says(P), Says(P), Says(P)])
    state, rules = harness.debate.state, harness.debate.rules
    evaluations = [event for event in harness.events if isinstance(event, JurorEvaluated)]
    state = type(state)()
    for event in harness.events[:4]:
        state = rules.evolve(state, event)

    with pytest.raises(IllegalEvent, match="gemini must not be asked"):
        rules.evolve(state, evaluations[0].changed(juror_id="gemini"))
    early = type(state)()
    for event in harness.events[:3]:
        early = rules.evolve(early, event)
    with pytest.raises(IllegalEvent, match="the seats that are not asked must be None"):
        rules.evolve(early, next(event for event in harness.events if isinstance(event, SeatsNotAsked)))


def test_a_recount_says_where_seats_that_were_not_asked_could_matter() -> None:
    harness = debate(spec_with(stop="settled"), [Says(P, 90.0), Says(P, 80.0), Says(F, 10.0)])
    opened = harness.events[0]
    assert isinstance(opened, DebateOpened)
    made = [list(harness.debate.state.evaluations)]

    def settled(**final: Any) -> bool:
        panel = opened.panel.model_copy(update={"final": opened.panel.final.model_copy(update=final)})
        changed = opened.model_copy(update={"panel": panel})
        return newest_rules().recount(changed, made, not_asked=("gemini",)).settled

    assert settled()
    assert not settled(quorum=3)
    assert not settled(method="weighted_average")


class RowsSay(Says):
    """Says other verdicts on scenarios than on the case."""

    rows: tuple[str, ...] = ()

    def answer(self, assignment: Assignment) -> bytes:
        said = json.loads(super().answer(assignment))
        for row, verdict in zip(said["scenarios"], self.rows, strict=True):
            row["verdict"] = verdict
        return json.dumps(said).encode()


def rows_say(verdict: str, *rows: str) -> Says:
    said = RowsSay(verdict)
    said.rows = rows
    return said


def test_a_verdict_on_a_scenario_must_be_settled_too() -> None:
    differ: list[Answer] = [rows_say(P, P, F), rows_say(P, P, P), rows_say(P, P, F)]
    agree: list[Answer] = [rows_say(P, P, F), rows_say(P, P, F), rows_say(P, P, P)]

    assert 3 == len(asked(debate(spec_with(stop="settled"), differ, scenarios=2)))
    assert 2 == len(asked(debate(spec_with(stop="settled"), agree, scenarios=2)))


def test_a_label_between_two_ranks_that_have_none_leaves_the_case_open() -> None:
    labels = [{"id": f"f{rank}", "outcome": "fail", "meaning": f"Fails by {rank}."} for rank in range(4)]
    spec = spec_with(6, stop="settled", final={"method": "median"}, scale={"name": "fails", "labels": labels})

    # The median of ranks is 1.5, and 0.5 or 2.5 with two more at an end: no label. With two more at 1 it is f1.
    harness = debate(spec, [Says("f0"), Says("f1"), Says("f2"), Says("f3"), Says("f1"), Says("f1")])

    assert 6 == len(asked(harness))
    assert "f1" == harness.judgment.label


def test_a_posterior_that_another_vote_could_change_leaves_the_acceptance_open() -> None:
    def asked_at(threshold: float) -> int:
        spec = {**calibrated(spec_with(), signal=DAWID_SKENE, threshold=threshold), "stop": "settled"}
        return len(asked(debate(spec, [Says(P), Says(P), Says(F, 10.0)])))

    # Two votes for a pass give .97, with one against them .79.
    assert (2, 3) == (asked_at(0.7), asked_at(0.9))


# The property: with and without early stop, over random panels and answers, what is decided is equal.


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    seats = draw(st.integers(3, 6))
    spec = spec_with(seats)
    method = draw(st.sampled_from(["majority_vote", "weighted_average", "median"]))
    spec["final"] = {"method": method, "quorum": draw(st.integers(1, seats))}
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=seats, max_size=seats))
    spec["seats"] = [{**seat, "weight": weight} for seat, weight in zip(spec["seats"], weights, strict=True)]
    # Decision models give no points: one seat at least does.
    decide = [None, *draw(st.lists(st.sampled_from([None, None, 1]), min_size=seats - 1, max_size=seats - 1))]
    spec["seats"] = [{**seat, "questions": one} for seat, one in zip(spec["seats"], decide, strict=True)]
    unsupported = draw(st.sampled_from(["count", "abstain"] if method == "median" else ["count", "halve", "abstain"]))
    spec["answers"] = {"unsupported": unsupported, "repairs": 0}
    words = draw(st.sampled_from(["verdicts", "critical", "answers", "yes_no", "levels", "drawn"]))
    if words == "drawn":
        spec["scale"] = written(draw(scales()))
    elif words == "critical" and method != "median":
        facts, form = ANSWERS["criteria"]
        spec["criteria"] = [{**facts, "critical_below": draw(st.sampled_from([0.4, 0.6, 0.8]))}, form]
    elif words == "answers" and method == "median":
        spec["scale"] = ANSWERS["scale"]
    elif words not in {"verdicts", "critical"}:
        spec |= {"answers": ANSWERS, "yes_no": YES_NO, "levels": LEVELS}[words]
        spec["answers"] = {"unsupported": unsupported, "repairs": 0}
    signal = draw(st.sampled_from([None, None, SHARE, ISOTONIC, WEIGHTS, DAWID_SKENE, STEPS, PROBABILITY]))
    if signal is not None:
        threshold = draw(st.sampled_from([0.2, 0.5, 2 / 3, 0.8, 0.9, 1.0]))
        on = draw(st.sampled_from(["error", "false_pass"]))
        outcomes = draw(st.sampled_from([None, ("fail",), ("pass", "fail")]))
        by_outcome = outcomes and tuple(
            OutcomeThreshold(outcome=one, threshold=min(1.0, threshold + 0.2 * place), risk=0.1)
            for place, one in enumerate(outcomes)
        )
        spec = calibrated(spec, signal=signal, threshold=threshold, on=on, by_outcome=by_outcome)
    return spec


def probabilities(given: dict[str, float]) -> bytes:
    return json.dumps({"answers": {"verdict": {"type": "choice", "probabilities": given}}}).encode()


@st.composite
def answers_for(draw: st.DrawFn, panel: Panel) -> list[Answer]:
    words = [verdict.value for verdict in Verdict] if panel.scale is None else list(panel.scale.ids)
    # Seats mostly agree: else nothing is ever settled.
    usual = draw(st.sampled_from(words))
    found: list[Answer] = []
    for seat in panel.seats:
        kind = draw(st.sampled_from(["usual", "usual", "usual", "any", "blocked", "failed"]))
        if kind in {"blocked", "failed"}:
            found.append(CallOutcome.BLOCKED if kind == "blocked" else CallOutcome.BAD_REQUEST)
            continue
        word = usual if kind == "usual" else draw(st.sampled_from(words))
        if seat.questions is not None:
            most = draw(st.sampled_from([0.6, 0.8, 1.0]))
            found.append(probabilities({one: most if one == word else (1 - most) / (len(words) - 1) for one in words}))
            continue
        score = draw(st.sampled_from([0.0, 20.0, 45.0, 70.0, 90.0, 100.0]))
        evidence = draw(st.sampled_from([(), QUOTED]))
        decisive = draw(st.sampled_from([None, 1, 2]))
        found.append(Says(word, score, draw(st.sampled_from([0.0, 0.5, 1.0])), evidence, decisive))
    return found


@given(st.data())
def test_what_is_decided_is_equal_with_and_without_early_stop(data: st.DataObject) -> None:
    spec = data.draw(specs())
    last = data.draw(st.sampled_from(["given", "rotating"]))
    scenarios = data.draw(st.sampled_from([1, 1, 2]))
    answers = data.draw(answers_for(the_panel(spec)))

    with suppress(PanelError):  # a panel in which it can never apply
        the_panel({**spec, "stop": {"last": last}})
        spec |= {"stop": {"last": last}}
    whole = debate({**spec, "stop": None}, answers, scenarios=scenarios)
    stopped = debate(spec, answers, scenarios=scenarios)

    assert decided(whole) == decided(stopped)
    if (event := not_asked(stopped)) is not None:
        assert Settled.of(whole.judgment) == event.settled
        _holds_whatever_they_answer(data, whole, spec, answers, stopped, scenarios)


def _holds_whatever_they_answer(
    data: st.DataObject,
    whole: DebateHarness,
    spec: dict[str, Any],
    answers: list[Answer],
    stopped: DebateHarness,
    scenarios: int,
) -> None:
    """Other answers of the seats that were not asked decide the same."""
    panel = the_panel(spec)
    others = data.draw(answers_for(panel))
    mixed = [
        other if seat in stopped.debate.state.not_asked else answer
        for seat, answer, other in zip(panel.juror_ids, answers, others, strict=True)
    ]

    assert decided(whole) == decided(debate({**spec, "stop": None}, mixed, scenarios=scenarios))
