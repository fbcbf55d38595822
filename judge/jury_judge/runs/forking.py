"""Forks: a branch is prepared, or found if the same command began it before, and can be run."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects
from jury_actors.messages import Chunk, Job, RunContext
from jury_actors.runtime import drive_one
from jury_debate.recorded_panel import described, panel_differences, recorded_panel
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules import SECRET_BYTES
from jury_events.debate_history import DebateHistory
from jury_events.ids import debate_stream
from jury_events.parts import SALT_BYTES
from jury_judge.errors import BranchTaken, escaped
from jury_judge.feed import Feed
from jury_judge.panels.files import LoadedPanel, load_panel, windowed
from jury_judge.panels.ladders import changed_panel
from jury_judge.runs.lister import NO_EPOCH, record_opened
from jury_judge.runs.panel_actors import Observation, PanelActors, Writing, announced_actors
from jury_judge.runs.session import LOCK_SECONDS
from jury_judge.settings.run import ForkSettings
from jury_judge.settings.store import load_settings
from jury_judge.store_access.stores import Say
from jury_providers.registry import check_models
from jury_replay.fork import Branch, ForkOrigin, branch_id, branch_off
from jury_replay.intact import intact_history
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_views.debate_fold import folded
from jury_views.debate_results import collaborative_result


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
        draw_salt=lambda: effects.entropy(SALT_BYTES),
        recorded_at=effects.clock(),
    )
    return Fork(named, origin.debate_id, version, resolved, len(branch.exchanges), 0, over=False, branch=branch)


def _found(reading: DebateHistory, named: str, origin: ForkOrigin, version: int, resolved: ResolvedPanel) -> Fork:
    record = folded(reading.events)
    forked = record.forked
    if forked is None or (forked.origin, forked.version) != (origin.debate_id, version):
        what = "no branch" if forked is None else f"a branch of {forked.origin} at event {forked.version}"
        raise BranchTaken(
            f"there is a debate {escaped(named)} already, and it is {escaped(what)}: choose another id with {{as_id}}, "
            "or leave {as_id} out"
        )
    recorded = recorded_panel(reading.opened, reading.texts)
    if different := panel_differences(recorded, resolved):
        raise BranchTaken(
            f"the branch {escaped(named)} was begun with other settings: {escaped(described(different))}; "
            "choose another id with {as_id}, or leave {as_id} out"
        )
    reused = sum(exchange.step in forked.steps for exchange in reading.exchanges)
    over = record.ending is not None
    return Fork(named, origin.debate_id, version, resolved, reused, len(reading.events), over=over, branch=None)


@contextmanager
def prepared_fork(
    debate_id: str, at: str, settings: ForkSettings, say: Say, environ: Mapping[str, str] | None = None
) -> "Iterator[PreparedFork]":
    """The branch of a debate at an event, and the Jury that runs it; the same again is the same branch.

    Args:
        at: a version of its stream, or an event's id.
        settings: of the fork. Without a panel the origin's is used, which neither environment nor preset changes.
        environ: where settings are read; None is `os.environ`.
    """
    surroundings = os.environ if environ is None else environ
    url = load_settings(surroundings, store_url=settings.store_url).store_url
    with closing(open_store(url, write=False)) as store:
        origin = ForkOrigin(store.history(debate_id))
        loaded = _panel(origin, settings, surroundings)
        settings.script(loaded.panel.models)
        fork = plan_fork(store, origin, at, loaded.resolved, debate_id=settings.as_id)
        check_models(loaded.panel, loaded.endpoints, None if settings.ray_address or fork.over else os.environ)
        actors = announced_actors(
            loaded,
            url,
            say,
            environ=surroundings,
            runtime=settings,
            writing=Writing(name=fork.debate_id, lock_wait=LOCK_SECONDS),
            observation=Observation(say=say),
        )
        yield PreparedFork(fork, actors, store, simulated=loaded.is_simulated)


@dataclass(frozen=True)
class PreparedFork:
    """Of use in the context of `prepared_fork`.

    Attributes:
        fork: the branch.
        actors: run it.
        simulated: whether no model is called.
    """

    fork: Fork
    actors: PanelActors
    store: EventStore
    simulated: bool

    @property
    def feed(self) -> Feed:
        """A feed of the live events of the store."""
        return Feed(self.store)

    async def run(
        self,
        on_chunk: Callable[[Chunk], None] = lambda _chunk: None,
        around: Callable[[int], AbstractAsyncContextManager[None]] = lambda _stored: nullcontext(),
    ) -> BaseException | None:
        """Store the branch if it is new and run it to its end; returns why it could not go on.

        Args:
            on_chunk: called with each chunk that a final judge writes.
            around: the context in which it runs; called with the number of its events that are stored.
        """
        fork = self.fork
        # The branch has its opening event already, so the job needs no case.
        job = Job(fork.debate_id, b"", RunContext(fork.debate_id, fork.resolved, watched=True))
        async with self.actors:
            runtime = await self.actors.runtime()
            async with around(await self._stored(runtime.clerk)):
                return await drive_one(runtime, job, on_chunk)

    async def _stored(self, clerk: ClerkInterface) -> int:
        """How many events of the branch are stored now; a new one is opened as the debates of a list are."""
        branch = self.fork.branch
        if branch is None:
            return self.fork.stored
        if (refusal := await record_opened(clerk, branch.appends(NO_EPOCH))) is not None:
            raise refusal
        return len(branch.opening) + len(branch.kept)

    def result(self) -> dict[str, Any]:
        """The result of the branch, so far, as data."""
        reading = intact_history(self.store, self.fork.debate_id)
        return collaborative_result(reading.events, reading.texts)


def _panel(origin: ForkOrigin, settings: ForkSettings, environ: Mapping[str, str]) -> LoadedPanel:
    """The named panel; else the origin's."""
    models = settings.models
    if settings.panel_name is None:
        return windowed(LoadedPanel(changed_panel(origin.panel(), settings, models)))
    loaded = load_panel(settings.panel_name, environ, settings)
    return windowed(loaded._replace(resolved=changed_panel(loaded.resolved, models=models))) if models else loaded
