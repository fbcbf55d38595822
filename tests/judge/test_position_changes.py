"""A position that only a provider's filter changed is no change of mind, wherever it is shown or counted."""

from io import StringIO

import pytest
from rich.console import Console

from jury_events.debate_events import RoundStarted
from jury_events.ids import Step
from jury_events.verdict import Verdict
from jury_judge.comparisons.comparison import positions
from jury_views.answered_by import answered_in_stream, answers
from jury_views.events_by_phase import events_by_phase
from jury_views.events_view import event_lines
from jury_views.position_changes import change_counts, position_changes
from jury_views.result_lines import collaborative_result, line_of
from jury_views.terminal.debate import render_debate
from jury_views.terminal.live_lines import LiveLines
from support.debate_builder import SEATS, DebateBuilder
from support.pages import Site, stored

PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
FILTER, OWN = "changed by a provider's filter only", "position changed"


def filtered(*rounds: tuple[Verdict, bool]) -> DebateBuilder:
    """The first seat passes on its own, then says this in the rounds: the verdict, and whether a filter blocked it.

    `position_changed` is recorded as by the rules: another position than the latest one, of an answer or a filter.
    """
    built = DebateBuilder()
    latest = PASS
    built._evaluated(SEATS[0], built.evaluation(PASS, (38.0, 27.0, 18.0, 9.0), "Fine."))
    for number, (verdict, blocked) in enumerate(rounds, 1):
        built.events.append(RoundStarted(round=number, speaker_order=SEATS, instruction=built.text("Discuss.")))
        said = built.evaluation(verdict, (20.0, 15.0, 10.0, 5.0), f"{number}", synthetic=blocked)
        built.add_statement(number, 0, f"In round {number}.", said, changed=verdict != latest)
        latest = verdict
    return built


@pytest.mark.parametrize(
    ("rounds", "found"),
    [
        ([(FAIL, False)], {1: "own"}),
        ([(REVIEW, True)], {1: "synthetic"}),
        ([(REVIEW, True), (REVIEW, True)], {1: "synthetic"}),
        ([(REVIEW, True), (PASS, False)], {1: "synthetic", 2: "synthetic"}),
        ([(REVIEW, True), (FAIL, False)], {1: "synthetic", 2: "own"}),
        ([(REVIEW, True), (REVIEW, False)], {1: "synthetic", 2: "own"}),
        ([(PASS, False)], {}),
    ],
)
def test_a_change_is_the_jurors_own_where_its_own_positions_differ(rounds, found):
    built = filtered(*rounds)
    expected = {Step(number, SEATS[0]): change for number, change in found.items()}

    assert expected == position_changes(answers(built.events))
    assert expected == position_changes(answered_in_stream(built.history.stored_events))


def test_a_juror_that_was_blocked_from_the_beginning_changes_nothing_when_it_speaks():
    built = DebateBuilder()
    built._evaluated(SEATS[0], built.evaluation(REVIEW, (20.0, 15.0, 10.0, 5.0), "Blocked.", synthetic=True))
    built.events.append(RoundStarted(round=1, speaker_order=SEATS, instruction=built.text("Discuss.")))
    built.add_statement(1, 0, "Fine.", built.evaluation(PASS, (38.0, 27.0, 18.0, 9.0), "Fine."), changed=True)

    assert (0, 1) == change_counts(position_changes(answers(built.events)))


BLOCKED_BACK_AND_CONVINCED = ((REVIEW, True), (PASS, False), (FAIL, False))


def test_the_record_keeps_what_the_rules_wrote_and_results_say_whose_change_it_is():
    built = filtered(*BLOCKED_BACK_AND_CONVINCED)

    result = collaborative_result(built.events, built.texts)

    assert [(True, "synthetic"), (True, "synthetic"), (True, "own")] == [
        (said["position_changed"], said["change"])
        for latest in result["discussion_rounds"]
        for said in latest["statements"]
    ]
    assert {"own": 1, "synthetic": 2} == result["position_changes"]


def test_a_line_of_results_counts_changes_and_names_the_kinds_of_votes():
    built = DebateBuilder().phase_1().round_1().judged()

    line = line_of(built.history)

    assert {"own": 1, "synthetic": 0} == line["position_changes"]
    assert {"juror-gpt": "own", "juror-claude": "own", "juror-gemini": "synthetic"} == line["vote_kinds"]


def test_show_watch_and_the_list_of_events_say_whose_change_it_is():
    built = filtered(*BLOCKED_BACK_AND_CONVINCED)
    out, lines = StringIO(), LiveLines()
    render_debate(built.events, [], built.texts, Console(file=out, width=200))
    watched = "\n".join(line for event in built.events for line in lines.lines(event))
    listed = "\n".join(line.said for line in event_lines(built.history.stored_events))

    for text in (out.getvalue(), watched, listed):
        assert (2, 1) == (text.count(FILTER), text.count(OWN)), text


def test_a_list_of_events_that_begins_late_knows_the_earlier_positions():
    (line,) = event_lines(filtered(*BLOCKED_BACK_AND_CONVINCED).history.stored_events, after=5, limit=1)

    assert f"safe_pass 50/100, {FILTER}" == line.said


def test_comparisons_mark_a_jurors_own_changes_alone():
    latest = positions(events_by_phase(filtered(*BLOCKED_BACK_AND_CONVINCED).events))

    assert [False, False, False, True] == [latest[SEATS[0], number].changed for number in range(4)]


def test_the_page_has_a_badge_for_each():
    shown = Site(stored(filtered(*BLOCKED_BACK_AND_CONVINCED))).get("/debates/run-1~c1")

    assert ["↻ Position changed"] == shown.all("[role=log] .badge.changed")
    assert [FILTER] * 2 == shown.all("[role=log] .badge.by-filter")
    assert ["↻ Position changed"] == shown.all(".matrix .badge.changed")


def test_the_list_and_the_run_count_them_apart():
    built = filtered(*BLOCKED_BACK_AND_CONVINCED)
    built.judged()
    site = Site(stored(built))

    assert "2 of 3 ↻ 1 Position changed ⊘ 1 stands in for a blocked answer" == site.get("/").table(".list")[0][3]
    assert [
        ["Round 1", "0", "0", "–", "1", "0"],
        ["Round 2", "1", "0", "0%", "0", "0"],
        ["Round 3", "1", "1", "100%", "0", "0"],
    ] == site.get("/runs/run-1").table("[aria-labelledby=h-flips]")


def test_a_run_counts_seats_whose_earlier_position_stands():
    site = Site(stored(DebateBuilder().phase_1().round_1().judged()))

    assert [["Round 1", "2", "1", "50.0%", "0", "1"]] == site.get("/runs/run-1").table("[aria-labelledby=h-flips]")
