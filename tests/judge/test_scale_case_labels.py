"""Labels of cases are read in the words of the scale in which they are judged."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_cases import CaseFileError, case_of
from jury_events import Case, Verdict, VerdictScale, bundled_scale
from jury_judge import CaseSettings

PASS, REVIEW, FAIL = Verdict
ANSWERS, LEVELS, CODE = (
    bundled_scale(name, "en").scale for name in ("answer-correctness", "helpfulness-5", "code-review")
)


def read(folder: Path, *labels: Any, scale: VerdictScale | None = ANSWERS, maps: tuple[str, ...] = ()) -> list[Case]:
    rows = [{"id": f"c{n}", "question": "q", "response": "r", "label": label} for n, label in enumerate(labels)]
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(CaseSettings(mappings=maps).files([str(path)], scale=scale))


def meant(cases: list[Case]) -> list[tuple[Verdict | None, Any]]:
    return [(case.label, case.metadata.get("scale_label")) for case in cases]


def test_a_word_of_the_scale_is_its_outcome_and_stays_as_the_word(tmp_path: Path) -> None:
    assert [(FAIL, "wrong"), (REVIEW, "partial"), (PASS, "right"), (None, None)] == meant(
        read(tmp_path, "wrong", "Partial", " right ", None)
    )
    assert [(PASS, "5"), (PASS, "4"), (FAIL, "1")] == meant(read(tmp_path, 5, "4", 1, scale=LEVELS))


def test_words_of_the_documents_are_understood_too_and_the_scale_comes_first(tmp_path: Path) -> None:
    assert [(PASS, None), (FAIL, None)] == meant(read(tmp_path, "safe_pass", "unsafe"))
    assert [(FAIL, "reject"), (PASS, "approve")] == meant(read(tmp_path, "reject", "approve", scale=CODE))


def test_other_words_are_mapped_to_labels_or_verdicts(tmp_path: Path) -> None:
    maps = ("label:good=right,so-so=partial,bad=unsafe_fail,skip=none",)

    assert [(PASS, "right"), (REVIEW, "partial"), (FAIL, None), (None, None)] == meant(
        read(tmp_path, "good", "so-so", "bad", "skip", maps=maps)
    )


def test_a_word_of_neither_is_refused_in_one_line_with_place_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError) as unknown:
        read(tmp_path, "right", "excellent")
    with pytest.raises(CaseFileError) as mapped:
        read(tmp_path, "good", maps=("label:good=rigth",))
    with pytest.raises(CaseFileError) as without:
        read(tmp_path, "right", scale=None)

    said = str(unknown.value)
    assert "\n" not in said
    assert "cases.jsonl" in said
    assert "'excellent' is not understood" in said
    assert (
        "--map label:excellent=VERDICT (wrong, partial, right, safe_pass, needs_review, unsafe_fail, or none)" in said
    )
    assert "labels: 'rigth' is not a verdict (did you mean right?); write wrong, partial, right, safe_pass" in str(
        mapped.value
    )
    assert "'right' is not understood" in str(without.value)
    assert "(safe_pass, needs_review, unsafe_fail, or none)" in str(without.value)


def test_a_case_given_from_python_is_read_alike() -> None:
    case = case_of({"question": "q", "response": "r", "label": "partial"}, scale=ANSWERS)

    assert [(REVIEW, "partial")] == meant([case])
