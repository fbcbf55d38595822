"""Branches of simulated debates, made and run in this process."""

from collections.abc import Callable

from jury_actors import Finished, Job, RunContext
from jury_debate import ResolvedPanel
from jury_events import SALT_BYTES, calls_stream, debate_stream
from jury_providers import NO_FAULTS, Script
from jury_replay import Branch, ForkOrigin, branch_id, branch_off
from jury_store import EventStore, StoreError
from support.runtime_harness import Meter, Run

SECRET = bytes(range(32))
"""The one that `fixed_effects` gives every debate."""

OTHER_SECRET = bytes(reversed(range(32)))


def origin_in(store: EventStore, debate_id: str = "d0") -> ForkOrigin:
    return ForkOrigin(store.histories([debate_id])[0])


def a_branch(
    origin: ForkOrigin,
    at: str | int,
    resolved: ResolvedPanel | None = None,
    *,
    debate_id: str | None = None,
    secret: bytes = SECRET,
    draw_salt: Callable[[], bytes] = lambda: bytes(range(SALT_BYTES)),
) -> Branch:
    """Under the origin's own settings, unless others are given."""
    panel = resolved or origin.panel()
    version = origin.point(str(at))
    return branch_off(
        origin,
        version,
        panel,
        debate_id=debate_id or branch_id(origin.debate_id, version, panel),
        secret=secret,
        draw_salt=draw_salt,
        recorded_at=1_700_000_000_000_000,
    )


def stored(store: EventStore, branch: Branch) -> Branch:
    """The branch, appended."""
    for answer in store.append(branch.appends(store.next_epoch())):
        if isinstance(answer, StoreError):
            raise answer
    return branch


async def execute_branch(
    store: EventStore, branch: Branch, *, script: Script = NO_FAULTS, meter: Meter | None = None
) -> Finished:
    """Run a stored branch in a new runtime, as one debate."""
    run = Run(store)
    run.resolved = branch.resolved
    job = Job(branch.debate_id, b"", RunContext("fork", branch.resolved))
    async with run.runtime(script=script, meter=meter) as runtime:
        return (await run.execute_in(runtime, jobs=[job]))[job.debate_id]


def calls_of(store: EventStore, debate_id: str) -> list[str]:
    """The ids of its exchanges."""
    return [event.event_id for event in store.read_stream(calls_stream(debate_id))]


def events_of(store: EventStore, debate_id: str) -> list[str]:
    """The ids of its events, bookkeeping included."""
    return [event.event_id for event in store.read_stream(debate_stream(debate_id))]
