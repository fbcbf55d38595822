"""Who gave a vote, and with what: another model, a decision model, votes that silence or a calibration withheld."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from jury_cli import Results
from jury_debate import PanelSpec, resolve
from jury_events import (
    Acceptance,
    CallOutcome,
    EventError,
    JudgmentRendered,
    Language,
    RoundStarted,
    Usage,
    Verdict,
    debate_stream,
)
from jury_judge import judged_trace
from jury_store import MemoryEventStore
from jury_views import (
    LiveLines,
    answered_in_stream,
    collaborative_result,
    debate_result,
    event_lines,
    folded,
    line_of,
    render_debate,
    result_line,
)
from support.debate_builder import SEATS, DebateBuilder
from support.debate_harness import DebateHarness, Says, a_case, by_round
from support.each_row import each_row
from support.pages import Site, stored
from support.refusals import RefusalTables
from support.stored_debates import store_debate

REROUTED = {"model": "google/gemini-2.5-flash", "model_version": "gemini-3.8-flash"}
SNAPSHOT = {"model": "openai/gpt-4o", "model_version": "gpt-4o-2024-08-06"}
SIMULATED = {"model": "openai/gpt-4o", "model_version": "simulated-1", "simulated": True}


def debate(**answered: object) -> DebateBuilder:
    """Of models, as its panel says; one juror's evaluation as given."""
    built = DebateBuilder()
    built.opened = built.events[0] = built.opened.changed(simulated=False)
    said = built.evaluation(Verdict.UNSAFE_FAIL, (1.0, 1.0, 1.0, 1.0), "No.", **answered)
    built._evaluated(SEATS[0], said)
    built.events.append(RoundStarted(round=1, speaker_order=SEATS, instruction=built.text("Discuss.")))
    built.add_statement(1, 0, "Still no.", said)
    return built.judged()


def shown(built: DebateBuilder) -> list[str]:
    out = StringIO()
    render_debate(built.events, built.exchanges, built.texts, Console(file=out, width=200))
    return out.getvalue().splitlines()


def live(built: DebateBuilder) -> list[str]:
    lines = LiveLines()
    return [line for event in built.events for line in lines.lines(event)]


def test_another_model_is_listed_in_the_result_with_its_step() -> None:
    built = debate(**REROUTED)

    result = collaborative_result(built.events, built.texts)

    asked = {"asked": "google/gemini-2.5-flash", "answered": "gemini-3.8-flash"}
    steps = ("initial/juror-gpt", "round-1/juror-gpt")
    assert [{"juror_id": "juror-gpt", "step": step, **asked} for step in steps] == result["model_mismatches"]
    assert result["simulated"] is False


def with_calls(built: DebateBuilder, **fields: object) -> DebateBuilder:
    """With two calls of this kind."""
    built.called("google/gemini-2.5-flash", CallOutcome.ANSWERED, Usage(), None)
    built.exchanges = [built.exchanges[0].changed(simulated=False, **fields)] * 2
    return built


def test_show_and_live_lines_say_it_at_evaluations_and_calls_and_why_calls_failed(printed: RefusalTables) -> None:
    """Printed is what a debate by the models that were asked does not have."""
    why = {"outcome": CallOutcome.BAD_REQUEST, "model": "openai/gpt-4o"}
    failed = debate()
    debates = {
        "another model": with_calls(debate(**REROUTED), model_version="gemini-3.8-flash"),
        "a snapshot of the model": debate(**SNAPSHOT),
        "a simulated answer for a model's name": debate(**SIMULATED),
        "failed calls": with_calls(failed, error=failed.text("HTTP 404: no such\nmodel\x1b[2J"), **why),
    }

    plain = {*shown(debate()), *live(debate())}

    pages = {
        name: [line for line in (*shown(built), *live(built)) if line not in plain] for name, built in debates.items()
    }
    assert [] == pages.pop("a snapshot of the model")
    printed.compare("answered_by", {name: "\n".join(lines) for name, lines in pages.items()})


REMARKS = (
    (REROUTED, ["gemini-3.8-flash answered in 1 debate where google/gemini-2.5-flash was asked; see `jury show`"]),
    (SIMULATED, ["simulated jurors in 1 debate: no verdict of models"]),
    (SNAPSHOT, []),
)


@pytest.mark.parametrize(("answered", "remarks"), REMARKS)
def test_a_run_closes_with_who_answered(answered, remarks, capsys) -> None:
    results = Results("plain")

    results.take(line_of(debate(**answered).history))

    blocked = "a provider's filter blocked an answer, and a neutral vote stands in, in 1 debate; `jury show` says whose"
    assert [blocked, *remarks] == results.remarks()
    assert capsys.readouterr().out.splitlines()[0].endswith("(simulated)") == (answered is SIMULATED)


@each_row("answered", [REROUTED, SIMULATED, SNAPSHOT])
def test_a_stored_debate_gives_the_same_result_without_decoding(answered) -> None:
    built = debate(**answered)
    events = stored(built).read_stream(debate_stream(built.opened.debate_id))

    assert folded(built.events).answers == answered_in_stream(events)
    assert 3 == len(answered_in_stream(events))
    with pytest.raises(EventError, match="event 3 of debate/"):
        answered_in_stream([events[2]._replace(body=b"{}")])


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
def decided() -> DebateHarness:
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
def store(decided: DebateHarness) -> MemoryEventStore:
    made = MemoryEventStore()
    store_debate(made, decided, "d1")
    return made


def result(decided: DebateHarness) -> dict[str, Any]:
    return collaborative_result(decided.events, decided.pen.texts)


def test_a_result_has_the_probabilities_of_the_case_and_of_each_scenario(decided: DebateHarness) -> None:
    words, jev = result(decided)["phase1_evaluations"]
    model = debate_result(decided.events, decided.pen.texts).phase1_evaluations[1]

    assert (None, [None, None]) == (words["probabilities"], [one["probabilities"] for one in words["scenarios"]])
    assert (WHOLE, [FIRST, SECOND]) == (jev["probabilities"], [one["probabilities"] for one in jev["scenarios"]])
    assert (WHOLE, [FIRST, SECOND]) == (model.probabilities, [one.probabilities for one in model.scenarios])
    assert (None, {}, 0.75) == (jev["rationale"], jev["scores"], jev["confidence"])


def test_the_page_has_them_with_no_reasons_and_no_points(store: MemoryEventStore) -> None:
    shown = Site(store).get("/debates/d1")
    (evaluation,) = [one for one in shown.all(".evaluation") if SHOWN in one]

    assert "a decision model: probabilities, no reasons" in evaluation
    assert SHOWN_FIRST in evaluation
    assert "erased" not in shown.one("main")


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


FAILED, OPEN = {"verdict": Verdict.UNSAFE_FAIL}, {"verdict": Verdict.NEEDS_REVIEW}
ACCEPTANCES: dict[str, dict[str, Any]] = {
    "accepted": {},
    "below the threshold": {"signal": "weights", "threshold": 0.75, "accepted": False},
    "another verdict than the calibrated one": {"signal": "dawid_skene", "threshold": 0.75, **FAILED},
    "verdict and decisive item": {"signal": "votes+step", "probability": 0.833333333, **FAILED},
    "needs review already": {"probability": None, "accepted": False, **OPEN},
    "a calibration that accepts none": {"probability": None, "accepted": False},
}


def said(language: Language, **fields: Any) -> str:
    """The line of the judgment among the events of a debate."""
    given = {"signal": "share", "verdict": Verdict.SAFE_PASS, "probability": 0.666666667, "threshold": 0.5}
    built = DebateBuilder().phase_1().judged()
    *events, rendered, completed = built.events
    assert isinstance(rendered, JudgmentRendered)
    judgment = rendered.judgment.changed(acceptance=Acceptance(**{**given, "accepted": True, **fields}))
    built.events = [*events, rendered.changed(judgment=judgment), completed]
    stream = stored(built).read_stream(debate_stream(built.opened.debate_id))
    return event_lines(stream[-2:-1], language=language)[0].said


def test_an_acceptance_is_said_in_one_sentence(printed: RefusalTables) -> None:
    printed.compare(
        "acceptances",
        {name: f"{said('en', **fields)}\n{said('ja', **fields)}" for name, fields in ACCEPTANCES.items()},
    )


@each_row(
    ("capped", "quorum_votes", "why"),
    [(False, 3, None), (True, 3, "silence"), (True, 1, "quorum"), (False, 1, None)],
    ids=["none", "silent seats", "quorum", "a lost quorum that changed nothing"],
)
def test_a_result_line_says_why_votes_that_passed_need_review(capped: bool, quorum_votes: int, why: str | None) -> None:
    debate = DebateBuilder().phase_1().round_1().judged()
    rendered = next(one for one in debate.events if isinstance(one, JudgmentRendered))
    judgment = rendered.judgment.changed(capped=capped, quorum=2, quorum_votes=quorum_votes)
    changed = rendered.changed(judgment=judgment)
    line = result_line(debate.events[0], [], changed, None, True)  # type: ignore[arg-type]  # it opens the debate

    assert (why, quorum_votes >= 2) == (line["capped_by"], line["quorum_met"])
