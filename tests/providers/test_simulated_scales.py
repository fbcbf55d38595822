"""Simulated jurors under scales of a panel's own: words, points and phrases follow what the prompt shows."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_cases.examples import load_example
from jury_events.case import Case
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_providers.provider import ModelRequest
from jury_providers.simulated.prompt import read_prompt
from jury_providers.simulated.scripted_reader import ScriptedReader
from jury_providers.simulated.shown_scale import THREE_VERDICTS, scale_of_words
from support.debate_harness import a_case
from support.scales import ANSWERS, LEVELS, YES_NO, scales, written
from support.simulated_debate import SimulatedDebate

SCALES: dict[str, dict[str, Any]] = {
    "three labels": ANSWERS,
    "two labels": YES_NO,
    "levels": LEVELS,
    "criteria of the three verdicts": {"criteria": ANSWERS["criteria"]},
    "the three verdicts without points": {"criteria": "none"},
}
ROUNDS: dict[str, Any] = {"discussion": {"max_rounds": 1}}


def without_schema(request: ModelRequest) -> ModelRequest:
    return request._replace(schema={})


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("scenarios", [1, 2])
@pytest.mark.parametrize("name", SCALES)
def test_every_answer_is_taken(name: str, language: str, scenarios: int) -> None:
    debate = SimulatedDebate(a_case(scenarios=scenarios), language=language, **SCALES[name], **ROUNDS)

    assert [] == debate.refused
    assert 7 == len(debate.evaluations), "three seats twice, and the final judge"
    for request in debate.requests.values():
        assert read_prompt(request).form == read_prompt(without_schema(request)).form


@given(scales(), st.sampled_from(["none", ANSWERS["criteria"]]), st.sampled_from(["en", "ja"]))
@settings(max_examples=10)
def test_any_scale_can_be_judged_in(scale: VerdictScale, criteria: Any, language: str) -> None:
    debate = SimulatedDebate(a_case(), language=language, scale=written(scale), criteria=criteria, **ROUNDS)

    assert [] == debate.refused
    assert {evaluation.label for evaluation in debate.evaluations} <= set(scale.ids)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_case_that_looks_bad_gets_a_worse_label_than_one_that_looks_good(language: str) -> None:
    def ranks(case: Case) -> list[int]:
        debate = SimulatedDebate(case, language=language, **LEVELS, **ROUNDS)
        return [int(evaluation.label or 0) for evaluation in debate.evaluations]

    assert max(ranks(load_example(language))) < min(ranks(a_case()))


@pytest.mark.parametrize("name", SCALES)
def test_what_jurors_say_names_no_word_of_another_scale(name: str) -> None:
    debate = SimulatedDebate(a_case(), language="en", **SCALES[name], **ROUNDS)

    said = json.dumps([debate.harness.pen.text(one.rationale) for one in debate.evaluations])
    own = debate.harness.debate.state.panel.scale
    assert own is None or all(verdict.value not in said for verdict in Verdict)


@pytest.mark.parametrize("name", SCALES)
def test_scripted_answers_are_of_the_scale(name: str) -> None:
    debate = SimulatedDebate(a_case(scenarios=2), language="en", **SCALES[name], **ROUNDS)
    reader = ScriptedReader()

    for request in debate.requests.values():
        answer = json.loads(reader.reply(request).text)
        assert answer["verdict"] in request.schema["properties"]["verdict"]["enum"]
        assert ("scores" in answer) == ("scores" in request.schema["properties"])


@given(st.integers(2, 20), st.floats(0, 100))
def test_a_score_has_one_word_and_the_share_of_a_word_is_its_own(count: int, score: float) -> None:
    scale = scale_of_words(tuple(f"w{number}" for number in range(count)))

    assert scale.word(score) in scale.words
    assert list(scale.words) == [scale.word(scale.score_of(word)) for word in scale.words]
    assert scale.grave_below <= scale.favourable_from


def test_the_three_verdicts_have_the_default_bands() -> None:
    scale = scale_of_words(THREE_VERDICTS)

    assert ["unsafe_fail", "needs_review", "needs_review", "safe_pass"] == [
        scale.word(score) for score in (39.9, 40, 69.9, 70)
    ]
    assert (40, 70) == (scale.grave_below, scale.favourable_from)
