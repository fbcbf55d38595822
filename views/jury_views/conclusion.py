"""What statistics come to, in a few lines, and the sentence that stands wherever verdicts meet labels."""

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_events.text import visible_line
from jury_events.verdict import FAIL, PASS
from jury_views.gate_view import rate_sentence

if TYPE_CHECKING:
    from jury_analysis.discussion import Table
    from jury_analysis.estimate import DecidedCases, Estimate
    from jury_analysis.statistics import PanelStatistics
    from jury_analysis.true_rate import TrueRate


_DECIDED = Wording(
    "decided {decided:,} of {labelled:,}{right}{left}", "{labelled:,}件中{decided:,}件を判定{right}{left}"
)
_SO_MANY_RIGHT = Wording(": {right:,} right ({share}){passes}{fails}", "：正解{right:,}件（{share}）{passes}{fails}")
_SO_MANY_PASSES = Wording(", {n:,} false passes", "、誤った合格{n:,}件", one=", {n} false pass")
_FALSE_FAILS = Wording(", {n:,} false fails", "、誤った不合格{n:,}件", one=", {n} false fail")
_LEFT_TO_PEOPLE = Wording("; {left:,} left to people", "。{left:,}件は人に委ねる")


def decided_sentence(found: "DecidedCases") -> Reason:
    """`decided 136 of 182: 119 right (87.5% [81.1%, 92.3%]), 3 false passes, 14 false fails; 46 left to people`."""
    right: str = ""
    if found.right.value is not None:
        passes = fails = ""
        if found.false_passes is not None and found.false_fails is not None:
            passes, fails = _SO_MANY_PASSES(n=found.false_passes), _FALSE_FAILS(n=found.false_fails)
        right = _SO_MANY_RIGHT(
            right=found.number_right, share=share_with_interval(found.right), passes=passes, fails=fails
        )
    left = _LEFT_TO_PEOPLE(left=found.left) if found.left else ""
    return _DECIDED(decided=found.right.n, labelled=found.labelled, right=right, left=left)


def share_with_interval(one: "Estimate") -> str:
    """`87.5% [81.1%, 92.3%]`, of a figure that has a value."""
    interval = "" if one.interval is None else f" [{one.interval.low:.1%}, {one.interval.high:.1%}]"
    return f"{one.value:.1%}{interval}"


_DRAWN = 50
"""Cases that people are asked to label first."""


_RIGHT = Wording("right", "正解")
_SEATS = Wording("seats", "陪審員")
_DISCUSSION = Wording("discussion", "議論")
_REASONING = Wording("reasoning", "思考")
_FALSE_PASSES = Wording("false passes", "誤った合格")
_TRUE_RATE = Wording("true rate", "真の割合")
_DRIFT = Wording("drift", "ドリフト")
_NEXT = Wording("next", "次の操作")
_NO_LABELS = Wording("not known: no debate has a label", "不明（ラベルのある議論がない）")
_BOTH = Wording("{one}; {other}", "{one}。{other}")
_AGREE = Wording("two agree in {share}", "2名の一致は{share}")
_WORTH = Wording("{seats} are worth {votes} independent votes", "{seats}名は独立な{votes}票に相当")
_MAJORITY = Wording(
    "a majority is right in {majority}, the best seat in {best}",
    "多数決の正解率は{majority}、最良の陪審員は{best}",
)
_NOTHING = Wording("nothing to compare: {reason}", "比較できない: {reason}")
_ONE_SEAT = Wording("one seat", "陪審員は1名")
_FIRST_AND_LAST = Wording(
    "{first:,} right by the first votes, {last:,} in the end", "正解は最初の票で{first:,}件、最後は{last:,}件"
)
_CHANGED = Wording("{changed:,} of {pairs:,} positions changed", "立場{pairs:,}件中{changed:,}件が変更")
_UNDER_REASONING = Wording(
    "{changed:,} of {pairs:,} first votes changed once the agent's was shown{gain}",
    "エージェントの思考を見て{pairs:,}票中{changed:,}票が変更{gain}",
)
_TO_RIGHT = Wording(
    ": {right:,} became right, {wrong:,} no longer are",
    "（正解になったもの{right:,}票、正解でなくなったもの{wrong:,}票）",
)
_OVERRULED = Wording(
    "the final judge overruled {overruled:,} of {debates:,}", "最終判定者は{debates:,}件中{overruled:,}件を覆した"
)
_PRICE = Wording(
    "it cost ${rounds:,.2f}, the first votes ${first:,.2f}", "費用は${rounds:,.2f}、最初の票は${first:,.2f}"
)
_OF_FAILING = Wording("{share} of the {n:,} that should fail", "不合格とすべき{n:,}件の{share}")
_DRAW_THEN = Wording("{draw}, then {count}", "{draw}、次に {count}")
_LEFT = Wording("{command}, what is left to people", "{command}（人に委ねられたもの）")
_VALUE = Wording("{command}, what each seat and round is worth", "{command}（各陪審員と各ラウンドの価値）")
_COMMAND = Wording("{command}", "{command}")


class FactsOfRun(NamedTuple):
    """What the lines say beside the votes: the bounds of true rates by draws on record, and the last drift check."""

    rates: "tuple[TrueRate, ...]" = ()
    drift: Reason | None = None


NOTHING_BESIDE = FactsOfRun()


def conclusion_lines(
    found: "PanelStatistics", run: str | None, beside: FactsOfRun = NOTHING_BESIDE
) -> list[tuple[Reason, Reason]]:
    """What the lines are about, and what they say.

    Args:
        run: the only run that was counted; None: several, or files, of which no next command is known.
        beside: what is known of the run beside its votes.
    """
    lines = [*_lines(found)]
    if beside.rates:
        lines.append((_TRUE_RATE(), rate_sentence(beside.rates[-1])))
    if beside.drift is not None:
        lines.append((_DRIFT(), beside.drift))
    return [*lines, *([] if run is None else [(_NEXT(), _next(found, run))])]


def _lines(found: "PanelStatistics") -> Iterator[tuple[Reason, Reason]]:
    labels = found.against_labels
    rater = labels.jury or labels.panel
    yield _RIGHT(), decided_sentence(rater.decided) if labels.labelled else _NO_LABELS()
    yield _SEATS(), _seats(found)
    if (shown := found.reasoning) is not None:
        votes = shown.all
        gain = _TO_RIGHT(right=votes.became_right, wrong=votes.no_longer_right) if votes.labelled else ""
        changed = _changed(votes.pairs, votes.transitions)
        yield _REASONING(), _UNDER_REASONING(changed=changed, pairs=votes.pairs, gain=gain)
    if said := _discussion(found):
        yield _DISCUSSION(), reduce(_both, said)
    rate = rater.false_pass_rate
    if rate.value is not None:
        yield _FALSE_PASSES(), _OF_FAILING(share=share_with_interval(rate), n=rate.n)


def _both(one: Reason, other: Reason) -> Reason:
    return _BOTH(one=one, other=other)


def _seats(found: "PanelStatistics") -> Reason:
    agreed, votes, said = found.agreement.raw, found.effective_votes, []
    if agreed.value is not None:
        said.append(_AGREE(share=f"{agreed.value:.1%}"))
    if votes.effective.value is not None:
        said.append(_WORTH(seats=votes.seats, votes=f"{votes.effective.value:.1f}"))
    if votes.majority_accuracy.value is not None and votes.best_seat_accuracy.value is not None:
        shares = {"majority": votes.majority_accuracy.value, "best": votes.best_seat_accuracy.value}
        said.append(_MAJORITY(**{name: f"{one:.1%}" for name, one in shares.items()}))
    return reduce(_both, said) if said else _NOTHING(reason=_ONE_SEAT() if agreed.reason is None else agreed.reason)


def _discussion(found: "PanelStatistics") -> list[Reason]:
    """What became of the first votes; nothing where nobody discussed, and no final judge decided."""
    steps, judge, labels = found.discussion.steps, found.discussion.judge, found.against_labels
    said = []
    if labels.labelled and labels.jury is not None and (steps or judge is not None):
        first, last = (one.decided.number_right for one in (labels.panel, labels.jury))
        said.append(_FIRST_AND_LAST(first=first, last=last))
    if steps:
        changed = sum(_changed(step.pairs, step.transitions) for step in steps)
        said.append(_CHANGED(changed=changed, pairs=sum(step.pairs for step in steps)))
        if (price := found.discussion.price) is not None:
            said.append(_PRICE(rounds=price.rounds, first=price.first))
    if judge is not None:
        said.append(_OVERRULED(overruled=judge.overrules, debates=judge.debates))
    return said


def _changed(pairs: int, transitions: "Table") -> int:
    """Pairs whose position is another one later."""
    return pairs - sum(row[place] for place, row in enumerate(transitions))


def _next(found: "PanelStatistics", run: str) -> Reason:
    labels, name = found.against_labels, visible_line(run, 100)
    if not labels.labelled:
        draw = f"jury review --run {name} --sample {min(_DRAWN, found.cases)} --reviewer NAME"
        return _DRAW_THEN(draw=draw, count=f"jury stats {name} --labels reviews")
    rater = labels.jury or labels.panel
    if rater.false_passes and ((labels.passing, labels.failing) == (PASS, FAIL)):
        return _COMMAND(command=f"jury list --run {name} --verdict {PASS} --label {FAIL} --why")
    if rater.decided.left:
        return _LEFT(command=f"jury review --run {name} --list")
    return _VALUE(command=f"jury value {name}")
