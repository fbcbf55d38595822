"""What statistics come to, in six lines at most: right, seats together, discussion, false passes, what to do next."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_events.panel import Language
from jury_events.text import visible_line
from jury_events.verdict import FAIL, PASS
from jury_views.decided import decided_sentence, share_with_interval
from jury_views.translation import TranslatedLabels, Translation

if TYPE_CHECKING:
    from jury_analysis.accuracy import AccuracyReport
    from jury_analysis.statistics import PanelStatistics

_DRAWN = 50
"""Cases that people are asked to label first."""


class ConclusionWords(TranslatedLabels):
    """The names of the lines, and their sentences."""

    right = Translation("right", "正解")
    seats = Translation("seats", "陪審員")
    discussion = Translation("discussion", "議論")
    false_passes = Translation("false passes", "誤った合格")
    next = Translation("next", "次の操作")
    no_labels = Translation("not known: no debate has a label", "不明（ラベルのある議論がない）")
    between = Translation("; ", "。")
    agree = Translation("two agree in {share}", "2名の一致は{share}")
    worth = Translation("{seats} are worth {votes} independent votes", "{seats}名は独立な{votes}票に相当")
    majority = Translation(
        "a majority is right in {majority}, the best seat in {best}",
        "多数決の正解率は{majority}、最良の陪審員は{best}",
    )
    nothing = Translation("nothing to compare: {reason}", "比較できない: {reason}")
    one_seat = Translation("one seat", "陪審員は1名")
    first_and_last = Translation(
        "{first} right by the first votes, {last} in the end", "正解は最初の票で{first}件、最後は{last}件"
    )
    changed = Translation("{changed} of {pairs} positions changed", "立場{pairs}件中{changed}件が変更")
    overruled = Translation(
        "the final judge overruled {overruled} of {debates}", "最終判定者は{debates}件中{overruled}件を覆した"
    )
    of_failing = Translation("{share} of the {count} that should fail", "不合格とすべき{count}件の{share}")
    then = Translation(", then ", "、次に ")
    left = Translation(", what is left to people", "（人に委ねられたもの）")
    value = Translation(", what each seat and round is worth", "（各陪審員と各ラウンドの価値）")


def conclusion_lines(found: "PanelStatistics", run: str | None, language: Language = "en") -> list[tuple[str, str]]:
    """What the lines are about, and what they say.

    Args:
        found: of one panel.
        run: the only run that was counted; None: several, or files, of which no next command is known.
        language: of the reader.
    """
    words = ConclusionWords(language)
    return [*_lines(found, words), *([] if run is None else [(words.next, _next(found, run, words))])]


def _lines(found: "PanelStatistics", words: ConclusionWords) -> Iterator[tuple[str, str]]:
    labels = found.against_labels
    rater = labels.jury or labels.panel
    yield words.right, decided_sentence(rater.decided, words.language) if labels.labelled else words.no_labels
    yield words.seats, _seats(found, words)
    if said := _discussion(found, words):
        yield words.discussion, said
    rate = rater.false_pass_rate
    if rate.value is not None:
        yield words.false_passes, words.of_failing.format(share=share_with_interval(rate), count=f"{rate.n:,}")


def _seats(found: "PanelStatistics", words: ConclusionWords) -> str:
    agreed, votes, said = found.agreement.raw, found.effective_votes, []
    if agreed.value is not None:
        said.append(words.agree.format(share=f"{agreed.value:.1%}"))
    if votes.effective.value is not None:
        said.append(words.worth.format(seats=votes.seats, votes=f"{votes.effective.value:.1f}"))
    if votes.majority_accuracy.value is not None and votes.best_seat_accuracy.value is not None:
        shares = {"majority": votes.majority_accuracy.value, "best": votes.best_seat_accuracy.value}
        said.append(words.majority.format(**{name: f"{one:.1%}" for name, one in shares.items()}))
    reason = words.one_seat if agreed.reason is None else agreed.reason.text(words.language)
    return words.between.join(said) or words.nothing.format(reason=reason)


def _discussion(found: "PanelStatistics", words: ConclusionWords) -> str:
    """What became of the first votes; "" where nobody discussed, and no final judge decided."""
    steps, judge, labels = found.discussion.steps, found.discussion.judge, found.against_labels
    said = []
    if labels.labelled and labels.jury is not None and (steps or judge is not None):
        first, last = (f"{one.decided.number_right:,}" for one in (labels.panel, labels.jury))
        said.append(words.first_and_last.format(first=first, last=last))
    if steps:
        changed = sum(step.pairs - sum(row[place] for place, row in enumerate(step.transitions)) for step in steps)
        said.append(words.changed.format(changed=f"{changed:,}", pairs=f"{sum(step.pairs for step in steps):,}"))
    if judge is not None:
        said.append(words.overruled.format(overruled=f"{judge.overrules:,}", debates=f"{judge.debates:,}"))
    return words.between.join(said)


def _next(found: "PanelStatistics", run: str, words: ConclusionWords) -> str:
    labels, name = found.against_labels, visible_line(run, 100)
    if not labels.labelled:
        draw = f"jury review --run {name} --sample {min(_DRAWN, found.cases)} --reviewer NAME"
        return f"{draw}{words.then}jury stats {name} --labels reviews"
    rater = labels.jury or labels.panel
    if rater.false_passes and _ours(labels):
        return f"jury list --run {name} --verdict {PASS} --label {FAIL} --why"
    if rater.decided.left:
        return f"jury review --run {name} --list{words.left}"
    return f"jury value {name}{words.value}"


def _ours(labels: "AccuracyReport") -> bool:
    return (labels.passing, labels.failing) == (PASS, FAIL)
