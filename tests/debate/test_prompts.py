import string
from collections.abc import Iterator
from string import Template
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import (
    LANGUAGES,
    PROMPTS,
    READ_ITEMS,
    SEARCH_ITEMS,
    TOOLS,
    AnswerRefusal,
    AnswerSpec,
    UnknownPrompts,
    fill,
    load_prompts,
    parse_answer,
    prompt_texts,
    prompts_v1,
    seat_letter,
)
from jury_debate.prompts_v2 import texts as texts_v2
from jury_events import STANDARD_RUBRIC, Verdict
from support.each_row import each_row

PLACEHOLDERS = {1: prompt_texts.PLACEHOLDERS, 2: texts_v2.PLACEHOLDERS}
ALL = [(version, language) for version in PROMPTS for language in LANGUAGES]
every_file = pytest.mark.parametrize(("version", "language"), ALL)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield ".".join(path), value
    else:
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))


def system_juror(language: str, **changes: Any) -> str:
    values: dict[str, Any] = {
        "letter": "B",
        "seats": 3,
        "role": "監査",
        "focus": "観点",
        "role_prompt": "$ballot をよく見る。",
        "rubric": STANDARD_RUBRIC,
        "ballot": "b-1",
        "marker": "⟦k3f9⟧",
    }
    return prompts_v1.load_prompts(language).system_juror(**{**values, **changes})


@every_file
def test_every_text_has_exactly_its_declared_placeholders(version: int, language: str) -> None:
    texts = dict(leaves(load_prompts(version, language).texts.model_dump()))

    found = {path: set(string.Template(text).get_identifiers()) for path, text in texts.items()}

    declared = PLACEHOLDERS[version]
    assert {path: set(declared.get(path, ())) for path in texts} == found
    assert declared.keys() <= texts.keys()
    assert all(string.Template(text).is_valid() for text in texts.values())


@every_file
def test_every_tool_and_parameter_is_described(version: int, language: str) -> None:
    tools = load_prompts(version, language).texts.tools

    expected = {name: {parameter.name for parameter in parameters} for name, parameters in TOOLS.items()}

    if version > 1:
        expected |= {READ_ITEMS: {"from", "to", "part"}, SEARCH_ITEMS: {"text"}}

    assert expected == {name: set(tool.parameters) for name, tool in tools.items()}


@each_row("language", LANGUAGES)
@each_row("scenarios", [(), ("s1", "s2")])
def test_the_example_is_not_a_valid_answer(language: str, scenarios: tuple[str, ...]) -> None:
    text = system_juror(language, scenarios=scenarios)
    example = text[text.index("\n{\n") : text.index("\n}\n") + 2]
    spec = AnswerSpec("b-1", STANDARD_RUBRIC, statement=False, scenarios=scenarios)

    assert isinstance(parse_answer(example.encode(), spec), AnswerRefusal)
    assert isinstance(parse_answer(text.encode(), spec), AnswerRefusal)


def test_a_peer_is_a_letter() -> None:
    prompts = prompts_v1.load_prompts("en")

    initial = prompts.peer_block_initial(letter="B", verdict=Verdict.SAFE_PASS, score=86.5, confidence=0.9)
    later = prompts.peer_block_round(
        letter="B", round_number=2, verdict=Verdict.UNSAFE_FAIL, score=20.0, confidence=1.0, changed=True
    )

    assert initial == "## Juror B: initial evaluation — verdict safe_pass, score 86.5/100, confidence 0.9"
    assert later == "## Juror B: round 2 — verdict unsafe_fail, score 20/100, confidence 1 (position changed)"


@each_row(("version", "language"), [(0, "ja"), (max(PROMPTS) + 1, "ja"), (1, "fr"), (1, "../v1/ja")])
def test_unknown_prompts_are_named(version: int, language: str) -> None:
    with pytest.raises(UnknownPrompts, match=r"not known|languages"):
        load_prompts(version, language)


@given(st.text("$%{}()ns_ a1日\n", max_size=30))
def test_a_text_is_filled_as_a_template(text: str) -> None:
    values = {"n": "$s %(s)s", "s": "{n}", "ns": 100}
    try:
        expected: str | type[Exception] = Template(text).substitute(values)
    except (KeyError, ValueError) as error:
        expected = type(error)

    if isinstance(expected, str):
        assert expected == fill(text, **values)
    else:
        with pytest.raises(expected):
            fill(text, **values)


@each_row(("index", "letter"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (499, "SF")])
def test_seats_have_letters(index: int, letter: str) -> None:
    assert letter == seat_letter(index)
