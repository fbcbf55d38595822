"""A debate that no seat evaluated has no score, wherever its score is shown or written."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jury_events.debate_history import DebateHistory
from jury_integrations.jury_outcome import JuryOutcome
from jury_judge.scores.debate_scores import judged_trace
from jury_judge.traces.span_tree import span_tree
from jury_replay.cassettes.reading import read_cassette
from jury_replay.regression import regress_history
from jury_store.event_store import Append
from jury_store.memory import MemoryEventStore
from jury_views.events_view import event_lines
from jury_views.live.sse_events import SseEvents
from jury_views.models_of_results import result_model
from jury_views.result_lines import result_of
from jury_views.terminal.debate import render_debate
from jury_views.terminal.live_lines import LiveLines
from support.debate_harness import a_case
from support.debates import DebateScript

CASSETTE = Path(__file__).parents[1] / "corpus" / "nobody-answers.cassette.jsonl"


@pytest.fixture(scope="module")
def history() -> DebateHistory:
    return read_cassette(CASSETTE).history


def page(history: DebateHistory) -> str:
    out = StringIO()
    render_debate(history.events, (), history.texts, Console(file=out, width=200))
    return out.getvalue()


def live(history: DebateHistory) -> str:
    shown = LiveLines()
    return "\n".join(line for event in history.events for line in shown.lines(event))


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (page, "? needs_review  – · decided by no_evaluation"),
        (page, "? needs_review  – · rounds: 0 · ended by: no_discussion"),
        (live, "phase 3: no_evaluation says needs_review, –"),
        (
            lambda one: "\n".join(line.said for line in event_lines(one.stored_events)),
            "needs_review – by no_evaluation",
        ),
        (lambda one: str(result_model(result_of(one)).to_html("en")), "no score"),
        (lambda one: str(result_model(result_of(one)).to_html("ja")), "スコアなし"),
    ],
)
def test_people_are_shown_that_there_is_no_score(
    history: DebateHistory, shown: Callable[[DebateHistory], str], line: str
) -> None:
    said = shown(history)

    assert line in said
    assert "None" not in said
    assert "0/100" not in said


def test_live_events_have_null_for_it(history: DebateHistory) -> None:
    shown = SseEvents()
    found = {one["type"]: one for event in history.events for one in shown.take(event, history.texts)}

    assert ("needs_review", None) == tuple(found["final_judgment"][name] for name in ("finalVerdict", "finalScore"))
    assert ("needs_review", None) == tuple(found["evaluation_completed"][name] for name in ("verdict", "score"))


def test_results_have_none_for_it(history: DebateHistory) -> None:
    result = result_model(result_of(history))

    assert result.phase3_judgment is not None
    assert (None, None, None) == (result.final_score, result.phase3_judgment.final_score, result.phase3_judgment.mean)
    assert [None] == [row.score for row in result.scenario_results]


def test_evaluators_of_other_tools_get_none(history: DebateHistory) -> None:
    outcome = JuryOutcome.of(a_case(), result_model(result_of(history)), {})

    assert (None, False) == (outcome.score, outcome.passed)
    assert "score" not in outcome.metadata
    assert outcome.explanation.startswith("needs_review, without a score: no juror gave an evaluation.\n")


def test_traces_and_scores_of_other_tools_have_none() -> None:
    store = MemoryEventStore()
    script = DebateScript("d1")
    opened = script.opened(metadata={"trace_id": "t1"})
    store.append([Append(script.stream, (opened, *script.unevaluated()[1:]), 0, store.next_epoch())])
    (history,) = store.histories(["d1"])
    trace, spans = judged_trace(history), span_tree(history.stored_events, ())

    assert not isinstance(trace, str)
    assert [("jury.verdict", "needs_review")] == [(one.name, one.value) for one in trace.scores]
    assert spans is not None
    assert spans.spans[0].attributes["jury.score"] is None


def test_a_regression_names_it(history: DebateHistory) -> None:
    found = regress_history(history)

    assert ("needs_review", None) == found.now
    assert ["corpus~nobody-answers: still needs_review without a score, but"] == list(found.shown_lines())
