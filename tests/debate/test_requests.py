"""Debates: what stands where in each request, and what an answer must have."""

import json
import re
import sys
from types import FrameType
from typing import Any

import pytest

from jury_debate import (
    Debate,
    RoundsSeen,
    ballot_id,
    further_calls,
    line_sign,
    load_prompts,
    newest_rules,
    prompt_start,
    unmark,
)
from jury_events import (
    ArtifactRecord,
    Case,
    DebateCompleted,
    ExecutionResult,
    JurorAbstained,
    Message,
    PartBuffer,
    QuestionSpec,
    RefusalReason,
    Scenario,
    Step,
    ToolCall,
    ToolResult,
    Transcript,
)
from support.debate_harness import (
    SEATS,
    SECRET,
    Asked,
    DebateHarness,
    DeterministicParts,
    Says,
    a_case,
    a_panel,
    by_round,
)
from support.each_row import each_row

SIGN = line_sign(SECRET)
CODE = "def refund(order):\n    if order.paid:\n\treturn  True\n\n"

CODING = Case(
    case_id="coding",
    scenarios=(
        Scenario(
            scenario_id="one",
            question=QuestionSpec(prompt="Write refund.", policy="Python only."),
            execution=ExecutionResult(
                transcript=Transcript(
                    items=(
                        Message(kind="user", origin="user", text="Write refund."),
                        ToolCall(name="write", arguments=CODE, call_id="1"),
                        ToolResult(text="ok", call_id="1"),
                        Message(kind="assistant", origin="model", text="Done.\n" + CODE),
                    )
                ),
                response="Done.\n" + CODE,
            ),
        ),
    ),
)


def a_debate(case: Case | None = None, **spec: Any) -> DebateHarness:
    positions = {"gpt": [Says("safe_pass")], "claude": [Says("unsafe_fail")], "gemini": [Says("safe_pass")]}
    panel = a_panel(*SEATS, **{"preset": "parallel-rounds", "discussion": {"max_rounds": 2}} | spec)
    return DebateHarness(panel, by_round(positions), case=case).run()


def texts(debate: DebateHarness, asked: Asked) -> list[tuple[str, str]]:
    """The role and the text of each part of a request."""
    return [(message.role, debate.pen.text(ref)) for message in asked.call.messages for ref in message.parts]


@pytest.fixture(scope="module")
def coding() -> DebateHarness:
    return a_debate(CODING)


def test_what_is_the_same_for_all_seats_stands_first(coding: DebateHarness) -> None:
    requests = [texts(coding, asked) for asked in coding.asked]

    assert 1 < len(requests)
    assert {requests[0][0]} == {request[0] for request in requests}, "one system message for all steps"
    assert {requests[0][1]} == {request[1] for request in requests}, "then the case"
    assert len({request[2] for request in requests}) == len(SEATS) + 1, "then the seat, the same in all its turns"


def test_nothing_of_a_debate_stands_before_the_case(coding: DebateHarness) -> None:
    other = a_debate(a_case(scenarios=2), language=coding.debate.state.panel.language)

    assert texts(coding, coding.asked[0])[0] == texts(other, other.asked[0])[0]


def test_a_ballot_is_shown_to_its_seat_alone_and_after_the_case(coding: DebateHarness) -> None:
    ballots = {juror: ballot_id(SECRET, juror) for juror in (*SEATS, None)}

    for asked in coding.asked:
        shown = [text for _, text in texts(coding, asked)]
        for juror, ballot in ballots.items():
            places = [place for place, text in enumerate(shown) if ballot in text]
            assert places == ([2] if juror == asked.step.juror_id else [])


def test_judged_text_is_exact_and_never_in_a_system_message(coding: DebateHarness) -> None:
    roles = {role for asked in coding.asked for role, text in texts(coding, asked) if CODE.split("\n")[1] in text}
    plain = unmark(coding.prompt(coding.asked[0]), SIGN)

    assert {"user"} == roles
    assert CODE in plain


def test_what_the_record_says_twice_is_shown_once(coding: DebateHarness) -> None:
    case = texts(coding, coding.asked[0])[1][1]
    headings = load_prompts(1, coding.debate.state.panel.language).texts.case

    assert 1 == case.count("Write refund.")
    assert 1 == case.count("Done.")
    for what, number in ((headings.question, 2), (headings.response, 5)):
        assert any(what in line and str(number) in line for line in case.split("\n")), what


def test_every_step_has_the_same_schema(coding: DebateHarness) -> None:
    rules = coding.debate.rules
    schemas = {
        json.dumps(
            rules.answer_schema(
                asked.assignment.spec.rubric,
                evidence=asked.assignment.spec.evidence is not None,
                scale=asked.assignment.spec.scale,
            )
        )
        for asked in coding.asked
    }

    assert 1 == len(schemas)
    (schema,) = map(json.loads, schemas)
    assert set(schema["required"]) == set(schema["properties"]) >= {"statement", "scenarios"}


def test_scenarios_are_judged_one_by_one() -> None:
    debate = a_debate(a_case(scenarios=2))

    assert isinstance(debate.events[-1], DebateCompleted)
    assert all("2" in texts(debate, asked)[2][1] for asked in debate.asked)


def answered(**changes: Any) -> DebateHarness:
    """A debate in which every answer in phase 1 of one seat has these members changed; None removes one."""

    def script(step: Step, _call: Any) -> Any:
        assignment = next(one for one in [debate.debate.assign(step)])
        answer = json.loads(Says("safe_pass").answer(assignment))
        if step == Step(0, "gpt"):
            answer |= changes
            answer = {name: value for name, value in answer.items() if value is not ...}
        return json.dumps(answer).encode()

    debate = DebateHarness(a_panel(*SEATS, preset="independent"), script)
    return debate.run()


def refusal(debate: DebateHarness) -> RefusalReason | None:
    return next((event.refusal for event in debate.events if isinstance(event, JurorAbstained)), None)


@each_row(
    ("changes", "reason"),
    [
        ({}, None),
        ({"statement": "not asked for"}, None),
        ({"scenarios": []}, None),
        ({"statement": 7}, RefusalReason.WRONG_TYPE),
        ({"statement": ...}, RefusalReason.MISSING_FIELD),
        ({"scenarios": ...}, RefusalReason.MISSING_FIELD),
        ({"scenarios": "x"}, RefusalReason.UNKNOWN_SCENARIO),
        ({"scenarios": [{"scenario_id": "1", "verdict": "safe_pass", "score": 1}]}, RefusalReason.UNKNOWN_SCENARIO),
        ({"extra": 1}, RefusalReason.UNKNOWN_FIELD),
        ({"statement": f"my id is {ballot_id(SECRET, 'gpt')}"}, RefusalReason.BALLOT_SHOWN),
        ({"rationale": None}, RefusalReason.WRONG_TYPE),
    ],
)
def test_an_answer_has_every_field_and_null_where_its_step_asks_for_none(
    changes: dict[str, Any], reason: RefusalReason | None
) -> None:
    assert reason == refusal(answered(**changes))


OWN = 'Ask who is harmed. {Braces} and $signs stay.\nDoubt every "done".'


def test_an_own_prompt_stands_in_its_seats_block_in_place_of_the_roles_text(coding: DebateHarness) -> None:
    own = DebateHarness(
        coding.debate.state.panel,
        coding.script,
        case=CODING,
        role_prompts={"claude": OWN},
        judge_prompt="Weigh them.",
    ).run()

    assert len(coding.asked) == len(own.asked)
    for before, asked in zip(coding.asked, own.asked, strict=True):
        seat, words = texts(own, asked)[2][1], {"claude": OWN, None: "Weigh them."}.get(asked.step.juror_id)
        assert texts(coding, before)[:2] == texts(own, asked)[:2], "the system message and the case"
        assert (words is None) == (texts(coding, before)[2][1] == seat)
        assert words is None or f"\n\n{words}\n\n" in seat
        assert [ballot_id(SECRET, asked.step.juror_id)] == re.findall(r"Your ballot id is (\w+)\.", seat)


POLICY = "Refund within 30 days only.\nNever name a colleague."


def with_policies(case: Case, *policies: str) -> Case:
    asked = (
        scenario.changed(question=scenario.question.changed(policy=policy))
        for scenario, policy in zip(case.scenarios, policies, strict=True)
    )
    return case.changed(scenarios=tuple(asked))


def test_the_operators_policy_stands_unmarked_before_the_case_once() -> None:
    case = with_policies(a_case(scenarios=2), POLICY, "Mine.")
    panel = a_panel(*SEATS, preset="parallel-rounds", discussion={"max_rounds": 1})
    positions = {"gpt": [Says("safe_pass")], "claude": [Says("unsafe_fail")], "gemini": [Says("safe_pass")]}
    debate = DebateHarness(panel, by_round(positions), case=case, operator_policy=POLICY).run()

    for asked in debate.asked:
        (system, policy, shown, *_), message = texts(debate, asked), asked.call.messages[1]
        assert 2 == message.shared
        assert "system" == system[0]
        assert policy[1].endswith(f"\n{POLICY}\n\n")
        assert "Never name a colleague" not in shown[1]
        assert f"{SIGN} Mine." in shown[1]


def test_a_policy_that_no_case_has_is_not_shown() -> None:
    panel = a_panel(*SEATS, preset="independent")
    debate = DebateHarness(panel, lambda _step, _call: Says("safe_pass"), operator_policy=POLICY).run()

    assert "Never name a colleague" not in debate.prompt(debate.asked[0])
    assert 1 == debate.asked[0].call.messages[1].shared


RECORDS = (ArtifactRecord.from_json({"id": 1, "verdict": "pass"}),)


def expected(juror="a", *, seen=None, waiting=(), records=(), seats=("x/m", "x/m", "y/n"), judge=None, **discussion):
    final = {"method": "final_judge", "judge": {"model": judge}} if judge else {"method": "majority_vote"}
    panel = a_panel(
        seats=[{"model": model, "juror_id": name} for name, model in zip("abcdef", seats, strict=False)],
        discussion={"max_rounds": 3, **discussion},
        final=final,
    )
    pen = DeterministicParts()
    opened = newest_rules().open_debate(
        a_case(security_gate_records=records),
        panel,
        debate_id="d",
        run_id=None,
        secret=SECRET,
        parts=pen,
        prompts_version=1,
    )
    assignment = Debate(opened, SECRET, pen).assign(Step(0, juror))
    return further_calls(panel, assignment, waiting, rounds_seen(seen or []))


def rounds_seen(rounds):
    seen = RoundsSeen()
    for one in rounds:
        seen.add(one)
    return seen


@each_row(
    ("juror", "more", "calls"),
    [
        # Rounds that are certain count for every seat of the model.
        ("a", {"end_early": False}, 6),
        ("c", {"end_early": False}, 3),
        # Without a discussion a seat asks once; seats that wait for this call, and a judge, read what it wrote.
        ("c", {"max_rounds": 0}, 0),
        ("a", {"max_rounds": 0, "waiting": ["b", "c"]}, 1),
        ("c", {"max_rounds": 0, "judge": "y/n"}, 1),
        ("a", {"max_rounds": 0, "judge": "y/n"}, 0),
        # Before anything was seen one round is expected, and then what was seen.
        ("c", {}, 1),
        ("c", {"seen": [0] * 9}, 0.1),
        ("c", {"seen": [3] * 9}, 2.8),
        # A round that is always held is expected whatever was seen; no more than there may be.
        ("c", {"seen": [0] * 99, "always_discuss": True}, 1),
        ("c", {"seen": [9] * 9, "max_rounds": 1}, 1),
        # With tools the first step shares its prompt with its own turns alone.
        ("a", {"records": RECORDS, "end_early": False}, 1),
    ],
)
def test_so_many_calls_are_expected_to_begin_with_the_same_prompt(
    juror: str, more: dict[str, Any], calls: float
) -> None:
    assert calls == pytest.approx(expected(juror, **more))


def test_only_debates_that_came_as_far_say_how_many_rounds_follow() -> None:
    seen = rounds_seen([0] * 98 + [2, 2])

    assert pytest.approx(5 / 101) == seen.further(0)
    assert 1 == seen.further(1)


def test_prompts_of_one_model_begin_differently_with_other_pictures_effort_or_tools() -> None:
    panel = a_panel(
        seats=[
            {"model": "x/m", "juror_id": "a"},
            {"model": "x/m", "juror_id": "b", "settings": {"effort": "high"}},
            {"model": "x/m", "juror_id": "c", "settings": {"temperature": 0.5}},
        ]
    )
    pen = DeterministicParts()
    opened = newest_rules().open_debate(
        a_case(), panel, debate_id="d", run_id=None, secret=SECRET, parts=pen, prompts_version=1
    )
    debate = Debate(opened, SECRET, pen)
    a, b, c = (prompt_start(panel, debate.assign(Step(0, juror))) for juror in "abc")

    assert a == c != b
    assert a != prompt_start(panel, debate.assign(Step(0, "a"))._replace(tools=True))


def calls_to_ask(seats: int) -> int:
    """How many Python functions are called to ask each seat of a panel for its first evaluation."""
    panel = a_panel(*(f"s{number}" for number in range(seats)), preset="independent")
    parts = PartBuffer(lambda: bytes(16))
    begun = newest_rules().open_debate(
        a_case(), panel, debate_id="d", run_id="r", secret=SECRET, parts=parts, prompts_version=1
    )
    debate = Debate(begun, SECRET, parts)
    debate.begin()
    debate.advance()
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for step in debate.pending_steps():
            debate.assign(step)
    finally:
        sys.setprofile(before)
    return calls


def test_to_ask_a_seat_takes_work_in_proportion_to_the_seats() -> None:
    calls_to_ask(2)  # fills caches

    assert calls_to_ask(80) < 4.5 * calls_to_ask(40)
