"""A debate that came in a cassette, or was set aside, decides nothing in a run: no coordinator goes on with it."""

import pytest

from jury_actors import Finished, Job, NotResumable
from jury_events import DebateImported, DebateQuarantined, VersionRange, encode, local_stream
from jury_store import Append
from support.runtime_harness import KeptStore, Meter, Run, completed

CAME = VersionRange(after=0, until=1)
IMPORTED = DebateImported(
    debate=CAME,
    calls=VersionRange(after=0, until=0),
    review=VersionRange(after=0, until=0),
    seal=None,
    sealed_by=None,
    verified_with=None,
    lengths=None,
    number=1,
)
SET_ASIDE = DebateQuarantined(by="ops", reason="under investigation", number=1)


async def begun(store: KeptStore) -> Run:
    """A run whose debate is open, and has no answer yet."""
    run, meter = Run(store), Meter()
    meter.breaks = lambda _trace: True
    await run.execute(meter=meter)
    return run


async def resumed(
    run: Run, mark: DebateImported | DebateQuarantined, *, adopted: bool = False
) -> tuple[Finished, Meter]:
    """How the debate ends where the store says so of it, and the calls that were made."""
    run.store.append([Append(local_stream("d0"), (encode(mark, recorded_at=1),), 0)])
    meter = Meter()
    async with run.runtime(meter=meter) as runtime:
        jobs: list[Job] = [job._replace(adopted=adopted) for job in run.jobs]
        found = await run.execute_in(runtime, jobs=jobs)
    return found["d0"], meter


@pytest.mark.parametrize("mark", [IMPORTED, SET_ASIDE], ids=["imported", "set aside"])
async def test_it_is_left_as_it_is_and_no_model_is_called(
    store: KeptStore, mark: DebateImported | DebateQuarantined
) -> None:
    run = await begun(store)
    before = run.event_ids()
    finished, meter = await resumed(run, mark)

    assert isinstance(finished.problem, NotResumable)
    assert not meter.served
    assert before == run.event_ids()


async def test_one_that_the_run_adopts_goes_on(store: KeptStore) -> None:
    finished, _ = await resumed(await begun(store), IMPORTED, adopted=True)

    assert completed([finished])
