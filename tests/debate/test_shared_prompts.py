"""How many calls are expected that begin with the same prompt."""

import pytest

from jury_debate import Debate, RoundsSeen, further_calls, newest_rules, prompt_start
from jury_events import ArtifactRecord, Step
from support.debate_harness import SECRET, DeterministicParts, a_case, a_panel

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


def test_rounds_that_are_certain_count_for_every_seat_of_the_model() -> None:
    assert 6 == expected("a", end_early=False)
    assert 3 == expected("c", end_early=False)


def test_without_a_discussion_a_seat_asks_once() -> None:
    assert 0 == expected("c", max_rounds=0)


def test_seats_that_wait_for_this_call_read_what_it_wrote() -> None:
    assert 1 == expected("a", max_rounds=0, waiting=["b", "c"])


def test_the_final_judge_reads_what_seats_of_its_model_wrote() -> None:
    assert (1, 0) == (expected("c", max_rounds=0, judge="y/n"), expected("a", max_rounds=0, judge="y/n"))


def test_before_anything_was_seen_one_round_is_expected_and_then_what_was_seen() -> None:
    quiet, lively = [0] * 9, [3] * 9

    assert 1 == expected("c")
    assert 0.1 == pytest.approx(expected("c", seen=quiet))
    assert 2.8 == pytest.approx(expected("c", seen=lively))


def test_a_round_that_is_always_held_is_expected_whatever_was_seen() -> None:
    assert 1 == expected("c", seen=[0] * 99, always_discuss=True)


def test_no_more_rounds_are_expected_than_there_may_be() -> None:
    assert 1 == expected("c", seen=[9] * 9, max_rounds=1)


def test_only_debates_that_came_as_far_say_how_many_rounds_follow() -> None:
    seen = rounds_seen([0] * 98 + [2, 2])

    assert pytest.approx(5 / 101) == seen.further(0)
    assert 1 == seen.further(1)


def test_with_tools_the_first_step_shares_its_prompt_with_its_own_turns_alone() -> None:
    assert 1 == expected("a", records=RECORDS, end_early=False)


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
