"""What results, pages, the terminal and notebooks show of a decision model: its probabilities, and that there are no
reasons."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from starlette.testclient import TestClient

from jury_debate import PanelSpec, resolve
from jury_judge import Service
from jury_judge.scores.debate_scores import judged_trace
from jury_store import MemoryEventStore
from jury_views import collaborative_result, line_of, render_debate, result_model
from jury_web import AccessPolicy, create_app
from support.debate_harness import DebateHarness, Says, a_case, by_round
from support.pages import Site
from support.stored_debates import store_debate

SCALE = {
    "labels": [
        {"id": "not_done", "outcome": "fail", "meaning": "It was not done."},
        {"id": "all_done", "outcome": "pass", "meaning": "It was done."},
    ]
}
WHOLE, FIRST, SECOND = (
    {"not_done": 0.25, "all_done": 0.75},
    {"not_done": 0.00001, "all_done": 0.99999},
    {"not_done": 0.9, "all_done": 0.1},
)
SHOWN = "not_done 0.25 · all_done 0.75"
SHOWN_FIRST = "not_done <0.0001 · all_done 1"


def answer() -> bytes:
    questions = {"verdict": WHOLE, "scenario-1": FIRST, "scenario-2": SECOND}
    answers = {name: {"type": "choice", "probabilities": one} for name, one in questions.items()}
    return json.dumps({"answers": answers}).encode()


@pytest.fixture(scope="module")
def debate() -> DebateHarness:
    seats = [
        {"model": "simulated/juror", "juror_id": "words"},
        {"model": "systemone/jev-latest", "juror_id": "jev"},
        {"model": "google-decisions/gemini-decision-1", "juror_id": "gone"},
    ]
    spec = {"preset": "independent", "language": "en", "seats": seats, "scale": SCALE}
    script = by_round({"words": [Says("all_done", 90.0)], "jev": [answer()], "gone": [b"{}"]})
    panel = resolve(PanelSpec.model_validate(spec)).panel
    return DebateHarness(panel, script, case=a_case(scenarios=2, metadata={"trace_id": "t"})).run()


@pytest.fixture(scope="module")
def store(debate: DebateHarness) -> MemoryEventStore:
    made = MemoryEventStore()
    store_debate(made, debate, "d1")
    return made


def result(debate: DebateHarness) -> dict[str, Any]:
    return collaborative_result(debate.events, debate.pen.texts)


def test_a_result_has_the_probabilities_of_the_case_and_of_each_scenario(debate: DebateHarness) -> None:
    words, jev = result(debate)["phase1_evaluations"]
    model = result_model(result(debate)).phase1_evaluations[1]

    assert (None, [None, None]) == (words["probabilities"], [one["probabilities"] for one in words["scenarios"]])
    assert (WHOLE, [FIRST, SECOND]) == (jev["probabilities"], [one["probabilities"] for one in jev["scenarios"]])
    assert (WHOLE, [FIRST, SECOND]) == (model.probabilities, [one.probabilities for one in model.scenarios])
    assert (None, {}, 0.75) == (jev["rationale"], jev["scores"], jev["confidence"])


def test_a_result_line_has_them_by_seat_and_http_keeps_the_spelling_of_verdict_words(store: MemoryEventStore) -> None:
    gate = AccessPolicy(frozenset({"jury.test"}))
    with TestClient(create_app(Service(store), gate), base_url="http://jury.test") as client:
        _, jev = client.get("/api/debates/d1").json()["phase1Evaluations"]
    (history,) = store.histories(["d1"])

    assert {"jev": WHOLE} == line_of(history)["probabilities"]
    assert (WHOLE, [FIRST, SECOND]) == (jev["probabilities"], [one["probabilities"] for one in jev["scenarios"]])


def test_the_page_has_them_with_no_reasons_and_no_points(store: MemoryEventStore) -> None:
    shown = Site(store).get("/debates/d1")
    (evaluation,) = [one for one in shown.all(".evaluation") if SHOWN in one]

    assert "a decision model: probabilities, no reasons" in evaluation
    assert SHOWN_FIRST in evaluation
    assert "erased" not in shown.one("main")


def test_the_terminal_and_a_notebook_have_them(debate: DebateHarness) -> None:
    out = StringIO()
    render_debate(debate.events, (), debate.pen.texts, Console(file=out, width=200))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    notebook = result_model(result(debate)).to_html("en")

    assert {SHOWN, "a decision model: probabilities, no reasons"} <= set(lines)
    assert [line for line in lines if line.startswith("Scenario s1:") and line.endswith(SHOWN_FIRST)]
    assert SHOWN in notebook
    assert "erased" not in notebook


def test_scores_for_other_tools_explain_its_vote_by_them(store: MemoryEventStore) -> None:
    (history,) = store.histories(["d1"])
    trace = judged_trace(history)
    assert not isinstance(trace, str)
    explained = {one.seat: one.explanation for one in trace.scores if one.seat is not None}

    assert {"words": "all_done for reasons", "jev": SHOWN} == explained


def test_a_round_shows_the_position_that_stands() -> None:
    seats = [{"model": "simulated/juror", "juror_id": "words"}, {"model": "systemone/jev-latest", "juror_id": "jev"}]
    rounds = {"max_rounds": 1, "threshold": 2.0}
    spec = {"preset": "parallel-rounds", "language": "en", "seats": seats, "scale": SCALE, "discussion": rounds}
    script = by_round({"words": [Says("not_done", 10.0), Says("all_done", 90.0)], "jev": [answer()]})
    panel = resolve(PanelSpec.model_validate({**spec, "final": {"method": "majority_vote"}})).panel
    made = MemoryEventStore()
    for name in ("d1", "d2"):
        store_debate(made, DebateHarness(panel, script, case=a_case(scenarios=2)).run(), name)
    site = Site(made)
    shown, compared = site.get("/debates/d1"), site.get("/compare?a=d1&b=d2")

    assert ["✓ all_done (safe_pass) 75"] * 2 == shown.all(".matrix td a")[-2:]
    assert "standing" == shown.one(".matrix .badge.kind")
    assert 1 == len(set(shown.attributes(".matrix tbody tr:nth-child(2) td a", "href")))
    assert ["standing"] * 2 == compared.all(".badge.kind")
