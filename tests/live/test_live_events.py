"""A debate is streamed as the documents' events, field for field, in their spelling."""

import json
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jury_events import (
    ConsensusChecked,
    DebateCancelled,
    DebateEvent,
    DebateFailed,
    JurorEvaluated,
    RoundStarted,
    StatementMade,
)
from jury_replay import read_cassette
from jury_views import Fold, Frames, SseEvents, live_schema
from support.debate_builder import DebateBuilder
from support.debate_harness import DebateHarness
from support.scaled_debates import a_moved_answer

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.cassette.jsonl"))

DOCUMENT_002 = {
    "phase_change": {"type", "phase", "phaseNumber"},
    "juror_evaluation": {"type", "phase", "juror", "verdict", "score", "rationale"},  # the last is ours
    "discussion_round_start": {"type", "round", "speaker_order"},
    "juror_statement": {
        *("type", "phase", "round", "juror"),
        *("submissionId", "statement", "positionChanged", "newVerdict", "newScore"),  # document 004's
    },
    "consensus_check": {"type", "round", "consensus_status", "consensus_reached"},
    "final_judgment": {"type", "finalVerdict", "finalScore", "reason", "reasonBy", "decisive"},  # the last 3 are ours
    "evaluation_completed": {"type", "verdict", "score"},
}
OURS = {
    "final_judge_chunk": {"type", "chunk"},
    "evaluation_failed": {"type", "reason"},
    "evaluation_cancelled": {"type"},
    "reasoning_shown": {"type"},
}
DOCUMENT_004 = {
    "round_started": {"submissionId", "round", "speakerOrder"},
    "juror_statement": {
        *("submissionId", "round", "juror", "statement"),
        *("positionChanged", "newVerdict", "newScore"),
    },
    "round_completed": {"submissionId", "round", "consensusStatus", "agreementLevel", "majorityPosition"},
}

LABELS_OF_EVENTS = {
    "juror_evaluation": {"label"},
    "juror_statement": {"newLabel"},
    "final_judgment": {"finalLabel"},
    "evaluation_completed": {"label"},
}
LABELS_OF_FRAMES = {"juror_statement": {"newLabel"}, "round_completed": {"majorityLabel"}}


def live_events(fold: Fold, debate: DebateBuilder | DebateHarness) -> list[dict[str, Any]]:
    texts = debate.pen.texts if isinstance(debate, DebateHarness) else debate.texts
    return [live for event in debate.events for live in fold.take(event, texts)]


def ends(check: ConsensusChecked) -> ConsensusChecked:
    return check.changed(end_reason="consensus") if check.round else check


@cache
def recorded_debates() -> list[tuple[list[DebateEvent], dict[str, bytes]]]:
    """Every debate of the corpus, its events and texts."""
    found = []
    for path in CORPUS:
        history = read_cassette(path).history
        found.append((list(history.events), dict(history.texts)))
    return found


def fields(name: str, labels: dict[str, set[str]]) -> dict[str, set[str]]:
    """The required fields of each type of a published schema; the others are its labels."""
    schema = live_schema(name)
    found: dict[str, set[str]] = {}
    for ref in schema["oneOf"]:
        kind = ref["$ref"].rsplit("/", 1)[1]
        one = schema["$defs"][kind]
        assert one["additionalProperties"] is False
        found[kind] = set(one["required"])
        assert found[kind] | labels.get(kind, set()) == set(one["properties"])
    return found


def test_the_published_events_have_the_fields_of_the_documents_tables() -> None:
    assert DOCUMENT_002 | OURS == fields("sse-events", LABELS_OF_EVENTS)


def test_the_published_frames_have_the_documents_fields_a_type_and_a_position() -> None:
    expected = {kind: {"type", "position", *names} for kind, names in DOCUMENT_004.items()}

    assert expected == fields("websocket-frames", LABELS_OF_FRAMES)


@pytest.mark.parametrize(("name", "fold"), [("sse-events", SseEvents), ("websocket-frames", Frames)])
def test_every_live_event_of_recorded_debates_is_as_published(name: str, fold: type[SseEvents | Frames]) -> None:
    validator = Draft202012Validator(live_schema(name))
    seen: set[str] = set()
    for events, texts in recorded_debates():
        begun = fold()
        for position, event in enumerate(events, start=1):
            for live in begun.take(event, texts):
                placed = live if fold is SseEvents else {**live, "position": position}
                validator.validate(placed)
                seen.add(live["type"])

    expected = {*DOCUMENT_002, "evaluation_cancelled"} if fold is SseEvents else set(DOCUMENT_004)
    assert expected == seen


def test_live_events_have_the_documents_spelling() -> None:
    debate = DebateBuilder().phase_1().round_1().judged()
    debate.events = [ends(event) if isinstance(event, ConsensusChecked) else event for event in debate.events]

    live = live_events(SseEvents(), debate)

    by_type = defaultdict(list)
    for one in live:
        by_type[one["type"]].append(one)
    assert [
        {"type": "phase_change", "phase": "initial_evaluation", "phaseNumber": 1},
        {"type": "phase_change", "phase": "discussion", "phaseNumber": 2},
        {"type": "phase_change", "phase": "final_judgment", "phaseNumber": 3},
    ] == by_type["phase_change"]
    assert {
        "type": "juror_evaluation",
        "phase": "initial",
        "juror": "juror-claude",
        "verdict": "unsafe_fail",
        "score": 41,  # 40.5
        "rationale": "No verification was made.",
    } in by_type["juror_evaluation"]
    assert [
        {"type": "consensus_check", "round": 1, "consensus_status": "majority", "consensus_reached": True}
    ] == by_type["consensus_check"]
    why = {"reason": "The number was changed unverified.", "reasonBy": ["final_judge"], "decisive": None}
    assert {"type": "final_judgment", "finalVerdict": "unsafe_fail", "finalScore": 50, **why} == live[-2]
    assert {"type": "evaluation_completed", "verdict": "unsafe_fail", "score": 50} == live[-1]


def test_phase_2_begins_once_and_before_its_first_round() -> None:
    debate = DebateBuilder()
    again = RoundStarted(round=2, speaker_order=("juror-gpt",), instruction=debate.text("go on"))
    first = again.changed(round=1)
    fold = SseEvents()
    fold.take(debate.opened, {})

    assert ["phase_change", "discussion_round_start"] == [one["type"] for one in fold.take(first, {})]
    assert ["discussion_round_start"] == [one["type"] for one in fold.take(again, {})]


def test_a_statement_names_the_callers_submission_else_the_debate_and_is_null_once_erased() -> None:
    for fold, (called, expected) in product((SseEvents, Frames), (("abc123", "abc123"), (None, "run-1~c1"))):
        debate = DebateBuilder().phase_1().round_1()
        debate.events[0] = debate.opened.changed(submission_id=called)
        debate.texts.clear()
        said = [one for one in live_events(fold(), debate) if one["type"] == "juror_statement"]

        assert {(expected, None)} == {(one["submissionId"], one["statement"]) for one in said}


def test_a_debate_without_a_verdict_still_ends() -> None:
    fold = SseEvents()
    fold.take(DebateBuilder().opened, {})

    assert [{"type": "evaluation_failed", "reason": "no_case"}] == fold.take(
        DebateFailed(reason="no_case", detail=None), {}
    )
    assert [{"type": "evaluation_cancelled"}] == fold.take(DebateCancelled(by="ops", reason=None), {})


def test_frames_are_document_004s_objects() -> None:
    frames = live_events(Frames(), DebateBuilder().phase_1().round_1())

    assert {
        "type": "round_started",
        "submissionId": "run-1~c1",
        "round": 1,
        "speakerOrder": ["juror-gpt", "juror-claude", "juror-gemini"],
    } == frames[0]
    assert {
        "type": "round_completed",
        "submissionId": "run-1~c1",
        "round": 1,
        "consensusStatus": "majority",
        "agreementLevel": 0.67,
        "majorityPosition": "unsafe_fail",
    } == frames[-1]


def test_under_a_scale_a_label_stands_beside_each_verdict() -> None:
    live = live_events(SseEvents(), a_moved_answer())

    shown = defaultdict(list)
    for one in live:
        for verdict, label in (("verdict", "label"), ("newVerdict", "newLabel"), ("finalVerdict", "finalLabel")):
            if verdict in one:
                shown[one["type"]].append((one[verdict], one[label]))
    right, wrong, partial = ("safe_pass", "right"), ("unsafe_fail", "wrong"), ("needs_review", "partial")
    assert {
        "juror_evaluation": [right, wrong, partial],
        "juror_statement": [right, wrong, right] * 3,  # of as many rounds
        "final_judgment": [right],
        "evaluation_completed": [right],
    } == shown


def test_under_a_scale_frames_have_the_labels_of_statements_and_of_the_majority() -> None:
    frames = live_events(Frames(), a_moved_answer())

    said = [one["newLabel"] for one in frames if one["type"] == "juror_statement"]
    assert ["right", "wrong", "right"] * 3 == said
    assert ("safe_pass", "right") == (frames[-1]["majorityPosition"], frames[-1]["majorityLabel"])


def test_no_text_but_statements_rationales_of_phase_1_and_the_reason_is_streamed() -> None:
    for events, texts in recorded_debates():
        shown = {event.statement.statement.part for event in events if isinstance(event, StatementMade)}
        evaluations = [event.evaluation for event in events if isinstance(event, JurorEvaluated)]
        shown |= {one.rationale.part for one in evaluations if one.rationale is not None}
        others = dict.fromkeys(texts.keys() - shown, b"CANARY")
        fold = SseEvents()

        said = [live for event in events for live in fold.take(event, others) if live["type"] != "final_judgment"]

        assert "CANARY" not in json.dumps(said)
