"""What was decided, and how often that was right: the sentence that stands wherever verdicts meet labels."""

from typing import TYPE_CHECKING

from jury_events.panel import Language
from jury_views.translation import TranslatedLabels, Translation

if TYPE_CHECKING:
    from jury_analysis.decided_cases import DecidedCases
    from jury_analysis.estimate import Estimate


class _DecidedWords(TranslatedLabels):
    decided = Translation("decided {decided} of {labelled}", "{labelled}件中{decided}件を判定")
    right = Translation(": {right} right ({share})", "：正解{right}件（{share}）")
    false_pass = Translation(", {count} false pass", "、誤った合格{count}件")
    false_passes = Translation(", {count} false passes", "、誤った合格{count}件")
    false_fail = Translation(", {count} false fail", "、誤った不合格{count}件")
    false_fails = Translation(", {count} false fails", "、誤った不合格{count}件")
    left = Translation("; {left} left to people", "。{left}件は人に委ねる")


def decided_sentence(found: "DecidedCases", language: Language = "en") -> str:
    """`decided 136 of 182: 119 right (87.5% [81.1%, 92.3%]), 3 false passes, 14 false fails; 46 left to people`."""
    words = _DecidedWords(language)
    said = words.decided.format(decided=f"{found.right.n:,}", labelled=f"{found.labelled:,}")
    if found.right.value is not None:
        said += words.right.format(right=f"{found.number_right:,}", share=share_with_interval(found.right))
        if found.false_passes is not None and found.false_fails is not None:
            passes = words.false_pass if found.false_passes == 1 else words.false_passes
            fails = words.false_fail if found.false_fails == 1 else words.false_fails
            said += passes.format(count=f"{found.false_passes:,}") + fails.format(count=f"{found.false_fails:,}")
    return said + (words.left.format(left=f"{found.left:,}") if found.left else "")


def share_with_interval(one: "Estimate") -> str:
    """`87.5% [81.1%, 92.3%]`, of a figure that has a value."""
    interval = "" if one.interval is None else f" [{one.interval.low:.1%}, {one.interval.high:.1%}]"
    return f"{one.value:.1%}{interval}"
