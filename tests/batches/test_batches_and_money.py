"""Nothing is sent again that may have arrived, and what answers left of their bound can be spent."""

from contextlib import closing
from pathlib import Path

from batches.test_ends_of_waves import Budgeted, budgeted
from batches.test_waves import Night, exchanges
from jury_actors import batches_of
from jury_events import CallOutcome
from jury_providers import BatchUnavailable
from jury_store import open_store
from support.batch_double import BatchAccountDouble

__all__ = ["budgeted"]  # a fixture

IN_DOUBT = BatchUnavailable("the connection was lost", CallOutcome.CONNECTION, may_have_arrived=True)
BOUND = 0.4
"""US dollars: enough for one of two waves, each of whose calls may cost much and costs nothing."""


async def test_a_submission_in_doubt_is_looked_for_and_not_sent_again(tmp_path: Path) -> None:
    night = Night(f"sqlite:///{tmp_path / 'jury.db'}", BatchAccountDouble())
    night.account.fails["submit"] = IN_DOUBT
    lines = await night.session()

    assert night.count == len(lines)
    assert [] == night.sent_twice()
    assert len(night.read(exchanges)) == sum(night.account.asked.values())


async def test_what_the_answers_of_a_wave_left_of_a_bound_is_there_for_the_next_wave(budgeted: Budgeted) -> None:
    outcome = await budgeted.session(max_cost=BOUND)
    with closing(open_store(f"sqlite:///{budgeted.folder / 'jury.db'}", write=False)) as store:
        most = [one.prepared.most or 0.0 for one in batches_of(store, "r")]

    assert BOUND < sum(most)
    assert (6, True, None) == (outcome.lines, outcome.whole, outcome.short)


async def test_nothing_is_sent_that_a_bound_does_not_cover(budgeted: Budgeted) -> None:
    outcome = await budgeted.session(max_cost=BOUND / 8)

    assert (0, False) == (outcome.lines, outcome.whole)
    assert {} == budgeted.account.batches
