"""Exported tables have the labels of a panel's own scale beside the outcomes."""

from csv import DictReader

import pytest

from jury_store import open_store
from support.command_line import CommandLine
from support.evidence_lists import SAID, a_debate
from support.scaled_debates import a_right_answer
from support.stored_debates import store_debate


@pytest.fixture
def exported(jury: CommandLine) -> CommandLine:
    """A debate under a scale, which ann reviewed, and one in the three verdicts."""
    assert jury("db", "upgrade").code == 0
    opened = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=True)
    store_debate(opened, a_right_answer(), "d1")
    store_debate(opened, a_debate(*SAID["split"]), "d2")
    opened.close()
    assert jury("review", "d1", "--reviewer", "ann", "--label", "partial").code == 0
    assert jury("export", "--all", "--csv", "tables").code == 0
    return jury


def rows(jury: CommandLine, name: str, *columns: str) -> list[tuple[str, ...]]:
    with (jury.folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [tuple(row[column] for column in columns) for row in DictReader(file)]


def test_debates_votes_and_reviews_have_their_label(exported: CommandLine) -> None:
    assert [("d1", "safe_pass", "right"), ("d2", "unsafe_fail", "")] == rows(
        exported, "debates", "debate_id", "final_verdict", "final_label"
    )
    assert [("safe_pass", "right", "right"), ("needs_review", "partial", "right")] == sorted(
        {
            one[1:]
            for one in rows(exported, "ballots", "debate_id", "verdict", "vote_label", "final_label")
            if one[0] == "d1"
        },
        reverse=True,
    )
    assert {("", "")} == {
        one[1:] for one in rows(exported, "ballots", "debate_id", "vote_label", "final_label") if one[0] == "d2"
    }
    assert [("needs_review", "partial")] == rows(exported, "labels", "label", "scale_label")
