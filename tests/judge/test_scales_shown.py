"""What results and the terminal show of a debate under a scale of the panel's own."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from jury_events.codec import encode
from jury_events.ids import debate_stream
from jury_store.event_store import Append
from jury_store.memory import MemoryEventStore
from jury_views.models_of_results import result_model
from jury_views.result_lines import collaborative_result, line_of
from jury_views.terminal.debate import render_debate
from jury_views.terminal.live_lines import LiveLines
from support.debate_harness import SEATS, DebateHarness, Says, a_case, a_panel, by_round
from support.scales import ANSWERS, LEVELS, YES_NO

INDEPENDENT: dict[str, Any] = {"preset": "independent"}


def a_debate(*says: Says, **spec: Any) -> DebateHarness:
    panel = a_panel(prompts=2, **{**INDEPENDENT, "language": "en", **spec})
    script = by_round({seat: [one] for seat, one in zip(SEATS, says, strict=True)})
    return DebateHarness(panel, script, case=a_case(scenarios=2), prompts=2).run()


def result_of(debate: DebateHarness) -> dict[str, Any]:
    return collaborative_result(debate.events, debate.pen.texts)


def shown(debate: DebateHarness) -> str:
    out = StringIO()
    render_debate(debate.events, (), debate.pen.texts, Console(file=out, width=200))
    return out.getvalue()


@pytest.fixture(scope="module")
def right() -> DebateHarness:
    return a_debate(Says("right", 90.0), Says("right", 80.0), Says("partial", 60.0), **ANSWERS)


def test_a_result_has_the_words_of_the_scale_beside_the_outcomes(right: DebateHarness) -> None:
    result = result_of(right)

    judgment = result["phase3_judgment"]
    assert ("answers", "safe_pass", "right") == (result["scale"], result["final_verdict"], result["final_label"])
    assert ["right", "right", "partial"] == [one["label"] for one in result["phase1_evaluations"]]
    assert ["right", "right", "partial"] == [vote["label"] for vote in judgment["votes"]]
    assert ("right", "label", []) == (judgment["label"], judgment["agreed_on"], judgment["shortfalls"])
    assert "right" == result["phase1_consensus"]["majority_label"]
    assert ["right", "right"] == [row["label"] for row in result["scenario_results"]]


def test_a_line_has_them_too_and_is_read_from_stored_bytes_alike(right: DebateHarness) -> None:
    stored = MemoryEventStore()
    events = tuple(encode(event, recorded_at=1) for event in right.events)
    stored.append([Append(debate_stream("d1"), events, 0, stored.next_epoch())])
    (history,) = stored.histories(["d1"])

    line = line_of(history)

    assert {"gpt": "right", "claude": "right", "gemini": "partial"} == line["vote_labels"]
    assert ("answers", "right", "label", []) == (
        line["scale"], line["final_label"], line["agreed_on"], line["shortfalls"]
    )  # fmt: skip


def test_the_model_of_a_result_has_them_as_fields(right: DebateHarness) -> None:
    model = result_model(result_of(right))

    assert model.phase3_judgment is not None
    assert ("right", "right") == (model.final_label, model.phase3_judgment.label)
    assert "right" == model.phase1_evaluations[0].label


def test_a_shortfall_and_an_undecided_panel_are_said() -> None:
    few = shown(a_debate(*[Says("right", 40.0)] * 3, **ANSWERS))
    undecided = shown(a_debate(Says("yes"), Says("no"), Says("no"), **{**YES_NO, "final": {"method": "median"}}))
    split = shown(a_debate(Says("5"), Says("4"), Says("2"), **LEVELS))

    assert "Too few points for the critical criterion facts: 28, at least 35 are needed; review at best." in few
    assert "✗ no (unsafe_fail)" in undecided
    assert "The votes agree on the outcome, and on no label." in split


def test_the_terminal_shows_words_with_their_outcomes(right: DebateHarness) -> None:
    text = shown(right)

    assert "answers (wrong < partial < right)" in text
    assert "✓ right (safe_pass)" in text
    assert "? partial (needs_review)" in text


def test_live_lines_have_the_words(right: DebateHarness) -> None:
    lines = LiveLines()

    said = [line for event in right.events for line in lines.lines(event)]

    assert any("right 90/100" in line for line in said)
    assert any("2 of 3, right" in line for line in said)
    assert any("majority_vote says right, 85/100" in line for line in said)
