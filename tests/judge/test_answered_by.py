"""Nothing simulated passes for a model's verdict, and a model that stood in for another is named everywhere."""

from io import StringIO

import pytest
from rich.console import Console

from jury_cli import Results
from jury_events import CallOutcome, DebateEvent, EventError, RoundStarted, StoredEvent, Usage, Verdict, encode
from jury_views import LiveLines, answered_in_stream, answers, collaborative_result, render_debate
from jury_views.result_lines import result_line
from support.debate_builder import SEATS, DebateBuilder

FAIL = Verdict.UNSAFE_FAIL
REROUTED = {"model": "google/gemini-2.5-flash", "model_version": "gemini-3.8-flash"}
SNAPSHOT = {"model": "openai/gpt-4o", "model_version": "gpt-4o-2024-08-06"}
SIMULATED = {"model": "openai/gpt-4o", "model_version": "simulated-1", "simulated": True}


def debate(**answered: object) -> DebateBuilder:
    """Of models, as its panel says; one juror's evaluation as given."""
    built = DebateBuilder()
    built.opened = built.events[0] = built.opened.changed(simulated=False)
    said = built.evaluation(FAIL, (1.0, 1.0, 1.0, 1.0), "No.", **answered)
    built._evaluated(SEATS[0], said)
    built.events.append(RoundStarted(round=1, speaker_order=SEATS, instruction=built.text("Discuss.")))
    built.add_statement(1, 0, "Still no.", said)
    return built.judged()


def as_stored(event: DebateEvent, version: int) -> StoredEvent:
    new = encode(event, recorded_at=0)
    return StoredEvent(version, "debate/d", version, new.event_id, new.type, new.schema, 0, new.body, b"")


def shown(built: DebateBuilder) -> list[str]:
    out = StringIO()
    render_debate(built.events, built.exchanges, built.texts, Console(file=out, width=200))
    return out.getvalue().splitlines()


def test_another_model_is_listed_in_the_result_with_its_step():
    built = debate(**REROUTED)

    result = collaborative_result(built.events, built.texts)

    asked = {"asked": "google/gemini-2.5-flash", "answered": "gemini-3.8-flash"}
    assert result["model_mismatches"] == [
        {"juror_id": "juror-gpt", "step": "initial/juror-gpt", **asked},
        {"juror_id": "juror-gpt", "step": "round-1/juror-gpt", **asked},
    ]
    assert result["simulated"] is False


def test_a_final_judge_that_is_another_model_is_listed_too():
    built = DebateBuilder()
    built.judged()
    rendered = built.events[-2]
    judge = rendered.judgment.judge.changed(**REROUTED)  # type: ignore[union-attr]
    built.events[-2] = rendered.changed(judgment=rendered.judgment.changed(judge=judge))  # type: ignore[union-attr]

    (mismatch,) = collaborative_result(built.events, built.texts)["model_mismatches"]

    assert (mismatch["juror_id"], mismatch["step"]) == (None, "final")


def test_a_snapshot_of_the_model_is_no_other_model():
    built = debate(**SNAPSHOT)

    assert collaborative_result(built.events, built.texts)["model_mismatches"] == []
    assert not any("was asked" in line for line in shown(built))


def test_show_names_it_at_the_evaluation_and_at_the_calls():
    built = debate(**REROUTED)
    built.called("google/gemini-2.5-flash", CallOutcome.ANSWERED, Usage(), None)
    call = built.exchanges[0].changed(model_version="gemini-3.8-flash", simulated=False)
    built.exchanges = [call, call]

    lines = shown(built)

    said = "  google/gemini-2.5-flash was asked, gemini-3.8-flash answered"
    assert lines.count(said) == 2
    assert lines.count(f"{said} (2)") == 1


def test_show_prints_why_calls_failed():
    built = debate()
    built.called("openai/gpt-4o", CallOutcome.BAD_REQUEST, Usage(), None)
    call = built.exchanges[0].changed(error=built.text("HTTP 404: no such\nmodel\x1b[2J"))
    built.exchanges = [call, call]

    assert "  openai/gpt-4o: bad_request: HTTP 404: no such␊model␛[2J (2)" in shown(built)


def test_live_lines_name_it():
    lines = LiveLines()
    built = debate(**REROUTED)

    printed = [line for event in built.events for line in lines.lines(event)]

    assert sum("(gemini-3.8-flash answered, google/gemini-2.5-flash was asked)" in line for line in printed) == 2


def test_a_simulated_answer_for_a_models_name_is_marked_as_simulated():
    built = debate(**SIMULATED)
    lines = LiveLines()

    result = collaborative_result(built.events, built.texts)
    printed = [line for event in built.events for line in lines.lines(event)]
    page = shown(built)

    assert (result["simulated"], result["model_mismatches"]) == (True, [])
    assert result["phase1_evaluations"][0]["simulated"] is True
    assert "Simulated jurors: not every answer is a model's." in page
    assert "  ✗ unsafe_fail  4/100 · confidence 0.80 · simulated" in page
    assert sum(line.endswith("(simulated)") for line in printed) == 2


@pytest.mark.parametrize("answered", [REROUTED, SIMULATED, SNAPSHOT])
def test_a_stored_debate_gives_the_same_result_without_decoding(answered):
    built = debate(**answered)
    stored = [as_stored(event, number) for number, event in enumerate(built.events, 1)]

    assert answered_in_stream(stored) == answers(built.events)
    assert len(answered_in_stream(stored)) == 3


def test_a_stored_evaluation_that_cannot_be_read_is_named():
    stored = as_stored(debate().events[1], 2)

    with pytest.raises(EventError, match="event 2 of debate/d"):
        answered_in_stream([stored._replace(body=b"{}")])


@pytest.mark.parametrize(
    ("answered", "remarks"),
    [
        (
            REROUTED,
            ["gemini-3.8-flash answered in 1 debate where google/gemini-2.5-flash was asked; see `jury show`"],
        ),
        (SIMULATED, ["simulated jurors in 1 debate: no verdict of models"]),
        (SNAPSHOT, []),
    ],
)
def test_a_run_closes_with_who_answered(answered, remarks, capsys):
    built = debate(**answered)
    results = Results("plain")

    results.take(result_line(built.opened, answers(built.events), *built.events[-2:]))  # type: ignore[arg-type]

    blocked = "a provider's filter blocked an answer, and a neutral vote stands in, in 1 debate; `jury show` says whose"
    assert [blocked, *remarks] == results.remarks()
    assert capsys.readouterr().out.endswith("(simulated)\n") == (answered is SIMULATED)
