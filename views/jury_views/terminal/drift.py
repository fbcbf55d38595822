"""Baselines, drift checks and plans as terminal pages."""

from typing import TYPE_CHECKING

from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_events.text import dollars, moment, pluralize, visible_line
from jury_views.drift_view import (
    WORDS,
    check_state,
    coin_word,
    fact_words,
    found_words,
    last_ended,
    name_word,
    panel_words,
)
from jury_views.page import Page, TextSpan

if TYPE_CHECKING:
    from jury_analysis.drift_plan import Change, DriftPlan

_STYLES = {
    "none": "bold green",
    "judge": "bold red",
    "agent_or_traffic": "bold yellow",
    "not_decided": "bold yellow",
}
_ANCHORS = 20
_E = 1e6


def check_page(facts: DriftFacts, check: DriftCheck) -> Page:
    """What a check came to: who drifted, by which evidence, and the anchors that changed."""
    page, opened = Page(), facts.opened
    name = f"drift {visible_line(opened.drift_id, 60)}, check {check.opened.number}: "
    if check.ended is None:
        cancelled = 0 if check.abandoned is None else check.abandoned.cancelled
        said = "goes on" if check.is_open else f"abandoned: {pluralize(cancelled, 'debate')} cancelled"
        page.line(name, TextSpan(said, "bold yellow"))
        return page
    decision = check.ended.decision
    page.line(name, TextSpan(found_words(decision), _STYLES[decision.verdict]))
    for fact in decision.facts:
        page.line(fact_words(fact), indent=2)
    rows: list[tuple[str, ...]] = [("watched", "evidence", "alarm from", "of the judgings that differ")]
    for one in decision.watched:
        coins = "; ".join(f"{coin_word(coin.coin, 'en')} {coin.k} of {coin.n}" for coin in one.coins if coin.n)
        rows.append((name_word(one.name, "en"), _e(one.e), _e(one.bound), coins or "no pair differs"))
    page.table(rows, indent=2, right=(1, 2))
    pairs = pluralize(len(check.opened.pairs), "anchor")
    stream = f", {pluralize(len(check.opened.stream_pairs), 'pair')} of the stream" if check.opened.stream else ""
    page.line(f"{pairs} judged{stream}; the draws last for {pluralize(facts.left, 'further check')} of all", indent=2)
    if decision.anchors:
        page.heading("Anchors with another verdict than usual")
        shown = decision.anchors[:_ANCHORS]
        page.table(
            [("case", "usual", "now"), *((one.case_id, WORDS[one.before], WORDS[one.now]) for one in shown)], indent=2
        )
        if len(decision.anchors) > _ANCHORS:
            page.line(f"and {len(decision.anchors) - _ANCHORS} more (--json shows all)", indent=2)
    return page


def drift_page(facts: DriftFacts) -> Page:
    """A baseline and its checks."""
    page, opened = Page(), facts.opened
    page.line(TextSpan(f"drift {visible_line(opened.drift_id, 60)}", "bold"), f": {panel_words(opened)}")
    used = "2 draws" if opened.used > 1 else "1 draw"
    stream = "none" if opened.stream is None else opened.stream
    page.facts(
        [
            ("anchors", f"{len(opened.anchors):,}, {facts.sessions} of {facts.planned} draws judged"),
            ("a judging uses up", f"{used}; they last for {pluralize(facts.left, 'check')} of all anchors"),
            ("false alarms", f"at most {opened.alpha:g} over the life of the baseline; each {opened.tossed} is a toss"),
            ("stream", stream),
        ]
    )
    if facts.checks:
        page.heading("Checks")
        page.table([("check", "ended", "pairs", "evidence", "found"), *map(_check_row, facts.checks)], right=(0, 2, 3))
    return page


def list_page(found: list[DriftFacts]) -> Page:
    """The baselines of a store, a line each."""
    page = Page()
    rows: list[tuple[str, ...]] = [("id", "panel", "anchors", "draws", "checks", "last check", "found")]
    for facts in found:
        last = last_ended(facts)
        opened = facts.opened
        rows.append(
            (
                opened.drift_id,
                opened.panel_name,
                f"{len(opened.anchors):,}",
                f"{facts.sessions}/{facts.planned}",
                f"{len(facts.ended):,}",
                "never" if last is None else moment(facts.ended[-1].ended_at, "minutes"),
                "–" if last is None else found_words(last.decision),
            )
        )
    page.table(rows, right=(2, 3, 4))
    return page


def plan_page(plan: "DriftPlan", *, every: float, cost: float | None, priced_by: str) -> Page:
    """What a baseline would find how soon, how long its draws last, and what it costs."""
    page = Page()
    page.line("plan: nothing is judged, and no model is called")
    lasting = "for ever: each judging is replaced" if plan.checks is None else _lasting(plan.checks, every)
    dear = "unknown: a model has no price (--prices FILE)"
    page.facts(
        [
            (
                "baseline",
                f"{plan.baseline:,} judgings" + ("" if cost is None else f", {dollars(cost * plan.baseline)}"),
            ),
            ("a check", f"{plan.judgings:,} judgings" + ("" if cost is None else f", {dollars(cost * plan.judgings)}")),
            ("draws last", lasting),
            ("dollars", f"{dear}" if cost is None else f"{dollars(cost)} a judging, {priced_by}"),
        ]
    )
    page.heading("Found after so many checks (median of simulated judges)")
    rows: list[tuple[str, ...]] = [("change", "from the first check", "after 10 calm checks", "found in 60")]
    half = len(plan.delays) // 2
    for first, later in zip(plan.delays[:half], plan.delays[half:], strict=True):
        rows.append(
            (_change(first.change), _checks(first.checks, every), _checks(later.checks, every), f"{later.found:.0%}")
        )
    page.table(rows, indent=2)
    return page


def _change(change: "Change") -> str:
    if change.flipped:
        return f"{change.flipped:.0%} of anchors flip, half each way"
    return f"wrong on {change.before:.0%} → {change.after:.0%}"


def _checks(number: int | None, every: float) -> str:
    return "more than 60" if number is None else f"{number} ({number * every:g} days)"


def _lasting(checks: int, every: float) -> str:
    return f"{pluralize(checks, 'check')}, {checks * every:g} days at one every {every:g} days"


def _check_row(check: DriftCheck) -> tuple[str, ...]:
    ended = check.ended
    said = check_state(check) if ended is None else found_words(ended.decision)
    when = moment(check.ended_at, "minutes") if check.ended_at else "–"
    e = "–" if ended is None else _e(ended.decision.watched[0].e)
    return str(check.opened.number), when, f"{len(check.opened.pairs):,}", e, said


def _e(value: float) -> str:
    return f"{value:.3g}" if value < _E else f"{value:.1e}"
