"""What of a row enters its case: the known columns, what a user names instead of them, and nothing else."""

import io
import json
from typing import Any

import pytest

from jury_cases import CaseFileError, CaseOptions, read_cases
from jury_cases.containers import json_rows
from jury_events import Case

ROW = {
    "case_id": "a",
    "question": "When do you open?",
    "response": "At nine.",
    "policy": "Be brief.",
    "label": "approve",
}
TRUTHS = ("answer", "target", "ground_truth", "gold", "correct", "solution", "verdict", "score", "rating", "attack")


def the_case(row: dict[str, Any], **fields: str) -> Case:
    (case,) = read_cases(["-"], CaseOptions(fields=fields), stdin=io.BytesIO(json.dumps(row).encode()))
    return case


@pytest.mark.parametrize("name", TRUTHS)
def test_a_column_that_may_have_the_truth_stays_outside(name: str) -> None:
    assert the_case(ROW) == the_case({**ROW, name: "TRUTH"})


@pytest.mark.parametrize("part", ["case_id", "question", "response", "policy", "expected_behavior", "cluster"])
def test_a_column_that_is_named_wins_over_the_known_one(part: str) -> None:
    known = the_case({**ROW, part: "known", "mine": "named"})
    named = the_case({**ROW, part: "known", "mine": "named"}, **{part: "mine"})

    assert the_case({**ROW, part: "named"}) == named != known


class Counted(io.RawIOBase):
    """A line without an end, and how much of it was read."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        size = min(len(target), self.left)
        target[:size] = b"x" * size
        self.left, self.taken = self.left - size, self.taken + size
        return size


def test_a_line_that_does_not_end_is_refused_before_it_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rows, "MAX_LINE", 1 << 20)
    line = Counted(64 << 20)
    with pytest.raises(CaseFileError, match="the line is longer than 1 MiB; split the row"):
        list(json_rows.read_rows(line, json_rows.RowSource("endless")))

    assert line.taken < 4 << 20
