"""Cycles are collected rarely while debates run in this process, and as before afterwards."""

import gc
from contextlib import ExitStack

from jury_actors import RuntimeConfig, in_process_runtime
from jury_actors.runtime import RARELY, rare_collections
from jury_store import MemoryEventStore
from support.runtime_harness import a_resolved

BEFORE = gc.get_threshold()


def test_the_last_of_several_runtimes_restores_the_thresholds() -> None:
    first, second = ExitStack(), ExitStack()

    first.enter_context(rare_collections())
    second.enter_context(rare_collections())
    first.close()
    with_one_left = gc.get_threshold()
    second.close()

    assert with_one_left == RARELY
    assert gc.get_threshold() == BEFORE


async def test_a_runtime_collects_rarely() -> None:
    config = RuntimeConfig((a_resolved().panel,), "", "r1")
    async with in_process_runtime(config, MemoryEventStore):
        inside = gc.get_threshold()

    assert inside == RARELY
    assert gc.get_threshold() == BEFORE
