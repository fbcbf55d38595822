"""How the calls of a run go through batches."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from jury_actors.batches.batch_steps import PATIENCE, BatchPatience
from jury_actors.batches.wave_spool import BatchProviders

Sleep = Callable[[float], Awaitable[None]]


class BatchPlan(NamedTuple):
    """What a run with batches is given.

    Args:
        providers: of batches.
        patience: how long batches are waited for.
        once: make one pass, and do not wait.
        all_turns: the later turns of a call that used a tool go into batches too.
        same_account: a key with another digest than recorded is of the same account.
        sleep: waits for so many seconds between two looks.
    """

    providers: BatchProviders
    patience: BatchPatience = PATIENCE
    once: bool = False
    all_turns: bool = False
    same_account: bool = False
    sleep: Sleep = asyncio.sleep
