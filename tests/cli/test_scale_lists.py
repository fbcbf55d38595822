"""`jury list` and the other commands that choose debates know the labels of their verdicts."""

import pytest

from jury_store import open_store
from support.command_line import CommandLine
from support.scaled_debates import a_right_answer, an_answer_without_facts
from support.stored_debates import store_debate


@pytest.fixture
def listed(jury: CommandLine) -> CommandLine:
    assert jury("db", "upgrade").code == 0
    opened = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=True)
    store_debate(opened, a_right_answer(), "d1")
    store_debate(opened, an_answer_without_facts(), "d2")
    opened.close()
    return jury


def test_a_list_shows_and_chooses_labels(listed: CommandLine) -> None:
    assert ["right", "needs_review"] == [line.split()[1] for line in listed("list", "--order", "asc").out.splitlines()]
    assert ["d1"] == [one["debate_id"] for one in listed("list", "--where", "final_label=right", "--json").json]
    assert [("safe_pass", "right"), ("needs_review", None)] == [
        (one["final_verdict"], one["final_label"]) for one in listed("list", "--order", "asc", "--json").json
    ]
    assert "d1\tright" in listed("list", "--columns", "debate_id,final_label").out
    assert "by label: 1 × right" in listed("list", "--totals").out + listed("list", "--totals").err


def test_groups_and_runs_have_the_labels_of_verdicts(listed: CommandLine) -> None:
    table = listed("list", "--group-by", "case_id").out.splitlines()
    groups = listed("list", "--group-by", "case_id", "--json").json["groups"]

    assert table[0].endswith("by label")
    assert table[1].endswith("1 × right")
    assert {"right": 1} == groups[0]["labels"]
    assert "; by label: 1 × right" in listed("runs").out
    assert {"right": 1} == listed("runs", "--json").json[0]["labels"]
