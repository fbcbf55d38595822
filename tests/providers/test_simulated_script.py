"""Latency and faults of simulated models: drawn from seed and trace, or scripted."""

import json
import pickle
import re
import statistics

import pytest

from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_providers.provider import ModelMessage, ModelRequest
from jury_providers.simulated.provider import SimulatedProvider
from jury_providers.simulated.rendered_reply import render_reply
from jury_providers.simulated.script import BadScript, Script, parse_script
from jury_providers.simulated.scripted_reader import ScriptedReader

MODEL = "simulated%2Fjuror"
REQUEST = ModelRequest(
    model="juror",
    messages=(ModelMessage("system", "The ballot is abcdefgh234567zz."), ModelMessage("user", "Grass.")),
    tools=(),
    schema={"properties": {"scores": {"properties": {"safety": {"maximum": 100}}}}},
    settings=CallSettings(),
    trace=f"d1/initial/gpt/{MODEL}/1/1",
)


def trace(step: str = "initial/gpt", turn: int = 1, attempt: int = 1, debate: str = "d1") -> str:
    return f"{debate}/{step}/{MODEL}/{turn}/{attempt}"


def test_without_a_script_there_are_no_faults_and_no_latency() -> None:
    script = Script()

    assert (script.fault(trace()), script.seconds(trace())) == (None, 0.0)


def test_a_calls_latency_and_fault_are_reproducible() -> None:
    script = Script(latency=1.0, rates={CallOutcome.TIMEOUT: 0.5}, seed=3)
    again = Script(latency=1.0, rates={CallOutcome.TIMEOUT: 0.5}, seed=3)
    traces = [trace(debate=f"d{number}") for number in range(50)]

    assert [(script.fault(one), script.seconds(one)) for one in traces] == [
        (again.fault(one), again.seconds(one)) for one in traces
    ]


def test_another_seed_draws_other_faults() -> None:
    assert Script(latency=1.0, seed=1).seconds(trace()) != Script(latency=1.0, seed=2).seconds(trace())


def test_latencies_have_the_mean_and_the_spread_asked_for() -> None:
    script = Script(latency=2.0, sigma=0.5)
    drawn = [script.seconds(trace(debate=f"d{number}")) for number in range(4000)]

    assert statistics.mean(drawn) == pytest.approx(2.0, rel=0.05)
    assert statistics.median(drawn) == pytest.approx(2.0 * 2.718281828**-0.125, rel=0.05)
    assert min(drawn) > 0


def test_a_spread_of_zero_gives_every_call_the_mean_latency() -> None:
    assert Script(latency=0.25, sigma=0).seconds(trace()) == pytest.approx(0.25)


def test_faults_occur_at_their_rates() -> None:
    script = Script(rates={"rate_limited": 0.2, "blocked": 0.1, "unparseable": 0.3})
    faults = [script.fault(trace(debate=f"d{number}")) for number in range(4000)]

    for fault, rate in (("rate_limited", 0.2), ("blocked", 0.1), ("unparseable", 0.3), (None, 0.4)):
        assert faults.count(fault) / 4000 == pytest.approx(rate, abs=0.03)


@pytest.mark.parametrize("pattern", ["initial/gpt", "d1/initial/gpt", "initial/*", "*", f"d1/*/{MODEL}/1/*"])
def test_scripted_faults_are_found_by_step_debate_or_trace(pattern: str) -> None:
    assert Script(scripted={pattern: ("timeout",)}).fault(trace()) == "timeout"


@pytest.mark.parametrize("pattern", ["initial/claude", "d2/initial/gpt", "gpt", "round-1/gpt"])
def test_other_steps_have_no_faults(pattern: str) -> None:
    assert Script(scripted={pattern: ("timeout",)}).fault(trace()) is None


def test_scripted_faults_apply_to_consecutive_calls() -> None:
    script = Script(
        scripted={"final": ("rate_limited", "timeout", "unparseable", "wrong_ballot", "answered", "truncated")}
    )
    course = [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (4, 1), (5, 1)]
    expected = ["rate_limited", "timeout", "unparseable", "wrong_ballot", None, "truncated", None]

    assert expected == [script.fault(trace("final", turn, attempt)) for turn, attempt in course]


def test_the_first_matching_pattern_decides() -> None:
    script = Script(scripted={"initial/gpt": ("blocked",), "*": ("timeout",)})

    assert [script.fault(trace()), script.fault(trace("final"))] == ["blocked", "timeout"]


@pytest.mark.parametrize("outcome", [outcome for outcome in CallOutcome if outcome not in {"answered", "truncated"}])
async def test_a_failing_call_has_an_outcome_and_no_answer(outcome: CallOutcome) -> None:
    reply = await SimulatedProvider(Script(scripted={"*": (outcome.value,)})).call(REQUEST)

    assert (outcome, None, ()) == (reply.outcome, reply.answer, reply.tool_calls)
    assert reply.error == f"simulated fault: {outcome.value}"


async def test_an_answer_without_a_fault_has_the_ballot_and_costs_nothing() -> None:
    reply = await SimulatedProvider().call(REQUEST)

    assert json.loads(reply.answer or b"")["ballot"] == "abcdefgh234567zz"
    assert (reply.outcome, reply.model_version, reply.cost) == (CallOutcome.ANSWERED, "simulated-1", 0.0)


async def test_an_unparseable_answer_is_prose() -> None:
    reply = await SimulatedProvider(Script(rates={"unparseable": 1.0})).call(REQUEST)

    assert reply.outcome is CallOutcome.ANSWERED
    assert b"{" not in (reply.answer or b"{")


async def test_a_wrong_ballot_spoils_an_otherwise_good_answer() -> None:
    good = json.loads((await SimulatedProvider().call(REQUEST)).answer or b"")
    spoilt = await SimulatedProvider(Script(scripted={"*": ("wrong_ballot",)})).call(REQUEST)
    wrong = json.loads(spoilt.answer or b"")

    assert wrong["ballot"] != good["ballot"]
    assert wrong | {"ballot": good["ballot"]} == good


async def test_a_truncated_answer_is_the_beginning_of_the_whole_one() -> None:
    whole = (await SimulatedProvider().call(REQUEST)).answer or b""
    cut = await SimulatedProvider(Script(rates={CallOutcome.TRUNCATED: 1.0})).call(REQUEST)

    assert cut.outcome is CallOutcome.TRUNCATED
    assert cut.answer
    assert whole.startswith(cut.answer)
    assert len(cut.answer) < len(whole)


def test_settings_are_read_from_pairs() -> None:
    pairs = {"latency": "0.5", "sigma": "0.25", "timeout": "0.05", "unparseable": "0.1", "seed": "3"}
    expected = Script(latency=0.5, sigma=0.25, rates={"timeout": 0.05, "unparseable": 0.1}, seed=3)

    assert expected == parse_script(pairs)


def test_no_pairs_are_the_defaults() -> None:
    assert Script() == parse_script({})


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (
            {"latnecy": "1"},
            "latnecy: simulated models have no such setting (did you mean latency?); the settings: latency",
        ),
        ({"answered": "1"}, "answered: simulated models have no such setting"),
        ({"latency": "soon"}, "latency: must be a number, not 'soon'"),
        ({"latency": "-1"}, "latency: must be a number from 0 to 3600, not -1"),
        ({"latency": "inf"}, "latency: must be a number from 0 to 3600, not inf"),
        ({"sigma": "nan"}, "sigma: must be a number from 0 to 10, not nan"),
        ({"timeout": "1.5"}, "timeout: a probability is a number from 0 to 1, not 1.5"),
        ({"timeout": "nan"}, "timeout: a probability"),
        ({"timeout": "0.6", "blocked": "0.6"}, "together at most 1"),
        ({"seed": "1.5"}, "seed: must be a whole number of at most 18 digits, not '1.5'"),
        ({"seed": "9" * 5000}, "seed: must be a whole number"),
    ],
)
def test_a_bad_setting_is_named(pairs: dict[str, str], message: str) -> None:
    with pytest.raises(BadScript, match=re.escape(message)):
        parse_script(pairs)


def test_a_scripted_fault_that_does_not_exist_is_named() -> None:
    with pytest.raises(BadScript, match="'boom' is none of"):
        Script(scripted={"*": ("boom",)})


def test_a_rate_of_answers_is_refused() -> None:
    with pytest.raises(BadScript, match="answered is what remains"):
        Script(rates={CallOutcome.ANSWERED: 0.5})


def test_a_script_can_be_pickled() -> None:
    script = Script(latency=1.0, rates={CallOutcome.TIMEOUT: 0.1}, scripted={"final": ("blocked",)}, seed=7)

    assert script == pickle.loads(pickle.dumps(script))
    assert Script() == pickle.loads(pickle.dumps(Script()))


@pytest.mark.parametrize("fields", [(), ("statement",)])
async def test_a_fixed_answer_is_the_text_of_its_members(fields: tuple[str, ...]) -> None:
    schema = {"properties": {**REQUEST.schema["properties"], **{name: {"type": "string"} for name in fields}}}
    request, reader = REQUEST._replace(schema=schema), ScriptedReader()
    rendered = render_reply(reader, reader.read_prompt(request), request, None)

    reply = await SimulatedProvider(Script(answers="scripted")).call(request)

    assert (rendered.text.encode(), rendered.usage) == (reply.answer, reply.usage)
    assert ["ballot", "verdict", "scores", "confidence", "rationale", *fields] == list(json.loads(rendered.text))
