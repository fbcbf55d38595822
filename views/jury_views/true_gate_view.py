"""A true rate in words, and the gate on it: what people say of drawn cases, and what follows for all of them."""

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_events.text import visible_line

if TYPE_CHECKING:
    from jury_analysis.gate import Decision
    from jury_analysis.true_rate import MoreLabels, TrueGate, TrueRate

_RARELY = 300
_SAYS = {
    "pass": Wording("pass: the true rate keeps to it", "合格: 真の割合は条件を満たす"),
    "fail": Wording("fail: the true rate does not keep to it", "不合格: 真の割合は条件を満たさない"),
    "inconclusive": Wording("inconclusive: the labels do not decide it", "判断不能: このラベル数では決まらない"),
}
_HEADLINE = Wording("{says}{counts}", "{says}{counts}")
_COUNTS_AS = Wording("; counts as {outcome}", "。{outcome}として扱う")
_TRUE_RATE = Wording("true rate", "真の割合")
_LABELS = Wording("labels", "ラベル")
_JUDGE = Wording("judge", "審査側")
_SAID = Wording("{said}", "{said}")
_WOULD_TAKE = Wording("it would take", "判断に必要なもの")
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


class NamedTrueGate(NamedTuple):
    """A gate on a true rate with the name of its run or file; an inconclusive one may count as `pass` or `fail`.

    `drift`: when the run's panel was calibrated and last checked for drift, "" where neither was.
    """

    run: str
    gate: "TrueGate"
    inconclusive: str | None = None
    drift: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The gate as JSON values."""
        return {**self.gate.to_dict(), **({"judge": self.drift} if self.drift else {})}

    @property
    def title(self) -> str:
        """Which gate it is."""
        return f"gate {visible_line(self.run, 200)}, true {visible_line(self.gate.claim, 100)}"

    @property
    def decision(self) -> "Decision":
        """The decision as it is."""
        return self.gate.decision

    @property
    def outcome(self) -> "Decision":
        """The decision, an inconclusive one as it counts."""
        if self.decision != "inconclusive" or self.inconclusive is None:
            return self.decision
        return "pass" if self.inconclusive == "pass" else "fail"

    @property
    def headline(self) -> Reason:
        """`pass: the true rate keeps to it`."""
        counts = _COUNTS_AS(outcome=self.outcome) if self.outcome != self.decision else ""
        return _HEADLINE(says=_SAYS[self.decision](), counts=counts)

    @property
    def facts(self) -> list[tuple[Reason, Reason]]:
        """What the decision is based on, as names and values."""
        rate = self.gate.rate
        labels = (_DRAWN if rate.source == "draw" else _ASSERTED)(
            labelled=rate.labelled,
            drawn=rate.drawn,
            cases=rate.population,
            clusters="" if rate.clusters is None else _CLUSTERS(n=rate.clusters),
        )
        rows = [(_TRUE_RATE(), rate_sentence(rate)), (_LABELS(), labels)]
        if self.decision == "inconclusive":
            ways = [_way(one, rate) for one in self.gate.needed]
            rows.append((_WOULD_TAKE(), reduce(_either, ways) if ways else _NO_NUMBER()))
        if self.drift:
            rows.append((_JUDGE(), _SAID(said=self.drift)))
        return rows

    @property
    def notes(self) -> list[Reason]:
        """What has to be said first."""
        rate, said = self.gate.rate, []
        if rate.source == "assertion":
            said.append(_ASSERTION())
        if missing := rate.drawn - rate.labelled:
            said.append(_UNANSWERED(n=missing))
        if rate.of == "agent" and rate.labelled < _RARELY:
            said.append(_RARE(least=_RARELY))
        return said

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The cases that were drawn from together, the head first."""
        rows = [
            (
                one.verdict or "any",
                *(f"{count:,}" for count in (one.population, one.drawn, one.found + one.other, one.found)),
            )
            for one in self.gate.rate.strata
        ]
        return [("verdict of the jury", "cases", "drawn", "labelled", self.gate.rate.label), *rows]


def _either(one: Reason, other: Reason) -> Reason:
    return _EITHER(one=one, other=other)


def _way(one: "MoreLabels", rate: "TrueRate") -> Reason:
    label = visible_line(rate.label, 60)
    if not one.found:
        return _MORE_WITHOUT(n=one.labels, decision=one.decision, label=label)
    return _MORE(n=one.labels, found=one.found, decision=one.decision, label=label)
