"""`jury run --dry-run`: an estimate of a run before anything is spent."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

from jury_actors.admission.budget import dollars
from jury_events.case import Case
from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.estimate import Range, RunEstimate, estimate
from jury_judge.runs.preflight import PreflightReport, preflight
from jury_judge.runs.run import Run
from jury_judge.runs.run_index import RunIndex
from jury_providers.prices import Prices
from jury_providers.recipients import recipients, self_judging_warning
from jury_providers.registry import check_models, missing_key
from jury_store.errors import StoreMissing
from jury_store.event_store import EventStore
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store

SAMPLE = 200
"""Most cases whose prompts are rendered, spread over the files."""

_KEPT_APART = "Repairs, new tries and fallbacks are not counted."


def dry_run(run: Run, loaded: LoadedPanel, store_url: str, prices: Prices, *, on_cluster: bool, as_json: bool) -> None:
    """Print what the debates that are not over would take. Nothing is written, started or called."""
    panel, endpoints = loaded.panel, loaded.endpoints
    check_models(panel, endpoints)
    today = datetime.now(UTC).date()
    with _reading(store_url) as store:
        checked = preflight(run, store, seconds=None)
        left = checked.read - checked.ended
        sample = _sample(run, store, left)
        found = estimate(run.resolved, sample, debates=left, prices=prices, endpoints=endpoints, on=today)
    keys = {} if on_cluster else _missing_keys(loaded)
    receiving = recipients(panel, endpoints, None if on_cluster else os.environ)
    warning = self_judging_warning(panel)
    if as_json:
        data = {**_data(run, checked, found, keys), "recipients": receiving, "self_judging_warning": warning}
        print(json.dumps(data, ensure_ascii=False, indent=2))
        return
    remarks = [*receiving, *([] if warning is None else [f"warning: {warning}"])]
    for line in (*_lines(run, checked, found, keys, on_cluster=on_cluster), *map(_sentence, remarks)):
        print(visible_line(line, 1000))


@contextmanager
def _reading(store_url: str) -> Iterator[EventStore]:
    try:
        store: EventStore = open_store(store_url, write=False)
    except StoreMissing:
        store = MemoryEventStore()
    with closing(store):
        yield store


def _sample(run: Run, store: EventStore, left: int) -> Iterator[Case]:
    """A sample, evenly spread, of the cases that are not judged yet; their records are fetched, no others."""
    every = max(1, -(-left // (SAMPLE * run.repeats)))
    index, seen = RunIndex(run, store, brief=True), 0

    def others(case_ids: Sequence[str]) -> set[str]:
        nonlocal seen
        index.load(case_ids)
        skipped = set()
        for case_id in case_ids:
            judged = index.is_judged(case_id)
            if judged or seen % every:
                skipped.add(case_id)
            seen += not judged
        return skipped

    return (found for found in run.outline(others, lambda _case: True) if not isinstance(found, str))


def _missing_keys(loaded: LoadedPanel) -> dict[str, tuple[str, ...]]:
    providers = dict.fromkeys(model.partition("/")[0] for model in loaded.panel.models)
    missing = {name: missing_key(name, loaded.endpoints, os.environ) for name in providers}
    return {name: variables for name, variables in missing.items() if variables}


def _data(run: Run, checked: PreflightReport, found: RunEstimate, keys: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "cases": checked.omissions.cases,
        "repeat": run.repeats,
        "judged_before": checked.ended,
        "not_shown": checked.omissions.data(),
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
        "prices_missing": [one.model for one in found.models if one.cost is None],
        "disk_bytes": _whole(found.disk_bytes),
        "minutes_by_limits": found.minutes,
        "keys_missing": {name: list(variables) for name, variables in keys.items()},
    }


def _whole(amounts: Range) -> dict[str, int]:
    return {name: round(amount) for name, amount in amounts._asdict().items()}


def _lines(
    run: Run, checked: PreflightReport, found: RunEstimate, keys: dict[str, tuple[str, ...]], *, on_cluster: bool
) -> Iterator[str]:
    before = f", {checked.ended} of {checked.read} judged before" if checked.ended else ""
    yield f"run {run.run_id}: {pluralize(found.debates, 'debate')} to run{before}; least - likely - most:"
    yield f"  calls     {_row(found.calls, _number)}"
    for one in found.models:
        yield f"  {one.model}"
        yield f"    calls   {_row(one.calls, _number)}"
        yield f"    tokens  in {_row(one.input_tokens, _number)}; out {_row(one.output_tokens, _number)}"
        yield f"    cost    {_cost(one.cost, 'no price is known; give one with --prices FILE')}"
    unknown = ", ".join(one.model for one in found.models if one.cost is None)
    yield f"  cost      {_cost(found.cost, f'unknown: no price for {unknown}')}"
    yield f"  disk      {_row(found.disk_bytes, _bytes)} (from the sizes of events and texts)"
    if found.minutes is not None:
        yield f"  time      at least {found.minutes:,.1f} min by the limits of the panel file, for what is likely"
    whole = (
        "every case" if found.sample * run.repeats >= found.debates else f"{found.sample} cases spread over the files"
    )
    yield f"From the prompts of {whole}. {_KEPT_APART}"
    if (omissions := checked.omissions.line()) is not None:
        yield f"{omissions[0].upper()}{omissions[1:]}; jury cases shows where."
    if on_cluster:
        yield "Keys are on the nodes of the cluster and were not checked."
    for name, variables in keys.items():
        yield f"The provider {name} has no key: set {' or '.join(variables)}."


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _row(amounts: Range, form: Callable[[float], str]) -> str:
    return " - ".join(form(amount) for amount in amounts)


def _cost(amounts: Range | None, unknown: str) -> str:
    return unknown if amounts is None else _row(amounts, dollars)


def _number(amount: float) -> str:
    return f"{round(amount):,}"


def _bytes(amount: float) -> str:
    for unit in ("KB", "MB"):
        amount /= 1000
        if amount < 1000:  # noqa: PLR2004  (decimal units)
            return f"{amount:,.1f} {unit}"
    return f"{amount / 1000:,.1f} GB"
