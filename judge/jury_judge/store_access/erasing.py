"""Texts of a store erased for good, on record."""

import time
from collections.abc import Callable
from typing import NamedTuple

from jury_judge.settings.auditing import Erasure, ErasureScope
from jury_judge.store_access.stores import Say
from jury_replay.erasure import ErasureOrder, debates_over, debates_with_copies, erase, plan_erasure
from jury_store.errors import ScrubRefused
from jury_store.event_store import EventStore


class PlannedErasure(NamedTuple):
    """What an erasure would delete: `texts` of these debates, of `size` bytes in all.

    `ends`: how many debates are not over, and fail without their texts. `shared`: texts of the request that stay,
    because other events refer to them. `copies`: debates that have copies of the texts, which stay: the origin,
    branches, and stages of a ladder that carries votes.
    """

    debate_ids: tuple[str, ...]
    texts: int
    size: int
    ends: int
    shared: int
    copies: tuple[str, ...]


class ErasedTexts(NamedTuple):
    """What was erased. `scrubbed`: nothing of it is left in the store's files; else the same call tries again.

    The other fields are as of `PlannedErasure`.
    """

    debate_ids: tuple[str, ...]
    texts: int
    ended: int
    shared: int
    scrubbed: bool
    copies: tuple[str, ...]


def planned(store: EventStore, scope: ErasureScope) -> PlannedErasure:
    """What an erasure of that scope would delete; errors as of `Records.plan_erasure`."""
    one = scope.one_debate
    ids = [one] if one is not None else debates_over(store, str(scope.case_id))
    texts = shared = size = ends = 0
    for debate_id in ids:
        (record,) = store.histories([debate_id])
        plan = plan_erasure(record, scope.recorded)
        texts += len(plan.parts)
        shared += plan.shared
        ends += plan.ends
        size += sum(len(record.parts[digest].content) for digest in plan.parts)
    # Branches do not have the reviews of their origin.
    copies = debates_with_copies(store, one) if one is not None and scope.review is None else []
    return PlannedErasure(tuple(ids), texts, size, ends, shared, tuple(copies))


def erased(store: EventStore, asked: Erasure, agrees: Callable[[PlannedErasure], bool], say: Say) -> ErasedTexts | None:
    """Erase; arguments and errors as of `Records.erase`."""
    store.require_eraser()
    plan = planned(store, asked)
    if not agrees(plan):
        return None
    order = ErasureOrder(str(asked.by), str(asked.reason), asked.recorded)
    texts = ended = shared = 0
    for debate_id in plan.debate_ids:
        gone = erase(store, debate_id, order, time.time_ns() // 1000)
        texts += gone.texts
        ended += gone.ended
        shared += gone.shared
    scrubbed = True
    try:
        # Also where nothing went: an earlier call may not have come so far.
        store.scrub()
    except ScrubRefused as refused:
        scrubbed = False
        say(f"jury: {refused}")
    return ErasedTexts(plan.debate_ids, texts, ended, shared, scrubbed, plan.copies)
