import re
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
    PROMPTS_VERSION,
    READ_ITEMS,
    SEARCH_ITEMS,
    TOOLS,
    AnswerRefusal,
    AnswerSpec,
    UnknownPrompts,
    fill,
    load_prompts,
    parse_answer,
    seat_letter,
)
from jury_debate.prompts_1.texts import PLACEHOLDERS
from jury_events import STANDARD_RUBRIC, Step, Verdict
from support.debate_harness import a_panel
from support.each_row import each_row

ALL = [(version, language) for version in PROMPTS for language in LANGUAGES]
every_file = pytest.mark.parametrize(("version", "language"), ALL)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield ".".join(path), value
    else:
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))


def seat(language: str, **changes: Any) -> str:
    values: dict[str, Any] = {
        "letter": "B",
        "seats": 3,
        "role": "監査",
        "focus": "観点",
        "role_prompt": "$ballot をよく見る。",
        "ballot": "b-1",
        "scenarios": 1,
    }
    return load_prompts(PROMPTS_VERSION, language).seat(**{**values, **changes})


@every_file
def test_every_text_is_written_and_has_exactly_its_declared_placeholders(version: int, language: str) -> None:
    texts = dict(leaves(load_prompts(version, language).texts.model_dump()))

    found = {path: set(string.Template(text).get_identifiers()) for path, text in texts.items()}

    declared = PLACEHOLDERS
    assert {path: set(declared.get(path, ())) for path in texts} == found
    assert declared.keys() <= texts.keys()
    assert all(string.Template(text).is_valid() for text in texts.values())
    assert [path for path, text in texts.items() if not text.strip()] == []


def test_both_languages_have_the_same_texts() -> None:
    japanese, english = (
        dict(leaves(load_prompts(PROMPTS_VERSION, language).texts.model_dump())) for language in LANGUAGES
    )

    assert japanese.keys() == english.keys()


def test_english_is_free_of_japanese() -> None:
    english = leaves(load_prompts(PROMPTS_VERSION, "en").texts.model_dump())

    assert [path for path, text in english if re.search(r"[ぁ-んァ-ヶ一-龠、。「」（）：]", text)] == []


@every_file
def test_every_tool_and_parameter_is_described(version: int, language: str) -> None:
    tools = load_prompts(version, language).texts.tools

    expected = {name: {parameter.name for parameter in parameters} for name, parameters in TOOLS.items()}

    expected |= {READ_ITEMS: {"from", "to", "part"}, SEARCH_ITEMS: {"text"}}

    assert expected == {name: set(tool.parameters) for name, tool in tools.items()}


def test_roles_and_seats_are_written_as_in_document_002() -> None:
    prompts = load_prompts(PROMPTS_VERSION, "ja")
    name = prompts.role_name(letter="A", role="ポリシー遵守性", model="gpt-4o")
    roles = {name: (text.role, text.focus) for name, text in prompts.texts.roles.items()}

    assert (
        roles.items()
        >= {
            "policy_compliance": ("ポリシー遵守性", "ポリシー遵守性"),
            "security_leak_risk": ("安全性・漏洩リスク", "安全性・漏洩リスク検出"),
            "misuse_detection": ("悪用検出", "ユーザ意図との整合性"),
        }.items()
    )
    assert name == "陪審員A（ポリシー遵守性：gpt-4o）"


def test_a_custom_role_gets_the_general_instructions() -> None:
    prompts = load_prompts(PROMPTS_VERSION, "en")

    assert "auditor" not in prompts.texts.roles
    assert "book keeping" in prompts.role_prompt("auditor", "book keeping")


@each_row("language", LANGUAGES)
def test_the_system_message_contains_what_all_jurors_must_know(language: str) -> None:
    text = load_prompts(PROMPTS_VERSION, language).system(a_panel(language=language))

    assert ["task_completion", "40", *Verdict] == [word for word in ("task_completion", "40", *Verdict) if word in text]


@each_row("language", LANGUAGES)
def test_the_ballot_is_in_the_block_of_the_seat_once(language: str) -> None:
    assert seat(language, role_prompt="-").count("b-1") == 1


def test_placeholders_in_values_are_not_replaced() -> None:
    assert "$ballot をよく見る。" in seat("ja")


@each_row("language", LANGUAGES)
@each_row("scenarios", [(), ("1", "2")])
def test_the_example_is_not_a_valid_answer(language: str, scenarios: tuple[str, ...]) -> None:
    text = load_prompts(PROMPTS_VERSION, language).system(a_panel(language=language, answers={"evidence": "off"}))
    example = text[text.index("\n{\n") : text.index("\n}\n") + 2]
    spec = AnswerSpec("b-1", STANDARD_RUBRIC, statement=False, scenarios=scenarios)

    assert isinstance(parse_answer(example.encode(), spec), AnswerRefusal)
    assert isinstance(parse_answer(text.encode(), spec), AnswerRefusal)


def test_a_seat_is_told_of_scenarios_only_where_there_are_several() -> None:
    assert seat("en", scenarios=2) != seat("en")
    assert seat("en", scenarios=2).startswith(seat("en"))


@each_row("language", LANGUAGES)
def test_dimensions_of_any_rubric_are_explained(language: str) -> None:
    prompts = load_prompts(PROMPTS_VERSION, language)

    text = prompts.system(a_panel(language=language, rubric={"style": 12.5, "safety": 87.5}))

    assert "12.5" in text
    assert prompts.texts.dimensions["other"] in text


@each_row("language", LANGUAGES)
def test_the_final_judge_knows_the_jury_and_its_ballot(language: str) -> None:
    prompts = load_prompts(PROMPTS_VERSION, language)

    text = prompts.final_judge(seats=5, role_prompt=prompts.judge_role_prompt, ballot="b-2", scenarios=1)

    assert all(word in text for word in ("5", "b-2", prompts.judge_role_prompt))


def test_a_peer_is_a_letter() -> None:
    prompts = load_prompts(PROMPTS_VERSION, "en")

    def block(step: Step, **said: Any) -> str:
        given = {"verdict": "unsafe_fail", "score": 20.0, "confidence": 1.0, **said}
        return prompts.peer_block(step, letter="B", **given)

    initial = block(Step(0, "b"), verdict=Verdict.SAFE_PASS, score=86.5, confidence=0.9, changed=False)
    again = block(Step(0, "b", reasoning=True), changed=False)
    later = block(Step(2, "b"), changed=True)

    assert initial == "## Juror B: initial evaluation — verdict safe_pass, score 86.5/100, confidence 0.9"
    assert again == (
        "## Juror B: evaluation with the agent's reasoning — verdict unsafe_fail, score 20/100, confidence 1 "
        "(position unchanged)"
    )
    assert later == "## Juror B: round 2 — verdict unsafe_fail, score 20/100, confidence 1 (position changed)"


@each_row("language", LANGUAGES)
def test_turns_name_the_requested_fields(language: str) -> None:
    prompts = load_prompts(PROMPTS_VERSION, language)

    assert "statement" in prompts.discussion_instruction(2)
    assert "fetch_agent_card_passes" in prompts.tools_instruction(tuple(TOOLS))
    assert "prose" in prompts.repair(reason="prose", detail="nothing may follow")
    assert "7" in prompts.gate_records(7)
    assert "7" in prompts.card_records(7)


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


def test_filling_requires_every_value() -> None:
    with pytest.raises(KeyError):
        fill("$one $two", one=1)


@each_row(("index", "letter"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (499, "SF")])
def test_seats_have_letters(index: int, letter: str) -> None:
    assert letter == seat_letter(index)
