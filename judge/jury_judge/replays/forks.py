"""Forks: a branch is prepared, or found if the same command began it before."""

from collections.abc import Callable
from typing import NamedTuple

from jury_actors.effects import Effects
from jury_debate.recorded_panel import described, panel_differences, recorded_panel
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules import SECRET_BYTES
from jury_events.debate_history import DebateHistory
from jury_events.ids import debate_stream
from jury_events.parts import SALT_BYTES
from jury_judge.errors import BranchTaken
from jury_replay.fork import Branch, ForkOrigin, branch_id, branch_off
from jury_replay.intact import intact_history
from jury_store.errors import StoreError
from jury_store.event_store import EventStore
from jury_views.debate_fold import folded


class Fork(NamedTuple):
    """A branch of a debate.

    Attributes:
        debate_id: its id.
        origin: the debate that it branches off.
        version: the last event of the origin that it keeps.
        resolved: its panel.
        reused: recorded calls of the origin whose answers it keeps.
        stored: its events in the store, 0 when it is new.
        over: it has ended.
        branch: to be stored first; None when it is stored.
    """

    debate_id: str
    origin: str
    version: int
    resolved: ResolvedPanel
    reused: int
    stored: int
    over: bool
    branch: Branch | None


def read_origin(store: EventStore, debate_id: str) -> ForkOrigin:
    """The debate to branch."""
    return ForkOrigin(store.history(debate_id))


def plan_fork(
    store: EventStore,
    origin: ForkOrigin,
    at: str,
    resolved: ResolvedPanel,
    *,
    debate_id: str | None = None,
    effects: Effects = Effects(),
) -> Fork:
    """The branch of `origin` at an event under a panel; the same again is the same branch.

    Args:
        at: a version of its stream `debate/`, or an event's id.
        debate_id: the branch's id; by itself one that follows from origin, event and panel.
        effects: entropy of its secret and salts.
    """
    version = origin.point(at)
    named = debate_id or branch_id(origin.debate_id, version, resolved)
    if store.heads([debate_stream(named)]):
        return _found(intact_history(store, named), named, origin, version, resolved)
    branch = branch_off(
        origin,
        version,
        resolved,
        debate_id=named,
        secret=effects.entropy(SECRET_BYTES),
        draw_salt=_salts(effects),
        recorded_at=effects.clock(),
    )
    return Fork(named, origin.debate_id, version, resolved, len(branch.exchanges), 0, over=False, branch=branch)


def store_branch(store: EventStore, branch: Branch) -> int:
    """Append a branch in one transaction; returns the number of its events."""
    for answer in store.append(branch.appends(store.next_epoch())):
        if isinstance(answer, StoreError):
            raise answer
    return len(branch.opening) + len(branch.kept)


def _salts(effects: Effects) -> Callable[[], bytes]:
    return lambda: effects.entropy(SALT_BYTES)


def _found(reading: DebateHistory, named: str, origin: ForkOrigin, version: int, resolved: ResolvedPanel) -> Fork:
    record = folded(reading.events)
    forked = record.forked
    if forked is None or (forked.origin, forked.version) != (origin.debate_id, version):
        what = "no branch" if forked is None else f"a branch of {forked.origin} at event {forked.version}"
        raise BranchTaken(
            f"there is a debate {named} already, and it is {what}: choose another id with --as, or leave --as out"
        )
    recorded = recorded_panel(reading.opened, reading.texts)
    if different := panel_differences(recorded, resolved):
        raise BranchTaken(
            f"the branch {named} was begun with other settings: {described(different)}; "
            "choose another id with --as, or leave --as out"
        )
    reused = sum(exchange.step in forked.steps for exchange in reading.exchanges)
    over = record.ending is not None
    return Fork(named, origin.debate_id, version, resolved, reused, len(reading.events), over=over, branch=None)
