"""Nothing simulated passes for a model's verdict, and a model that stood in for another is named everywhere."""

from io import StringIO

import pytest
from rich.console import Console

from jury_cli import Results
from jury_events import CallOutcome, EventError, RoundStarted, Usage, Verdict, debate_stream
from jury_views import LiveLines, answered_in_stream, answers, collaborative_result, line_of, render_debate
from support.debate_builder import SEATS, DebateBuilder
from support.pages import stored
from support.refusals import RefusalTables

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


def test_a_final_judge_that_is_another_model_is_listed_too() -> None:
    built = DebateBuilder()
    built.judged()
    rendered = built.events[-2]
    judge = rendered.judgment.judge.changed(**REROUTED)  # type: ignore[union-attr]
    built.events[-2] = rendered.changed(judgment=rendered.judgment.changed(judge=judge))  # type: ignore[union-attr]

    (mismatch,) = collaborative_result(built.events, built.texts)["model_mismatches"]

    assert (None, "final") == (mismatch["juror_id"], mismatch["step"])


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


@pytest.mark.parametrize(("answered", "simulated"), [(SNAPSHOT, False), (SIMULATED, True)])
def test_neither_a_snapshot_nor_a_simulated_answer_is_another_model(answered, *, simulated: bool) -> None:
    built = debate(**answered)

    result = collaborative_result(built.events, built.texts)

    assert (simulated, []) == (result["simulated"], result["model_mismatches"])
    assert simulated == result["phase1_evaluations"][0]["simulated"]


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
    assert capsys.readouterr().out.endswith("(simulated)\n") == (answered is SIMULATED)


@pytest.mark.parametrize("answered", [REROUTED, SIMULATED, SNAPSHOT])
def test_a_stored_debate_gives_the_same_result_without_decoding(answered) -> None:
    built = debate(**answered)
    events = stored(built).read_stream(debate_stream(built.opened.debate_id))

    assert answers(built.events) == answered_in_stream(events)
    assert 3 == len(answered_in_stream(events))
    with pytest.raises(EventError, match="event 2 of debate/"):
        answered_in_stream([events[1]._replace(body=b"{}")])
