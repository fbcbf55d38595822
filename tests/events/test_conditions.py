"""Conditions on the fields of cases: what they match, and how they are refused."""

import pickle

import pytest

from jury_events import (
    BadCondition,
    Case,
    Condition,
    ExecutionResult,
    QuestionSpec,
    Scenario,
    Verdict,
    fields_of,
    parse_condition,
    parse_conditions,
    parse_field,
)
from support.each_row import each_row
from support.refusals import RefusalTables

SCENARIO = Scenario(scenario_id="s1", question=QuestionSpec(prompt="?"), execution=ExecutionResult(response="!"))

CASE = Case(
    case_id="refund-17",
    scenarios=(SCENARIO,),
    label=Verdict.UNSAFE_FAIL,
    tags=("Refund", "card", "card", "判定"),
    cluster="payments",
    metadata={"level": 3, "share": 0.5, "whole": 3.0, "known": True, "a.b": "x=y", "none": "None"},
)
BARE = Case(case_id="refund-18", scenarios=(SCENARIO,))


def test_the_fields_of_a_case_are_in_json_notation() -> None:
    expected = {
        "tags": ("Refund", "card", "判定"),
        "cluster": ("payments",),
        "label": ("unsafe_fail",),
        "case_id": ("refund-17",),
        "metadata.level": ("3",),
        "metadata.share": ("0.5",),
        "metadata.whole": ("3.0",),
        "metadata.known": ("true",),
        "metadata.a.b": ("x=y",),
        "metadata.none": ("None",),
    }

    assert expected == fields_of(CASE)
    assert {"case_id": ("refund-18",)} == fields_of(BARE)


@each_row(
    ("text", "of_case", "of_bare"),
    [
        ("tags=Refund", True, False),
        ("tags=refund", False, False),
        ("tags~refund", True, False),
        ("tags!=card", False, True),
        ("tags!=other", True, True),
        ("tags!~CAR", False, True),
        ("tags~判", True, False),
        ("tags~", True, False),
        ("tags!~", False, True),
        ("cluster=payments", True, False),
        ("cluster!~pay", False, True),
        ("label=unsafe_fail", True, False),
        ("label!=unsafe_fail", False, True),
        ("case_id~REFUND-1", True, True),
        ("metadata.level=3", True, False),
        ("metadata.level=3.0", False, False),
        ("metadata.whole=3.0", True, False),
        ("metadata.share=0.5", True, False),
        ("metadata.known=true", True, False),
        ("metadata.known=True", False, False),
        ("metadata.a.b=x=y", True, False),
        ("metadata.nothing!=1", True, True),
        (" metadata.level = 3 ", True, False),
    ],
)
def test_a_condition_matches_a_case(text: str, of_case: bool, of_bare: bool) -> None:
    condition = parse_condition(text)

    assert (of_case, of_bare) == (condition.admits(fields_of(CASE)), condition.admits(fields_of(BARE)))


def test_the_first_operator_ends_the_field() -> None:
    assert Condition("metadata.a", "!=", "b~c=d") == parse_condition("metadata.a!=b~c=d")
    assert Condition("metadata.a!b", "=", "c") == parse_condition("metadata.a!b=c")


def test_the_text_of_a_condition_parses_to_it() -> None:
    condition = parse_condition(" metadata.a.b !~ x=y ")

    assert "metadata.a.b!~x=y" == str(condition)
    assert condition == parse_condition(str(condition)) == pickle.loads(pickle.dumps(condition))


def test_duplicate_conditions_are_dropped() -> None:
    assert (Condition("tags", "=", "a"),) == parse_conditions(["tags=a", "tags = a"])


REFUSED = {
    "no operator": "tags",
    "nothing": "",
    "almost a field": "tag=x",
    "the plural of a field": "labels=x",
    "a field of the metadata": "level=3",
    "metadata cut short": "meta.level=3",
    "metadata without a name": "metadata.=3",
    "metadata alone": "metadata=3",
    "no field": "=3",
    "no value": "cluster=",
    "a NUL": "tags=a\x00",
    "a lone surrogate": "tags=\ud800",
    "a line end in a field": "a\nb=1",
    "a line end in a name": "metadata.a\nb=1",
    "a value too long": f"tags~{'x' * 501}",
}


def test_an_invalid_condition_is_refused_in_one_line(refusals: RefusalTables) -> None:
    refusals.check("conditions", REFUSED, parse_condition, BadCondition)


def test_a_field_is_parsed_alone() -> None:
    assert "metadata.a.b" == parse_field(" metadata.a.b ")
    with pytest.raises(BadCondition, match="did you mean cluster"):
        parse_field("clusters")
