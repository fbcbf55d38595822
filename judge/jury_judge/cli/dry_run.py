"""`jury run --dry-run`: what a run would take, told before anything is spent."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from jury_actors.admission.budget import dollars
from jury_actors.providers.recipients import judge_on_a_seat, recipients
from jury_actors.providers.registry import check_models, missing_key
from jury_actors.runtime import RuntimeConfig
from jury_events.case import Case
from jury_judge.estimate import Estimate, Range, estimate
from jury_judge.runs import Run, Survey, survey
from jury_judge.views.counted import counted
from jury_judge.views.visible_text import visible_line
from jury_store.errors import StoreMissing
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store

SAMPLE = 200
"""Cases whose prompts are rendered at most, spread over the files."""

_KEPT_APART = "Repairs, new tries and fallbacks are not counted."


def tell(run: Run, plan: RuntimeConfig, *, on_cluster: bool, as_json: bool) -> None:
    """Print what the debates that are not over yet would take. Nothing is written, started or called."""
    check_models(plan.panel, plan.endpoints)
    surveyed = _survey(run, plan.store_url)
    left = surveyed.read - surveyed.ended
    sample = _sample(run, surveyed, left)
    today = datetime.now(UTC).date()
    found = estimate(run.resolved, sample, debates=left, prices=plan.prices, endpoints=plan.endpoints, on=today)
    keys = {} if on_cluster else _missing_keys(plan)
    receiving = recipients(plan.panel, plan.endpoints, None if on_cluster else os.environ)
    warning = judge_on_a_seat(plan.panel)
    if as_json:
        data = {**_data(run, surveyed, found, keys), "recipients": receiving, "judge_on_a_seat": warning}
        print(json.dumps(data, ensure_ascii=False, indent=2))
        return
    told = [*receiving, *([] if warning is None else [f"warning: {warning}"])]
    for line in (*_lines(run, surveyed, found, keys, on_cluster=on_cluster), *map(_sentence, told)):
        print(visible_line(line, 1000))


def _survey(run: Run, store_url: str) -> Survey:
    try:
        store = open_store(store_url, write=False)
    except StoreMissing:
        return survey(run, MemoryEventStore(), seconds=None)
    try:
        return survey(run, store, seconds=None)
    finally:
        store.close()


def _sample(run: Run, surveyed: Survey, left: int) -> Iterator[Case]:
    """Every so manieth of the cases that are not judged yet, with the records that its URIs lead to."""
    every = max(1, -(-left // SAMPLE))
    seen = 0
    wanted: set[str] = set()

    def fetch(case: Case) -> bool:
        nonlocal seen
        if surveyed.is_over(run.debate_id(case)):
            return False
        seen += 1
        chosen = (seen - 1) % every == 0
        if chosen:
            wanted.add(case.case_id)
        return chosen

    return (case for case in run.cases(fetch) if case.case_id in wanted)


def _missing_keys(plan: RuntimeConfig) -> dict[str, tuple[str, ...]]:
    providers = dict.fromkeys(model.partition("/")[0] for model in plan.panel.models)
    missing = {name: missing_key(name, plan.endpoints, os.environ) for name in providers}
    return {name: variables for name, variables in missing.items() if variables}


def _data(run: Run, surveyed: Survey, found: Estimate, keys: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "cases": surveyed.read,
        "judged_before": surveyed.ended,
        "not_shown": surveyed.losses.data(),
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
    run: Run, surveyed: Survey, found: Estimate, keys: dict[str, tuple[str, ...]], *, on_cluster: bool
) -> Iterator[str]:
    before = f", {surveyed.ended} of {surveyed.read} judged before" if surveyed.ended else ""
    yield f"run {run.run_id}: {counted(found.debates, 'debate')} to hold{before}; least - likely - most:"
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
    whole = "every case" if found.sample == found.debates else f"{found.sample} cases spread over the files"
    yield f"From the prompts of {whole}. {_KEPT_APART}"
    if (losses := surveyed.losses.line()) is not None:
        yield f"{losses[0].upper()}{losses[1:]}; jury cases shows where."
    if on_cluster:
        yield "Keys are on the nodes of the cluster, and were not looked for."
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
        if amount < 1000:  # noqa: PLR2004
            return f"{amount:,.1f} {unit}"
    return f"{amount / 1000:,.1f} GB"
