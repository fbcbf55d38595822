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


@each_row(
    ("text", "message"),
    [
        ("tags", "'tags' is not a condition: it has no operator; write FIELD OP VALUE with one of =, !=, ~, !~"),
        ("", "'' is not a condition"),
        ("tag=x", "there is no field 'tag' (did you mean tags?); fields are tags, cluster, label, case_id, metadata"),
        ("labels=x", "(did you mean label?)"),
        ("level=3", "(did you mean metadata.level?)"),
        ("meta.level=3", "(did you mean metadata.level?)"),
        ("metadata.=3", "(did you mean metadata.NAME?)"),
        ("metadata=3", "(did you mean metadata.NAME?)"),
        ("=3", "there is no field ''"),
        ("cluster=", "names no value; write cluster=VALUE, or cluster~ for any value and cluster!~ for none"),
        ("tags=a\x00", "character U+0000 at index 1 is not allowed"),
        ("tags=\ud800", "no field has such a value"),
        ("a\nb=1", "(did you mean metadata.NAME?)"),
        ("metadata.a\nb=1", "there is no field 'metadata.a\\nb'"),
        (f"tags~{'x' * 501}", "at most 500 characters"),
    ],
)
def test_an_invalid_condition_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BadCondition) as refused:
        parse_condition(text)

    assert message in str(refused.value)
    assert 1 == len(str(refused.value).splitlines())


def test_a_field_is_parsed_alone() -> None:
    assert "metadata.a.b" == parse_field(" metadata.a.b ")
    with pytest.raises(BadCondition, match="did you mean cluster"):
        parse_field("clusters")
