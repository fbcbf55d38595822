"""A case may have a reference, the expected answer: it is the expected behaviour, shown as the operator's."""

from typing import Any

import pytest

from jury_cases import read_case
from support.debate_harness import SEATS, DebateHarness, Says, a_panel, by_round

ROW = {"id": "c", "question": "How many?", "response": "Seven."}
HEADINGS = {"en": "given by the operator of this evaluation", "ja": "評価の運営者によるもの"}


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "reference": "Eight."},
        {**ROW, "expected_behavior": "Eight."},
        {**ROW, "question": {"prompt": "How many?", "reference": "Eight."}},
        {**ROW, "reference": "Nine.", "expected_behavior": "Eight."},
    ],
)
def test_a_reference_is_read_as_the_expected_behaviour(row: dict[str, Any]) -> None:
    case = read_case(row, default_id="x")

    assert "Eight." == case.scenarios[0].question.expected_behavior


@pytest.mark.parametrize("language", ["en", "ja"])
def test_jurors_are_shown_it_as_the_operators(language: str) -> None:
    case = read_case({**ROW, "reference": "Eight."}, default_id="x")
    panel = a_panel(language=language, scale="answer-correctness", preset="independent")
    debate = DebateHarness(panel, by_round(dict.fromkeys(SEATS, (Says("wrong"),))), case=case).run()

    shown = debate.prompt(debate.asked[0])
    heading = next(line for line in shown.split("\n") if HEADINGS[language] in line)
    assert shown.split("\n")[shown.split("\n").index(heading) + 1].endswith(" Eight.")
