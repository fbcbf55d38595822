"""A gate in words, for the terminal, pages, CI systems and failing tests; they are English as they stand."""

from functools import reduce
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_views.report_sections import Table, crossed

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate
    from jury_analysis.gate import Decision, Gate, GateReport
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.paired import Paired
    from jury_analysis.true_rate import MoreLabels, TrueGate, TrueRate


_NAME = 200
_OF_SOME = ("false_pass", "false_fail")
"""Metrics of cases with one label only."""

_WORSE = {
    "more": Wording("more is worse", "増えると悪化"),
    "less": Wording("less is worse", "減ると悪化"),
    "either": Wording("a change in either direction does harm", "どちらの方向の変化も悪化"),
}
_TOO_FEW = Wording("nothing: too few cases", "なし（ケースが少なすぎる）")
_ALIKE = Wording("unknown: all scores change alike, or none does", "不明（すべてのスコアの変化が等しいか、変化がない）")
_SAYS = {
    "pass": Wording("pass: the harm is within the margin", "合格: 悪化は許容範囲内"),
    "fail": Wording(
        "fail: there is harm, and it may be larger than the margin",
        "不合格: 悪化があり、許容範囲を超える可能性がある",
    ),
    "inconclusive": Wording("inconclusive: the cases do not decide it", "判断不能: このケース数では決まらない"),
}
OUTCOMES = {
    "pass": Wording("pass", "合格"),
    "fail": Wording("fail", "不合格"),
    "inconclusive": Wording("inconclusive", "判断不能"),
}
_HEADLINE = Wording("{says}{missing}{counts}", "{says}{missing}{counts}")
_MISSING = Wording(", {missing:,} without an evaluation", "、評価のない組{missing:,}")
_COUNTS_AS = Wording("; counts as {outcome}", "。{outcome}として扱う")
SAID = Wording("{said}", "{said}")

JUDGE = Wording("judge", "審査側")
_COUNTED = Wording("counted", "数えるもの")
_METRIC = Wording("metric", "指標")
_HARM = Wording("harm", "悪化")
_CHANGE = Wording("change", "変化")
_CASES = Wording("cases", "ケース")
WOULD_TAKE = Wording("it would take", "判断に必要なもの")
_COULD_FIND = Wording("could have found", "検出できた変化")
_WITHOUT = Wording("without an evaluation", "評価のない組")
_CHANGING = Wording("verdicts that change", "変わる判定")

_SIDES = Wording("{metric}: {base} → {candidate} ({worse})", "{metric}: {base} → {candidate}（{worse}）")
_OF_MARGIN = Wording("{figure}; margin {margin:g}{p}", "{figure}、許容範囲{margin:g}{p}")
_NO_INTERVAL = Wording("{value:+.4f}, no interval", "{value:+.4f}、区間なし")
_PAIRS = Wording("{n:,} pairs", "{n:,}組", one="{n} pair")
_CLUSTERS = Wording("{n:,} clusters", "クラスター{n:,}件", one="{n} cluster")
_COUNT = Wording(
    "{counted:,} of {pairs} count, {changed:,} of them change; {clusters}",
    "{pairs}のうち{counted:,}組を数え、{changed:,}組が変化。{clusters}",
)
_OF_THAT = Wording("an evaluation of those without one", "評価のない組の評価", one="an evaluation of that without one")
_ABOUT = Wording("cases that the metric is about", "指標の対象となるケース")
_NO_NUMBER = Wording("no number of cases decides it", "ケース数では決まらない")
_WHOLE = Wording(
    "{whole:,} cases{counted}{evaluated}, if the change is the observed one ({power:.0%} power)",
    "観測された変化が続くなら{whole:,}ケース{counted}{evaluated}（検出力{power:.0%}）",
)
_OF_WHICH = Wording(" of which {needed:,} count", "（うち{needed:,}件を数える）")
_ALL_EVALUATED = Wording(", all with an evaluation", "（すべて評価あり）")
_SMALLEST = Wording(
    "a change of {change:.3g} ({power:.0%} power, design effect {effect:.2f})",
    "{change:.3g}の変化（検出力{power:.0%}、デザイン効果{effect:.2f}）",
)
_WITHIN = Wording(
    "{pairs}: by what they could be, the {what} is within [{low:+.4f}, {high:+.4f}]",
    "{pairs}: とりうる値により、{what}は[{low:+.4f}, {high:+.4f}]の範囲",
)
_REPEATS = Wording("{flips}; between repeats of base: {repeats}", "{flips}、baseの繰り返しの間: {repeats}")
_NO_FLIPS = Wording("– ({reason})", "–（{reason}）")
_FLIPS = Wording("{share:.1%}{limits} of {n:,}", "{n:,}件の{share:.1%}{limits}")

_ONLY_IN = Wording(
    "left out: {base:,} debates only in base, {candidate:,} only in candidate",
    "除外: baseのみの議論{base:,}件、candidateのみ{candidate:,}件",
)
_LEFT_OUT = Wording("left out: {count:,} {unit} ({reason})", "除外: {count:,} {unit}（{reason}）")
_LABELS_DIFFER = Wording(
    "{pairs} with two different labels count as unlabelled", "ラベルが2通りある{pairs}はラベルなしとして数える"
)
_EITHER_WITHOUT_LABELS = Wording(
    "without labels nothing says which side is right, so a change in either direction counts: --labels FILE, or "
    "--worse more|less, decides otherwise",
    "ラベルがないとどちらが正しいか分からないため、どちらの方向の変化も数える"
    "（--labels FILE または --worse more|less で変更）",
)
_EITHER = Wording(
    "the metric {metric} does not use the labels, so a change in either direction counts: --metric {others}, or "
    "--worse more|less, decides otherwise",
    "指標{metric}はラベルを使わないため、どちらの方向の変化も数える"
    "（--metric {others} または --worse more|less で変更）",
)
_ANY_OF_LABELS = Wording("accuracy, false_pass or false_fail", "accuracy・false_pass・false_fail")
_NO_VERDICT = Wording(
    "{pairs} without a verdict (or strict plurality) on one side or both: {counts}{hold}",
    "一方または両方に判定（または厳密な相対多数）のない{pairs}: {counts}{hold}",
)
_SCORES_COUNT = Wording("scores count where both sides have one", "スコアは両方にある場合だけ数える")
_COUNTS_WRONG = Wording("there it counts as wrong", "不正解として数える")
_COUNTS_NOT = Wording(
    "there it does not count as {name}, so that missing verdicts lower the share of {name}",
    "{name}には数えないため、判定がないと{name}の割合が下がる",
)
_HOLD = Wording(
    "; the decision has to hold for whatever the {n:,} without an evaluation could be",
    "。評価のない{n:,}組の値が何であっても同じ場合だけ判断する",
)


class GateInWords(NamedTuple):
    """What reports and pages say of a gate of any kind; an inconclusive one may count as `pass` or `fail`.

    `facts`: what the decision is based on, as names and values. `notes`: what has to be said first. `table`: of the
    cases drawn for a true rate; a gate on two sides has `gate_sections`. `counted`: what is counted of which scale of
    the panels' own; `drift`: when the judging panel was calibrated and last checked for drift; "" where there is
    nothing to say. `language`: of the run's jury, in which a terminal shows it.
    """

    title: str
    report: "GateReport | TrueGate"
    decision: "Decision"
    outcome: "Decision"
    headline: Reason
    facts: list[tuple[Reason, Reason]]
    notes: list[Reason]
    table: Table | None = None
    counted: str = ""
    drift: str = ""
    language: Language = "en"

    @property
    def lines(self) -> list[str]:
        return [self.headline, *(f"{name}: {value}" for name, value in self.facts), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        return {**self.report.to_dict(), **({"judge": self.drift} if self.drift else {})}


def outcome_of(decision: "Decision", inconclusive: str | None) -> "Decision":
    """The decision, an inconclusive one as it counts; None: as nothing else."""
    if decision != "inconclusive" or inconclusive is None:
        return decision
    return "pass" if inconclusive == "pass" else "fail"


def counts_as(decision: "Decision", outcome: "Decision") -> Reason | str:
    """What is said behind a decision that counts as another one."""
    return _COUNTS_AS(outcome=OUTCOMES[outcome]()) if outcome != decision else ""


def gate_in_words(
    base: str,
    candidate: str,
    report: "GateReport",
    *,
    inconclusive: str | None = None,
    worse: str | None = None,
    counted: str = "",
    drift: str = "",
) -> GateInWords:
    """A gate on two sides.

    Args:
        worse: the direction that was asked for; None: that of the metric.
    """
    gate = report.gate
    outcome = outcome_of(gate.decision, inconclusive)
    open_ = gate.decision == "inconclusive" and gate.without_evaluation
    return GateInWords(
        title=f"gate {visible_line(base, _NAME)} → {visible_line(candidate, _NAME)}",
        report=report,
        decision=gate.decision,
        outcome=outcome,
        headline=_HEADLINE(
            says=_SAYS[gate.decision](),
            missing=_MISSING(missing=gate.without_evaluation) if open_ else "",
            counts=counts_as(gate.decision, outcome),
        ),
        facts=_facts(gate, counted, drift),
        notes=_notes(gate, report.paired, worse),
        counted=counted,
        drift=drift,
    )


def _facts(gate: "Gate", counted: str, drift: str) -> list[tuple[Reason, Reason]]:
    rows = [(_COUNTED(), SAID(said=counted))] if counted else []
    p = "" if gate.p_value is None else f", p {gate.p_value:.3g}"
    rows += [
        (
            _METRIC(),
            _SIDES(
                metric=visible_line(gate.metric, 60),
                base=_side(gate.base),
                candidate=_side(gate.candidate),
                worse=_WORSE[gate.worse](),
            ),
        ),
        (_harm(gate), _OF_MARGIN(figure=_figure(gate.harm), margin=gate.margin, p=p)),
        (_CASES(), _cases(gate)),
    ]
    if gate.decision == "inconclusive":
        rows.append((WOULD_TAKE(), _needed(gate)))
    else:
        rows.append((_COULD_FIND(), _smallest(gate)))
    if gate.without_evaluation:
        rows.append((_WITHOUT(), _without_evaluation(gate)))
    if drift:
        rows.append((JUDGE(), SAID(said=drift)))
    repeats = gate.flips_between_repeats
    between = _flips(repeats) if repeats.reason is None else repeats.reason
    rows.append((_CHANGING(), _REPEATS(flips=_flips(gate.flips), repeats=between)))
    return rows


def _notes(gate: "Gate", paired: "Paired", worse: str | None) -> list[Reason]:
    said = [*paired.warnings, *gate.harm.notes]
    if gate.harm.reason is not None:
        said.append(gate.harm.reason)
    if gate.worse == "either" and worse is None:
        said.append(_either(gate, paired))
    if paired.without_verdict:
        said.append(_without_verdict(gate, paired))
    if paired.only_in[0] or paired.only_in[1]:
        said.append(_ONLY_IN(base=paired.only_in[0], candidate=paired.only_in[1]))
    said += [_LEFT_OUT(count=one.count, unit=one.unit, reason=one.reason) for one in paired.excluded]
    if paired.labels_differ:
        said.append(_LABELS_DIFFER(pairs=_PAIRS(n=paired.labels_differ)))
    return said


def plan_facts(plan: "GatePlan") -> list[tuple[str, str]]:
    power = f"with {plan.power:.0%} power"
    nothing = _ALIKE if plan.metric == "score" and not plan.mean_square else _TOO_FEW
    smallest = nothing() if plan.smallest_change is None else f"a change of {plan.smallest_change:.3g} {power}"
    needed = "–" if plan.cases_for_margin is None else f"{plan.cases_for_margin:,} {power}"
    counted = "all" if plan.counted_share == 1 else f"{plan.counted_share:.1%}"
    of_all = f", {counted} of which the metric is about" if plan.counted_share < 1 or plan.metric in _OF_SOME else ""
    origin = "measured" if plan.measured else "assumed"
    return [
        ("metric", visible_line(plan.metric, 60)),
        ("margin", f"{plan.margin:g}"),
        ("planned", f"{plan.cases:,} cases{of_all}"),
        ("variation of a pair", f"{plan.mean_square:.4g} ({origin}), design effect {plan.design_effect:.2f}"),
        ("they could find", smallest),
        ("cases for the margin", needed),
    ]


def _side(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _harm(gate: "Gate") -> Reason:
    return _CHANGE() if gate.worse == "either" else _HARM()


def _figure(estimate: "Estimate") -> str:
    if estimate.value is None:
        return "–"
    if estimate.interval is None:
        return _NO_INTERVAL(value=estimate.value)
    return f"{estimate.value:+.4f} [{estimate.interval.low:+.4f}, {estimate.interval.high:+.4f}]"


def _without_evaluation(gate: "Gate") -> Reason:
    pairs, found = _PAIRS(n=gate.without_evaluation), gate.possible
    return pairs if found is None else _WITHIN(pairs=pairs, what=_harm(gate), low=found.low, high=found.high)


def _either(gate: "Gate", paired: "Paired") -> Reason:
    if paired.against_labels is None:
        return _EITHER_WITHOUT_LABELS()
    return _EITHER(metric=visible_line(gate.metric, 60), others=_ANY_OF_LABELS() if paired.ordered else "accuracy")


def _without_verdict(gate: "Gate", paired: "Paired") -> Reason:
    if gate.metric == "score":
        counts = _SCORES_COUNT()
    elif gate.metric == "accuracy":
        counts = _COUNTS_WRONG()
    else:
        counts = _COUNTS_NOT(name=visible_line(gate.metric, 60))
    hold = _HOLD(n=gate.without_evaluation) if gate.without_evaluation else ""
    return _NO_VERDICT(pairs=_PAIRS(n=paired.without_verdict), counts=counts, hold=hold)


def _cases(gate: "Gate") -> Reason:
    return _COUNT(
        counted=gate.harm.n, pairs=_PAIRS(n=gate.pairs), changed=gate.changed, clusters=_CLUSTERS(n=gate.clusters)
    )


def _smallest(gate: "Gate") -> Reason:
    if gate.smallest_change is None:
        return _ALIKE() if gate.metric == "score" and gate.harm.interval is not None else _TOO_FEW()
    return _SMALLEST(change=gate.smallest_change, power=gate.power, effect=gate.design_effect)


def _needed(gate: "Gate") -> Reason:
    if gate.without_evaluation and (gate.cases_needed is None or gate.harm.value is None):
        return _OF_THAT(n=gate.without_evaluation)
    if gate.cases_needed is None:
        if gate.harm.value is None:
            return _ABOUT()
        return _NO_NUMBER() if gate.margin == gate.harm.value == 0 else _ALIKE()
    return _WHOLE(
        whole=ceil(gate.cases_needed * gate.pairs / gate.harm.n),
        # The plan counts whole cases too.
        counted=_OF_WHICH(needed=gate.cases_needed) if gate.harm.n < gate.pairs else "",
        evaluated=_ALL_EVALUATED() if gate.without_evaluation else "",
        power=gate.power,
    )


def _flips(share: "Estimate") -> Reason:
    if share.value is None:
        return _NO_FLIPS(reason=share.reason or "")
    interval = share.interval
    limits = "" if interval is None else f" [{interval.low:.1%}, {interval.high:.1%}]"
    return _FLIPS(share=share.value, limits=limits, n=share.n)


_RARELY = 300
_SAYS_OF_RATE = {
    "pass": Wording("pass: the true rate keeps to it", "合格: 真の割合は条件を満たす"),
    "fail": Wording("fail: the true rate does not keep to it", "不合格: 真の割合は条件を満たさない"),
    "inconclusive": Wording("inconclusive: the labels do not decide it", "判断不能: このラベル数では決まらない"),
}
_ANY = Wording("any", "すべて")
_VERDICT = Wording("verdict of the jury", "陪審団の判定")
_HEAD = (
    Wording("cases", "ケース"),
    Wording("drawn", "抽出"),
    Wording("labelled", "ラベルあり"),
)
_TRUE_RATE = Wording("true rate", "真の割合")
_LABELS = Wording("labels", "ラベル")
_OF_RUN = Wording(
    "{label} is right for {low:.1%} to {high:.1%} of the {n:,} cases of this run (95% each way, by {labelled:,} "
    "labels, of them {found:,} {label})",
    "この実行の{n:,}件のうち{label}が正しいのは{low:.1%}〜{high:.1%}"
    "（片側95%、ラベル{labelled:,}件、うち{label}は{found:,}件）",
)
_OF_AGENT = Wording(
    "{label} is right for {low:.1%} to {high:.1%} of cases like these (95% each way, by {labelled:,} labels, of them "
    "{found:,} {label})",
    "同様のケースのうち{label}が正しいのは{low:.1%}〜{high:.1%}"
    "（片側95%、ラベル{labelled:,}件、うち{label}は{found:,}件）",
)
_DRAWN = Wording(
    "{labelled:,} of {drawn:,}, of a recorded draw from {cases:,} cases{clusters}",
    "記録された抽出（{cases:,}件から{drawn:,}件）のうち{labelled:,}件{clusters}",
)
_ASSERTED = Wording(
    "{labelled:,} of {drawn:,}, of a draw by assertion from {cases:,} cases{clusters}",
    "申告による抽出（{cases:,}件から{drawn:,}件）のうち{labelled:,}件{clusters}",
)
_OF_CLUSTERS = Wording(", {n:,} clusters", "、クラスター{n:,}件", one=", {n} cluster")
_MORE = Wording(
    "{n:,} more labels to {decision}, if {found:,} of them have {label}",
    "あと{n:,}件のラベル（うち{label}が{found:,}件）で{decision}",
    one="{n} more label to {decision}, if {found:,} of it has {label}",
)
_MORE_WITHOUT = Wording(
    "{n:,} more labels to {decision}, if none of them is {label}",
    "{label}のないラベルがあと{n:,}件で{decision}",
    one="{n} more label to {decision}, if it is not {label}",
)
_ONE_OR_OTHER = Wording("{one}; {other}", "{one}。{other}")
_NO_NUMBER_OF_LABELS = Wording("more labels than were thought of", "想定を超える数のラベル")
_ASSERTION = Wording(
    "that the labelled cases are a random draw, of a number fixed beforehand, is your assertion",
    "ラベルのあるケースが、あらかじめ決めた数の無作為抽出であることは、利用者の申告による",
)
_UNANSWERED = Wording(
    "{n:,} drawn cases without an answer, or with an unsure one: they count as the worse",
    "抽出されたが回答のない、または判断できないとされたケース{n:,}件: 悪い方として数える",
    one="{n} drawn case without an answer, or with an unsure one: it counts as the worse",
)
_RARE = Wording(
    "about cases like these, fewer than {least} labels rarely decide",
    "同様のケースについては、{least}件未満のラベルではほとんど決まらない",
)


def rate_sentence(rate: "TrueRate") -> Reason:
    """`wrong is right for 0.0% to 2.2% of the 182 cases of this run (95% each way, by 96 labels …)`."""
    return (_OF_RUN if rate.of == "run" else _OF_AGENT)(
        label=visible_line(rate.label, 60),
        low=rate.at_least,
        high=rate.at_most,
        labelled=rate.labelled,
        found=rate.found,
        **({"n": rate.population} if rate.of == "run" else {}),
    )


def true_gate_in_words(
    run: str, gate: "TrueGate", inconclusive: str | None = None, drift: str = "", language: Language = "en"
) -> GateInWords:
    """A gate on the true rate of a run, or of a file, of this name; `drift` and `language` as in `GateInWords`."""
    rate, notes = gate.rate, []
    outcome = outcome_of(gate.decision, inconclusive)
    labels = (_DRAWN if rate.source == "draw" else _ASSERTED)(
        labelled=rate.labelled,
        drawn=rate.drawn,
        cases=rate.population,
        clusters="" if rate.clusters is None else _OF_CLUSTERS(n=rate.clusters),
    )
    facts = [(_TRUE_RATE(), rate_sentence(rate)), (_LABELS(), labels)]
    if gate.decision == "inconclusive":
        ways = [_way(one, rate) for one in gate.needed]
        facts.append((WOULD_TAKE(), reduce(_one_or_other, ways) if ways else _NO_NUMBER_OF_LABELS()))
    if drift:
        facts.append((JUDGE(), SAID(said=drift)))
    if rate.source == "assertion":
        notes.append(_ASSERTION())
    if missing := rate.drawn - rate.labelled:
        notes.append(_UNANSWERED(n=missing))
    if rate.of == "agent" and rate.labelled < _RARELY:
        notes.append(_RARE(least=_RARELY))
    counts = ((one.population, one.drawn, one.found + one.other, one.found) for one in rate.strata)
    return GateInWords(
        title=f"gate {visible_line(run, 200)}, true {visible_line(gate.claim, 100)}",
        report=gate,
        decision=gate.decision,
        outcome=outcome,
        headline=_HEADLINE(missing="", says=_SAYS_OF_RATE[gate.decision](), counts=counts_as(gate.decision, outcome)),
        facts=facts,
        notes=notes,
        # The cases that were drawn from together.
        table=crossed(
            _VERDICT(), [one.verdict or _ANY() for one in rate.strata], [*(one() for one in _HEAD), rate.label], counts
        ),
        drift=drift,
        language=language,
    )


def _one_or_other(one: Reason, other: Reason) -> Reason:
    return _ONE_OR_OTHER(one=one, other=other)


def _way(one: "MoreLabels", rate: "TrueRate") -> Reason:
    label, decision = visible_line(rate.label, 60), OUTCOMES[one.decision]()
    if not one.found:
        return _MORE_WITHOUT(n=one.labels, decision=decision, label=label)
    return _MORE(n=one.labels, found=one.found, decision=decision, label=label)
