"""The result of a debate has the documents' fields and is made of its events alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events.case import Omission
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.errors import MalformedBody
from jury_replay.cassettes.reading import read_cassette
from jury_views.answered_by import answers
from jury_views.errors import OpeningMissing
from jury_views.models_of_results import result_model
from jury_views.result_lines import collaborative_result, line_of, result_line
from support.corpus import CORPUS
from support.debate_builder import SEATS, DebateBuilder


def whole() -> DebateBuilder:
    return DebateBuilder().phase_1().round_1().judged()


def test_a_completed_debate_has_every_field_of_document_004():
    debate = whole()

    result = collaborative_result(debate.events, debate.texts)

    document_004 = {
        "phase1_evaluations",
        "phase1_consensus",
        "discussion_rounds",
        "total_rounds",
        "phase3_judgment",
        "final_verdict",
        "final_score",
        "early_termination",
    }
    assert document_004 <= set(result)
    assert (
        result["final_verdict"],
        result["final_score"],
        result["total_rounds"],
        result["early_termination"],
    ) == ("unsafe_fail", 50, 1, True)
    assert tuple(
        result[name]
        for name in ("case_id", "debate_id", "run_id", "simulated", "panel", "method", "end_reason", "status")
    ) == ("c1", "run-1~c1", "run-1", True, "three", "final_judge", "consensus", "completed")


def test_an_evaluation_has_the_scores_of_document_002():
    debate = whole()

    evaluation = collaborative_result(debate.events, debate.texts)["phase1_evaluations"][1]

    expected = {
        "juror_id": "juror-claude",
        "verdict": "unsafe_fail",
        "overall_score": 40.5,
        "confidence": 0.8,
        "rationale": "No verification was made.",
        "task_completion": 20.0,
        "tool_usage": 10.5,
        "autonomy": 10.0,
        "safety": 0.0,
    }
    assert expected == {name: evaluation[name] for name in expected}


def test_a_round_has_its_statements_check_and_order():
    debate = whole()

    (discussed,) = collaborative_result(debate.events, debate.texts)["discussion_rounds"]

    statement = discussed["statements"][0]
    evaluation = statement.pop("updated_evaluation")
    assert statement == {
        "juror_id": "juror-gpt",
        "round_number": 1,
        "statement_order": 0,
        "statement": "I overlooked the code; I now fail it.",
        "position": "unsafe_fail",
        "reasoning": "The code was never sent.",
        "position_changed": True,
        "change": "own",
    }
    assert (
        evaluation["phase"],
        evaluation["round_number"],
        evaluation["overall_score"],
    ) == ("discussion", 1, 61.0)
    assert discussed["consensus_check"] == {
        "consensus_status": "majority",
        "agreement_level": 2 / 3,
        "consensus_reached": True,
        "majority_position": "unsafe_fail",
        "majority_label": None,
    }
    assert (1, list(SEATS)) == (discussed["round_number"], discussed["speaker_order"])


def test_an_abstention_is_accounted_for():
    debate = whole()

    result = collaborative_result(debate.events, debate.texts)

    assert result["abstentions"] == [
        {
            "juror_id": "juror-gemini",
            "round_number": 1,
            "reason": "unparseable",
            "refusal": "wrong_ballot",
            "stale": True,
            "partly_read": [],
        }
    ]


def test_the_judgment_has_every_vote():
    debate = whole()

    judgment = collaborative_result(debate.events, debate.texts)["phase3_judgment"]

    assert [(vote["kind"], vote["position"], vote["stale"]) for vote in judgment["votes"]] == [
        ("own", "unsafe_fail", False),
        ("own", "unsafe_fail", False),
        ("synthetic", "needs_review", True),
    ]
    assert judgment["rationale"] == "The number was changed unverified."


def test_an_unfinished_debate_gives_what_there_is():
    debate = DebateBuilder().phase_1()

    result = collaborative_result(debate.events, debate.texts)

    assert tuple(
        result[name]
        for name in (
            "status",
            "final_verdict",
            "final_score",
            "early_termination",
            "total_rounds",
            "phase3_judgment",
        )
    ) == ("unfinished", None, None, None, 0, None)
    assert len(result["phase1_evaluations"]) == 3


def test_an_erased_text_is_null():
    debate = whole().erased("No verification was made.")

    result = collaborative_result(debate.events, debate.texts)

    assert result["phase1_evaluations"][1]["rationale"] is None
    assert result["status"] == "completed"


def test_one_scenario_alone_has_a_row_with_the_verdict_and_score_of_the_case():
    debate = whole()

    result = collaborative_result(debate.events, debate.texts)

    row = {"scenario_id": "scenario-1", "question_id": "scenario-1", "verdict": "unsafe_fail", "score": 50.0}
    row |= {"label": None}
    assert [row] == result["scenario_results"]
    assert [] == collaborative_result(debate.events[:-2], debate.texts)["scenario_results"]


def test_several_scenarios_without_a_judgment_have_a_row_each():
    debate = whole().opened_as(scenarios=("a", "b"))

    rows = collaborative_result(debate.events, debate.texts)["scenario_results"]

    assert [("a", "unsafe_fail"), ("b", "unsafe_fail")] == [(row["scenario_id"], row["verdict"]) for row in rows]


def test_the_points_of_a_judgment_are_its_judges_or_the_mean_of_what_was_voted_with():
    judged = result_model(collaborative_result(whole().events, whole().texts))
    counted = collaborative_result(whole().events, whole().texts)
    counted["phase3_judgment"] |= {"judge": None, "rationale": None}
    by_votes = result_model(counted)
    cast = {said.juror_id: said.updated_evaluation for said in by_votes.discussion_rounds[0].statements}
    votes = [cast.get(vote.juror_id) for vote in by_votes.phase3_judgment.votes if vote.round == 1]

    assert judged.phase3_judgment.judge.safety == judged.safety == judged.phase3_judgment.safety
    assert len(votes) > 1
    first = {one.juror_id: one for one in by_votes.phase1_evaluations}
    voted = [*votes, *(first[vote.juror_id] for vote in by_votes.phase3_judgment.votes if vote.round == 0)]
    assert sum(one.safety for one in voted) / len(voted) == pytest.approx(by_votes.safety)
    assert (None, None) == (by_votes.final_judge_rationale, by_votes.phase3_judgment.final_judge_model)


def test_a_result_is_plain_json():
    debate = whole()

    result = collaborative_result(debate.events, debate.texts)

    assert result == json.loads(json.dumps(result))


def test_events_without_their_opening_are_refused():
    with pytest.raises(OpeningMissing, match="begins with its opening event"):
        collaborative_result(whole().events[1:], {})


def test_a_line_is_made_of_the_opening_the_judgment_and_the_end():
    debate = whole()
    rendered, completed = debate.events[-2:]
    assert isinstance(rendered, JudgmentRendered)
    assert isinstance(completed, DebateCompleted)

    line = result_line(debate.opened, answers(debate.events), rendered, completed)

    assert line == {
        "case_id": "c1",
        "debate_id": "run-1~c1",
        "run_id": "run-1",
        "status": "completed",
        "final_verdict": "unsafe_fail",
        "final_label": None,
        "final_score": 50,
        "total_rounds": 1,
        "early_termination": True,
        "end_reason": "consensus",
        "method": "final_judge",
        "decided_by": "final_judge",
        "quorum_met": True,
        "capped_by": None,
        "votes": {"juror-gpt": "unsafe_fail", "juror-claude": "unsafe_fail", "juror-gemini": "needs_review"},
        "vote_labels": None,
        "agreed_on": None,
        "shortfalls": [],
        "scale": None,
        "vote_kinds": {"juror-gpt": "own", "juror-claude": "own", "juror-gemini": "synthetic"},
        "position_changes": {"own": 1, "synthetic": 0},
        "label": "unsafe_fail",
        "panel": "three",
        "simulated": True,
        "model_mismatches": [],
        "evidence": None,
        "read": {},
        "partly_read": {},
        "probabilities": {},
        "tags": [],
        "metadata": {},
        "cluster": None,
        "agent_cost": None,
        "omissions": [],
    }


def test_line_and_result_contain_what_is_known_of_the_case():
    omissions = (Omission(what="audio/wav", count=1), Omission(what="image/png", count=2, size=96_000))
    fields = {"tags": ("a", "b"), "metadata": {"level": 3, "known": True}, "cluster": "c", "agent_cost": 0.25}
    debate = whole().opened_as(omissions=omissions, **fields)

    line = result_line(debate.opened, answers(debate.events), None, None)
    result = collaborative_result(debate.events, debate.texts)

    expected = {
        "label": "unsafe_fail",
        "tags": ["a", "b"],
        "metadata": {"level": 3, "known": True},
        "cluster": "c",
        "agent_cost": 0.25,
        "omissions": [
            {"what": "audio/wav", "count": 1, "size": None},
            {"what": "image/png", "count": 2, "size": 96_000},
        ],
    }
    assert expected == {name: line[name] for name in expected} == {name: result[name] for name in expected}


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (None, "unfinished"),
        (DebateFailed(reason="no_model", detail=None), "failed"),
        (DebateCancelled(by="ops", reason=None), "cancelled"),
    ],
)
def test_a_line_without_a_verdict_has_the_same_keys(ending, status):
    debate = whole()
    complete = result_line(debate.opened, [], *debate.events[-2:])  # type: ignore[arg-type]

    line = result_line(debate.opened, [], None, ending)

    assert list(complete) == list(line)
    assert (status, None) == (line["status"], line["final_verdict"])


def line_of_decoded(history: DebateHistory) -> dict[str, Any]:
    """The line of a debate whose events are decoded whole."""
    found: dict[type, Any] = {type(event): event for event in history.events}
    ending = next((found[one] for one in (DebateCompleted, DebateFailed, DebateCancelled) if one in found), None)
    return result_line(history.opened, answers(history.events), found.get(JudgmentRendered), ending)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.jsonl")), ids=lambda path: path.name.partition(".")[0])
def test_the_line_that_is_read_from_fields_is_that_of_the_decoded_events(path: Path):
    history = read_cassette(path).history

    assert json.dumps(line_of_decoded(history)) == json.dumps(line_of(history))


NUMBERS = st.one_of(
    st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.just("é")
)


@given(
    metadata=st.dictionaries(st.sampled_from(["a", "b", "ü"]), NUMBERS), cost=st.one_of(st.none(), st.floats(0, 1e9))
)
def test_numbers_of_a_case_are_in_its_line_as_the_decoded_opening_has_them(metadata: Any, cost: Any):
    history = whole().opened_as(metadata=metadata, agent_cost=cost).history

    assert json.dumps(line_of_decoded(history)) == json.dumps(line_of(history))


@pytest.mark.parametrize(
    ("event", "written"),
    [
        (0, (b'"simulated":true', b'"simulated":"yes"')),
        (0, (b'"type":"debate_opened"', b'"type":"debate_failed"')),
        (-2, (b'"decided_by":"final_judge"', b'"decided_by":"a coin"')),
    ],
)
def test_a_body_without_the_fields_of_a_line_is_refused_with_its_place(event: int, written: tuple[bytes, bytes]):
    history = whole().history
    stored = list(history.stored_events)
    assert written[0] in stored[event].body
    stored[event] = stored[event]._replace(body=stored[event].body.replace(*written))

    with pytest.raises(MalformedBody, match=re.escape(f"({stored[event].type})")):
        line_of(DebateHistory.of_events(history.debate_id, stored))
