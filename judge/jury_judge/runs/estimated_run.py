"""An estimate of a run before anything is spent."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import UTC, date, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from jury_actors.admission.budget import NO_BOUNDS
from jury_events.case import Case
from jury_events.run_events import BudgetBounds
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.batch_plan import asked_live, waves_of
from jury_judge.runs.cases_once import RecordedDebates
from jury_judge.runs.cost_estimate import Range, RunEstimate, estimate
from jury_judge.runs.plan import RunPlan
from jury_judge.runs.preflight import PreflightReport, preflight
from jury_judge.runs.run import RunInput
from jury_providers.prices import list_prices_date
from jury_providers.registry import SIMULATED, check_models, missing_key, recipients, same_model_warning
from jury_store.debate_rows import DebateFilter
from jury_store.errors import StoreMissing
from jury_store.event_store import EventStore
from jury_store.opening import open_store

NOTHING_LIVE: Mapping[str, str] = MappingProxyType({})

SECONDS_A_CALL = 10.0
"""What a call is taken to last, where the time of a run is estimated: an assumption, which every output says."""

SAMPLE = 200
"""Most cases whose prompts are rendered, spread over the files."""


class StageEstimate(NamedTuple):
    """A stage of a ladder over the cases that are left.

    Attributes:
        number: of the stage, from 1.
        whole: what it takes if every case reaches it.
        share: of the cases that reach it, audits included, as where the ladder was certified; None: not known.
    """

    number: int
    whole: RunEstimate
    share: float | None

    @property
    def debates(self) -> int | None:
        """How many are expected."""
        return None if self.share is None else round(self.share * self.whole.debates)

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        cost = self.whole.cost
        return {
            "stage": self.number,
            "debates_at_most": self.whole.debates,
            "debates_expected": self.debates,
            "calls_at_most": _whole(self.whole.calls),
            "cost_at_most": None if cost is None else cost._asdict(),
        }


class EstimatedRun(NamedTuple):
    """What the debates of a run that are not over would take.

    Attributes:
        run: the run.
        checked: the report of its preflight.
        found: the estimate.
        keys: the variables of each provider whose key is missing; those of a cluster were not looked at.
        recipients: a line for each provider that would receive cases.
        outside: a line for each file that the panel file names and that is not in its folder.
        same_model_warning: about seats that are one model, or a final judge that is the model of a seat.
        on_cluster: whether debates would run on a Ray cluster that is joined.
        list_prices_of: the day of the list prices, which count where no price file names the model.
        stages: of a ladder: what each takes; the other figures are those of the first.
        spent: US dollars that earlier sessions of the run took.
        waves: of a run with batches: at least and at most, without retries, tools and repairs; None: it has none.
        asked_live: of a run with batches: why the calls of a provider are made live.
    """

    run: RunInput
    checked: PreflightReport
    found: RunEstimate
    keys: Mapping[str, tuple[str, ...]]
    recipients: tuple[str, ...]
    same_model_warning: str | None
    on_cluster: bool
    list_prices_of: date
    waves: tuple[int, int] | None = None
    asked_live: Mapping[str, str] = NOTHING_LIVE
    stages: tuple[StageEstimate, ...] = ()
    outside: tuple[str, ...] = ()
    bounds: BudgetBounds = NO_BOUNDS
    spent: float = 0.0
    concurrency: int = 1

    @property
    def whole_cost(self) -> Range | None:
        """US dollars of a ladder: at least of its first stage, likely as by the certificate, at most of all stages.

        Without a certificate every case goes through every stage. None: a price is unknown.
        """
        if not self.stages:
            return self.found.cost
        least = likely = most = 0.0
        for one in self.stages:
            cost = one.whole.cost
            if cost is None:
                return None
            least += cost.least if one.share is None or one.number == 1 else 0.0
            likely += cost.likely * (1.0 if one.share is None else one.share)
            most += cost.most
        return Range(least, likely, most)

    @property
    def minutes(self) -> float | None:
        """For what is likely, with so many debates at once, where a call takes `SECONDS_A_CALL`.

        None where no model is called live: the jurors are simulated, or the calls are made in batches.
        """
        if self.waves is not None or all(one.model.startswith(f"{SIMULATED}/") for one in self.found.models):
            return None
        stages = [(one.whole, one.share) for one in self.stages] or [(self.found, 1.0)]
        each = ((one.turns.likely * (1.0 if share is None else share), one.debates) for one, share in stages)
        turns = sum(turns / max(1, min(self.concurrency, debates)) for turns, debates in each)
        return turns * SECONDS_A_CALL / 60

    @property
    def affordable(self) -> tuple[int, int] | None:
        """How many debates the bound pays for: surely, and likely. None: there is none, or a price is unknown."""
        cost, debates = self.whole_cost, self.found.debates
        left = self.bounds.cost_left(self.spent)
        if left is None or cost is None or not debates:
            return None
        surely, likely = (
            min(debates, int(left * debates / amount) if amount else debates) for amount in (cost.most, cost.likely)
        )
        return surely, likely

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        run, checked, found = self.run, self.checked, self.found
        return {
            "run_id": run.run_id,
            "cases": checked.omissions.cases,
            "repeat": run.repeats,
            "judged_before": checked.ended,
            "not_shown": checked.omissions.data(),
            "fit": checked.fit.data(),
            "reading": [
                {
                    "juror_id": one.juror_id,
                    "debates": one.debates,
                    "calls": _whole(one.calls),
                    "cost": None if one.cost is None else one.cost._asdict(),
                }
                for one in found.reading
            ],
            "debates": found.debates,
            "sample": found.sample,
            "calls": _whole(found.calls),
            "models": [
                {
                    "model": one.model,
                    "calls": _whole(one.calls),
                    "input_tokens": _whole(one.input_tokens),
                    "output_tokens": _whole(one.output_tokens),
                    "cost": None if one.cost is None else one.cost._asdict(),
                }
                for one in found.models
            ],
            "cost": None if found.cost is None else found.cost._asdict(),
            "known_cost": found.known_cost._asdict(),
            "whole_cost": None if (whole := self.whole_cost) is None else whole._asdict(),
            "affordable_debates": None
            if self.affordable is None
            else dict(zip(("surely", "likely"), self.affordable, strict=True)),
            "minutes": self.minutes,
            "list_prices_of": self.list_prices_of.isoformat(),
            "prices_missing": [one.model for one in found.models if one.cost is None],
            "disk_bytes": _whole(found.disk_bytes),
            "minutes_by_limits": found.minutes,
            "keys_missing": {name: list(variables) for name, variables in self.keys.items()},
            "recipients": list(self.recipients),
            **({"files_elsewhere": list(self.outside)} if self.outside else {}),
            "same_model_warning": self.same_model_warning,
            **({"stages": [one.data() for one in self.stages]} if self.stages else {}),
            **({} if self.waves is None else {"waves": {"least": self.waves[0], "most": self.waves[1]}}),
            **({"asked_live": dict(self.asked_live)} if self.asked_live else {}),
        }


def estimate_run(planned: RunPlan) -> EstimatedRun:
    """What is left of a run would take. Nothing is written, started or called."""
    settings, loaded, run = planned.settings, planned.loaded, planned.run
    panel, endpoints = loaded.panel, loaded.endpoints
    settings.script(panel.models)  # refuses what a run would refuse
    url, prices = planned.store_url, settings.price_list(planned.environ).at_clouds(endpoints)
    check_models(panel, endpoints)
    today = datetime.now(UTC).date()
    on_cluster = settings.ray_address is not None
    with ExitStack() as stack:
        store: EventStore | None = None
        with suppress(StoreMissing):
            store = stack.enter_context(closing(open_store(url, write=False)))
        checked = preflight(run, store, seconds=None, endpoints=endpoints, judged=False)
        left = checked.read - checked.ended
        sample = list(_sample(run, store, left))
        priced = partial(estimate, prices=prices, endpoints=endpoints, on=today, operator_policy=run.operator_policy)
        found = priced(run.resolved, sample, debates=left)
        stages = _estimated_stages(planned, found, priced, sample, left)
        spent = 0.0 if store is None else store.totals(DebateFilter(run_id=run.run_id, counted=None)).cost
    return EstimatedRun(
        run,
        checked,
        found,
        {}
        if on_cluster
        else {name: keys for one in planned.loaded.stages for name, keys in _missing_keys(one).items()},
        tuple(
            dict.fromkeys(
                line
                for one in planned.loaded.stages
                for line in recipients(one.panel, endpoints, None if on_cluster else os.environ)
            )
        ),
        same_model_warning(panel),
        on_cluster,
        list_prices_date(),
        waves_of(panel, endpoints) if settings.batch else None,
        asked_live(loaded.models, endpoints) if settings.batch else {},
        stages,
        loaded.outside,
        settings.bounds,
        spent,
        settings.concurrency,
    )


def _estimated_stages(
    planned: RunPlan,
    first: RunEstimate,
    priced: Callable[..., RunEstimate],
    sample: Sequence[Case],
    left: int,
) -> tuple[StageEstimate, ...]:
    """Of a ladder: each stage over the cases that are left; () without one."""
    ladder = planned.loaded.ladder
    if ladder is None:
        return ()
    found = []
    for place, stage in enumerate(ladder.stages):
        early = sum(ladder.coverage[:place])
        audits = ladder.audit * early if place == len(ladder.stages) - 1 else 0.0
        share = min(1.0, 1 - early + audits) if ladder.coverage else None
        whole = first if place == 0 else priced(stage.resolved, sample, debates=left)
        found.append(StageEstimate(place + 1, whole, share))
    return tuple(found)


def _sample(run: RunInput, store: EventStore | None, left: int) -> Iterator[Case]:
    """A sample, evenly spread, of the cases that are not judged yet; their records are fetched, no others."""
    every = max(1, -(-left // (SAMPLE * run.repeats)))
    index, seen = RecordedDebates(run, store, brief=True), 0

    def others(case_ids: Sequence[str]) -> set[str]:
        nonlocal seen
        judged = index.load(case_ids)
        skipped = set()
        for case_id in case_ids:
            if case_id in judged or seen % every:
                skipped.add(case_id)
            seen += case_id not in judged
        return skipped

    return (found for found in run.outline(others, lambda _case: True) if not isinstance(found, str))


def _missing_keys(loaded: LoadedPanel) -> dict[str, tuple[str, ...]]:
    providers = dict.fromkeys(model.partition("/")[0] for model in loaded.panel.models)
    missing = {name: missing_key(name, loaded.endpoints, os.environ) for name in providers}
    return {name: variables for name, variables in missing.items() if variables}


def _whole(amounts: Range) -> dict[str, int]:
    return {name: round(amount) for name, amount in amounts._asdict().items()}
