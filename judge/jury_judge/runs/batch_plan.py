"""How the calls of a run go through batches."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from jury_actors.batches.batch_steps import PATIENCE, BatchPatience
from jury_actors.batches.wave_spool import BatchProviders
from jury_events.panel import Panel, Seat
from jury_judge.panels.files import LoadedPanel
from jury_judge.settings.judging import BatchSettings
from jury_providers.batches.provider import BatchProvider
from jury_providers.batches.sdk_batches import batch_provider, no_batches
from jury_providers.endpoints import Endpoints

Sleep = Callable[[float], Awaitable[None]]


class BatchPlan(NamedTuple):
    """What a run with batches is given.

    Args:
        once: make one pass, and do not wait.
        same_account: a key with another digest than recorded is of the same account.
        sleep: waits for so many seconds between two looks.
        monotonic: seconds of a monotonic clock.
    """

    providers: BatchProviders
    patience: BatchPatience = PATIENCE
    once: bool = False
    same_account: bool = False
    sleep: Sleep = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic


def waves_of(panel: Panel, endpoints: Endpoints) -> tuple[int, int]:
    """How many waves a run takes at least and at most, if every call answers at once and no seat reads in parts.

    Seats that are shown the agent's reasoning after they have judged take one more, for cases that have some.

    None where the calls of every seat are made live.
    """
    if all(no_batches(place.model.partition("/")[0], endpoints) for place in panel.seats_and_judge):
        return 0, 0
    discussion = panel.discussion
    speakers = 1 if discussion.order == "parallel" else len(panel.speaking)
    rounds = discussion.max_rounds * speakers
    least = min(speakers, rounds) if discussion.always_discuss else 0
    judge = panel.final.judge is not None
    return 1 + least + judge, 1 + (panel.reasoning == "after") + rounds + judge


def asked_live(models: Iterable[str], endpoints: Endpoints) -> dict[str, str]:
    """Why calls are made live in a run with batches, by provider; without those that have batches."""
    providers = dict.fromkeys(model.partition("/")[0] for model in models)
    return {name: reason for name in providers if (reason := no_batches(name, endpoints)) is not None}


def live_lines(models: Iterable[str], endpoints: Endpoints) -> list[str]:
    """`asked_live` as lines for people."""
    return [f"calls of {name} are made live: {reason}" for name, reason in asked_live(models, endpoints).items()]


def tier_lines(panel: Panel, providers: BatchProviders) -> Iterator[str]:
    """A line for each seat whose service tier is left out, since a batch has none."""
    for place in panel.seats_and_judge:
        tier = place.settings.tier
        if tier is not None and providers(place.model.partition("/")[0]) is not None:
            name = place.juror_id if isinstance(place, Seat) else "the final judge"
            yield f"{name} asks for the tier {tier}: batches have their own price, so it is left out of them"


def batch_plan(settings: BatchSettings, loaded: LoadedPanel) -> BatchPlan:
    """As the settings of a run say; clients of providers are made once, at the first call for them."""

    @cache
    def providers(name: str) -> BatchProvider | None:
        return None if no_batches(name, loaded.endpoints) else batch_provider(name, loaded.endpoints)

    return BatchPlan(
        providers,
        BatchPatience(settings.batch_deadline),
        once=settings.once,
        same_account=settings.batch_same_account,
    )
