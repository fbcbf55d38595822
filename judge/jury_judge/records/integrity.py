"""Whether the record is as it was written."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from jury_events.debate_history import DebateHistory
from jury_judge.records.open_store import OpenStore
from jury_judge.settings.verification import Verification
from jury_judge.stores.debates import must_be_known, must_exist
from jury_judge.stores.integrity_state import IntegrityState, integrity_states
from jury_replay.integrity import IntegrityFailure
from jury_replay.selection import DebateSelection, processes_for
from jury_replay.verify import VerifyReport, verify
from jury_store.event_store import EventStore

Progress = Callable[[int], None]
"""Takes the number of debates done so far."""

_WORTH_IT = 5000
"""From so many debates more processes are faster than their start is slow: checking one takes about a ms."""


class IntegrityRecords(OpenStore):
    """Checks of the log."""

    async def verify(self, asked: Verification, progress: Progress | None = None) -> VerifyReport:
        """Check chains, stream heads, every text and the lists; of the whole store positions, seals and schema too.

        Args:
            asked: what is checked, against which keys and checkpoints.
            progress: called now and then with the number of debates checked so far.

        Raises:
            DebateNotFound: there is no such debate, or none that meets the conditions.
            BadNote: a checkpoint is none.
            StoreFailed: the database cannot be read.
        """
        return await self._read(_verify, asked, progress, self.store_url)

    async def integrity_states(self, debates: Sequence[DebateHistory]) -> list[IntegrityState]:
        """Whether debates that were read are intact, and sealed; in their order."""
        return await self._read(integrity_states, debates)


def _verify(store: EventStore, asked: Verification, progress: Progress | None, url: str) -> VerifyReport:
    selection = DebateSelection(asked.debate_ids or None, where=asked.where)
    must_exist(store, selection._replace(debate_ids=None))
    must_be_known(store, asked.debate_ids)
    whole = asked.whole
    report = verify(
        store,
        None if whole else [one for chunk in selection.chunks(store) for one in chunk],
        progress,
        deep=asked.deep,
        keys=asked.keys,
        checkpoints=asked.checkpoints,
        trust=asked.trust,
        url=url,
        processes=processes_for(store, selection, asked.processes, worth_it=_WORTH_IT),
    )
    return replace(report, failures=(*report.failures, *_schema_failures(url))) if whole else report


def _schema_failures(url: str) -> list[IntegrityFailure]:
    """A key or guard that the database lacks, or a trigger or view that it should not have."""
    from jury_migrations.comparison import check

    return [IntegrityFailure("", f"the schema is not the declared one: {difference}") for difference in check(url)]
