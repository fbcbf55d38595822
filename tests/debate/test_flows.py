"""The flow diagrams of both documents, step by step."""

from jury_events import CallOutcome
from support.debate_harness import DebateHarness, Says, a_panel, by_round
from support.each_row import each_row

ALWAYS_SPLIT = {"gpt": [Says("safe_pass")], "claude": [Says("needs_review")], "gemini": [Says("unsafe_fail")]}


def test_document_004_three_parallel_rounds_then_the_final_judge() -> None:
    harness = DebateHarness(a_panel(), by_round(ALWAYS_SPLIT)).run()

    seats = ("gpt", "claude", "gemini")
    rounds = [
        event
        for number in (1, 2, 3)
        for event in (
            f"round-{number}/started",
            *(f"round-{number}/{seat}/statement" for seat in seats),
            f"round-{number}/check",
        )
    ]

    assert [
        "opened",
        *(f"initial/{seat}/evaluated" for seat in seats),
        "initial/check",
        *rounds,
        "final/judgment",
        "completed",
    ] == harness.event_ids
    completed = harness.events[-1]
    assert (completed.total_rounds, completed.end_reason, completed.early_termination) == (3, "max_rounds", False)


def test_in_a_parallel_round_all_are_asked_at_once_and_see_up_to_the_previous_round() -> None:
    harness = DebateHarness(a_panel(), by_round(ALWAYS_SPLIT), pick=(2, 1, 0))

    harness.run()

    first_round = [asked for asked in harness.asked if asked.step.round == 1]
    assert [asked.step.juror_id for asked in first_round] == ["gemini", "claude", "gpt"]
    for asked in first_round:
        assert "initial evaluation" in harness.prompt(asked)
        assert "I say" not in harness.prompt(asked)


def test_document_004_a_unanimous_round_ends_the_discussion() -> None:
    table = {
        "gpt": [Says("safe_pass")],
        "claude": [Says("needs_review"), Says("safe_pass")],
        "gemini": [Says("safe_pass")],
    }

    harness = DebateHarness(a_panel(), by_round(table)).run()

    completed = harness.events[-1]
    assert (completed.total_rounds, completed.end_reason, completed.early_termination) == (1, "consensus", True)


def test_document_004_a_reached_phase_1_skips_phase_2() -> None:
    table = {key: [Says("safe_pass")] for key in ("gpt", "claude", "gemini")}

    harness = DebateHarness(a_panel(discussion={"threshold": 1.0}), by_round(table)).run()

    assert harness.event_ids[-3:] == ["initial/check", "final/judgment", "completed"]
    assert harness.events[-1].early_termination


def test_at_2_0_phase_2_always_runs_even_after_a_unanimous_phase_1() -> None:
    table = {key: [Says("safe_pass")] for key in ("gpt", "claude", "gemini")}

    harness = DebateHarness(a_panel(), by_round(table)).run()

    assert (
        harness.events[-1].total_rounds,
        harness.events[-1].end_reason,
        harness.events[-1].early_termination,
    ) == (1, "consensus", True)


def test_document_002_speakers_take_turns_and_see_those_before_them() -> None:
    harness = DebateHarness(a_panel(preset="adk-sequential"), by_round(ALWAYS_SPLIT)).run()

    first = {asked.step.juror_id: harness.prompt(asked) for asked in harness.asked if asked.step.round == 1}
    second = {asked.step.juror_id: harness.prompt(asked) for asked in harness.asked if asked.step.round == 2}

    assert list(first) == ["gpt", "claude", "gemini"]
    # Round 1: A sees the phase-1 evaluations of B and C, B sees A's statement, C those of A and B.
    assert ("Juror B: initial" in first["gpt"], "Juror C: initial" in first["gpt"]) == (True, True)
    assert ("Juror A: round 1" in first["claude"], "Juror C: initial" in first["claude"]) == (True, True)
    assert ("Juror A: round 1" in first["gemini"], "Juror B: round 1" in first["gemini"]) == (True, True)
    # Round 2: A sees the latest of B and C, and of history `latest` nothing older.
    assert ("Juror B: round 1" in second["gpt"], "Juror B: initial" in second["gpt"]) == (True, False)
    assert ("Juror A: round 2" in second["claude"], "Juror A: round 1" in second["claude"]) == (True, False)


def test_with_the_whole_history_a_seat_sees_all_that_its_peers_said_and_of_itself_the_latest() -> None:
    harness = DebateHarness(a_panel(), by_round(ALWAYS_SPLIT)).run()
    second = next(harness.prompt(one) for one in harness.asked if (one.step.round, one.step.juror_id) == (2, "gpt"))

    assert [True, True, True, True, False, True] == [
        f"Juror {said}" in second
        for said in ("B: initial", "B: round 1", "C: initial", "C: round 1", "A: initial", "A: round 1")
    ]


def test_document_002_phase_2_is_forced_and_a_majority_of_two_thirds_ends_it() -> None:
    table = {"gpt": [Says("safe_pass")], "claude": [Says("safe_pass")], "gemini": [Says("unsafe_fail")]}

    harness = DebateHarness(a_panel(preset="adk-sequential"), by_round(table)).run()

    completed = harness.events[-1]
    assert (completed.total_rounds, completed.end_reason, completed.early_termination) == (1, "consensus", True)


def test_without_a_discussion_each_seat_votes_once() -> None:
    harness = DebateHarness(a_panel(preset="independent"), by_round(ALWAYS_SPLIT)).run()

    assert harness.event_ids[-3:] == ["initial/check", "final/judgment", "completed"]
    assert (harness.events[-1].end_reason, harness.events[-1].early_termination) == ("no_discussion", False)
    assert len(harness.asked) == 3


def test_end_early_off_forces_all_rounds() -> None:
    table = {key: [Says("safe_pass")] for key in ("gpt", "claude", "gemini")}

    harness = DebateHarness(a_panel(discussion={"end_early": False}), by_round(table)).run()

    assert (
        harness.events[-1].total_rounds,
        harness.events[-1].end_reason,
        harness.events[-1].early_termination,
    ) == (3, "consensus", False)
    assert len(harness.asked) == 13
    assert len(harness.events) == 22


@each_row(("rounds", "total", "reason"), [(1, 1, "deadlock"), (2, 2, "deadlock"), (None, 3, "max_rounds")])
def test_rounds_that_change_no_position_are_a_deadlock(rounds, total, reason) -> None:
    harness = DebateHarness(a_panel(discussion={"stagnation_rounds": rounds}), by_round(ALWAYS_SPLIT)).run()

    completed = harness.events[-1]
    assert (total, reason, False) == (completed.total_rounds, completed.end_reason, completed.early_termination)


def test_a_changed_position_ends_a_quiet_series() -> None:
    table = {**ALWAYS_SPLIT, "gpt": [Says("safe_pass"), Says("safe_pass"), Says("unsafe_fail"), Says("unsafe_fail")]}

    harness = DebateHarness(a_panel(discussion={"stagnation_rounds": 2, "max_rounds": 5}), by_round(table)).run()

    assert (harness.events[-1].total_rounds, harness.events[-1].end_reason) == (4, "deadlock")


@each_row(
    ("kind", "orders"),
    [
        ("fixed", [("gemini", "gpt", "claude"), ("gemini", "gpt", "claude")]),
        ("rotating", [("gemini", "gpt", "claude"), ("gpt", "claude", "gemini")]),
    ],
)
def test_the_speaker_order_is_an_explicit_list(kind, orders) -> None:
    speakers = {"kind": kind, "base": ["gemini", "gpt", "claude"]}

    harness = DebateHarness(a_panel(discussion={"speakers": speakers, "max_rounds": 2}), by_round(ALWAYS_SPLIT)).run()

    assert orders == [event.speaker_order for event in harness.events if event.type == "round_started"]


def test_a_seeded_order_is_a_permutation_that_the_seed_decides() -> None:
    def orders(seed):
        panel = a_panel(*"abcdefgh", discussion={"speakers": {"kind": "seeded", "seed": seed}})
        harness = DebateHarness(panel, by_round({key: [Says("safe_pass")] for key in "abcdefgh"})).run()
        return [event.speaker_order for event in harness.events if event.type == "round_started"]

    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert sorted(orders(1)[0]) == list("abcdefgh")


def test_position_changed_is_against_the_latest_earlier_position_phase_1_included() -> None:
    table = {
        "gpt": [Says("safe_pass"), Says("needs_review"), CallOutcome.TIMEOUT, Says("needs_review")],
        "claude": [CallOutcome.TIMEOUT, Says("safe_pass"), Says("unsafe_fail"), Says("unsafe_fail")],
        "gemini": [Says("unsafe_fail")],
    }

    harness = DebateHarness(a_panel(), by_round(table)).run()

    changed = {
        event.event_id: event.statement.position_changed for event in harness.events if event.type == "statement_made"
    }
    assert changed["round-1/gpt/statement"]
    assert not changed["round-1/claude/statement"]
    assert changed["round-2/claude/statement"]
    assert not changed["round-3/gpt/statement"]
    stale = {event.step: event.stale for event in harness.events if event.type == "juror_abstained"}
    assert stale == {"initial/claude": False, "round-2/gpt": True}
