"""`jury review` of a debate under a scale of the panel's own: its labels by an option and by keys, with meanings."""

import re

import pytest

from jury_store import open_store
from support.command_line import CommandLine
from support.debate_harness import Says
from support.keyboard import Keyboard
from support.scaled_debates import a_right_answer, a_scaled_debate
from support.scales import ANSWERS
from support.stored_debates import store_debate


@pytest.fixture
def reviewed(jury: CommandLine) -> CommandLine:
    """A store of the debate d1, which came to `right`."""
    assert jury("db", "upgrade").code == 0
    opened = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=True)
    store_debate(opened, a_right_answer(), "d1", run_id=None)
    opened.close()
    return jury


def test_a_label_is_recorded_by_an_option_and_another_one_is_refused_in_one_line(reviewed: CommandLine) -> None:
    made = reviewed("review", "d1", "--reviewer", "ann", "--label", "partial", "--json")
    other = reviewed("review", "d1", "--reviewer", "bob", "--label", "partly")
    both = reviewed("review", "d1", "--reviewer", "bob", "--label", "right", "--verdict", "safe_pass")

    assert (0, "needs_review", "partial") == (made.code, made.json["verdict"], made.json["label"])
    assert "ann: partial" in reviewed("show", "d1").out
    assert 1 == len(other.err.strip().split("\n"))
    assert "the scale answers has no label 'partly' (did you mean partial?); it has wrong, partial, right" in other.err
    assert "give one of --verdict and --label" in both.err


def test_a_blind_session_shows_the_meanings_and_takes_the_key_of_a_label(reviewed: CommandLine) -> None:
    with Keyboard(reviewed, "review", "d1", "--reviewer", "ann", "--blind") as terminal:
        terminal.wait_for("1 right · 2 partial · 3 wrong · s skip · q quit")
        before = re.sub(r"\x1b\[[0-9;]*m", "", terminal.said)
        terminal.key("1")
        terminal.line("Reason (one line; empty: none): ", "")
        assert 0 == terminal.ends()
        after = terminal.said
    (review,) = reviewed("show", "d1", "--json").json["reviews"]

    assert "✓ right (safe_pass)  Everything is answered, and true." in before
    assert "right for reasons" not in before
    assert "right recorded" in after
    assert ("safe_pass", "right", True) == (review["verdict"], review["label"], review["blind"])


def test_the_queue_names_the_reason_in_the_word_of_the_outcome(reviewed: CommandLine) -> None:
    opened = open_store(f"sqlite:///{reviewed.folder / 'jury.db'}", write=True)
    store_debate(
        opened, a_scaled_debate((Says("right"), Says("partial"), Says("partial")), **ANSWERS), "d2", run_id=None
    )
    opened.close()
    listed, read = reviewed("review", "--list"), reviewed("review", "--list", "--json")

    assert ["review", "0.33", "d2"] == listed.out.split()[:3]
    assert [("needs_review", "needs_review", "partial")] == [
        (one["why"], one["final_verdict"], one["final_label"]) for one in read.json
    ]
