"""Conditions on which a run fails: how they are written, what they count, and over what."""

from collections.abc import Mapping

import pytest

from jury_events import SettingError
from jury_views import parse_fail_condition
from jury_views.reports.fail_conditions import grammar
from jury_views.reports.tally import COUNTED


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


@pytest.mark.parametrize("name", COUNTED)
def test_everything_that_is_counted_can_be_asked_for(name: str) -> None:
    assert parse_fail_condition(name).judge(counts(**{name: 1}), 2).met


@pytest.mark.parametrize("text", ["unsafe_fail>2%", "safe_pass<=99.5%", "no_quorum>=3", "needs_review"])
def test_a_condition_is_printed_as_it_was_written(text: str) -> None:
    assert text == str(parse_fail_condition(text))


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("", 1, "a name is missing"),
        (">2%", 1, "a name is missing"),
        ("unsafe_fial>2%", 1, "'unsafe_fial' is not a count"),
        ("  unsafe>2%", 3, "'unsafe' is not a count"),
        ("unsafe_fail=2", 12, "'=2' is not understood"),
        ("unsafe_fail>", 12, "'>' is not understood"),
        ("unsafe_fail>-1", 12, "'>-1' is not understood"),
        ("unsafe_fail>2% or so", 16, "'or so' is not understood"),
        ("unsafe_fail>2.5", 13, "a count is a whole number"),
        ("unsafe_fail>101%", 13, "a share is at most 100%"),
        ("unsafe_fail>٣", 12, "is not understood"),
        ("unsafe_fail>1e3", 14, "'e3' is not understood"),
        ("\x1b[31m", 1, "a name is missing"),
    ],
)
def test_a_bad_condition_is_refused_with_the_place_and_the_grammar(text: str, place: int, why: str) -> None:
    with pytest.raises(SettingError) as refused:
        parse_fail_condition(text)

    assert f"character {place}: " in str(refused.value)
    assert why in str(refused.value)
    assert str(refused.value).endswith(grammar())
    assert str(refused.value).isprintable()


def test_the_labels_of_a_scale_are_names_too() -> None:
    labels = ("wrong", "not-all", "right")

    assert parse_fail_condition("not-all>2%", labels).judge(counts(**{"not-all": 1}), 9).met
    assert not parse_fail_condition("wrong", labels).judge(counts(), 9).met, "none has it"
    with pytest.raises(SettingError) as refused:
        parse_fail_condition("wrnog", labels)
    assert str(refused.value).endswith(grammar(labels))
