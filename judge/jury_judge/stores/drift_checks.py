"""Baselines of drift checks in a store, and the last check of a panel."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_debate.calibrated import panel_digest
from jury_events.codec import decode_drift
from jury_events.drift_events import DriftDecision, DriftOpened
from jury_events.drift_facts import DriftFacts
from jury_events.ids import drift_stream, run_stream
from jury_events.panel import Language, Panel
from jury_events.run_facts import run_facts
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused
from jury_judge.settings.fields import age_seconds
from jury_replay.drift_checks import intact_drift
from jury_store.event_store import EventStore
from jury_views.drift_view import calibrated_words, last_words

_SECOND = 1_000_000
DAY = 86_400


class LastDriftCheck(NamedTuple):
    """The newest check of a panel that ended; `ended_at` in µs since 1970-01-01 UTC."""

    drift_id: str
    number: int
    ended_at: int
    decision: DriftDecision


def baselines(store: EventStore, panel: tuple[str, str] | None = None) -> Iterator[DriftFacts]:
    """The baselines of a store, by id.

    Args:
        store: open for reading.
        panel: only those of this panel, by the digests of its identity and its prompts.
    """
    for drift_id in store.drift_ids():
        if panel is not None:
            first = decode_drift(store.first_events([drift_stream(drift_id)])[drift_stream(drift_id)])
            if not isinstance(first, DriftOpened) or (first.panel, first.prompts) != panel:
                continue
        yield intact_drift(store, drift_id).facts


def last_check(store: EventStore, panel: str, prompts: str) -> LastDriftCheck | None:
    """The newest check of a panel, by the digests of its identity and its prompts; None: there is none."""
    found: LastDriftCheck | None = None
    for facts in baselines(store, (panel, prompts)):
        for check in facts.ended[-1:]:
            assert check.ended is not None, "it ended"
            if found is None or check.ended_at > found.ended_at:
                found = LastDriftCheck(facts.opened.drift_id, check.opened.number, check.ended_at, check.ended.decision)
    return found


def panel_standing(
    store: EventStore, panel: Panel, prompts: str, within: str | None = None, now: int | None = None
) -> str | None:
    """`calibrated 41 days ago; last drift check 3 days ago: none`; None: the panel has neither, and needs none.

    Args:
        store: open for reading.
        panel: that judges, or judged.
        prompts: the digest of its custom prompts.
        within: refuse a panel whose last check is older than this age (`7d`), or found something; None: refuse none.
        now: in µs since 1970-01-01 UTC; None reads the clock.

    Raises:
        SettingsRefused: as `require_check`.
        MalformedBody, StoreError: as `baselines`.
    """
    now = time.time_ns() // 1000 if now is None else now
    last = last_check(store, panel_digest(panel), prompts)
    if within is not None:
        require_check(last, age_seconds(within), now)
    return _standing(panel, last, now, "en")


def _standing(panel: Panel, last: LastDriftCheck | None, now: int, language: Language) -> str | None:
    if last is None and panel.final.calibration is None:
        return None
    checked = last_words(None if last is None else (last.ended_at, last.decision), now, language)
    made_on = None if panel.final.calibration is None else panel.final.calibration.made_on
    if made_on is None:
        return checked
    at = int(datetime.fromisoformat(made_on).replace(tzinfo=UTC).timestamp()) * _SECOND
    return f"{calibrated_words(at, now, language)}; {checked}"


def run_standing(store: EventStore, run_id: str, within: str | None = None) -> str | None:
    """The same of the panel of a run; None also of a run that was not listed in this store. Raises as above."""
    facts = run_facts(store.read_stream(run_stream(run_id)))
    return None if facts is None else panel_standing(store, facts.opened.panel, facts.opened.custom, within)


def run_drift(store: EventStore, run_id: str) -> Reason | None:
    """As `run_standing`, in the language of who reads it; None also of a panel without any check."""
    facts = run_facts(store.read_stream(run_stream(run_id)))
    if facts is None:
        return None
    panel, now = facts.opened.panel, time.time_ns() // 1000
    last = last_check(store, panel_digest(panel), facts.opened.custom)
    en, ja = _standing(panel, last, now, "en"), _standing(panel, last, now, "ja")
    return None if en is None or ja is None else Wording(en, ja)()


def require_check(last: LastDriftCheck | None, seconds: float, now: int) -> None:
    """Refuse a panel whose last check is older, or found something.

    Args:
        last: of the panel.
        seconds: how old it may be.
        now: in µs since 1970-01-01 UTC.
    """
    if last is None:
        raise SettingsRefused(
            "{require_drift_check}: no drift check of this panel has ended in this store; jury drift baseline makes a "
            "baseline of labelled cases, and jury drift check judges them again",
            usage=False,
        )
    age = (now - last.ended_at) / _SECOND
    name = visible_line(last.drift_id, 60)
    if age > seconds:
        raise SettingsRefused(
            f"{{require_drift_check}}: the last drift check of this panel was {age / DAY:.1f} days ago, and may be "
            f"{seconds / DAY:g} days old; jury drift check {name}",
            usage=False,
        )
    if last.decision.found:
        raise SettingsRefused(
            f"{{require_drift_check}}: the last drift check of this panel found {last.decision.verdict}; see jury "
            f"drift show {name}",
            usage=False,
        )
