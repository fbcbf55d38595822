"""Baselines of drift checks in a store, and the last check of a panel."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from jury_events.drift_events import DriftDecision
from jury_events.drift_facts import DriftFacts
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused
from jury_replay.drift_checks import intact_drift
from jury_store.event_store import EventStore

_SECOND = 1_000_000
DAY = 86_400


class LastDriftCheck(NamedTuple):
    """The newest check of a panel that ended; `ended_at` in µs since 1970-01-01 UTC."""

    drift_id: str
    number: int
    ended_at: int
    decision: DriftDecision


def baselines(store: EventStore) -> Iterator[DriftFacts]:
    """The baselines of a store, by id."""
    for drift_id in store.drift_ids():
        yield intact_drift(store, drift_id).facts


def last_check(store: EventStore, panel: str, prompts: str) -> LastDriftCheck | None:
    """The newest check of a panel, by the digests of its identity and its prompts; None: there is none."""
    found: LastDriftCheck | None = None
    for facts in baselines(store):
        if (facts.opened.panel, facts.opened.prompts) != (panel, prompts):
            continue
        for check in facts.ended[-1:]:
            assert check.ended is not None, "it ended"
            if found is None or check.ended_at > found.ended_at:
                found = LastDriftCheck(facts.opened.drift_id, check.opened.number, check.ended_at, check.ended.decision)
    return found


def require_check(last: LastDriftCheck | None, seconds: float, now: int | None = None) -> None:
    """Refuse a panel whose last check is older, or found something.

    Args:
        last: of the panel.
        seconds: how old it may be.
        now: in µs since 1970-01-01 UTC; None reads the clock.
    """
    if last is None:
        raise SettingsRefused(
            "{require_drift_check}: no drift check of this panel has ended in this store; jury drift baseline makes a "
            "baseline of labelled cases, and jury drift check judges them again",
            usage=False,
        )
    age = ((time.time_ns() // 1000 if now is None else now) - last.ended_at) / _SECOND
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
