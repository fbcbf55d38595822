"""A gate in words: the lines that the terminal, CI pages and failing tests show."""

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate
    from jury_analysis.gate import Decision, Gate, GateReport
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.paired import Paired

_NAME = 200
_WORSE = {"more": "more is worse", "less": "less is worse", "either": "a change in either direction does harm"}
_OF_SOME = ("false_pass", "false_fail")
"""Metrics of cases with one label only."""
_TOO_FEW = "nothing: too few cases"
_ALIKE = "unknown: all scores change alike, or none does"

_SAYS = {
    "pass": "the harm is within the margin",
    "fail": "there is harm, and it may be larger than the margin",
    "inconclusive": "the cases do not decide it",
}


class NamedGate(NamedTuple):
    """A gate with the names of its sides; an inconclusive one may count as `pass` or `fail`.

    `worse` is the direction that was asked for, if one was; `counted` says what is counted of which scale of the
    panels' own, "" without one; `scale` is the same as JSON values (name, digest, count), None without one.
    """

    base: str
    candidate: str
    report: "GateReport"
    inconclusive: str | None = None
    worse: str | None = None
    counted: str = ""
    scale: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The gate, the paired table and, of panels with a scale of their own, the scale as JSON values."""
        return {**self.report.to_dict(), **({} if self.scale is None else {"scale": self.scale})}

    @property
    def outcome(self) -> "Decision":
        """The decision, an inconclusive one as it counts."""
        decision = self.report.gate.decision
        if decision != "inconclusive" or self.inconclusive is None:
            return decision
        return "pass" if self.inconclusive == "pass" else "fail"

    @property
    def title(self) -> str:
        """Which gate it is."""
        return f"gate {visible_line(self.base, _NAME)} → {visible_line(self.candidate, _NAME)}"


def headline(named: NamedGate) -> str:
    """`fail: there is harm …`."""
    gate = named.report.gate
    counts = f"; counts as {named.outcome}" if named.outcome != gate.decision else ""
    open_ = gate.decision == "inconclusive" and gate.without_evaluation
    missing = f", {gate.without_evaluation:,} without an evaluation" if open_ else ""
    return f"{gate.decision}: {_SAYS[gate.decision]}{missing}{counts}"


def facts(named: NamedGate) -> list[tuple[str, str]]:
    """What the decision is based on, as names and values."""
    gate = named.report.gate
    rows = [("counted", named.counted)] if named.counted else []
    rows += [
        (
            "metric",
            f"{visible_line(gate.metric, 60)}: {_side(gate.base)} → {_side(gate.candidate)} ({_WORSE[gate.worse]})",
        ),
        ("harm" if gate.worse != "either" else "change", f"{_figure(gate.harm)}; margin {gate.margin:g}{_p(gate)}"),
        ("cases", _cases(gate)),
    ]
    if gate.decision == "inconclusive":
        rows.append(("it would take", _needed(gate)))
    else:
        rows.append(("could have found", _smallest(gate)))
    if gate.without_evaluation:
        rows.append(("without an evaluation", _without_evaluation(gate)))
    repeats = gate.flips_between_repeats
    between = repeats.reason if repeats.value is None else _flips(repeats)
    rows.append(("verdicts that change", f"{_flips(gate.flips)}; between repeats of base: {between}"))
    return rows


def notes(named: NamedGate) -> list[str]:
    """What has to be said first: simulated debates, few clusters, an unclear direction, missing verdicts."""
    gate, paired = named.report.gate, named.report.paired
    said: list[str] = [*paired.warnings, *gate.harm.notes]
    if gate.harm.reason is not None:
        said.append(gate.harm.reason)
    if gate.worse == "either" and named.worse is None:
        said.append(_either(gate, paired))
    if paired.without_verdict:
        said.append(_without_verdict(gate, paired))
    if paired.only_in[0] or paired.only_in[1]:
        said.append(f"left out: {paired.only_in[0]:,} debates only in base, {paired.only_in[1]:,} only in candidate")
    said += [f"left out: {one.count:,} {one.unit} ({one.reason})" for one in paired.excluded]
    if paired.labels_differ:
        said.append(f"{pluralize(paired.labels_differ, 'pair')} with two different labels count as unlabelled")
    return said


def plan_facts(plan: "GatePlan") -> list[tuple[str, str]]:
    """A plan as names and values."""
    power = f"with {plan.power:.0%} power"
    nothing = _ALIKE if plan.metric == "score" and not plan.mean_square else _TOO_FEW
    smallest = nothing if plan.smallest_change is None else f"a change of {plan.smallest_change:.3g} {power}"
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


def _p(gate: "Gate") -> str:
    return "" if gate.p_value is None else f", p {gate.p_value:.3g}"


def _figure(estimate: "Estimate") -> str:
    if estimate.value is None:
        return "–"
    if estimate.interval is None:
        return f"{estimate.value:+.4f}, no interval"
    return f"{estimate.value:+.4f} [{estimate.interval.low:+.4f}, {estimate.interval.high:+.4f}]"


def _without_evaluation(gate: "Gate") -> str:
    pairs = pluralize(gate.without_evaluation, "pair")
    found = gate.possible
    if found is None:
        return pairs
    what = "change" if gate.worse == "either" else "harm"
    return f"{pairs}: by what they could be, the {what} is within [{found.low:+.4f}, {found.high:+.4f}]"


def _either(gate: "Gate", paired: "Paired") -> str:
    if paired.against_labels is None:
        return (
            "without labels nothing says which side is right, so a change in either direction counts: "
            "--labels FILE, or --worse more|less, decides otherwise"
        )
    of_labels = "accuracy, false_pass or false_fail" if paired.ordered else "accuracy"
    return (
        f"the metric {visible_line(gate.metric, 60)} does not use the labels, so a change in either direction counts: "
        f"--metric {of_labels}, or --worse more|less, decides otherwise"
    )


def _without_verdict(gate: "Gate", paired: "Paired") -> str:
    if gate.metric == "score":
        counts = "scores count where both sides have one"
    elif gate.metric == "accuracy":
        counts = "there it counts as wrong"
    else:
        name = visible_line(gate.metric, 60)
        counts = f"there it does not count as {name}, so that missing verdicts lower the share of {name}"
    pairs = pluralize(paired.without_verdict, "pair")
    said = f"{pairs} without a verdict (or strict plurality) on one side or both: {counts}"
    if not gate.without_evaluation:
        return said
    return (
        f"{said}; the decision has to hold for whatever the {gate.without_evaluation:,} without an evaluation could be"
    )


def _cases(gate: "Gate") -> str:
    clusters = pluralize(gate.clusters, "cluster")
    pairs = f"{gate.pairs:,} pair{'' if gate.pairs == 1 else 's'}"
    return f"{gate.harm.n:,} of {pairs} count, {gate.changed:,} of them change; {clusters}"


def _smallest(gate: "Gate") -> str:
    if gate.smallest_change is None:
        return _ALIKE if gate.metric == "score" and gate.harm.interval is not None else _TOO_FEW
    return f"a change of {gate.smallest_change:.3g} ({gate.power:.0%} power, design effect {gate.design_effect:.2f})"


def _needed(gate: "Gate") -> str:
    if gate.without_evaluation and (gate.cases_needed is None or gate.harm.value is None):
        return f"an evaluation of {'that' if gate.without_evaluation == 1 else 'those'} without one"
    if gate.cases_needed is None:
        if gate.harm.value is None:
            return "cases that the metric is about"
        return "no number of cases decides it" if gate.margin == gate.harm.value == 0 else _ALIKE
    counted = ""
    if gate.harm.n < gate.pairs:
        # The plan counts whole cases too.
        counted = f" of which {gate.cases_needed:,} count"
    whole = ceil(gate.cases_needed * gate.pairs / gate.harm.n)
    evaluated = ", all with an evaluation" if gate.without_evaluation else ""
    return f"{whole:,} cases{counted}{evaluated}, if the change is the observed one ({gate.power:.0%} power)"


def _flips(share: "Estimate") -> str:
    if share.value is None:
        return f"– ({share.reason})"
    interval = share.interval
    limits = "" if interval is None else f" [{interval.low:.1%}, {interval.high:.1%}]"
    return f"{share.value:.1%}{limits} of {share.n:,}"
