"""Conditions on which a run fails: how they are written, what they count, and over what."""

from collections.abc import Mapping

import pytest

from jury_events import SettingError
from jury_views import parse_fail_condition
from support.refusals import RefusalTables

COUNTED = ("safe_pass", "needs_review", "unsafe_fail", "no_quorum", "no_verdict", "partly_read")


def counts(**given: int) -> Mapping[str, int]:
    return {**dict.fromkeys(COUNTED, 0), **given}


@pytest.mark.parametrize(
    ("text", "fails", "judged", "met"),
    [
        ("unsafe_fail", 0, 9, False),
        ("unsafe_fail", 1, 9, True),
        ("unsafe_fail>3", 3, 9, False),
        ("unsafe_fail > 3", 4, 9, True),
        ("unsafe_fail>=3", 3, 9, True),
        ("unsafe_fail<3", 3, 9, False),
        ("unsafe_fail<=3", 3, 9, True),
        ("unsafe_fail>2%", 1, 50, False),
        ("unsafe_fail>2%", 2, 50, True),
        ("unsafe_fail>=2%", 1, 50, True),
        ("unsafe_fail>0.1%", 1, 1000, False),
        ("unsafe_fail>33.33%", 1, 3, True),
        ("unsafe_fail>100%", 3, 3, False),
        ("unsafe_fail<=0", 0, 0, True),
        ("unsafe_fail>3", 0, 0, False),
    ],
)
def test_a_condition_is_met_by_exact_count_or_share_of_the_debates_with_a_verdict(
    text: str, fails: int, judged: int, *, met: bool
) -> None:
    found = parse_fail_condition(text).judge(counts(unsafe_fail=fails, no_verdict=1000), judged)

    assert met == found.met
    assert f"{fails} of {judged:,} debates with a verdict" in found.says


@pytest.mark.parametrize(("without", "met"), [(1, False), (2, True)])
def test_the_share_without_a_verdict_is_of_all_debates_that_are_over(without: int, *, met: bool) -> None:
    found = parse_fail_condition("no_verdict>5%").judge(counts(no_verdict=without), 20 - without)

    assert met == found.met
    assert f"{without} of 20 finished debates" in found.says


def test_shares_of_verdicts_are_unknown_where_no_debate_has_one() -> None:
    found = parse_fail_condition("unsafe_fail>2%").judge(counts(no_verdict=3), 0)

    assert found.met
    assert "no debate has a verdict" in found.says


@pytest.mark.parametrize("text", ["unsafe_fail>2%", "safe_pass<95%", "safe_pass>=0%"])
def test_a_share_of_no_debate_fails_as_nothing_is_known(text: str) -> None:
    judged = parse_fail_condition(text).judge(counts(), 0)

    assert judged.met
    assert "no debate is finished" in judged.says


def test_everything_that_is_counted_can_be_asked_for() -> None:
    assert [] == [name for name in COUNTED if not parse_fail_condition(name).judge(counts(**{name: 1}), 2).met]


@pytest.mark.parametrize("text", ["unsafe_fail>2%", "safe_pass<=99.5%", "no_quorum>=3", "needs_review"])
def test_a_condition_is_printed_as_it_was_written(text: str) -> None:
    assert text == str(parse_fail_condition(text))


WRONG = {
    "nothing": "",
    "no name": ">2%",
    "unknown name": "unsafe_fial>2%",
    "unknown name after spaces": "  unsafe>2%",
    "equals": "unsafe_fail=2",
    "no number": "unsafe_fail>",
    "negative number": "unsafe_fail>-1",
    "more than a condition": "unsafe_fail>2% or so",
    "broken count": "unsafe_fail>2.5",
    "more than all": "unsafe_fail>101%",
    "digits of another script": "unsafe_fail>٣",
    "exponent": "unsafe_fail>1e3",
    "control characters": "\x1b[31m",
}


def test_a_bad_condition_is_refused_with_the_place_and_the_grammar(refusals: RefusalTables) -> None:
    refusals.check("fail_conditions", WRONG, parse_fail_condition, SettingError)


def test_the_labels_of_a_scale_are_names_too() -> None:
    labels = ("wrong", "not-all", "right")

    assert parse_fail_condition("not-all>2%", labels).judge(counts(**{"not-all": 1}), 9).met
    assert not parse_fail_condition("wrong", labels).judge(counts(), 9).met, "none has it"
    with pytest.raises(SettingError, match=r"'wrnog' is not a count; .*no_quorum.*, wrong, not-all, right"):
        parse_fail_condition("wrnog", labels)
