"""Debates rescored with another rule for verdicts without support."""

import pytest

from jury_events import UnsupportedRule
from jury_replay import NotApplicable, Setting
from support.debate_harness import a_panel


@pytest.mark.parametrize("rule", ["count", "halve", "abstain"])
def test_the_rule_is_part_of_the_panel(rule: UnsupportedRule) -> None:
    changed = Setting(unsupported=rule).apply(a_panel(final={"method": "majority_vote"}))

    assert rule == changed.answers.unsupported


def test_a_median_has_no_half_votes() -> None:
    with pytest.raises(NotApplicable, match="no half votes"):
        Setting(unsupported="halve", method="median").apply(a_panel(final={"method": "majority_vote"}))
