"""Imported debates under the id of a run: they count as judged only if they are adopted."""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from jury_judge.errors import RunRefused
from jury_replay.imports import adoption_fault
from jury_store.debate_rows import CaseRow, DebateRow
from jury_store.event_store import EventStore
from jury_store.seals.keys import PublicKey

_NAMED = 5


def adopted(store: EventStore, run: str, rows: Mapping[str, CaseRow], keys: Collection[PublicKey]) -> frozenset[str]:
    """The imported debates among these; all of them count as judged, as their seals are signed by one of the keys.

    Args:
        store: open for reading.
        run: the name in the message.
        rows: the debates, by id; those in quarantine are ignored.
        keys: the public keys that are trusted.

    Raises:
        RunRefused: a debate does not count or cannot be read; the message names it and the remedy.
    """
    seen = {one: row for one, row in rows.items() if row.quarantined is None}
    unreadable = [one for one, row in seen.items() if row.status == "unreadable"]
    if unreadable:
        raise RunRefused(
            f"{run}: what is recorded of {_names(unreadable)} cannot be read (see `jury list`). Set it aside with: "
            f"jury db quarantine {unreadable[0]} --by WHO --reason WHY; or give the run another id"
        )
    imported = [one for one, row in seen.items() if row.imported is not None]
    if not imported:
        return frozenset()
    if not keys:
        raise RunRefused(
            f"{run}: {_names(imported)} came in a cassette, so it does not count as judged. Give "
            "the run another id; or --adopt KEY.pub takes over what is sealed by a key that you trust"
        )
    for one in imported:
        (record,) = store.histories([one])
        fault = adoption_fault(record, store.origin(one), keys)
        if fault is not None:
            raise RunRefused(
                f"{run}: {one} came in a cassette and is not adopted: {fault}. Give the run another id, or adopt with "
                "another key"
            )
    return frozenset(imported)


def not_set_aside(debate_id: str, row: CaseRow | DebateRow) -> None:
    """Refuse a debate in quarantine: its id cannot be used for another one.

    Raises:
        RunRefused: it is in quarantine.
    """
    if row.quarantined is not None:
        raise RunRefused(
            f"debate {debate_id} is in quarantine ({row.quarantined}): take it back with: "
            f"jury db release {debate_id} --by WHO; or judge the case under another run id"
        )


def _names(debates: Iterable[str]) -> str:
    names = list(debates)
    more = len(names) - _NAMED
    return ", ".join(islice(names, _NAMED)) + (f" and {more} more" if more > 0 else "")
