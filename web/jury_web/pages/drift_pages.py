"""The pages of drift checks: the baselines of a store, and one of them with its checks."""

from typing import NamedTuple

from starlette.responses import Response

from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_events.ids import is_run_id
from jury_events.panel import Language
from jury_judge.serving.store_reader import StoreReader
from jury_views.drift_view import (
    WORDS,
    check_state,
    coin_word,
    curve,
    fact_words,
    found_words,
    last_ended,
    name_word,
    panel_words,
)
from jury_web.pages.page_request import PageNotFound, PageRequest

_CHECKS = 200
_ANCHORS = 100


class WatchedRow(NamedTuple):
    """Who is watched, the evidence and where an alarm begins, and by coin how many of the differing pairs."""

    name: str
    e: str
    bound: str
    coins: tuple[tuple[str, int, int], ...]


class CheckRow(NamedTuple):
    """A check of the list; `found` is None where it did not end."""

    number: int
    run_id: str
    state: str
    ended_at: int
    pairs: int
    e: str
    found: str | None
    verdict: str | None


class BaselineRow(NamedTuple):
    """A baseline of the list."""

    facts: DriftFacts
    panel: str
    found: str | None
    verdict: str | None
    ended_at: int


class DriftPages:
    """Pages of a store that is open for reading. Each raises a `JuryError` where it cannot be shown."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader

    def baselines(self, request: PageRequest) -> Response:
        """`/drift`: the baselines, and what their last checks found."""
        rows = [_baseline(facts, request.lang) for facts in self._reader.drifts()]
        return request.html("drifts.html", "drift", rows=rows)

    def baseline(self, request: PageRequest) -> Response:
        """`/drift/{drift_id}`: a baseline, the curve of the evidence, and its checks."""
        drift_id, lang = request.path["drift_id"], request.lang
        if not is_run_id(drift_id):
            raise PageNotFound("there is no baseline of that id in this store; the page of drift checks lists them")
        facts = self._reader.drift(drift_id)
        last = last_ended(facts)
        decision = None if last is None else last.decision
        return request.html(
            "drift.html",
            "drift",
            facts=facts,
            baseline=_baseline(facts, lang),
            curve=curve(facts),
            checks=[_check(one, lang) for one in facts.checks[: -_CHECKS - 1 : -1]],
            more=max(0, len(facts.checks) - _CHECKS),
            changed=[] if decision is None else [fact_words(one, lang) for one in decision.facts],
            watched=[]
            if decision is None
            else [
                WatchedRow(
                    name_word(one.name, lang),
                    _e(one.e),
                    _e(one.bound),
                    tuple((coin_word(coin.coin, lang), coin.k, coin.n) for coin in one.coins),
                )
                for one in decision.watched
            ],
            anchors=[]
            if decision is None
            else [(one.case_id, WORDS[one.before], WORDS[one.now]) for one in decision.anchors[:_ANCHORS]],
            more_anchors=0 if decision is None else max(0, len(decision.anchors) - _ANCHORS),
        )


def _baseline(facts: DriftFacts, lang: Language) -> BaselineRow:
    last = last_ended(facts)
    found = None if last is None else found_words(last.decision, lang)
    verdict = None if last is None else last.decision.verdict
    ended_at = facts.ended[-1].ended_at if facts.ended else 0
    return BaselineRow(facts, panel_words(facts.opened), found, verdict, ended_at)


def _check(check: DriftCheck, lang: Language) -> CheckRow:
    ended, opened = check.ended, check.opened
    return CheckRow(
        opened.number,
        opened.run_id,
        check_state(check),
        check.ended_at,
        len(opened.pairs),
        "–" if ended is None else _e(ended.decision.watched[0].e),
        None if ended is None else found_words(ended.decision, lang),
        None if ended is None else ended.decision.verdict,
    )


def _e(value: float) -> str:
    return f"{value:.3g}"
