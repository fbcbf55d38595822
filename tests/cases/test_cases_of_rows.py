"""What a case knows of its row besides what is judged: labels, places, who speaks; `test_formats.py` has the rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, CaseFiles, CaseOptions, case_of, example_path, load_example, read_case
from jury_events import Case, Verdict, VerdictScale, bundled_scale, decisive_message
from jury_judge import CaseSettings
from support.debate_harness import SEATS, DebateHarness, Says, a_panel, by_round
from support.each_row import each_row

ASKED, DONE = {"role": "user", "content": "Refund it."}, {"role": "assistant", "content": "Done."}
CALLS = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("find", "pay")]
CALLED = {"role": "assistant", "content": "I look.", "tool_calls": CALLS}
FOUND = {"role": "tool", "tool_call_id": "find", "content": "Order 7"}
BOSS = {"role": "Boss", "content": "Go."}


def case(*messages: dict[str, Any], **row: Any) -> Case:
    return read_case({"question": "q", "messages": list(messages), **row}, default_id="c")


def test_messages_and_items_find_each_other_and_are_no_part_of_what_is_judged() -> None:
    found = case(ASKED, CALLED, FOUND)
    transcript = found.scenarios[0].execution.transcript

    assert [1, 1, 1] == list(map(transcript.message_of, (1, 2, 3)))
    assert not any(name in found.to_part() for name in (b"sources", b"position", b"messages.1"))
    assert found.to_part() == found.changed(position="cases.jsonl:3").to_part()


def test_the_decisive_message_of_a_row_is_label_data() -> None:
    found = case(ASKED, {**DONE, "name": "Expert"}, mistake_agent="Expert", mistake_step="1")

    assert {"decisive_message": 1, "decisive_agent": "Expert"} == found.metadata
    assert 1 == decisive_message(found.metadata)
    assert b"decisive" not in found.to_part()
    for other in (None, "2", True, -1, 2.0):
        assert decisive_message({"decisive_message": other}) is None


def test_a_rule_for_roles_that_means_or_matches_nothing_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({"question": "q", "messages": [BOSS, ASKED]}))
    files = CaseFiles([tmp_path / "cases.jsonl"], CaseOptions(roles={"Bos": "agent", "*ss": "agent"}))
    list(files)

    (line,) = files.notes.unmatched_roles()
    assert "--role Bos: no message has such a role or name (did you mean Boss?); those that were read have" in line
    with pytest.raises(CaseFileError, match=r"--role Boss=agnt: .*did you mean agent\?"):
        CaseOptions(roles={"Boss": "agnt"})


@each_row(
    ("language", "heading"),
    [("en", "given by the operator of this evaluation"), ("ja", "評価の運営者によるもの")],
)
def test_a_reference_is_shown_as_the_operators(language: str, heading: str) -> None:
    given = read_case({"question": "How many?", "response": "Seven.", "reference": "Eight."}, default_id="x")
    panel = a_panel(language=language, scale="answer-correctness", preset="independent")
    debate = DebateHarness(panel, by_round(dict.fromkeys(SEATS, (Says("wrong"),))), case=given).run()

    lines = debate.prompt(debate.asked[0]).split("\n")
    (place,) = (number for number, line in enumerate(lines) if heading in line)
    assert lines[place + 1].endswith(" Eight.")


def test_the_bundled_example_is_the_same_case_in_both_languages() -> None:
    english, japanese = load_example("en"), load_example("ja")

    def said(case: Case) -> list[Any]:
        records = (case.security_gate_records, case.agent_card_records)
        verdicts = [sorted(one.verdict for one in some) for some in records]
        return [case.label, *verdicts, *(item.kind for item in case.scenarios[0].execution.transcript.items)]

    assert said(english) == said(japanese)
    assert {"pass", "blocked", "fail", "needs_review", "error", "not_executed"} == {*said(english)[1]}
    assert english.case_id != japanese.case_id
    assert all(example_path(language).is_file() for language in ("en", "ja"))


# Labels in the words of the scale in which a case is judged.

PASS, REVIEW, FAIL = Verdict
ANSWERS, LEVELS, CODE = (
    bundled_scale(name, "en").scale for name in ("answer-correctness", "helpfulness-5", "code-review")
)
WORDS = ("label:good=right,so-so=partial,bad=unsafe_fail,skip=none",)


def labelled(folder: Path, labels: list[Any], scale: VerdictScale | None, maps: tuple[str, ...] = ()) -> list[Any]:
    rows = [{"id": f"c{n}", "question": "q", "response": "r", "label": label} for n, label in enumerate(labels)]
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = CaseSettings(mappings=maps).files([str(path)], scale=scale)
    return [(case.label, case.metadata.get("scale_label")) for case in found]


@each_row(
    ("labels", "scale", "maps", "expected"),
    [
        (["wrong", "Partial", " right ", None], ANSWERS, (), [(FAIL, "wrong"), (REVIEW, "partial"), (PASS, "right")]),
        ([5, "4", 1], LEVELS, (), [(PASS, "5"), (PASS, "4"), (FAIL, "1")]),
        (["safe_pass", "unsafe"], ANSWERS, (), [(PASS, None), (FAIL, None)]),
        (["reject", "approve"], CODE, (), [(FAIL, "reject"), (PASS, "approve")]),
        (["good", "so-so", "bad", "skip"], ANSWERS, WORDS, [(PASS, "right"), (REVIEW, "partial"), (FAIL, None)]),
    ],
)
def test_a_word_of_the_scale_is_its_outcome_and_comes_first(
    tmp_path: Path, labels: list[Any], scale: VerdictScale, maps: tuple[str, ...], expected: list[Any]
) -> None:
    none = [(None, None)] * (len(labels) - len(expected))

    assert [*expected, *none] == labelled(tmp_path, labels, scale, maps)


@each_row(
    ("labels", "scale", "maps", "said"),
    [
        (
            *(["right", "excellent"], ANSWERS, ()),
            "--map label:excellent=VERDICT (wrong, partial, right, safe_pass, needs_review, unsafe_fail, or none)",
        ),
        (["good"], ANSWERS, ("label:good=rigth",), "'rigth' is not a verdict (did you mean right?); write wrong"),
        (["right"], None, (), "(safe_pass, needs_review, unsafe_fail, or none)"),
    ],
)
def test_a_word_of_neither_is_refused_in_one_line_with_the_remedy(
    tmp_path: Path, labels: list[Any], scale: VerdictScale | None, maps: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CaseFileError) as refused:
        labelled(tmp_path, labels, scale, maps)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_case_given_from_python_is_read_alike() -> None:
    found = case_of({"question": "q", "response": "r", "label": "partial"}, scale=ANSWERS)

    assert (REVIEW, "partial") == (found.label, found.metadata["scale_label"])
