"""A true rate in words, and the gate on it: what people say of drawn cases, and what follows for all of them."""

from functools import reduce
from typing import TYPE_CHECKING

from jury_analysis.wording import Reason, Wording
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_views.gate_view import JUDGE, OUTCOMES, SAID, WOULD_TAKE, GateInWords, counts_as, outcome_of
from jury_views.report_sections import crossed

if TYPE_CHECKING:
    from jury_analysis.true_rate import MoreLabels, TrueGate, TrueRate

_RARELY = 300
_SAYS = {
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
_HEADLINE = Wording("{says}{counts}", "{says}{counts}")
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
_CLUSTERS = Wording(", {n:,} clusters", "、クラスター{n:,}件", one=", {n} cluster")
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
_EITHER = Wording("{one}; {other}", "{one}。{other}")
_NO_NUMBER = Wording("more labels than were thought of", "想定を超える数のラベル")
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
        clusters="" if rate.clusters is None else _CLUSTERS(n=rate.clusters),
    )
    facts = [(_TRUE_RATE(), rate_sentence(rate)), (_LABELS(), labels)]
    if gate.decision == "inconclusive":
        ways = [_way(one, rate) for one in gate.needed]
        facts.append((WOULD_TAKE(), reduce(_either, ways) if ways else _NO_NUMBER()))
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
        headline=_HEADLINE(says=_SAYS[gate.decision](), counts=counts_as(gate.decision, outcome)),
        facts=facts,
        notes=notes,
        # The cases that were drawn from together.
        table=crossed(
            _VERDICT(), [one.verdict or _ANY() for one in rate.strata], [*(one() for one in _HEAD), rate.label], counts
        ),
        drift=drift,
        language=language,
    )


def _either(one: Reason, other: Reason) -> Reason:
    return _EITHER(one=one, other=other)


def _way(one: "MoreLabels", rate: "TrueRate") -> Reason:
    label, decision = visible_line(rate.label, 60), OUTCOMES[one.decision]()
    if not one.found:
        return _MORE_WITHOUT(n=one.labels, decision=decision, label=label)
    return _MORE(n=one.labels, found=one.found, decision=decision, label=label)
