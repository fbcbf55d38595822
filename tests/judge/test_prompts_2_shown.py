"""What people are shown of prompts 2: judged text as it was recorded, indentation included."""

import pytest

from jury_debate.panel_spec import PanelSpec, resolve
from jury_debate.prompts import PROMPTS
from jury_events.case import Case, ExecutionResult, QuestionSpec, Scenario
from jury_judge.runs.rehearsal import Rehearsal
from jury_views.plain_prompt import marker_in, plain_prompt

MAKEFILE = "build:\n\tcc  -o x x.c   \n\n\t@echo 'kz: done'\n"


def a_case(text: str) -> Case:
    question = QuestionSpec(prompt="Write the Makefile.")
    return Case(
        case_id="c",
        scenarios=(Scenario(scenario_id="s", question=question, execution=ExecutionResult(response=text)),),
    )


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "text", [MAKEFILE, "bx: x\n\n ⟦abcd2345⟧ y", "  \ttrailing  \t", "| a | b |\n|---|---|\n| 　1 | 2 |"]
)
def test_a_prompt_shows_judged_text_as_it_was_recorded(language: str, text: str) -> None:
    rehearsal = Rehearsal(a_case(text), resolve(PanelSpec.model_validate({"language": language}), prompts=2))

    for juror in rehearsal.opened.panel.juror_ids:
        whole = "\n".join(message.text for message in rehearsal.first_prompt(juror))
        plain = plain_prompt(whole, marker_in([whole]))
        assert indented(text) in plain
        assert 1 == plain.count(indented(text))


@pytest.mark.parametrize("prompts", PROMPTS)
def test_the_final_judges_prompt_is_measured_as_it_is_sent(prompts: int) -> None:
    resolved = resolve(PanelSpec.model_validate({"final": {"method": "final_judge"}}))
    rehearsal = Rehearsal(a_case(MAKEFILE), resolved._replace(prompts=prompts))

    text = rehearsal.final_prompt(images=False).decode()

    assert rehearsal.case_piece(images=False) in text
    assert rehearsal.pieces["instruction/final"].decode() in text
    assert rehearsal.pieces["system/final" if prompts == 1 else "seat/final"].decode() in text


@pytest.mark.parametrize("text", ["", "kz: a line", 'Every line of the material begins with "k7: ".', "no marks"])
def test_text_without_a_marker_is_unchanged(text: str) -> None:
    assert marker_in([text]) is None
    assert text == plain_prompt(text, None)
