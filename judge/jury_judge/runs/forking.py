"""A fork whose branch was planned, and can be run."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from jury_actors.messages import Chunk, Job, RunContext
from jury_actors.runtime import drive_one
from jury_judge.feed import Feed
from jury_judge.panels.any_panel import changed_panel
from jury_judge.panels.files import LoadedPanel, load_panel, windowed
from jury_judge.replays.forks import Fork, plan_fork, read_origin, store_branch
from jury_judge.runs.executor import LOCK_SECONDS
from jury_judge.runs.panel_actors import Observation, PanelActors, Writing, announced_actors, is_simulated
from jury_judge.settings.run import ForkSettings
from jury_judge.settings.store import load_settings
from jury_judge.stores.stores import Say
from jury_providers.registry import check_models
from jury_replay.fork import ForkOrigin
from jury_replay.intact import intact_history
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_views.debate_results import collaborative_result


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
        origin = read_origin(store, debate_id)
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
        yield PreparedFork(fork, actors, store, simulated=is_simulated(loaded))


@dataclass(frozen=True)
class PreparedFork:
    """Of use in the context of `prepared_fork`.

    Attributes:
        fork: the branch.
        actors: run it.
        store: open for reading.
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
        async with self.actors, around(await asyncio.to_thread(self._stored)):
            return await drive_one(await self.actors.runtime(), job, on_chunk)

    def _stored(self) -> int:
        if self.fork.branch is None:
            return self.fork.stored
        with closing(self.actors.open_writer()) as writer:
            return store_branch(writer, self.fork.branch)

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
