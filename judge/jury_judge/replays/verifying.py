"""A store verified: debates, or all of it."""

from collections.abc import Callable
from dataclasses import replace

from jury_judge.settings.debates import Verification
from jury_judge.stores.debates import must_be_known, must_exist
from jury_replay.integrity import IntegrityFailure
from jury_replay.selection import DebateSelection, processes_for
from jury_replay.verify import VerifyReport, verify
from jury_store.event_store import EventStore

_WORTH_IT = 5000
"""From so many debates more processes are faster than their start is slow: checking one takes about a ms."""


def verified(store: EventStore, asked: Verification, progress: Callable[[int], None] | None, url: str) -> VerifyReport:
    """Verify the store at `url`; arguments and errors as of `Records.verify`."""
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
    from jury_migrations.comparison import check  # noqa: PLC0415  (slow to import: Alembic)

    return [IntegrityFailure("", f"the schema is not the declared one: {difference}") for difference in check(url)]
