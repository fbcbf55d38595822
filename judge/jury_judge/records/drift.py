"""Baselines of drift checks, and what their checks found."""

from jury_events.drift_facts import DriftFacts
from jury_judge.records.open_store import OpenStore
from jury_store.event_store import EventStore


class DriftRecords(OpenStore):
    """Baselines of the store, with their checks; each decision is computed again from the recorded votes."""

    async def drift(self, drift_id: str) -> DriftFacts:
        """A baseline and its checks.

        Raises:
            MalformedBody: it was altered.
        """
        return await self._read(_one, drift_id)

    async def drifts(self) -> list[DriftFacts]:
        """All baselines, by id; raises as `drift`."""
        return await self._read(_all)


def _one(store: EventStore, drift_id: str) -> DriftFacts:
    from jury_replay.drift_checks import intact_drift

    return intact_drift(store, drift_id).facts


def _all(store: EventStore) -> list[DriftFacts]:
    from jury_judge.stores.drift_checks import baselines

    return list(baselines(store))
