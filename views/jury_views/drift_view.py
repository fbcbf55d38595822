"""Baselines and drift checks as people and programs read them."""

from collections.abc import Iterator
from math import log10
from typing import Any, NamedTuple

from jury_events.drift_events import ChangedFact, CheckEnded, DriftDecision, DriftOpened, WatchedFigures
from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_events.panel import Language
from jury_events.text import moment
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_views.drift_labels import DriftLabels

LABELS: dict[Language, DriftLabels] = {"en": DriftLabels("en"), "ja": DriftLabels("ja")}
WORDS = {"p": PASS.value, "r": REVIEW.value, "f": FAIL.value, "-": "–"}
"""The words of outcomes, by the letters of votes."""

_DAY = 86_400_000_000
_SEAT = "seat/"
_WIDTH, _HEIGHT = 560.0, 160.0
_LOWEST, _LEAST_HIGHEST, _MOST_HIGHEST = -2.0, 2.0, 12.0
"""Of the curve, powers of ten."""


class DriftCurve(NamedTuple):
    """The evidence on the jury check by check: the points of a polyline, and where the alarm is."""

    points: str
    alarm_y: float
    dots: tuple[tuple[float, float, int], ...]
    ticks: tuple[tuple[str, float], ...]
    width: float = _WIDTH
    height: float = _HEIGHT


def found_words(decision: DriftDecision, language: Language = "en") -> str:
    """`judge: stricter since about check 12 (jury, seat gpt)`; `none`."""
    labels = LABELS[language]
    verdict: str = getattr(labels, f"drift_verdict_{decision.verdict}")
    who: dict[str, list[str]] = {}
    for one in decision.watched:
        if one.kinds and one.name != "stream":
            said = ", ".join(kind_word(kind, language) for kind in one.kinds)
            since = labels.drift_since.format(kinds=said, number=one.since)
            who.setdefault(since, []).append(name_word(one.name, language))
    kinds = [f"{said} ({', '.join(names)})" for said, names in who.items()]
    if decision.verdict == "judge" and decision.facts:
        kinds.insert(0, "; ".join(fact_words(one, language) for one in decision.facts))
    return f"{verdict}: {'; '.join(kinds)}" if kinds else verdict


def kind_word(kind: str, language: Language) -> str:
    """How a judge changed."""
    word: str = getattr(LABELS[language], f"drift_kind_{kind}")
    return word


def coin_word(coin: str, language: Language) -> str:
    """What is bet on."""
    word: str = getattr(LABELS[language], f"drift_coin_{coin}")
    return word


def name_word(name: str, language: Language) -> str:
    """Who is watched: the jury, a seat, the stream."""
    labels = LABELS[language]
    if name.startswith(_SEAT):
        return labels.drift_seat.format(name=name.removeprefix(_SEAT))
    word: str = getattr(labels, f"drift_name_{name}")
    return word


def fact_words(fact: ChangedFact, language: Language = "en") -> str:
    """Which model or fingerprint answered that never did in the baseline."""
    labels = LABELS[language]
    template: str = getattr(labels, f"drift_changed_{fact.what}")
    seat = labels.drift_final_judge if fact.juror_id is None else labels.drift_seat.format(name=fact.juror_id)
    return template.format(seat=seat, now=", ".join(fact.now), before=", ".join(fact.before))


def last_words(found: tuple[int, DriftDecision] | None, now: int, language: Language = "en") -> str:
    """`last drift check 3 days ago: none`; `no drift check`. Times in µs since 1970-01-01 UTC."""
    labels = LABELS[language]
    if found is None:
        return labels.drift_no_check
    return labels.drift_last_line.format(ago=ago(found[0], now, language), found=found_words(found[1], language))


def calibrated_words(at: int, now: int, language: Language = "en") -> str:
    """`calibrated 41 days ago`; times in µs since 1970-01-01 UTC."""
    return LABELS[language].drift_calibrated_line.format(ago=ago(at, now, language))


def ago(at: int, now: int, language: Language = "en") -> str:
    """`3 days ago`, `today`; times in µs since 1970-01-01 UTC."""
    days, labels = max(now - at, 0) // _DAY, LABELS[language]
    return (
        labels.drift_ago_today
        if not days
        else labels.drift_ago_day
        if days == 1
        else labels.drift_ago_days.format(days=days)
    )


def last_ended(facts: DriftFacts) -> CheckEnded | None:
    """How the newest check that ended did."""
    return facts.ended[-1].ended if facts.ended else None


def check_state(check: DriftCheck) -> str:
    """`ended`, `abandoned` or `open`."""
    return "ended" if check.ended is not None else "abandoned" if check.abandoned is not None else "open"


def drift_object(facts: DriftFacts, *, checks: bool = True) -> dict[str, Any]:
    """A baseline as JSON data; `checks`: with its checks."""
    opened, last = facts.opened, last_ended(facts)
    return {
        "id": opened.drift_id,
        "opened_at": moment(facts.at, "microseconds"),
        "by": opened.by,
        "panel": opened.panel_name,
        "panel_digest": opened.panel,
        "seats": [one.model_dump(mode="json") for one in opened.seats],
        "alpha": opened.alpha,
        "toss": opened.tossed,
        "draws_used": opened.used,
        "daily": opened.daily,
        "stream": opened.stream,
        "stratum": opened.stratum,
        "anchors": len(opened.anchors),
        "draws": facts.planned,
        "judged": facts.sessions,
        "checks_left": facts.left,
        "run_id": opened.run_id,
        "last": None if last is None else check_object(facts, facts.ended[-1]),
        **({"checks": [check_object(facts, one) for one in facts.checks]} if checks else {}),
    }


def check_object(facts: DriftFacts, check: DriftCheck) -> dict[str, Any]:
    """A check as JSON data."""
    opened, ended = check.opened, check.ended
    decision = None if ended is None else ended.decision
    return {
        "id": facts.opened.drift_id,
        "number": opened.number,
        "state": check_state(check),
        "opened_at": moment(check.at, "microseconds"),
        "ended_at": moment(check.ended_at, "microseconds") if check.ended_at else None,
        "run_id": opened.run_id,
        "pairs": len(opened.pairs),
        "stream": opened.stream,
        "stream_pairs": len(opened.stream_pairs),
        "verdict": None if decision is None else decision.verdict,
        "says": None if decision is None else found_words(decision),
        "facts": [] if decision is None else [one.model_dump(mode="json") for one in decision.facts],
        "watched": [] if decision is None else [one.model_dump(mode="json") for one in decision.watched],
        "anchors": []
        if decision is None
        else [{"case_id": one.case_id, "before": WORDS[one.before], "now": WORDS[one.now]} for one in decision.anchors],
    }


def jury_figures(decision: DriftDecision) -> WatchedFigures:
    """Those of the jury."""
    return decision.watched[0]


def curve(facts: DriftFacts) -> DriftCurve | None:
    """The evidence on the jury after each check; None before the first."""
    values = list(_evidence(facts))
    if not values:
        return None
    bound = log10(1 / facts.opened.alpha)
    highest = max(_LEAST_HIGHEST, min(_MOST_HIGHEST, max(bound, *(value for _, value in values)) + 0.5))

    def up(value: float) -> float:
        inside = min(max(value, _LOWEST), highest)
        return round(_HEIGHT * (1 - (inside - _LOWEST) / (highest - _LOWEST)), 2)

    step = _WIDTH / max(len(values), 1)
    dots = tuple((round(step * (place + 1), 2), up(value), number) for place, (number, value) in enumerate(values))
    points = " ".join(f"{x},{y}" for x, y in [(0.0, up(0.0)), *((x, y) for x, y, _ in dots)])
    powers = range(int(_LOWEST), int(highest) + 1, max(1, int(highest - _LOWEST) // 4))
    return DriftCurve(points, up(bound), dots, tuple((f"{10.0**power:g}", up(power)) for power in powers))


def _evidence(facts: DriftFacts) -> Iterator[tuple[int, float]]:
    for check in facts.ended:
        assert check.ended is not None, "it ended"
        yield check.opened.number, log10(max(jury_figures(check.ended.decision).e, 1e-300))


def panel_words(opened: DriftOpened) -> str:
    """The panel: its name and the beginning of its digest."""
    return f"{opened.panel_name} ({opened.panel[:16]})"
