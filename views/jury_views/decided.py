"""What was decided, and how often that was right: the sentence that stands wherever verdicts meet labels."""

from typing import TYPE_CHECKING

from jury_analysis.wording import Reason, Wording

if TYPE_CHECKING:
    from jury_analysis.decided_cases import DecidedCases
    from jury_analysis.estimate import Estimate

_DECIDED = Wording(
    "decided {decided:,} of {labelled:,}{right}{left}", "{labelled:,}件中{decided:,}件を判定{right}{left}"
)
_RIGHT = Wording(": {right:,} right ({share}){passes}{fails}", "：正解{right:,}件（{share}）{passes}{fails}")
_FALSE_PASSES = Wording(", {n:,} false passes", "、誤った合格{n:,}件", one=", {n} false pass")
_FALSE_FAILS = Wording(", {n:,} false fails", "、誤った不合格{n:,}件", one=", {n} false fail")
_LEFT = Wording("; {left:,} left to people", "。{left:,}件は人に委ねる")


def decided_sentence(found: "DecidedCases") -> Reason:
    """`decided 136 of 182: 119 right (87.5% [81.1%, 92.3%]), 3 false passes, 14 false fails; 46 left to people`."""
    right: str = ""
    if found.right.value is not None:
        passes = fails = ""
        if found.false_passes is not None and found.false_fails is not None:
            passes, fails = _FALSE_PASSES(n=found.false_passes), _FALSE_FAILS(n=found.false_fails)
        right = _RIGHT(right=found.number_right, share=share_with_interval(found.right), passes=passes, fails=fails)
    left = _LEFT(left=found.left) if found.left else ""
    return _DECIDED(decided=found.right.n, labelled=found.labelled, right=right, left=left)


def share_with_interval(one: "Estimate") -> str:
    """`87.5% [81.1%, 92.3%]`, of a figure that has a value."""
    interval = "" if one.interval is None else f" [{one.interval.low:.1%}, {one.interval.high:.1%}]"
    return f"{one.value:.1%}{interval}"
