"""Baselines of drift checks in a store: the last check of a panel, whether it is fresh enough, and the metrics."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from jury_actors.observation.tallies import DRIFT_AGE, DRIFT_E, DRIFT_FOUND, MetricTotals, Tallies
from jury_debate.calibrated import judged_by
from jury_events.codec import decode_drift
from jury_events.drift_events import DriftDecision, DriftOpened
from jury_events.drift_facts import DriftFacts, drift_facts
from jury_events.errors import EventError
from jury_events.ids import drift_stream, run_stream, stream_debate
from jury_events.panel import Panel
from jury_events.run_facts import run_facts
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused
from jury_judge.panels.files import LoadedPanel
from jury_judge.settings.fields import age_seconds
from jury_replay.drift_checks import intact_drift
from jury_store.errors import StoreError
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_analysis.wording import Reason

_SECOND = 1_000_000
_DAY = 86_400


class LastDriftCheck(NamedTuple):
    """The newest check that ended; `ended_at` in µs since 1970-01-01 UTC."""

    drift_id: str
    ended_at: int
    decision: DriftDecision

    @classmethod
    def of(cls, facts: DriftFacts, after: int = 0) -> "LastDriftCheck | None":
        """Of a baseline, among its checks after the first so many; None: none ended."""
        ended = [
            cls(facts.opened.drift_id, one.ended_at, one.ended.decision)
            for one in facts.checks[after:]
            if one.ended is not None
        ]
        return ended[-1] if ended else None


def baselines(store: EventStore, panel: str | None = None) -> Iterator[DriftFacts]:
    """The baselines of a store, by id.

    Args:
        store: open for reading.
        panel: only those of the panel of this digest (`judged_by`).
    """
    for drift_id in store.drift_ids():
        if panel is not None:
            first = decode_drift(store.first_events([drift_stream(drift_id)])[drift_stream(drift_id)])
            if not isinstance(first, DriftOpened) or first.panel != panel:
                continue
        yield intact_drift(store, drift_id).facts


def panel_standing(store: EventStore, loaded: LoadedPanel, within: str | None = None) -> "Reason | None":
    """The standing of a panel that is to judge, or of the stages of a ladder; as `standing`."""
    calibrations = [panel.final.calibration for panel in loaded.panels]
    if within is None and not store.drift_ids() and not any(calibrations):
        return None
    return standing(store, [(one.panel, one.resolved.custom) for one in loaded.stages], within)


def standing(
    store: EventStore, panels: Iterable[tuple[Panel, str]], within: str | None = None, now: int | None = None
) -> "Reason | None":
    """`calibrated 41 days ago; last drift check 3 days ago: none`, of the first of several panels that has either.

    Checks that were imported without a trusted key count for nothing: anyone may have written them.

    Args:
        store: open for reading.
        panels: that judge, or judged, each with the digest of its custom prompts.
        within: refuse a panel whose last check is older than this age (`7d`), or found something; None: refuse none.
        now: in µs since 1970-01-01 UTC; None reads the clock.

    Raises:
        SettingsRefused: as `within` says.
        MalformedBody, StoreError: as `baselines`.
    """
    moment = time.time_ns() // 1000 if now is None else now
    found = [_standing(store, panel, prompts, within, moment) for panel, prompts in panels]
    return next(filter(None, found), None)


def _standing(store: EventStore, panel: Panel, prompts: str, within: str | None, now: int) -> "Reason | None":
    every = list(baselines(store, judged_by(panel, prompts)))
    found = [LastDriftCheck.of(facts, facts.foreign) for facts in every]
    last = max((one for one in found if one is not None), key=lambda one: one.ended_at, default=None)
    if within is not None:
        imported = sorted(facts.opened.drift_id for facts in every if facts.foreign and LastDriftCheck.of(facts))
        _require(last, age_seconds(within), now, imported)
    if last is None and panel.final.calibration is None:
        return None
    made_on = None if panel.final.calibration is None else panel.final.calibration.made_on
    at = None if made_on is None else int(datetime.fromisoformat(made_on).replace(tzinfo=UTC).timestamp()) * _SECOND
    from jury_views.drift_view import standing_words

    return standing_words(None if last is None else (last.ended_at, last.decision), at, now)


def run_standing(store: EventStore, run_id: str, within: str | None = None) -> "Reason | None":
    """The same of the panel of a run; None also of a run that was not listed in this store. Raises as above."""
    facts = run_facts(store.read_stream(run_stream(run_id)))
    if facts is None and within is not None:
        raise SettingsRefused(
            f"{{require_drift_check}}: run {visible_line(run_id, 100)} was not listed in this store, so that nothing "
            "says when its panel was checked",
            usage=False,
        )
    if facts is None:
        return None
    opened = facts.opened
    further = () if opened.ladder is None else opened.ladder.further
    panels = [(opened.panel, opened.custom), *((stage.panel, stage.custom) for stage in further)]
    return standing(store, panels, within)


def _require(last: LastDriftCheck | None, seconds: float, now: int, imported: Sequence[str]) -> None:
    """Refuse a panel whose last check is older, or found something.

    Args:
        last: that counts; None: there is none.
        seconds: that it may be old.
        now: in µs since 1970-01-01 UTC.
        imported: baselines with checks that count for nothing, as they came without a trusted key.
    """
    if last is None and imported:
        raise SettingsRefused(
            f"{{require_drift_check}}: the drift checks of this panel in this store, of "
            f"{visible_line(', '.join(imported), 200)}, were imported without a trusted key and count for nothing; "
            "import the files of the baseline again with jury import --key, as a sealed log exports them",
            usage=False,
        )
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
            f"{{require_drift_check}}: the last drift check of this panel was {age / _DAY:.1f} days ago, and may be "
            f"{seconds / _DAY:g} days old; jury drift check {name}",
            usage=False,
        )
    if last.decision.found:
        raise SettingsRefused(
            f"{{require_drift_check}}: the last drift check of this panel found {last.decision.verdict}; see jury "
            f"drift show {name}",
            usage=False,
        )


class StoreDriftMetrics:
    """The last check of each baseline of a store, among the metrics of a server.

    Args:
        store: open for reading.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, store: EventStore, clock: Callable[[], int]) -> None:
        self._store = store
        self._versions: dict[str, int] = {}
        self._last: dict[str, LastDriftCheck] = {}
        self._tallies = Tallies()
        self._tallies.read_at_snapshots(
            DRIFT_E,
            lambda: [((one.drift_id, w.name), w.e) for one in self._last.values() for w in one.decision.watched],
        )
        self._tallies.read_at_snapshots(
            DRIFT_FOUND, lambda: [((one.drift_id,), float(one.decision.found)) for one in self._last.values()]
        )
        self._tallies.read_at_snapshots(
            DRIFT_AGE,
            lambda: [((one.drift_id,), max(0.0, (clock() - one.ended_at) / _SECOND)) for one in self._last.values()],
        )

    @contextmanager
    def shown(self, totals: MetricTotals) -> Iterator[None]:
        """Show the values in this context."""
        with totals.counted(self._tallies):
            yield

    def look(self) -> None:
        """Read the baselines that changed; where the log cannot be read, the values stay as they are."""
        with suppress(StoreError, EventError):
            for stream, head in self._store.heads(list(map(drift_stream, self._store.drift_ids()))).items():
                if self._versions.get(stream) == head.version:
                    continue
                facts = drift_facts(self._store.read_stream(stream))
                self._versions[stream] = head.version
                if facts is not None and (last := LastDriftCheck.of(facts)) is not None:
                    self._last[stream_debate(stream)] = last
