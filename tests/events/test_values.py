"""Validation names the field and the limit; values are frozen, and ids cannot be forged."""

import pickle
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from jury_events import (
    AISEV_RUBRIC,
    STANDARD_RUBRIC,
    ArtifactRecord,
    Bands,
    Case,
    DebateId,
    Dimension,
    DimensionScore,
    Evaluation,
    EventError,
    ExecutionResult,
    NewDebateId,
    NewRunId,
    PartBuffer,
    QuestionSpec,
    Rubric,
    RunId,
    Scenario,
    Scores,
    Step,
    UnknownPart,
    Value,
    Verdict,
    again_id,
    canonical_json,
    debate_id,
    escape,
    exact_sum,
    exchange_id,
    first_of,
    first_stage_of,
    make_part,
    part_digest,
    refs_in,
    repeat_id,
    repeat_of,
    replaced_id,
    stage_id,
    unescape,
)
from support.debate_harness import DeterministicParts, a_case, a_panel
from support.each_row import each_row
from support.pictures import a_case_with_pictures
from support.refusals import RefusalTables


def scores(*points: float) -> Scores:
    names = STANDARD_RUBRIC.names
    return Scores(dimensions=tuple(DimensionScore(dimension=n, points=p) for n, p in zip(names, points, strict=True)))


def test_the_rubrics_of_the_documents() -> None:
    assert [dimension.maximum for dimension in STANDARD_RUBRIC.dimensions] == [40.0, 30.0, 20.0, 10.0]
    assert [dimension.maximum for dimension in AISEV_RUBRIC.dimensions] == [20.0, 15.0, 15.0, 50.0]


@each_row(
    ("make", "field"),
    [
        (lambda: Rubric(name="r", dimensions=(Dimension(name="a", maximum=60.0),)), "add up to 100, not 60"),
        (lambda: scores(101.0, 0.0, 0.0, 0.0), "points\n.*less than or equal to 100"),
        (lambda: scores(float("nan"), 0.0, 0.0, 0.0), "points\n.*finite number"),
        (lambda: scores("9", 0.0, 0.0, 0.0), "points\n.*valid number"),  # type: ignore[arg-type]
        (lambda: scores(True, 0.0, 0.0, 0.0), "points\n.*valid number"),
        (lambda: a_case(case_id=""), "case_id\n.*at least 1 character"),
        (lambda: a_case(case_id="a\nb"), r"case_id\n.*U\+000A at index 1"),
        (lambda: a_case(case_id="x" * 501), "case_id\n.*at most 500"),
        (lambda: Bands(safe_pass=30.0, needs_review=40.0), "needs_review .40. must not be above safe_pass"),
        (lambda: a_panel().changed(seats=()), "seats\n.*at least 1 item"),
        (lambda: QuestionSpec(prompt="a\ud800"), "prompt\n.*unicode"),
    ],
)
def test_a_refusal_names_the_field_and_its_limit(make, field) -> None:
    with pytest.raises(ValidationError, match=field):
        make()


def test_contradicting_fields_of_a_panel_are_refused() -> None:
    panel = a_panel()

    with pytest.raises(ValidationError, match="quorum: 4 is more than the 3 seats"):
        panel.changed(final=panel.final.changed(quorum=4))
    with pytest.raises(ValidationError, match="must list every seat once"):
        panel.changed(seats=panel.seats[:2])
    with pytest.raises(ValidationError, match="juror ids must be unique"):
        panel.changed(seats=(panel.seats[0], panel.seats[0], panel.seats[2]))
    with pytest.raises(ValidationError, match="required by the method final_judge"):
        panel.changed(final=panel.final.changed(judge=None))


def test_values_are_frozen_keyword_only_and_refuse_unknown_fields() -> None:
    question = QuestionSpec(prompt="Refund order 17.")

    with pytest.raises(ValidationError, match="frozen"):
        question.prompt = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        QuestionSpec("Refund order 17.")  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        QuestionSpec(prompt="x", hint="y")  # type: ignore[call-arg]


def every_value() -> list[type[Value]]:
    found, queue = [], [Value]
    while queue:
        for cls in queue.pop().__subclasses__():
            found.append(cls)
            queue.append(cls)
    return found


def test_values_contain_nothing_mutable() -> None:
    mutable = {
        f"{cls.__name__}.{name}": field.annotation
        for cls in every_value()
        if cls.__module__.startswith("jury_events")
        for name, field in cls.model_fields.items()
        if any(word in str(field.annotation) for word in ("list[", "dict[", "set["))
    }

    # `metadata` is a dict, which is never written to after the case is made.
    assert {"Case.metadata", "CaseLabelled.metadata", "DebateOpened.metadata", "RunEndpoint.said"} == set(mutable)


def test_the_overall_score_is_the_decimal_sum() -> None:
    assert scores(0.1, 0.2, 0.0, 0.0).overall == 0.3
    assert scores(39.9, 30.0, 20.0, 10.0).overall == 99.9
    with pytest.raises(ValidationError, match="overall: 50 is not the sum"):
        Evaluation(
            verdict=Verdict.SAFE_PASS,
            scores=scores(40.0, 0.0, 0.0, 0.0),
            overall=50.0,
            confidence=1.0,
            rationale=DeterministicParts().make("x"),
            model="simulated/a",
        )


@given(st.lists(st.floats(0, 100) | st.integers(0, 102_400).map(lambda parts: parts / 1024), max_size=20))
def test_a_sum_is_the_float_nearest_to_that_of_the_decimals(numbers: list[float]) -> None:
    assert float(sum((Fraction(repr(number)) for number in numbers), Fraction())) == exact_sum(tuple(numbers))


@each_row(
    ("label", "verdict"),
    [
        ("approve", "safe_pass"),
        (" Manual ", "needs_review"),
        ("REJECT", "unsafe_fail"),
        ("unsafe", "unsafe_fail"),
        ("Safe Pass", "safe_pass"),
        ("UNSAFE-FAIL", "unsafe_fail"),
    ],
)
def test_labels_of_other_systems_are_read(label, verdict) -> None:
    assert verdict == Verdict.from_label(label)


@given(st.text(min_size=1), st.integers(1, 999))
def test_step_ids_are_unambiguous(juror: str, number: int) -> None:
    for step in (Step(0, juror), Step(number, juror), Step(None, None)):
        assert step == Step.parse(step.id)
    assert juror == unescape(escape(juror))
    assert exchange_id("final", f"a/{juror}", 1, 2).count("/") == 3


def test_a_debate_id_is_safe_in_urls_and_files_and_unique_for_each_case() -> None:
    ids = [debate_id("r1", case) for case in ("a", "a/b", "a b", "a~b", "日本語", "a-b", "..", "x" * 400)]

    assert len(set(ids)) == len(ids)
    for name in ids:
        assert name == TypeAdapter(DebateId).validate_python(name)


@each_row(("log", "new"), [(RunId, NewRunId), (DebateId, NewDebateId)])
@each_row("name", [".", ".."])
def test_an_id_that_cannot_be_addressed_is_read_from_logs_and_refused_for_new_debates(
    name: str, log: Any, new: Any
) -> None:
    assert name == TypeAdapter(log).validate_python(name)
    with pytest.raises(ValidationError, match="cannot be an id: it is a step in a path"):
        TypeAdapter(new).validate_python(name)


def test_a_part_is_made_once_and_its_digest_is_salted() -> None:
    salts = iter([b"a" * 16, b"b" * 16])
    pen = PartBuffer(lambda: next(salts))

    first, again, other = pen.make("text"), pen.make("text"), pen.make("other")

    assert first == again != other
    assert [part_digest(b"a" * 16, b"text"), part_digest(b"b" * 16, b"other")] == [part.digest for part in pen.take()]
    assert pen.take() == ()
    assert pen.text(first) == b"text"


def test_a_pen_reuses_known_parts() -> None:
    known = make_part(b"text", b"k" * 16)
    pen = PartBuffer(lambda: b"n" * 16, [known])

    assert known.ref == pen.make("text")
    assert pen.take() == ()


def test_a_forgotten_text_is_neither_known_nor_stored_again() -> None:
    pen = PartBuffer(lambda: b"n" * 16)
    kept, forgotten = pen.make("kept"), pen.make("forgotten")
    pen.take()

    pen.forget(forgotten)

    assert b"kept" == pen.text(kept)
    assert () == pen.take()
    with pytest.raises(UnknownPart):
        pen.text(forgotten)


def test_references_survive_pickling() -> None:
    ref = DeterministicParts().make("text")

    assert ref == pickle.loads(pickle.dumps(ref))


def test_references_are_found_at_any_place() -> None:
    one, two = DeterministicParts().make("one"), DeterministicParts().make("two")
    body = {"a": asdict(one), "b": [{"c": asdict(two), "part": "no reference: it has a sibling"}], "part": 1}

    assert [one.part, two.part] == list(refs_in(body))


@each_row("value", [float("nan"), float("inf"), "\ud800", {"a": {1, 2}}])
def test_values_that_are_not_json_are_refused(value) -> None:
    with pytest.raises(EventError, match=r"JSON|surrogate"):
        canonical_json(value)


@each_row(
    ("record", "expected"),
    [
        ({"verdict": " PASS "}, "pass"),
        ({"evaluation": {"verdict": "pass"}}, "pass"),
        ({"verdict": None, "evaluation": {"verdict": "Fail"}}, "fail"),
        ({"verdict": " ", "evaluation": {"verdict": "needs_review"}}, "needs_review"),
        ({"verdict": "fail", "evaluation": {"verdict": "fail"}}, "fail"),
        ({"verdict": "pass", "evaluation": {"verdict": "passed"}}, "pass"),
        ({"verdict": "fail", "evaluation": "good"}, "fail"),
        ({"verdict": "safe_pass"}, "pass"),
        ({"verdict": "failed"}, "fail"),
        ({"verdict": "partial"}, "partial"),
    ],
)
def test_the_verdict_of_a_record_is_at_the_top_level_or_in_its_evaluation(record, expected) -> None:
    assert expected == ArtifactRecord.from_json(record).verdict


RECORDS_REFUSED: dict[str, dict[str, Any]] = {
    "other fields": {"id": 1, "prompt": "q"},
    "no field": {},
    "many fields": {str(n): n for n in range(12)},
    "a verdict too deep": {"evaluation": {"evaluation": {"verdict": "pass"}}},
    "a control character in a name": {"evaluation": {"verdict": None}, "a\nb": 1},
    "two verdicts": {"verdict": "fail", "evaluation": {"verdict": "pass"}},
    "a truth value": {"verdict": True},
    "a number": {"evaluation": {"verdict": 1}},
}


def test_a_record_without_a_clear_verdict_is_refused_with_its_fields(refusals: RefusalTables) -> None:
    refusals.check("records", RECORDS_REFUSED, ArtifactRecord.from_json, EventError)


def test_a_case_is_stored_without_its_label_and_defaults() -> None:
    case = a_case(label=Verdict.UNSAFE_FAIL, security_gate_records=(ArtifactRecord.from_json({"verdict": "fail"}),))

    assert case.changed(label=None) == Case.from_part(case.to_part())
    assert b"expected_behavior" not in case.to_part()
    assert b'"schema":1' in case.to_part()


_DEEP = b'{"case_id":' + b"[" * 1000 + b"]" * 1000 + b',"schema":1}'


@each_row(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"schema":1}',
        b'{"case_id":"c","scenarios":[],"schema":2}',
        b"[" * 99_999,
        _DEEP,
        b'{"case_id":NaN,"schema":1}',
    ],
)
def test_a_text_that_is_not_a_case_is_refused(content: bytes) -> None:
    with pytest.raises(EventError, match=r"not a case|upgrade"):
        Case.from_part(content)


def test_pictures_are_base64_in_the_json_of_a_case_and_no_part_of_its_text() -> None:
    case = a_case_with_pictures()

    assert case == Case.model_validate_json(case.model_dump_json())
    assert case.changed(images=()) == Case.from_part(case.to_part())


def test_a_case_with_duplicate_scenario_ids_names_them() -> None:
    scenario = Scenario(scenario_id="s", question=QuestionSpec(prompt="q"), execution=ExecutionResult())

    with pytest.raises(ValidationError, match="scenarios: ids must be unique, got s, s"):
        Case(case_id="c", scenarios=(scenario, scenario))


CASE_IDS = st.one_of(st.sampled_from(["a2", "a10", "s2", "2", "x~a2", "a2~s2", "é"]), st.text(min_size=1, max_size=20))


@given(CASE_IDS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 12))
def test_the_ids_of_the_debates_of_a_case_say_which_it_is(case_id: str, repeat: int, stage: int, attempt: int) -> None:
    first = repeat_id(debate_id("r", case_id), repeat)
    before, placed = None, stage_id(first, stage)
    debate = placed
    for _ in range(attempt - 1):
        before, debate = debate, again_id(debate)

    assert (before, placed, first) == (replaced_id(debate), first_of(debate), first_stage_of(debate))
    assert repeat == repeat_of(debate, "r", case_id)
